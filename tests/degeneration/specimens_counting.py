"""Texts that count: honest enumerations, and loops whose copies differ in a counter, a time stamp or their order.

Both lists were read while the limits were set. Those of specimens_counting_held_out.py were not.
"""

# ruff: noqa: E501
from __future__ import annotations

import json
import random

from degeneration.families import (
    HONEST_ENTRIES,
    HONEST_LINES,
    HONEST_MARKER_LINES,
    Drifting,
    Family,
    drifting,
    shuffled,
)
from degeneration.prose import PROSE
from degeneration.specimens import Sound

E = PROSE["english"][:240] + "\n"


def counting_broken() -> dict[str, Drifting]:
    """Return the degenerate texts by name."""
    return _counters() | _counted_rows() | _asked() | _shuffles() | _other()


def _counters() -> dict[str, Drifting]:
    sentence, paragraph = Family.SENTENCE, Family.PARAGRAPH
    r = random.Random(21)
    return {
        "days in prose": drifting(
            [f"On day {i} nothing happened and we waited for the wind. " for i in range(1, 200)], sentence
        ),
        "sheep": drifting([f"I counted {i} sheep and I still could not sleep. " for i in range(1, 200)], sentence, ""),
        "ordinals": drifting(
            [
                f"I was on the {i}{'th' if i % 10 not in (1, 2, 3) else ('st', 'nd', 'rd')[i % 10 - 1]} day, and I was tired. "
                for i in range(18, 200)
            ],
            sentence,
        ),
        "Chinese attempts": drifting(
            [f"第{i}次尝试失败了，我再试一次看看结果如何。" for i in range(1, 300)], sentence, PROSE["chinese"]
        ),
        "Russian attempts": drifting(
            [f"Попытка {i} не удалась, поэтому я пробую ещё раз. " for i in range(1, 200)],
            sentence,
            head=PROSE["russian"],
        ),
        "German lines": drifting(
            [f"Im Jahr {1900 + i} war die Ernte gut und niemand klagte.\n" for i in range(200)],
            sentence,
            honest=HONEST_LINES,
        ),
        "months": drifting(
            [
                f"In {m} {y} the river was low and the mill stood still. "
                for y in range(1990, 2020)
                for m in (
                    "January",
                    "February",
                    "March",
                    "April",
                    "May",
                    "June",
                    "July",
                    "August",
                    "September",
                    "October",
                    "November",
                    "December",
                )
            ],
            sentence,
        ),
        "two sentences a step": drifting(
            [f"Step {i}: check the valve. If it leaks, go to step {i + 1}. " for i in range(1, 200)], sentence
        ),
        "Spanish in turn": drifting(
            [f"El vecino {i} dijo que sí. El vecino {i + 1} dijo que no. " for i in range(1, 400, 2)], sentence
        ),
        "paragraph and counter": drifting([f"Visit {i}. {PROSE['english']}\n\n" for i in range(1, 20)], paragraph, ""),
        "French paragraph and counter": drifting(
            [f"Jour {i} : {PROSE['french']}\n" for i in range(1, 20)], paragraph, ""
        ),
        "Chinese paragraph and counter": drifting([f"{i}、{PROSE['chinese']}\n" for i in range(1, 20)], paragraph, ""),
        "entry and counter": drifting(
            [
                f"Entry {i}. We rose before the sun, walked down to the quay, and found the boat as we had left it. Nobody had come in the night. We mended the net, ate our bread, and went home before the rain began.\n"
                for i in range(1, 60)
            ],
            Family.SENTENCE,
            honest=HONEST_ENTRIES,
        ),
        "time in prose": drifting(
            [
                f"At {h:02d}:{m:02d} the guard walked past the gate and saw nobody. "
                for h in range(24)
                for m in range(0, 60, 10)
            ],
            sentence,
        ),
        "check computed": drifting(
            [
                f"For k = {k} the value is {k * k * k - 7}, so this one fails and we try the next. "
                for k in range(1, 400)
            ],
            Family.COMPUTED,
        ),
        "random numbers in a sentence": drifting(
            [f"The sensor reads {r.randrange(900)} and all is well. " for _ in range(400)], Family.COMPUTED
        ),
    }


