"""Further texts that count, written before the limits were set and scanned once after that."""

# ruff: noqa: E501
from __future__ import annotations

import json
import random

from degeneration.families import HONEST_LINES, HONEST_MARKER_LINES, Drifting, Family, drifting, shuffled
from degeneration.prose import LATIN, PROSE
from degeneration.specimens import Sound

G = PROSE["german"][:200]


def held_out_counting_broken() -> dict[str, Drifting]:
    """Return the degenerate texts by name."""
    return _counters() | _rows() | _shuffles() | _other()


def _counters() -> dict[str, Drifting]:
    sentence, paragraph = Family.SENTENCE, Family.PARAGRAPH
    long_item = "The committee met in the small room above the bakery. It heard the report, asked no questions, and agreed to meet again when the bridge was mended. The minutes were read, nobody objected, and the chairman put out the lamp before he locked the door and walked home along the canal in the rain."
    return {
        "letters to a bank": drifting([f"This is my letter number {i} to you, and I have had no answer. " for i in range(1, 200)], sentence, G),
        "laps": drifting([f"Lap {i} was like the one before, so he ran on. " for i in range(1, 300)], sentence, ""),
        "Italian years": drifting([f"Nell'anno {1800 + i} non accadde nulla di nuovo nel paese. " for i in range(200)], sentence, G),
        "Japanese days": drifting([f"{i}日目も雨が降り、船は港を出なかった。" for i in range(1, 300)], sentence, PROSE["japanese"]),
        "Arabic nights": drifting([f"وفي الليلة {i} عاد إلى الميناء ولم يجد أحدا هناك. " for i in range(1, 200)], sentence, PROSE["arabic"]),
        "Korean tries": drifting([f"{i}번째로 다시 확인했지만 아무것도 달라지지 않았다. " for i in range(1, 200)], sentence, PROSE["korean"]),
        "doors by lines": drifting([f"Door {i} is locked, so I walk on to the next one.\n" for i in range(1, 300)], sentence, G + "\n", honest=HONEST_LINES),
        "dates in prose": drifting([f"On {1 + i % 28} {('March', 'April', 'May', 'June')[i // 28 % 4]} {1990 + i // 112} it rained and the road was closed. " for i in range(300)], sentence, G),
        "minutes and counter": drifting([f"Meeting {i}. {long_item}\n\n" for i in range(1, 30)], paragraph, G + "\n"),
        "Russian entry and counter": drifting([f"Запись {i}. {PROSE['russian']}\n" for i in range(1, 30)], paragraph, ""),
        "Latin and counter in prose": drifting([f"{LATIN}({i}) " for i in range(1, 30)], paragraph, G + "\n"),
        "squares": drifting([f"The square of {k} is {k * k}, and that is not what we are looking for. " for k in range(1, 400)], Family.COMPUTED, G),
    }  # fmt: skip


def _rows() -> dict[str, Drifting]:
    rows, asked = Family.ROWS, Family.ASKED
    return {
        "semicolons": drifting([f"{i};Lyon;blue;yes\n" for i in range(1, 600)], rows, "id;town;colour;sold\n"),
        "XML items": drifting([f'<item id="{i}"><name>lamp</name><price>5</price></item>\n' for i in range(1, 400)], rows, "<items>\n"),
        "markdown links": drifting([f"- [Section {i}](#section-{i})\n" for i in range(1, 500)], rows, "# Contents\n\n"),
        "assertions": drifting([f"    assert is_even({i}) is True\n" for i in range(2, 900, 2)], rows, "```python\ndef test_even():\n"),
        "kernel log": drifting([f"[{i}.{i * 37 % 1000:03d}] usb 1-1: device not responding, trying again\n" for i in range(10, 500)], rows, ""),
        "spaced numbers": drifting([f"{i} " for i in range(1000, 5000)], Family.BARE, "The serial numbers are: "),
        "seven dwarfs": drifting([f"{i}. Sleepy is a dwarf.\n" for i in range(1, 100)], asked, "", prompt="Name the seven dwarfs in a numbered list.", honest=14),
        "cinco frutas": drifting([f"| {i} | manzana | roja |\n" for i in range(1, 100)], asked, "| n | fruta | color |\n|---|---|---|\n", prompt="Haz una tabla con 5 frutas y sus colores.", honest=12),
        "four services": drifting([f"  service{i}:\n    image: nginx\n    ports:\n      - 80{i:02d}:80\n" for i in range(1, 90)], asked, "services:\n", prompt="Write a YAML file with four services, each with an image and a port.", honest=11),
    }  # fmt: skip


