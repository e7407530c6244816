"""A third set, written after the thresholds were fixed and scanned once before anything was changed for it."""

# ruff: noqa: E501
from __future__ import annotations

import json
import random

from degeneration.prose import LATIN, PROSE

E, G, Z = PROSE["english"], PROSE["german"], PROSE["chinese"]
MISSED = {"row growing"}
"""Degenerate, and not seen: rows of a table that grow by a cell each."""
FALSELY_CALLED = {"villanelle"}
"""Called a failure: a poem of six stanzas that are the same."""


def held_out_broken() -> dict[str, str]:
    """Return degenerate texts by name."""
    r = random.Random(77)
    return {
        "json args newline flood": ('{"query": "SELECT * FROM t' + "\\n" * 600),
        "korean syllable": PROSE["korean"] + "가" * 800,
        "wait loop": E + "Wait, actually, let me re-read the question once more. " * 40,
        "wait varied": E
        + "".join(
            r.choice(["Wait, ", "Hmm, ", "Actually, ", "But wait, "])
            + r.choice(["let me re-read the question.", "I should re-read it.", "maybe I misread the question."])
            + " "
            for _ in range(150)
        ),
        "final answer loop": "The answer is 42.\n\n**Final Answer**\n\n\\boxed{42}\n\n" * 60,
        "row growing": "".join("|" + " x |" * i + "\n" for i in range(1, 60)),
        "pos drift": "".join(f"Position {i}: ({i * 2}, {i * 3})\n" for i in range(500)),
        "python list same": "x = [" + "'apple', " * 300,
        "md header loop": "## Summary\n\nThis section summarises the results.\n\n" * 50,
        "code comment loop": "```python\n" + "# TODO: implement this function\n" * 100,
        "try catch nested": "try {\n" * 200,
        "indent growing": "".join(" " * i + "if x:\n" for i in range(1, 120)),
        "log ts": "".join(
            f"2024-06-01 12:{i // 60 % 60:02d}:{i % 60:02d},{r.randrange(1000):03d} ERROR connection lost, reconnecting\n"
            for i in range(400)
        ),
        "phone": "".join(f"Call me at 555-{r.randrange(10000):04d}. " for i in range(300)),
        "zh para": Z * 6,
        "zh drift": "".join(f"第{i}步：重复上述操作，直到结果收敛为止。\n" for i in range(1, 400)),
        "ja wa": "はははははは" * 100,
        "emoji pair": "😂🤣" * 400,
        "zalgo": "a\u0301" * 400,
        "rtl": "لا " * 400,
        "hindi words": "".join(r.choice(["और ", "फिर ", "तो ", "है ", "नहीं "]) for _ in range(500)),
        "en low vocab nl": " ".join(
            r.choice(["error", "failed", "retry", "again", "timeout", "connection", "server", "please", "wait"])
            for _ in range(500)
        ),
        "tool json repeated": '{"name": "search", "arguments": {"q": "weather"}}\n' * 60,
        "user/assistant drift": "".join(f"User: Are you sure?\nAssistant: Yes, I am sure ({i}).\n" for i in range(200)),
        "bang mix": "!" * 100 + " " + "!" * 100 + "\n" + "!" * 300 + "?" + "!" * 400,
        "newline para": ("\n" * 50 + "Ok.") * 20,
        "base64 loop": "iVBORw0KGgoAAAANSUhEUgAAAAUA" * 60,
        "url": "https://example.com/a https://example.com/a " * 60,
        "css": "  margin: 0;\n" * 120,
        "sql": "AND status = 'open' " * 100,
        "html li": "<li>Item</li>\n" * 120,
        "latex sum": "\\frac{1}{2} + " * 150,
        "stars ratings": "⭐" * 500,
        "pipe": "|" * 700,
        "bracket": "[" * 500,
        "word doubled": "the the the the " * 100,
        "hyphen word": "re-" * 300,
        "n-grams": "a b c d e f g " * 80,
        "csv drift": "".join(f"{i},open,pump,ok\n" for i in range(500)),
        "yaml drift": "".join(f"  - id: {i}\n    state: open\n" for i in range(400)),
        "roman": E + " ".join("IVXLC"[i % 5] for i in range(600)),
        "think close loop": "</think>\n\nHello! How can I help?\n<think>\n" * 40,
        "french loop apres 6k": (E + G + LATIN) * 3 + "Je suis désolé, je ne peux pas. " * 60,
    }


