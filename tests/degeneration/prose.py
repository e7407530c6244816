"""Own paragraphs in several languages: ordinary text for the detectors to leave alone."""

# ruff: noqa: E501
from __future__ import annotations

PROSE = {
    "english": (
        "The harbour master kept two ledgers. In the first he wrote what came in on the tide: timber from the north, "
        "salt, a crate of oranges that nobody had ordered. In the second he wrote what he had seen but could not "
        "charge for, such as the heron on the slipway or the way the fog lifted off the dredger at seven. When the "
        "new inspector arrived from the capital she read both, and after a long silence asked which of them was the "
        "official one. He said that he had never been able to decide. She stayed for a week, learned to splice rope, "
        "and filed a report in which every figure was correct and the last page described a heron. "
    ),
    "german": (
        "Der Hafenmeister führte zwei Bücher. In das erste schrieb er, was mit der Flut hereinkam: Holz aus dem Norden, "
        "Salz, eine Kiste Orangen, die niemand bestellt hatte. In das zweite trug er ein, was er gesehen hatte, aber "
        "nicht berechnen konnte, etwa den Reiher auf der Slipanlage oder wie sich der Nebel um sieben vom Bagger hob. "
        "Als die neue Inspektorin aus der Hauptstadt kam, las sie beide und fragte nach langem Schweigen, welches das "
        "amtliche sei. Er sagte, er habe sich nie entscheiden können. "
    ),
    "french": (
        "Le maître du port tenait deux registres. Dans le premier il notait ce qu'apportait la marée : du bois du nord, "
        "du sel, une caisse d'oranges que personne n'avait commandée. Dans le second il écrivait ce qu'il avait vu sans "
        "pouvoir le facturer, le héron sur la cale ou la brume qui quittait la drague à sept heures. Quand la nouvelle "
        "inspectrice arriva de la capitale, elle lut les deux et demanda, après un long silence, lequel était officiel. "
    ),
    "russian": (
        "Начальник порта вёл две книги. В первую он записывал то, что приносил прилив: лес с севера, соль, ящик "
        "апельсинов, который никто не заказывал. Во вторую он заносил то, что видел, но за что не мог взять платы: "
        "цаплю на слипе или то, как в семь утра туман поднимался над землечерпалкой. Когда из столицы приехала новая "
        "инспектор, она прочла обе и после долгого молчания спросила, какая из них официальная. "
    ),
    "chinese": (
        "港务长有两本账。第一本记录随潮水而来的东西：北方的木材、盐，还有一箱没有人订购的橙子。第二本写下他看见却无法收费的事物，"
        "比如船台上的苍鹭，或者清晨七点雾气从挖泥船上升起的样子。新任检查员从首都来到这里，把两本都读完，沉默了很久，"
        "才问哪一本是正式的。他说自己从来没有办法决定。她住了一个星期，学会了接绳子，交上去的报告里每个数字都准确，最后一页写的却是苍鹭。"
    ),
    "japanese": (
        "港長は二冊の帳簿をつけていた。一冊目には潮に乗って届いたものを書いた。北の木材、塩、誰も注文していない一箱のみかん。"
        "二冊目には、見たけれど料金を取れないものを書いた。船台に立つサギや、朝七時に浚渫船から霧が晴れていく様子などである。"
        "都から新しい検査官がやって来て、二冊とも読み、長い沈黙のあとで、どちらが正式なのかと尋ねた。"
    ),
    "korean": (
        "항만장은 장부를 두 권 썼다. 첫 번째 장부에는 밀물에 실려 온 것을 적었다. 북쪽에서 온 목재와 소금, 그리고 아무도 주문하지 않은 "
        "오렌지 한 상자였다. 두 번째 장부에는 보았지만 값을 매길 수 없는 것을 적었다. 선대 위의 왜가리나 아침 일곱 시에 준설선에서 "
        "안개가 걷히는 모습 같은 것이었다. 수도에서 온 새 검사관은 두 권을 모두 읽고 오래 말이 없다가 어느 것이 공식 장부냐고 물었다. "
    ),
    "arabic": (
        "كان مدير الميناء يحتفظ بدفترين. في الأول يكتب ما يأتي به المد: خشب من الشمال وملح وصندوق برتقال لم يطلبه أحد. "
        "وفي الثاني يكتب ما رآه ولم يستطع أن يأخذ عنه أجرا، مثل مالك الحزين على المنزلق أو الضباب حين يرتفع عن الحفارة "
        "في السابعة صباحا. وعندما وصلت المفتشة الجديدة من العاصمة قرأت الاثنين وسألت بعد صمت طويل أيهما الرسمي. "
    ),
    "hindi": (
        "बंदरगाह का अधिकारी दो बहियाँ रखता था। पहली में वह लिखता था कि ज्वार के साथ क्या आया: उत्तर की लकड़ी, नमक, और संतरों "
        "की एक पेटी जिसे किसी ने मँगवाया नहीं था। दूसरी में वह लिखता था जो उसने देखा पर जिसका शुल्क नहीं ले सकता था, जैसे घाट पर खड़ा "
        "बगुला या सुबह सात बजे धुंध का उठना। जब राजधानी से नई निरीक्षक आई तो उसने दोनों पढ़ीं और पूछा कि सरकारी कौन सी है। "
    ),
    "thai": (
        "นายท่าเรือมีสมุดบัญชีสองเล่ม เล่มแรกเขาจดสิ่งที่มากับน้ำขึ้น ไม้จากทางเหนือ เกลือ และส้มหนึ่งลังที่ไม่มีใครสั่ง "
        "เล่มที่สองเขาเขียนสิ่งที่ได้เห็นแต่เก็บเงินไม่ได้ เช่นนกกระสาบนทางลาด หรือหมอกที่ลอยขึ้นจากเรือขุดตอนเจ็ดโมงเช้า "
        "เมื่อผู้ตรวจการคนใหม่มาจากเมืองหลวง เธออ่านทั้งสองเล่ม แล้วถามหลังจากเงียบไปนานว่าเล่มไหนเป็นทางการ "
    ),
    "greek": (
        "Ο λιμενάρχης κρατούσε δύο βιβλία. Στο πρώτο έγραφε ό,τι έφερνε η παλίρροια: ξυλεία από τον βορρά, αλάτι, ένα "
        "κιβώτιο πορτοκάλια που κανείς δεν είχε παραγγείλει. Στο δεύτερο έγραφε όσα είδε αλλά δεν μπορούσε να χρεώσει, "
        "όπως τον ερωδιό στη γλίστρα ή την ομίχλη που σηκωνόταν από τη βυθοκόρο στις επτά. "
    ),
}
"""One paragraph a language, about 300 to 700 characters."""

LATIN = (
    "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore et dolore "
    "magna aliqua. Ut enim ad minim veniam, quis nostrud exercitation ullamco laboris nisi ut aliquip ex ea commodo "
    "consequat. Duis aute irure dolor in reprehenderit in voluptate velit esse cillum dolore eu fugiat nulla "
    "pariatur. Excepteur sint occaecat cupidatat non proident, sunt in culpa qui officia deserunt mollit anim id est "
    "laborum. "
)