def _shuffles() -> dict[str, Drifting]:
    words, sentences = Family.WORDS, Family.SENTENCES
    r = random.Random(91)
    tips = [
        f"- **{r.choice(['Plan ahead', 'Be ready', 'Stay calm'])}**: Make sure that you know what you want to say before you say it to anybody.\n"
        for _ in range(60)
    ]
    return {
        "Italian words": shuffled([w + " " for w in ["sole", "mare", "vento", "barca", "remo", "onda", "porto", "sale", "rete", "luna", "scoglio", "gabbiano"]], 500, words, 92, G),
        "English verbs": shuffled([w + " " for w in ["take", "make", "give", "find", "keep", "hold", "turn", "move", "send", "pull", "push", "open", "close", "lift", "drop", "bring", "carry"]], 600, words, 93, ""),
        "Greek words": shuffled([w + " " for w in ["και", "αλλά", "τότε", "πάλι", "ίσως", "όμως", "μετά", "εδώ", "τώρα"]], 500, words, 94, PROSE["greek"]),
        "Korean words too": shuffled([w + " " for w in ["그런데", "만약", "아마", "다시", "먼저", "그때", "여기", "우리"]], 500, words, 95, PROSE["korean"]),
        "Chinese words too": shuffled(["但是", "如果", "可能", "已经", "现在", "还是", "应该"], 600, words, 96, PROSE["chinese"]),
        "twenty-four words": shuffled([w + " " for w in ["river", "stone", "lamp", "door", "glass", "paper", "chair", "wheel", "cloud", "bread", "knife", "table", "horse", "field", "light", "water", "plant", "metal", "cloth", "brush", "stick", "chain", "plate", "spoon"]], 700, words, 97, G),
        "three sentences": shuffled(["We will try it once more. ", "It did not work this time. ", "Perhaps the cable is broken. "], 150, sentences, 98, G + "\n"),
        "five French sentences": shuffled(["Je ne sais pas encore. ", "Il faut attendre la marée. ", "Le bateau n'est pas parti. ", "Personne ne m'a répondu. ", "On verra bien demain matin. "], 200, sentences, 99, G + "\n"),
        "tips under three titles": Drifting(G + "\n" + "".join(tips), len(G) + 1, round(3 * sum(map(len, tips)) / len(tips)), sentences, 0),
        "Hindi sentences": shuffled(["मुझे यह ठीक से पता नहीं है। ", "हम इसे फिर से देखेंगे। ", "शायद उत्तर कुछ और है। "], 150, sentences, 100, PROSE["hindi"]),
    }  # fmt: skip