def _counted_rows() -> dict[str, Drifting]:
    rows = Family.ROWS
    return {
        "table rows": drifting(
            [f"| {i} | valve | closed | fine |\n" for i in range(1, 500)],
            rows,
            head="| id | part | state | note |\n|---|---|---|---|\n",
        ),
        "JSON objects": drifting(
            [json.dumps({"id": i, "name": "Jane Doe", "role": "user"}) + ", " for i in range(1, 500)],
            rows,
            head='{"users": [',
        ),
        "CSV rows": drifting([f"{i},Graz,open,none\n" for i in range(1, 600)], rows, head="id,city,state,note\n"),
        "code lines": drifting(
            [f"    if (x == {i}) return x;\n" for i in range(1, 500)], rows, "```c\nint f(int x) {\n"
        ),
        "yaml": drifting([f"  - name: worker-{i}\n    image: app\n" for i in range(1, 400)], rows, "services:\n"),
        "log": drifting(
            [
                f"2024-07-01 {i // 3600:02d}:{i // 60 % 60:02d}:{i % 60:02d} WARN queue is empty, waiting\n"
                for i in range(0, 4000, 10)
            ],
            rows,
            head="",
        ),
        "list items": drifting([f"- Option {i}: choose the best one\n" for i in range(1, 500)], rows),
        "bare rows": drifting(
            [f"| {i} | {i + 1} | {i + 2} |\n" for i in range(1, 9000, 3)], Family.BARE, "```\n\n---\n\n"
        ),
        "numbers in an argument": drifting([f"{i}; " for i in range(1, 3000)], Family.BARE, '{"article": "'),
    }


def _asked() -> dict[str, Drifting]:
    asked = Family.ASKED
    return {
        "six users": drifting(
            [
                json.dumps({"id": i, "name": "Jane Doe", "email": "jane@example.com"}, indent=4) + ",\n"
                for i in range(123, 180)
            ],
            asked,
            head='```json\n{"users": [\n',
            prompt="Write a JSON array of six users with id, name and email.",
            honest=13,
        ),
        "fifteen animals": drifting(
            [f"{i}. Lions\n" for i in range(1, 200)],
            asked,
            head="",
            prompt="List fifteen animals that live in the desert.",
            honest=30,
        ),
        "three servers": drifting(
            [f"Server {i}:\nCPU: {i}\nMemory: {i}\nDisk: {i}\n\n" for i in range(1, 100)],
            asked,
            head="",
            prompt="Make an ASCII table of three servers with CPU, memory and disk.",
            honest=11,
        ),
        "ten rows": drifting(
            [f"| {i} | Elbe | Germany |\n" for i in range(1, 200)],
            asked,
            head="| no | river | country |\n|---|---|---|\n",
            prompt="Make a table of ten rivers.",
            honest=20,
        ),
        "fünf Gründe": drifting(
            [f"{i}. Es ist gut für die Umwelt.\n" for i in range(1, 200)],
            asked,
            head="",
            prompt="Nenne fünf Gründe für das Radfahren.",
            honest=12,
        ),
        "8 个城市": drifting(
            [f"{i}. 北京是一个城市\n" for i in range(1, 200)], asked, "", prompt="请列出8个中国城市。", honest=16
        ),
    }