def held_out_sound() -> dict[str, str]:
    """Return texts in order by name."""
    r = random.Random(78)
    return {
        "resume": "".join(
            f"- Led project {w} and delivered it on time.\n"
            for w in [
                "Atlas",
                "Borealis",
                "Cygnus",
                "Draco",
                "Eridanus",
                "Fornax",
                "Gemini",
                "Hydra",
                "Indus",
                "Lyra",
                "Mensa",
                "Norma",
                "Orion",
            ]
        ),
        "schedule": "".join(f"{h:02d}:00 - {h + 1:02d}:00  Meeting room {h % 4 + 1}\n" for h in range(7, 20)) * 3,
        "recipes": "".join(
            f"{i}. Add {i * 10} g of {w} and stir.\n"
            for i, w in enumerate(
                ["flour", "sugar", "butter", "salt", "milk", "oats", "nuts", "honey", "cocoa", "yeast"], 1
            )
        ),
        "matrix": "\n".join(" ".join(f"{(i * j) % 7:2d}" for j in range(20)) for i in range(20)),
        "identity": "\n".join(" ".join("1" if i == j else "0" for j in range(25)) for i in range(25)),
        "zeros rows": "\n".join(" ".join(["0"] * 20) for _ in range(20)),
        "hex table": "\n".join(f"0x{i:02X} {i:3d} {i:08b}" for i in range(256)),
        "ascii table": "\n".join(f"{i:3d} {chr(i)}" for i in range(33, 127)),
        "flags": "".join(f"--option-{w}  enable {w}\n" for w in E.replace(".", "").split()[:60]),
        "env": "".join(f"export VAR_{i}=value_{i}\n" for i in range(60)),
        "json schema": json.dumps(
            {"properties": {f"p{i}": {"type": "string", "description": ""} for i in range(60)}}, indent=2
        ),
        "openapi": json.dumps(
            {"paths": {f"/r{i}": {"get": {"responses": {"200": {"description": "OK"}}}} for i in range(40)}}, indent=2
        ),
        "proto": "".join(f"  optional string field_{i} = {i};\n" for i in range(1, 90)),
        "unit conv": "".join(f"{i} km = {i * 0.621371:.3f} miles\n" for i in range(1, 100)),
        "vocab": "".join(f"{a} - {b}\n" for a, b in zip(E.split()[:80], G.split()[:80], strict=False)),
        "quiz": "".join(
            f"Q{i}: What is {i} + {i + 3}?\nA) {2 * i + 1}\nB) {2 * i + 3}\nC) {2 * i + 5}\n\n" for i in range(1, 30)
        ),
        "minutes": "".join(
            f"{n}: I agree with the proposal.\n"
            for n in ["Anna", "Ben", "Cora", "Dan", "Eve", "Finn", "Gil", "Hana", "Ivo", "Jana", "Kai", "Lea"]
        ),
        "votes": "".join(
            f"{n}: yes\n"
            for n in ["Anna", "Ben", "Cora", "Dan", "Eve", "Finn", "Gil", "Hana", "Ivo", "Jana", "Kai", "Lea"] * 4
        ),
        "changelog": "".join(f"## 1.{i}.0\n\n- Bug fixes and performance improvements\n\n" for i in range(30, 0, -1)),
        "poem": "".join(
            f"Nevermore the {w},\nnevermore the rain.\n"
            for w in ["lamp", "stone", "boat", "child", "bell", "rope", "glove", "wind", "gull"]
        ),
        "villanelle": (
            "Do not forget the water and the light.\n" + E[:80] + "\nWe carry what we can into the night.\n\n"
        )
        * 6,
        "thanks": "Thank you! Thank you! Thank you so much! " + E,
        "noo": "Noooooooooooooooooooooooooooooo! " + E,
        "drum": "boom boom clap, boom boom clap, " * 8,
        "zh 经": "南无阿弥陀佛。" * 10,
        "zh table": "| 城市 | 天气 |\n|---|---|\n"
        + "".join(
            f"| {c} | 晴 |\n"
            for c in [
                "北京",
                "上海",
                "广州",
                "深圳",
                "杭州",
                "南京",
                "武汉",
                "成都",
                "西安",
                "重庆",
                "天津",
                "苏州",
                "长沙",
                "郑州",
                "青岛",
            ]
        ),
        "ja conj": "".join(
            f"{w}ます、{w}ません、{w}ました、{w}ませんでした\n"
            for w in ["行き", "書き", "読み", "話し", "食べ", "見", "聞き", "飲み"]
        ),
        "ru declension": "".join(
            f"{w}, {w}а, {w}у, {w}ом, о {w}е\n" for w in ["стол", "дом", "город", "завод", "народ", "кот"]
        ),
        "regex": "[A-Za-z0-9]" * 12,
        "asm": "".join(
            f"    mov eax, [rdi+{i * 4}]\n    add eax, [rsi+{i * 4}]\n    mov [rdx+{i * 4}], eax\n" for i in range(32)
        ),
        "wat": "".join(f"    (local.get $p{i})\n" for i in range(60)),
        "ir": "".join(f"  %{i} = add i32 %{i - 1}, 1\n" for i in range(1, 80)),
        "gcode": "".join(f"G1 X{i * 0.5:.2f} Y{(i * 7) % 50:.2f} E{i * 0.01:.4f}\n" for i in range(150)),
        "obj": "".join(f"v {r.random():.4f} {r.random():.4f} {r.random():.4f}\n" for i in range(150)),
        "fen": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\n" * 4,
        "pgn": " ".join(f"{i}. e4 e5" for i in range(1, 30)),
        "srt blank": "".join(f"{i}\n00:00:{i:02d},000 --> 00:00:{i:02d},900\n♪\n\n" for i in range(1, 40)),
        "bib": "".join(f"@article{{a{i},\n  title = {{}},\n  year = {{20{i:02d}}}\n}}\n\n" for i in range(1, 30)),
        "crontab": "".join(f"{i} * * * * /usr/bin/job{i}\n" for i in range(60)),
        "dns": "".join(f"host{i} IN A 10.0.0.{i}\n" for i in range(1, 100)),
        "todo": "".join(
            f"// TODO({n}): check\n" for n in ["anna", "ben", "cora", "dan", "eve", "finn", "gil", "hana"] * 3
        ),
        "kmap": "".join(f"m{i} " for i in range(64)),
        "stdlib help": "usage: prog [-h] [-v]\n\noptions:\n"
        + "".join(f"  -{c}, --{c}{c}{c}  set {c}\n" for c in "abcdefghijkl"),
        "math steps": "".join(
            f"\\int_0^{{{n}}} x^{n} dx = \\frac{{{n}^{{{n + 1}}}}}{{{n + 1}}}\n" for n in range(1, 30)
        ),
        "euclid": "".join(
            f"gcd({a}, {b}) = gcd({b}, {a % b})\n"
            for a, b in zip(range(987, 900, -3), range(610, 520, -3), strict=False)
        ),
        "guess": "".join(f"Guess {i}: {i * 7} is too low, so I try a larger number.\n" for i in range(1, 30)),
    }