def _other() -> dict[str, Drifting]:
    r = random.Random(101)
    return {
        "yesss": drifting(["Ye" + "s" * i + "! " for i in range(1, 60)], Family.GROWTH, "Good news: "),
        "equal signs grow": drifting([f"{'9' * i}\n" for i in range(3, 60)], Family.GROWTH, "The numbers are:\n"),
        "bracketed markers": drifting([f"({i}) " for i in range(1, 300)], Family.MARKERS, "The steps are: "),
        "markers on lines": drifting([f"{i}:\n" for i in range(1, 400)], Family.MARKERS, "Answers\n", honest=HONEST_MARKER_LINES),
        "never varies": drifting([r.choice(["never again", "Never again", "NEVER AGAIN"]) + r.choice([", ", " - ", "; ", "! "]) for _ in range(100)], Family.WORDING, G),
        "spacing varies": drifting([r.choice(["The end of the line. ", "The end of  the line.\n", "The end of the line .  "]) for _ in range(80)], Family.WORDING, G),
        "list_dir with a step": drifting([json.dumps({"step": i, "name": "list_dir", "arguments": '{"path": "."}'}) + "\n" for i in range(60)], Family.CALLS, ""),
        "half words": drifting([(w[: len(w) // 2 + 1] + w if i % 3 else w) + " " for i, w in enumerate((PROSE["english"] * 2).split())], Family.SALAD, ""),
    }  # fmt: skip


def held_out_counting_sound() -> dict[str, Sound]:
    """Return the texts in order by name."""
    found = _traces() | _plans() | _tables() | _records() | _logs()
    return {name: text if isinstance(text, Sound) else Sound(text) for name, text in found.items()}


def _traces() -> dict[str, str]:
    return {
        "stack trace by hand": "".join(f"factorial({n}) calls factorial({n - 1}). " for n in range(15, 0, -1)) + "factorial(0) returns 1.",
        "queue": "".join(f"We take node {i} from the queue and mark it as seen. " for i in range(1, 13)) + "The queue is empty.",
        "sum so far": "".join(f"After adding {i}, the sum is {i * (i + 1) // 2}.\n" for i in range(1, 41)),
        "divisors": "".join(f"360 / {d} = {360 / d:g}{', a whole number' if 360 % d == 0 else ', not a whole number'}.\n" for d in range(1, 61)),
        "German induction": "".join(f"Für n = {n} gilt {n}·{n + 1}/2 = {n * (n + 1) // 2}.\n" for n in range(1, 31)),
        "dominoes": "".join(f"Domino {i} falls and knocks over domino {i + 1}. " for i in range(1, 13)) + "Then the last one falls.",
        "state machine": "".join(f"State {i}: read the next symbol; if it is 0 stay, if it is 1 go to state {i + 1}.\n" for i in range(1, 17)),
        "Chinese check": "".join(f"当n={n}时，n的平方加一等于{n * n + 1}，不是三的倍数。\n" for n in range(1, 41)),
        "bubble sort": "".join(f"Pass {i}: compare and swap, then the largest {i} are in place. " for i in range(1, 10)),
        "interest": "".join(f"After year {y} the account holds {1000 * 1.04**y:.2f} euros.\n" for y in range(1, 41)),
    }  # fmt: skip


def _plans() -> dict[str, str | Sound]:
    return {
        "advent": "".join(f"Window {d}: a small star of chocolate.\n" for d in range(1, 25)),
        "sets": "".join(f"Set {i}: ten squats, then rest for a minute. " for i in range(1, 6)) + "Done.",
        "crochet": "".join(f"Round {i}: increase in every {i}th stitch ({6 * i + 6} stitches).\n" for i in range(1, 21)),
        "Spanish routine": "".join(f"Día {d}: camina media hora y bebe dos litros de agua.\n" for d in range(1, 29)),
        "lines of a form": "".join(f"Applicant {i}: name ____________ signature ____________\n" for i in range(1, 26)),
        "ten in the bed": "".join(f"There were {n} in the bed and the little one said: roll over, roll over. So they all rolled over and one fell out.\n" for n in range(10, 1, -1)),
        "storyboard": "".join(f"Scene {i}\nCamera: wide\nSound: wind\nAction: {a}\n\n" for i, a in enumerate(["walk", "run", "stop", "look", "turn", "sit", "rise", "wave", "call", "go"], 1)),
        "52 weeks that were asked for": Sound("".join(f"Week {i}: save {i} euros.\n" for i in range(1, 53)), "Make a savings plan of 52 weeks in which I save one euro more each week."),
        "200 lines that were asked for": Sound("".join(f"Line {i} of the test file.\n" for i in range(1, 201)), "Print 200 numbered lines of test text."),
        "24 hours for two rooms": Sound("".join(f"{h:02d}:00 room A free, room B free\n" for h in range(24)), "Show the bookings of two rooms for every hour of the day."),
        "parking lots": Sound("".join(f"| P{i} | free |\n" for i in range(1, 61)), "Make a table of all parking lots of a car park with 3 floors of 20 lots."),
        "Russian stanza": "".join(f"Раз {i}, два {i}, мы идём гулять едва.\n" for i in range(1, 9)),
    }  # fmt: skip


def _tables() -> dict[str, str]:
    r = random.Random(102)
    words = PROSE["english"].replace(",", "").replace(".", "").replace(":", "").split()
    return {
        "seats": "".join(f"Row {i // 6 + 1}, seat {'ABCDEF'[i % 6]}: {words[i]}\n" for i in range(72)),
        "invoice": "pos;text;amount;price\n" + "".join(f"{i};{words[i]};{r.randrange(1, 9)};{r.randrange(100, 999) / 100:.2f}\n" for i in range(1, 41)),
        "figures": "".join(f"Figure {i}: The {words[i * 2]} and the {words[i * 2 + 1]} .... {i * 3}\n" for i in range(1, 36)),
        "appendix": "".join(f"Appendix {c}\n" for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
        "plain chapters": "".join(f"Kapitel {i} {'.' * 40} {i * 14 - 9}\n" for i in range(1, 36)),
        "nines": "".join(f"{n} × 9 = {n * 9}\n" for n in range(1, 31)),
        "fahrenheit": "| °C | °F |\n|---|---|\n" + "".join(f"| {c} | {c * 9 / 5 + 32:.1f} |\n" for c in range(-20, 60)),
        "results": "".join(f"| {i} | team {words[i]} | {r.randrange(5)}:{r.randrange(5)} | {'home' if i % 2 else 'away'} |\n" for i in range(1, 51)),
        "Japanese schedule": "".join(f"{i}時限目　{s}\n" for i, s in enumerate(["国語", "数学", "理科", "社会", "英語", "体育"] * 5, 1)),
        "check marks": "| step | done |\n|---|---|\n" + "".join(f"| {i} | ✓ |\n" for i in range(1, 61)),
        "chess clock": "".join(f"{i}. {9 - i // 6}:{59 - i % 6 * 10:02d} {9 - i // 5}:{59 - i % 5 * 11:02d}\n" for i in range(1, 41)),
        "polynomials": ", ".join(f"x^{i}" for i in range(1, 61)),
    }  # fmt: skip


def _records() -> dict[str, str]:
    r = random.Random(103)
    return {
        "sensors in JSON": json.dumps([{"sensor": i, "unit": "bar", "value": r.randrange(90), "ok": True} for i in range(1, 51)], indent=1),
        "devices": json.dumps({"devices": [{"id": f"dev-{i:03d}", "type": "lamp", "on": False} for i in range(1, 49)]}),
        "fixtures": "".join(f"User.create!(name: 'User {i}', email: 'user{i}@example.org', admin: false)\n" for i in range(1, 51)),
        "toml tables": "".join(f"[[server]]\nname = 'node{i}'\nport = 9000\n\n" for i in range(1, 31)),
        "pins": "".join(f"    pinMode({i}, OUTPUT);\n    digitalWrite({i}, LOW);\n" for i in range(2, 54)),
        "migrations": "".join(f"0{i:03d}_auto.py ... applied\n" for i in range(1, 61)),
        "constants": "".join(f"const LEVEL_{i} = {i * 10};\n" for i in range(1, 71)),
        "options": "<select>\n" + "".join(f'  <option value="{y}">{y}</option>\n' for y in range(1940, 2025)) + "</select>\n",
        "parameters": "f(" + ", ".join(f"int a{i}" for i in range(1, 61)) + ");",
        "GraphQL": "query {\n" + "".join(f"  u{i}: user(id: {i}) {{ name }}\n" for i in range(1, 51)) + "}\n",
        "matrix rows": "".join("[" + ", ".join(str(i * 10 + j) for j in range(10)) + "],\n" for i in range(10)),
    }  # fmt: skip


def _logs() -> dict[str, str]:
    r = random.Random(104)
    return {
        "retries with back-off": "".join(f"Attempt {i} failed, waiting {2**i} seconds.\n" for i in range(1, 12)),
        "syslog": "".join(
            f"Mar  3 04:{i:02d}:01 host CRON[{r.randrange(9999)}]: (root) CMD (run-parts /etc/cron.hourly)\n"
            for i in range(60)
        ),
        "training steps": "".join(f"step {i * 50} | loss {3.2 - i * 0.03:.3f} | lr 0.0003\n" for i in range(1, 81)),
        "downloads": "".join(
            f"Get:{i} deb main lib{r.choice(['xml', 'png', 'ssl', 'zip'])}{i} amd64 [{r.randrange(900)} kB]\n"
            for i in range(1, 71)
        ),
        "uploads": "".join(f"Uploading part {i} of 80 ... done.\n" for i in range(1, 81)),
        "subtests": "".join(f"    --- PASS: TestParse/case_{i} (0.00s)\n" for i in range(100)),
        "health": "".join(f"2024-05-05T10:{i:02d}:00Z GET /health 200 2ms\n" for i in range(60)),
        "replies": "".join(f"Reply from 192.0.2.1: bytes=32 time={r.randrange(9, 30)}ms TTL=57\n" for _ in range(40)),
    }