def _shuffles() -> dict[str, Drifting]:
    words, sentences = Family.WORDS, Family.SENTENCES
    r = random.Random(23)
    items = [
        f"{i}. **{r.choice(['Code Quality', 'Codebase'])}**: Check that the code is well tested and has a solid base. This includes looking for bugs and performance.\n\n"
        for i in range(2, 60)
    ]
    openers = [
        f"{r.choice(['Once', 'Now that'])} we have selected the tools, we need to select the tools. In this case we have several tools that can be adapted. The tools we need are the grip and the lift.\n\n"
        for _ in range(40)
    ]
    return {
        "German words": shuffled([w + " " for w in ["aber", "dann", "noch", "einmal", "weiter", "wieder", "immer", "doch", "also", "denn", "schon", "eben"]], 500, words, 31, PROSE["german"]),
        "Spanish words": shuffled([w + " " for w in ["casa", "mar", "sol", "luz", "noche", "viento", "tierra", "agua", "cielo", "fuego", "camino", "sombra", "piedra", "flor", "voz", "mano", "tiempo", "sueño", "alma", "luna", "río", "nube", "pan", "sal", "vino"]], 600, words, 32),
        "long German words": shuffled([w + " " for w in ["Hafenmeisterei", "Schiffsverzeichnis", "Zollbehörde", "Frachtgebühren", "Ladungsverlust", "Lagerverwaltung", "Wasserstand", "Gezeitentabelle"]], 400, words, 33, PROSE["german"]),
        "Arabic words": shuffled([w + " " for w in ["ثم", "بعد", "ذلك", "كان", "هذا", "الذي", "في", "من", "على", "لكن"]], 500, words, 34, PROSE["arabic"]),
        "Japanese words": shuffled(["そして", "また", "しかし", "だから", "それは", "でも"], 500, words, 35, PROSE["japanese"]),
        "Hindi words": shuffled([w + " " for w in ["और", "फिर", "तो", "यह", "वह", "है", "नहीं", "था"]], 500, words, 36, PROSE["hindi"]),
        "words in an argument": shuffled([w + " " for w in ["fetch", "the", "next", "page", "again", "then", "more", "data", "please", "now", "ok", "done"]], 500, words, 37, '{"query": "'),
        "two sentences": shuffled(["I think that the door is still open. ", "Maybe somebody has closed it by now. "], 90, sentences, 38),
        "three German sentences": shuffled(["Das ist noch nicht alles. ", "Wir fangen noch einmal von vorne an. ", "Vielleicht hilft uns der Hafenmeister. "], 120, sentences, 39),
        "four Chinese sentences": shuffled(["让我再想一想这个问题。", "这个答案似乎并不正确。", "我们需要重新检查题目。", "也许应该换一种方法。"], 160, sentences, 40, PROSE["chinese"]),
        "eight sentences": shuffled(["The lamp is on. ", "The lamp was off before. ", "Somebody must have come in. ", "But the door is locked. ", "So nobody came in. ", "Then who lit the lamp? ", "Let me look again. ", "I see the lamp on the table. "], 200, sentences, 41),
        "lines in any order": shuffled(["We should look at the harbour again.\n", "The harbour is where the boats are.\n", "No boat has left the harbour today.\n"], 100, sentences, 42),
        "items under two titles": Drifting(E + "".join(items), len(E), round(2 * sum(map(len, items)) / len(items)), sentences, 0),
        "paragraphs under two openers": Drifting(E + "".join(openers), len(E), round(2 * sum(map(len, openers)) / len(openers)), sentences, 0),
    }  # fmt: skip


def _other() -> dict[str, Drifting]:
    r = random.Random(24)
    runs = ["no" + "o" * i + " " for i in range(1, 60)]
    return {
        "noooo": drifting(runs, Family.GROWTH, "She cried: "),
        "screams by lines": drifting(["A" * i + "h" * i + "!\n" for i in range(2, 40)], Family.GROWTH),
        "zeros that grow": drifting([f"1{'0' * i}, " for i in range(3, 70)], Family.GROWTH, '{"values": ['),
        "empty items": drifting([f"{i}) " for i in range(1, 300)], Family.MARKERS, "Reasons: "),
        "empty items on lines": drifting(
            [f"- {i}.\n" for i in range(1, 400)], Family.MARKERS, "Reasons:\n", honest=HONEST_MARKER_LINES
        ),
        "shouting": drifting(
            [
                r.choice(["Go home now", "go home now", "GO HOME NOW"]) + r.choice(["! ", "!! ", ". "])
                for _ in range(100)
            ],
            Family.WORDING,
        ),
        "quotes vary": drifting(
            [
                r.choice(
                    [
                        '"It is fine," he said. ',
                        "“It is fine,” he said. ",
                        "'It is fine', he said. ",
                        "It is fine, he said... ",
                    ]
                )
                for _ in range(80)
            ],
            Family.WORDING,
        ),
        "call with a turn": drifting(
            [
                json.dumps({"turn": i, "name": "search", "arguments": '{"query": "pump manual"}'}) + "\n"
                for i in range(60)
            ],
            Family.CALLS,
            head="",
        ),
    }


def counting_sound() -> dict[str, Sound]:
    """Return the texts in order by name."""
    found = _traces() | _plans() | _tables() | _records() | _logs()
    return {name: text if isinstance(text, Sound) else Sound(text) for name, text in found.items()}


def _traces() -> dict[str, str]:
    return {
        "trace in prose": "We follow the loop. " + "".join(f"In iteration {i}, i is {i}, so the program prints {i}. " for i in range(1, 21)) + "Then i is 21 and the loop ends.",
        "trace by lines": "".join(f"When i = {i}, the condition {i} < 12 holds, so the body runs.\n" for i in range(12)) + "When i = 12, it does not, and the loop ends.\n",
        "induction chain": "".join(f"Since P({i}) holds, P({i + 1}) holds. " for i in range(1, 16)) + "And so on.",
        "powers": "".join(f"For n = {n}, 2^{n} = {2**n}, which is greater than {n * n}.\n" for n in range(5, 45)),
        "trial division": "".join(f"{d} does not divide 1009, because 1009 = {1009 // d} * {d} + {1009 % d}. " for d in range(2, 32)) + "So 1009 is prime.",
        "linear search": "".join(f"Index {i} holds {v}, which is not 42. " for i, v in enumerate([7, 19, 3, 88, 54, 61, 12, 90, 33, 27, 5, 71, 66, 48, 15, 99, 2, 83, 36, 70])) + "Index 20 holds 42. Found.",
        "snail": "".join(f"On day {d} the snail climbs from {d - 1} m to {d + 2} m and slips back to {d} m. " for d in range(1, 8)) + "On day 8 it is out.",
        "Russian equations": "".join(f"Задание {i}. Решите уравнение {i}x + 3 = {i * i + 3}.\n" for i in range(1, 31)),
        "fizz": "\n".join("FizzBuzz" if i % 15 == 0 else "Fizz" if i % 3 == 0 else "Buzz" if i % 5 == 0 else str(i) for i in range(1, 101)),
        "hanoi": "".join(f"Move disk {(i & -i).bit_length()} from peg {'ABC'[(i & i - 1) % 3]} to peg {'ABC'[((i | i - 1) + 1) % 3]}.\n" for i in range(1, 64)),
    }  # fmt: skip


def _plans() -> dict[str, str | Sound]:
    rows = "".join(f"Row {i}: Knit all stitches.\nRow {i + 1}: Purl all stitches.\n" for i in range(1, 41, 2))
    return {
        "running plan": "".join(f"Day {d}: Run for {9 + d} minutes, then stretch for five.\n" for d in range(1, 31)),
        "a month of pages": "".join(f"Day {d}. Read one page and write one line.\n" for d in range(1, 32)),
        "stockinette": rows,
        "Chinese study plan": "".join(f"第{d}天：复习单词，做练习，听录音，写日记。\n" for d in range(1, 22)),
        "lift": "".join(f"Floor {i}. The doors open, and nobody gets in. " for i in range(1, 18)) + "The roof. At last.",
        "weeks": "".join(f"Week {w}\nMonday: rest\nTuesday: run 5 km\nThursday: swim\nSaturday: long run\n\n" for w in range(1, 17)),
        "monthly report": "".join(f"{m} 2024: no incidents, and all systems were up.\n" for m in ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December")),
        "months in a paragraph": "".join(f"In {m} 2024 there were no incidents at the plant. " for m in ("January", "February", "March", "April", "May", "June", "July", "August")),
        "five ducks": "".join(f"{a} little ducks went out one day, over the hills and far away. Mother duck said quack, quack, quack, but only {b} little ducks came back. " for a, b in ((5, 4), (4, 3), (3, 2), (2, 1))),
        "breathing": "Breathe in for 4, hold for 4, breathe out for 6. " * 3 + E,
        "bus": "".join(f"Bus 7 leaves the station at {6 + i // 6:02d}:{i % 6 * 10:02d}.\n" for i in range(40)),
        "reserved sections": "".join(f"§ 12.{i} [Reserved]\n" for i in range(10, 60)),
        "placeholders": "".join(f"Question {i}: [Insert question here]\nA) Option A\nB) Option B\nC) Option C\nAnswer: [Insert answer]\n\n" for i in range(1, 16)),
        "sentences as test data": "".join(f"This is sentence number {i}. " for i in range(1, 21)),
        "100 sentences that were asked for": Sound("".join(f"This is sentence number {i}. " for i in range(1, 101)), "Generate 100 short numbered sentences as test data."),
        "a 30-day plan that was asked for": Sound("".join(f"Day {i}: Take the stairs, drink more water and sleep eight hours. " for i in range(1, 31)), "Write me a 30-day plan for a healthier life, one sentence a day."),
        "twelve weeks, more detail": Sound("".join(f"Week {i}: practise scales for {i * 5} minutes.\n" for i in range(1, 13)), "Give me a plan with three exercises to learn the piano in twelve weeks."),
        "three shifts a day": Sound("".join(f"| {d} | early | late | night |\n" for d in range(1, 32)), "Make a table of the three shifts for each day of the month."),
        "four tests of two functions": Sound("".join(f"def test_{i}():\n    assert add({i}, {i}) == {2 * i}\n    assert sub({i}, {i}) == 0\n\n" for i in range(1, 13)), "Write unit tests for these 2 functions."),
    }  # fmt: skip


def _tables() -> dict[str, str]:
    r = random.Random(25)
    first = [
        "Anna",
        "Ben",
        "Cora",
        "Dan",
        "Eve",
        "Finn",
        "Gil",
        "Hana",
        "Ivo",
        "Jana",
        "Kai",
        "Lea",
        "Max",
        "Nora",
        "Otto",
        "Pia",
        "Quin",
        "Rosa",
        "Sam",
        "Tina",
    ]
    towns = ["Graz", "Linz", "Wien", "Bonn", "Kiel", "Rom", "Oslo", "Bern", "Lyon", "Gent"]
    return {
        "table of people": "| id | name | town |\n|---|---|---|\n" + "".join(f"| {i} | {first[i % 20]} | {towns[i * 7 % 10]} |\n" for i in range(1, 61)),
        "table of states": "| id | state | owner |\n|---|---|---|\n" + "".join(f"| {i} | {r.choice(('open', 'done', 'late'))} | team {r.randrange(4)} |\n" for i in range(1, 81)),
        "contents by number": "Contents\n\n" + "".join(f"Chapter {i}\n" for i in range(1, 41)),
        "contents with pages": "".join(f"{i}. {first[i % 20]}'s journey to {towns[i % 10]} {'.' * 30} {i * 11}\n" for i in range(1, 31)),
        "seven times": "".join(f"7 x {i} = {7 * i}\n" for i in range(1, 21)),
        "times tables in words": "".join(f"{a} times {b} is {a * b}. " for a in range(2, 6) for b in range(1, 11)),
        "sensor": "time,celsius,state\n" + "".join(f"2024-01-01T{i // 12:02d}:{i % 12 * 5:02d}:00,21.5,ok\n" for i in range(100)),
        "names of equal length": "".join(f"{i}. {w}\n" for i, w in enumerate([a + b for a in ("Ka", "Mi", "To", "Re", "Lu", "Sa") for b in ("ro", "na", "li", "de", "mu")], 1)),
        "numbers in three languages": "".join(f"{i}: {a}, {b}\n" for i, (a, b) in enumerate(zip(["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], ["eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn"], strict=True), 1)),
        "ascii codes": "\n".join(f"| {i} | {i:02x} | {chr(i)} |" for i in range(32, 127)),
        "exam rooms": "".join(f"| {9 + i // 4:02d}:{i % 4 * 15:02d} | Room {i % 5 + 1} | Written exam |\n" for i in range(40)),
        "Chinese contents": "".join(f"第{i}章　{w}\n" for i, w in enumerate(["港口", "潮水", "木材", "账本", "苍鹭", "浓雾", "检查员", "首都", "绳结", "报告", "码头", "灯塔", "渔夫", "盐仓", "橙子"], 1)),
    }  # fmt: skip


def _records() -> dict[str, str]:
    r = random.Random(26)
    return {
        "JSON with equal fields": json.dumps([{"id": i, "role": "user", "active": True} for i in range(1, 41)]),
        "JSON lines": "".join(
            json.dumps({"id": i, "score": round(r.random(), 3), "label": r.choice(["a", "b"])}) + "\n"
            for i in range(60)
        ),
        "inserts": "".join(
            f"INSERT INTO part (id, name, stock) VALUES ({i}, 'bolt {i}', {r.randrange(99)});\n" for i in range(1, 61)
        ),
        "test users": "id,name,mail\n" + "".join(f"{i},User {i},user{i}@example.com\n" for i in range(1, 81)),
        "index array": "int index[] = {" + ", ".join(map(str, range(128))) + "};\n",
        "list elements": "<ul>\n" + "".join(f"  <li>Item {i}</li>\n" for i in range(1, 61)) + "</ul>\n",
        "error codes": "".join(f"#define E_CODE_{i} {i}\n" for i in range(1, 91)),
        "case labels": "switch (x) {\n" + "".join(f"    case {i}: return {i * i};\n" for i in range(1, 61)) + "}\n",
        "reset calls": "".join(f"    reset_channel({i});\n" for i in range(48)),
        "placeholders in SQL": "VALUES (" + ", ".join(f"${i}" for i in range(1, 100)) + ")",
    }


def _logs() -> dict[str, str]:
    r = random.Random(27)
    return {
        "worker log": "".join(
            f"2024-03-01 12:{i // 12:02d}:{i % 12 * 5:02d} INFO worker: job finished\n" for i in range(60)
        ),
        "compiling": "".join(f"[{i:3d}/100] Compiling module_{i}.o\n" for i in range(1, 101)),
        "percent": "".join(f"Progress: {i}% complete\n" for i in range(101)),
        "epochs": "".join(f"Epoch {i}/50 - loss: {1.9 / i:.4f} - accuracy: {1 - 0.6 / i:.4f}\n" for i in range(1, 51)),
        "collected tests": "".join(f"test_parser.py::test_case[{i}] PASSED\n" for i in range(1, 91)),
        "mixed log": "".join(
            f"12:{i // 60:02d}:{i % 60:02d} {r.choice(['GET /', 'GET /a.css', 'POST /login', 'GET /logo.png'])} {r.choice([200, 200, 304, 404])}\n"
            for i in range(120)
        ),
        "frames": "".join(
            f"frame={i * 24:5d} fps=24 q=28.0 size={i * 96:7d}kB time=00:00:{i:02d}.00\n" for i in range(1, 60)
        ),
        "seeds": "".join(f"seed {i}: ok\n" for i in range(100)),
    }
