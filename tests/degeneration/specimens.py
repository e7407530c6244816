"""Own specimens: texts that only look repetitive, and texts that are broken. Generated, so that they stay small."""

# ruff: noqa: E501
from __future__ import annotations

import base64
import json
import random
from dataclasses import dataclass

from degeneration.prose import LATIN, PROSE

ENGLISH = PROSE["english"]


@dataclass(frozen=True)
class Broken:
    """A degenerate text: where it begins, and its period where it has an exact one."""

    text: str
    onset: int
    period: int | None = None


@dataclass(frozen=True)
class Sound:
    """A text in order, with the prompt that it answers where that matters."""

    text: str
    prompt: str | None = None


def _loop(unit: str, copies: int, head: str = ENGLISH, tail: str = "") -> Broken:
    return Broken(head + unit * copies + tail, len(head), len(unit))


def _drift(lines: list[str], head: str = ENGLISH[:240] + "\n") -> Broken:
    return Broken(head + "".join(lines), len(head))


def broken() -> dict[str, Broken]:
    """Return the degenerate specimens by name."""
    r = random.Random(11)
    long_head = (ENGLISH + LATIN) * 5
    paragraphs = {
        language: _loop(PROSE[language], 8, head="") for language in ("german", "russian", "chinese", "thai", "hindi")
    }
    found = {f"paragraph of {language} again and again": item for language, item in paragraphs.items()}
    found |= {
        f"short phrase of {language} again and again": _loop(PROSE[language][5:21], 60, head=PROSE[language])
        for language in PROSE
    }
    pages = "".join(f"{LATIN[k:]}{PROSE['french'][k * 3 :]}{k}{ENGLISH[k:]}" for k in range(0, 30, 7))
    found |= {
        "a period of thousands of characters": _loop(pages, 6, head="Here it is.\n"),
        "loop after 5,000 characters": _loop("and then the pump stopped ", 60, head=long_head),
        "loop in the middle, then recovery": _loop("I am sorry. ", 90, tail=ENGLISH * 3),
        "one character, no context": _loop("a", 600, head=""),
        "zero in prose": _loop("0", 600, head="The answer is x"),
        "question marks": _loop("?", 450),
        "emoji run": _loop("😀", 500, head="Sure! "),
        "blanks": _loop(" ", 700, head="The result:"),
        "tabs and line feeds": _loop("\t\n", 300, head="{"),
        "form feeds": _loop("\r\n", 300, head="Done."),
        "two words": _loop("yes no ", 120),
        "ha ha": _loop("ha", 300, head="That is funny: "),
        "dashes without end": _loop("-", 900, head="| a | b |\n|"),
        "think tags": _loop("</think>\n", 120, head=ENGLISH),
        "special tokens": _loop("<|im_end|><|im_start|>", 60, head=ENGLISH),
        "same table row 400 times": _loop(
            "| 12 | pump | open | ok |\n", 400, head="| id | part | state | note |\n|---|---|---|---|\n"
        ),
        "empty table rows": _loop("|  |  |  |  |\n", 300, head="| a | b | c | d |\n|---|---|---|---|\n"),
        "same JSON object": _loop('{"name": "pump", "state": "open"}, ', 100, head='{"items": ['),
        "same list item": _loop("- Check the logs for errors.\n", 80, head="Steps:\n"),
        "list items that cycle": _loop(
            "- Check the logs.\n- Restart the pump.\n- Ask the operator.\n", 60, head="Steps:\n"
        ),
        "same code line": _loop("    result.append(value)\n", 150, head="```python\ndef f(value):\n    result = []\n"),
        "same function": _loop(
            "def test_open():\n    pump = Pump()\n    assert pump.open()\n\n", 40, head="```python\nimport pytest\n\n"
        ),
        "empty array items": _loop('"", ', 400, head="The list is "),
        "null without end": _loop("null, ", 900, head='{"rows": ['),
        "zeros without end": _loop("0, ", 3000, head='{"rows": ['),
        "closing tags": _loop("</div>", 200, head="<div><p>text</p>"),
        "backslashes": _loop("\\\\", 400, head='{"path": "C:'),
        "dots and blanks": _loop(". ", 600),
        "import without end": _loop("import os\n", 200, head="```python\n"),
        "same sentence, Korean": _loop("네, 알겠습니다. ", 90, head="질문에 답하겠습니다. "),
        "same sentence, Arabic": _loop("والله أعلم. ", 90, head=PROSE["arabic"]),
        "poem that sticks": _loop("The night is long,\nthe road is cold,\n", 40, head="A song of winter\n\n"),
    }
    found |= {
        "counter in a sentence": _drift([f"Let me check case {i} again. Nothing changes here.\n" for i in range(200)]),
        "steps without end": _drift([f"Step {i}: repeat the process until it converges. " for i in range(1, 300)]),
        "time stamps": _drift(
            [
                f"[2024-05-{1 + i // 1440:02d} {i // 60 % 24:02d}:{i % 60:02d}:00] retrying connection\n"
                for i in range(400)
            ]
        ),
        "subtitles": _drift(
            [
                f"00:{i // 30:02d}:{i * 2 % 60:02d} --> 00:{i // 30:02d}:{i * 2 % 60 + 1:02d}\nThank you.\n\n"
                for i in range(300)
            ]
        ),
        "upper and lower case": _drift(
            [r.choice(["Yes indeed", "yes indeed", "YES INDEED", "Yes Indeed"]) + ". " for _ in range(120)]
        ),
        "punctuation varies": _drift(
            ["I do not know" + r.choice([".", "!", "...", " -", ",", "?!"]) + " " for _ in range(100)]
        ),
        "laughter that grows": _drift(["h" + "a" * i + " " for i in range(3, 60)], head="He said "),
        "digits that grow": _drift([f"{'7' * i}, " for i in range(4, 60)], head='{"ids": ['),
        "empty list markers": _drift([f"{i}. " for i in range(1, 300)], head="The reasons are:\n"),
        "empty markers on lines": _drift([f"{i}.\n" for i in range(1, 500)], head="The reasons are:\n"),
        "template in reasoning": _drift(
            [
                f"Case n = {n}: n^2 + 1 = {n * n + 1}, which is not a multiple of 7, so we go on.\n"
                for n in range(1, 300)
            ],
            head="We check each case.\n",
        ),
        "counting without end": _drift([f"{i}, " for i in range(1, 4000)], head=""),
        "dates without end": _drift(
            [f"{2000 + i // 336}-{i // 28 % 12 + 1:02d}-{i % 28 + 1:02d}\n" for i in range(3000)], head=""
        ),
        "paragraph with a counter": _drift([f"Attempt {i}. {PROSE['german']}\n" for i in range(40)], head=""),
        "rows with a counter": _drift(
            [f"| {i} | pump | open | ok |\n" for i in range(400)],
            head="| id | part | state | note |\n|---|---|---|---|\n",
        ),
        "same call, turn counts": _drift(
            [json.dumps({"turn": i, "name": "ls", "arguments": '{"path": "/srv"}'}) + "\n" for i in range(60)], head=""
        ),
    }
    few = ["wait", "but", "maybe", "then", "again", "so", "hmm", "okay", "right", "think", "more", "let", "me", "see"]
    sentences = [
        "Let me reconsider the problem.", "Actually, that is not quite right.", "So the answer should be twelve.",
        "But the statement says otherwise.", "Wait, I should double check this.", "Hmm, perhaps there is a mistake.",
    ]  # fmt: skip
    words = {
        "russian": [
            "снова",
            "опять",
            "ещё",
            "потом",
            "тогда",
            "теперь",
            "вот",
            "так",
            "да",
            "нет",
            "может",
            "быть",
            "пусть",
        ],
        "korean": ["그리고", "다시", "또", "그래서", "하지만", "정말", "아주", "조금", "이제", "그냥"],
    }
    found |= {
        "few words shuffled": _drift([r.choice(few) + " " for _ in range(600)]),
        "few sentences shuffled": _drift([r.choice(sentences) + " " for _ in range(300)]),
        "few Russian words shuffled": _drift([r.choice(words["russian"]) + " " for _ in range(500)], head=PROSE["russian"]),
        "few Korean words shuffled": _drift([r.choice(words["korean"]) + " " for _ in range(500)], head=PROSE["korean"]),
        "few Chinese words shuffled": _drift(
            [r.choice(["因此", "所以", "我们", "认为", "，", "问题"]) for _ in range(900)], head=PROSE["chinese"]
        ),
        "few Thai words shuffled": _drift(
            [r.choice(["และ", "แล้ว", "ก็", "ไม่", "เป็น"]) for _ in range(700)], head=PROSE["thai"]
        ),
        "script salad": _drift(
            [r.choice(["река", "поток", "नदी", "जल", "نهر", "ماء", "river", "stream", "ποτάμι", "νερό", "강물", "강"]) + f" w{r.randrange(9)}"[:1]
             for _ in range(400)]
        ),
        "doubled tokens": _drift(
            [(w + w[:3] if r.random() < 0.3 else w) + " " for w in (ENGLISH * 2).split()], head=""
        ),
        "grammar words in disorder": _drift(
            [r.choice(["the", "of", "is", "by", "than", "which", "into", "have", "was", "an", "kernel", "page", "thread", "when", "cache", "token", "their", "river"]) + " "
             for _ in range(400)]
        ),
        "mixed alphabets in words": _drift(
            ["".join(w[:3] + "ство" + w[3:] if i % 5 == 0 and len(w) > 5 else w) + " " for i, w in enumerate((ENGLISH * 3).split())],
            head="",
        ),
    }  # fmt: skip
    return found


def sound() -> dict[str, Sound]:
    """Return the specimens in order by name; none may be called a failure."""
    found = {f"{language} prose": Sound(text) for language, text in PROSE.items()}
    for part in (_tables, _code, _data, _logs, _verse, _lists, _drawings, _reasoning, _languages, _asked):
        found |= {name: text if isinstance(text, Sound) else Sound(text) for name, text in part().items()}
    return found


def _tables() -> dict[str, str]:
    r = random.Random(1)
    month = "\n".join(f"| 2024-03-{d:02d} | {r.randrange(90)} | {r.randrange(900)} | ok |" for d in range(1, 32))
    times = "\n".join(" | ".join(f"{a * b:4d}" for b in range(1, 13)) for a in range(1, 13))
    marks = "\n".join(
        f"| Feature {c} | " + " | ".join(r.choice("✓✗") for _ in range(6)) + " |" for c in "ABCDEFGHIJKLMNOP"
    )
    return {
        "markdown table of a month": f"| Day | In | Out | State |\n|---|---|---|---|\n{month}\n",
        "wide ruled table": "+"
        + "+".join(["-" * 20] * 6)
        + "+\n"
        + "".join(
            "|"
            + "|".join(f"{'cell ' + str(i * 6 + j):^20}" for j in range(6))
            + "|\n+"
            + "+".join(["-" * 20] * 6)
            + "+\n"
            for i in range(10)
        ),
        "multiplication table": times,
        "feature matrix": f"| Feature | a | b | c | d | e | f |\n|---|---|---|---|---|---|---|\n{marks}",
        "blank form": "| Name | Date | Sign |\n|------|------|------|\n" + "|      |      |      |\n" * 12,
        "truth table": "p q r | (p∧q)∨r\n"
        + "\n".join(
            " ".join("TF"[v >> k & 1] for k in (2, 1, 0)) + " | " + "TF"[((v >> 2 & 1) and (v >> 1 & 1)) or v & 1]
            for v in range(8)
        ),
        "TSV": "\n".join(
            "\t".join([f"g{i}", "chr1", str(i * 731), str(i * 731 + 400), "+", "exon", "0.0"]) for i in range(60)
        ),
        "conjugation table": "\n".join(
            f"| {p} | {s} | {s}te | habe ge{s}t |"
            for p in ("ich", "du", "er")
            for s in ("mach", "sag", "lach", "such", "brauch")
        ),
        "status rows": "| host | state |\n|---|---|\n" + "".join(f"| web{i:02d} | running |\n" for i in range(90)),
    }


def _code() -> dict[str, str]:
    return {
        "unrolled lookups": "int t[] = {\n" + "".join(f"    [{i}] = {i * 3 % 7},\n" for i in range(96)) + "};\n",
        "html table": "<table>\n" + "  <tr><td></td><td></td><td></td></tr>\n" * 10 + "</table>\n",
        "html cards": "```html\n" + '<div class="card">\n  <img src="">\n  <p>Text</p>\n</div>\n' * 4 + "```\n",
        "nested closing tags": "<div>" * 15 + "x" + "</div>\n" * 15,
        "getters": "\n".join(
            f"    public int get{w.title()}() {{\n        return this.{w};\n    }}\n"
            for w in [
                "alpha",
                "beta",
                "gamma",
                "delta",
                "epsilon",
                "zeta",
                "eta",
                "theta",
                "iota",
                "kappa",
                "lamda",
                "mu",
                "nu",
                "xi",
                "omicron",
                "pi",
                "rho",
                "sigma",
                "tau",
                "upsilon",
            ]
        ),
        "SQL inserts": "".join(
            f"INSERT INTO users (id, name, email) VALUES ({i}, 'user{i}', 'user{i}@example.com');\n"
            for i in range(1, 101)
        ),
        "switch": "switch (c) {\n" + "".join(f'    case {i}:\n        return "{i:x}";\n' for i in range(64)) + "}\n",
        "yaml hosts": "hosts:\n"
        + "".join(f"  - name: node{i}\n    port: 22\n    user: root\n    enabled: true\n" for i in range(24)),
        "dockerfile": "FROM debian\n"
        + "".join(
            f"RUN apt-get install -y --no-install-recommends lib{n}-dev && rm -rf /var/lib/apt/lists/*\n"
            for n in ["xml2", "ssl", "curl", "png", "jpeg", "tiff", "ffi", "yaml", "zip", "bz2", "lzma", "sqlite3"]
        ),
        "minified js": "".join(
            f"function {a}{b}(e,t){{return e.{a}===t.{b}?1:e.{b}>t.{a}?-1:0}}var {b}{a}={{}};"
            for a in "abcdef"
            for b in "ghijkl"
        ),
        "svg path": '<svg><path d="'
        + " ".join(f"M{x} {y}h1v1h-1z" for x in range(16) for y in range(8) if (x * y) % 3)
        + '"/></svg>',
        "no-ops in hex": "\\x90" * 128 + "\\x31\\xc0\\x50\\x68",
        "assembly": "    .text\n" + "    nop\n" * 100 + "    ret\n",
        "db zeros": "table:\n" + "    .byte 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00\n" * 32 + "end:\n",
        "latex matrix": "\\begin{pmatrix}\n"
        + " \\\\\n".join(" & ".join("1" if i == j else "0" for j in range(12)) for i in range(12))
        + "\n\\end{pmatrix}\n",
        "asserts": "".join(f"assert is_leap({y}) is {y % 4 == 0}\n" for y in range(1904, 1990)),
        "brainf": "```\n"
        + "++++++++[>++++[>++>+++>+++>+<<<<-]>+>+>->>+[<]<-]>>.>---.+++++++..+++.>>.<-.<.+++.------.--------.>>+.>++."
        * 2
        + "\n```",
        "lisp": "(define (f x)\n  (cond "
        + " ".join(f"((= x {i}) '{'abcdefghij'[i % 10]})" for i in range(40))
        + "))"
        + ")" * 12,
        "makefile": "".join(
            f"build/{n}.o: src/{n}.c include/{n}.h\n\t$(CC) $(CFLAGS) -c -o $@ $<\n\n"
            for n in ["main", "util", "list", "hash", "tree", "heap", "queue", "stack", "map", "set", "str", "buf"]
        ),
        "imports": "".join(f"from package.module_{i} import Class{i}, function_{i}\n" for i in range(60)),
        "enum": "enum Key {\n" + "".join(f"    KEY_{chr(65 + i % 26)}{i // 26} = {i},\n" for i in range(104)) + "};\n",
        "verilog": "".join(f"    assign out[{i}] = en ? in[{i}] : 1'bz;\n" for i in range(64)),
        "props": "".join(f"log4j.logger.com.example.module{i}=INFO, stdout\n" for i in range(40)),
        "gitignore": "".join(
            f"*.{e}\n"
            for e in [
                "o",
                "a",
                "so",
                "dll",
                "exe",
                "pyc",
                "pyo",
                "class",
                "jar",
                "war",
                "log",
                "tmp",
                "bak",
                "swp",
                "orig",
                "rej",
            ]
        ),
        "css ramp": "".join(f".gray-{i}00 {{ color: rgb({i * 25}, {i * 25}, {i * 25}); }}\n" for i in range(1, 10)) * 2,
        "lock file": "".join(
            f'[[package]]\nname = "crate{i}"\nversion = "0.{i}.1"\nsource = "registry+https://example.org/index"\nchecksum = "{i * 7919:064x}"\n\n'
            for i in range(24)
        ),
        "diff": "".join(
            f"--- a/src/f{i}.c\n+++ b/src/f{i}.c\n@@ -1 +1 @@\n-#include <old.h>\n+#include <new.h>\n"
            for i in range(40)
        ),
    }


def _data() -> dict[str, str]:
    r = random.Random(2)
    return {
        "zero matrix": json.dumps([[0] * 32 for _ in range(32)]),
        "zero array": "Here it is: " + json.dumps([0] * 600),
        "float zeros": "x = [" + ", ".join(["0.0"] * 400) + "]\n",
        "numpy": "array([" + ",\n       ".join("[" + ", ".join(["0."] * 10) + "]" for _ in range(30)) + "])",
        "null fields": json.dumps([{"id": i, "note": None, "tags": [], "parent": None} for i in range(60)]),
        "points": json.dumps([{"x": r.randrange(999), "y": r.randrange(999)} for _ in range(150)]),
        "hex dump": "\n".join(
            f"{i * 16:08x}  " + " ".join(["00"] * 8) + "  " + " ".join(["00"] * 8) + "  |................|"
            for i in range(60)
        ),
        "real hex dump": "\n".join(
            f"{i * 16:08x}: " + " ".join(f"{r.randrange(256):02x}" for _ in range(16)) for i in range(60)
        ),
        "base64": base64.b64encode(bytes(r.randrange(256) for _ in range(2400))).decode(),
        "base64 of zeros": "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n" + bytes(900) + b"IEND").decode(),
        "png in lines": "\n".join(
            base64.b64encode(bytes(57) if i % 3 else r.randbytes(57)).decode() for i in range(30)
        ),
        "bits": "".join(r.choice("01") for _ in range(2000)),
        "bytes of bits": " ".join(f"{r.randrange(256):08b}" for _ in range(200)),
        "googol": "It is 1" + "0" * 100 + ".",
        "thirds": "1/3 = 0." + "3" * 250 + "...",
        "dna": ">seq\n"
        + "\n".join("".join(r.choice("ACGT") for _ in range(70)) for _ in range(20))
        + "\n"
        + ("N" * 70 + "\n") * 8
        + "ACGTAC\n",
        "poly-A": "ATGGCC" + "".join(r.choice("ACGT") for _ in range(120)) + "A" * 500 + "TTT",
        "CSV of categories": "\n".join(
            ",".join(
                r.choice(c)
                for c in (["red", "blue", "green"], ["small", "large"], ["yes", "no"], ["berlin", "paris", "rome"])
            )
            for _ in range(120)
        ),
        "uuid": "\n".join(f"{r.getrandbits(128):032x}" for _ in range(80)),
        "coordinates": ";".join(f"{i / 10:.1f},{i * i / 100:.2f}" for i in range(200)),
        "dates of a quarter": "\n".join(f"2024-{m:02d}-{d:02d}" for m in (1, 2, 3) for d in range(1, 29)),
        "fibonacci": ", ".join(str(x) for x in _fibonacci(90)),
        "pi": "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798214808651",
        "chess game": " ".join(f"{i}. Nf3 Nf6 {i + 1}. Ng1 Ng8" for i in range(1, 30, 2)),
        "game of life": "\n\n".join(
            "\n".join("".join(".#"[(x * y + g) % 5 == 0] for x in range(30)) for y in range(12)) for g in range(5)
        ),
        "morse": "... --- ... / .-.. --- .-. . -- / .. .--. ... ..- -- / -.. --- .-.. --- .-. " * 4,
        "coin flips in rows": "\n".join(" ".join(r.choice("HT") for _ in range(20)) for _ in range(20)),
    }


def _fibonacci(count: int) -> list[int]:
    values = [1, 1]
    while len(values) < count:
        values.append(values[-1] + values[-2])
    return values


def _logs() -> dict[str, str]:
    r = random.Random(3)
    return {
        "access log": "\n".join(
            f'10.0.0.{r.randrange(255)} - - [12/Mar/2024:10:{i // 60:02d}:{i % 60:02d} +0000] "GET /api/items/{r.randrange(900)} HTTP/1.1" 200 {r.randrange(9000)}'
            for i in range(100)
        ),
        "heartbeat log": "\n".join(
            f"2024-03-12T10:{i // 60:02d}:{i % 60:02d}Z INFO heartbeat ok seq={i}" for i in range(100)
        ),
        "progress bars": "\n".join(
            f"Epoch {e}/10: [{'=' * (e * 4)}{' ' * (40 - e * 4)}] loss {1 / (e + 1):.4f}" for e in range(1, 11)
        ),
        "carriage returns": "\r".join(f"Downloading {p:3d}% [{'#' * (p // 5):<20}]" for p in range(0, 101, 2)),
        "test dots": "." * 72 + " [ 40%]\n" + "." * 72 + " [ 80%]\n" + "." * 36 + " [100%]\n180 passed in 2.31s",
        "test results": "".join(f"ok {i} - handles case {i}\n" for i in range(1, 101)) + "1..100\n",
        "pip": "".join(
            f"Requirement already satisfied: pkg{i} in ./venv/lib/python3.12/site-packages (from app) (1.{i})\n"
            for i in range(40)
        ),
        "ping": "".join(f"64 bytes from 10.0.0.1: icmp_seq={i} ttl=64 time={r.random():.3f} ms\n" for i in range(60)),
        "stack overflow": "Traceback (most recent call last):\n"
        + '  File "f.py", line 2, in f\n    return f(n)\n' * 3
        + "  [Previous line repeated 996 more times]\nRecursionError\n",
        "ls": "".join(
            f"-rw-r--r-- 1 root root {r.randrange(99999):6d} Mar 12 10:00 file{i:03d}.txt\n" for i in range(80)
        ),
    }


def _verse() -> dict[str, str]:
    verses = [ENGLISH[i * 110 : i * 110 + 110] for i in range(5)]
    return {
        "anaphora": "".join(
            f"I remember the {w} by the water,\n"
            for w in ["lamp", "stone", "boat", "child", "bell", "rope", "glove", "wind", "gull", "coat", "tree", "road"]
        ),
        "litany": "".join(
            f"Saint {n}, pray for us.\n"
            for n in [
                "Anna",
                "Agnes",
                "Alban",
                "Bede",
                "Clare",
                "Cuthbert",
                "David",
                "Edith",
                "Felix",
                "George",
                "Helen",
                "Hilda",
                "Hugh",
                "Ita",
                "John",
                "Jude",
                "Kevin",
                "Lucy",
                "Mark",
                "Monica",
                "Ninian",
                "Oswald",
                "Paul",
                "Peter",
                "Rita",
                "Ruth",
                "Simon",
                "Thomas",
                "Ursula",
                "Vitus",
            ]
        ),
        "psalm": "".join(
            f"who {w}, for his mercy endures for ever;\n"
            for w in (
                "made the heavens",
                "spread the earth",
                "set the sun",
                "set the moon",
                "struck the king",
                "led his people",
                "parted the sea",
                "gave the land",
                "remembered us",
                "feeds all",
            )
        ),
        "outro": "We will go home\n" + "na na na na\n" * 16 + "home.",
        "refrain": "\n\n".join(
            v + "\nRow, row, row the boat,\nrow it to the sea,\nrow, row, row the boat,\nrow it home to me."
            for v in verses
        ),
        "bottles": "".join(
            f"{n} green bottles hanging on the wall, {n} green bottles hanging on the wall, and if one green bottle should accidentally fall, there'll be {n - 1} green bottles hanging on the wall.\n"
            for n in range(20, 0, -1)
        ),
        "ninety-nine bottles": "".join(
            f"{n} bottles of milk on the wall, {n} bottles of milk. Take one down and pass it around, {n - 1} bottles of milk on the wall.\n"
            for n in range(99, 0, -1)
        ),
        "house that Jack built": "\n\n".join(
            "This is the " + " that ".join(["cat", "rat", "malt", "house"][k:]) + " that Jack built."
            for k in (3, 2, 1, 0)
        ),
        "mantra": "Om mani padme hum. " * 9,
        "laughing": "Ha ha ha ha ha ha! " + ENGLISH + "Ha ha ha!",
        "scream": "A" * 120 + "! " + ENGLISH,
        "emoji lines": "🎉🎉🎉🎉🎉🎉🎉🎉\n" + ENGLISH + "\n" + "⭐" * 40,
        "Chinese couplets": "风急天高猿啸哀，渚清沙白鸟飞回。\n无边落木萧萧下，不尽长江滚滚来。\n" * 2,
        "Spanish poem": "".join(
            f"Verde que te quiero {w}.\n"
            for w in ["verde", "viento", "rama", "barco", "mar", "caballo", "montaña", "sombra", "luna", "noche"]
        ),
    }


def _lists() -> dict[str, str]:
    letters = "abcdefghijklmnopqrstuvwxyz"
    return {
        "numbered ideas": "".join(
            f"{i}. {w.title()} is a good name for a boat.\n"
            for i, w in enumerate(
                [
                    "heron",
                    "gull",
                    "tern",
                    "swift",
                    "raven",
                    "crow",
                    "robin",
                    "wren",
                    "finch",
                    "lark",
                    "plover",
                    "curlew",
                    "osprey",
                    "kestrel",
                    "merlin",
                    "hobby",
                    "harrier",
                    "kite",
                    "buzzard",
                    "eagle",
                ],
                1,
            )
        ),
        "numbers in lines": "\n".join(map(str, range(1, 301))),
        "countdown": "\n".join(f"T minus {i} seconds" for i in range(60, 0, -1)),
        "answer sheet": "\n".join(f"{i}. " for i in range(1, 51)),
        "answer key": " ".join(f"{i}. {letters[i * 7 % 4].upper()}" for i in range(1, 101)),
        "alphabet": "\n".join(f"{c} is for {c}{c}" for c in letters),
        "check list": "".join(f"- [ ] Review chapter {i}\n" for i in range(1, 41)),
        "bible verses": " ".join(f"Ps {i}:1" for i in range(1, 120)),
        "glossary": "".join(
            f"**{w}**: see {v}.\n" for w, v in zip(ENGLISH.split()[:60], ENGLISH.split()[5:65], strict=True)
        ),
        "rulers": ("-" * 80 + "\nSection\n" + "-" * 80 + "\n\n") * 6,
        "contents": "\n".join(f"Chapter {i} {'.' * 60} {i * 12}" for i in range(1, 25)),
        "dotted contents": "\n".join(f"{i} Introduction to part {i} {'. ' * 40}{i * 9}" for i in range(1, 20)),
        "links": "".join(f"- [Page {i}](https://example.org/docs/page-{i}.html)\n" for i in range(60)),
        "legal": " ".join(
            f"{i}. The Licensee shall not, without the prior written consent of the Licensor, {w} the Software or any part of the Software."
            for i, w in enumerate(
                [
                    "copy",
                    "modify",
                    "sell",
                    "rent",
                    "lease",
                    "sublicense",
                    "distribute",
                    "publish",
                    "translate",
                    "decompile",
                    "disassemble",
                    "merge",
                ],
                1,
            )
        ),
        "lorem": LATIN * 3,
        "timetable": "\n".join(
            f"{h:02d}:{m:02d} Platform {1 + (h + m) % 4} Stopping train to the coast"
            for h in range(6, 22)
            for m in (5, 35)
        ),
        "roman": "I, II, III, IV, V, VI, VII, VIII, IX, X, XI, XII, XIII, XIV, XV, XVI, XVII, XVIII, XIX, XX",
        "meal plan": "".join(
            f"Day {d}\nBreakfast: oats with milk\nLunch: soup and bread\nDinner: rice and beans\n\n"
            for d in range(1, 15)
        ),
        "colours": "\n".join("🟥🟧🟨🟩🟦🟪" * 4 for _ in range(6)),
    }


def _drawings() -> dict[str, str]:
    return {
        "empty box": "+" + "-" * 30 + "+\n" + ("|" + " " * 30 + "|\n") * 9 + "+" + "-" * 30 + "+\n",
        "fenced room": "```\n" + "#" * 40 + "\n" + ("#" + "." * 38 + "#\n") * 18 + "#" * 40 + "\n```\n",
        "go board": "\n".join(" ".join(["+"] * 19) for _ in range(9)),
        "pyramid": "\n".join(" " * (20 - i) + "*" * (2 * i + 1) for i in range(20)),
        "number pyramid": "\n".join(str(i) * i for i in range(1, 10)),
        "bar chart": "\n".join(f"{m:10s} {'█' * n}{'░' * (40 - n)} {n}" for m, n in (("January", 12), ("February", 30), ("March", 22), ("April", 39), ("May", 5), ("June", 17))),
        "tree": "\n".join("│   " * (i % 4) + "├── file" + str(i) for i in range(50)),
        "wave": "\n".join(" " * int(20 + 15 * ((i * 7) % 13 - 6) / 6) + "o" for i in range(40)),
        "tabs": "\n\n".join(f"{s}|--{n}--{n}--{n}--{n}--|--{n}--{n}--{n}--{n}--|" for s, n in zip("eBGDAE", "012232", strict=True)) * 2,
        "braille": "⠀⠀⠀⣀⣤⣶⣿⣿⣶⣤⣀⠀⠀⠀\n" * 6,
        "spaces": "a" + " " * 200 + "b\n" + "c" + " " * 150 + "d",
    }  # fmt: skip


def _reasoning() -> dict[str, str]:
    tries = "".join(
        f"Try x = {x}: 3x + 7 = {3 * x + 7}, and 100 - 3x = {100 - 3 * x}. Not equal.\n" for x in range(1, 40)
    )
    factors = "".join(
        f"{n}: {'prime' if all(n % d for d in range(2, n)) else 'composite'}, because {'nothing divides it' if all(n % d for d in range(2, n)) else 'it has a divisor'}.\n"
        for n in range(2, 80)
    )
    return {
        "trial and error": tries + "So no integer works.",
        "factoring": factors,
        "sieve": "".join(
            f"Cross out the multiples of {p}: " + ", ".join(str(p * k) for k in range(2, 15)) + ".\n"
            for p in (2, 3, 5, 7, 11, 13)
        ),
        "second thoughts": "".join(f"Wait, {s.strip()}. Hmm. " for s in ENGLISH.split(".") if s.strip()) * 2,
        "induction": "".join(
            f"For n = {n} the sum is {n * (n + 1) // 2}, as the formula says.\n" for n in range(1, 50)
        ),
        "proof cases": "".join(f"If x ≡ {a} (mod 8), then x^2 ≡ {a * a % 8} (mod 8).\n" for a in range(8)) * 2,
        "collatz": " -> ".join(map(str, _collatz(27))),
        "dp table": "".join(f"dp[{i}] = dp[{i - 1}] + dp[{i - 2}] = {a}\n" for i, a in enumerate(_fibonacci(60), 2)),
    }


def _collatz(n: int) -> list[int]:
    values = [n]
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        values.append(n)
    return values


def _languages() -> dict[str, str]:
    hello = {
        "English": "Hello",
        "German": "Guten Tag",
        "Russian": "Привет",
        "Chinese": "你好",
        "Arabic": "مرحبا",
        "Hindi": "नमस्ते",
        "Greek": "Γεια",
        "Korean": "안녕",
        "Japanese": "こんにちは",
        "Thai": "สวัสดี",
        "Hebrew": "שלום",
    }
    lesson = "The particle 的 marks possession, while 了 marks a completed action and 是 means to be. In 我是学生 the verb 是 links 我 and 学生. "
    return {
        "greetings": "\n".join(f"| {k} | {v} |" for k, v in hello.items()),
        "greetings in a line": ", ".join(f"{k}: {v}" for k, v in hello.items()),
        "lesson": lesson * 2,
        "Chinese with English": "使用Python编写一个API服务，首先安装FastAPI和uvicorn，然后创建main.py文件。运行pip install命令后，启动server并访问localhost。在Docker中部署时，需要设置ENV变量和PORT。"
        * 2,
        "Japanese with English": "PythonでWebサーバーを作るには、まずFlaskをインストールします。次にapp.pyというファイルを作り、routeを定義します。DockerコンテナでdeployするときはPORTを指定してください。"
        * 2,
        "Russian with English": "Чтобы запустить Docker-контейнер, используйте команду docker run. Файл docker-compose.yml описывает сервисы, а Makefile собирает проект. Для CI мы берём GitHub Actions и Python 3.12. "
        * 2,
        "Indonesian": "Anak-anak bermain di halaman sekolah sambil menunggu kupu-kupu dan laba-laba. Orang-orang berjalan-jalan di tepi sungai, melihat-lihat perahu, lalu duduk-duduk di bawah pohon kelapa sampai sore hari. "
        * 2,
        "Maori": "Ka haere mātou ki te moana, ka kite i ngā waka e rere haere ana. I whakarongo mātou ki te haruru o ngā ngaru, ā, ka hoki mai ki te kāinga i te ahiahi pō. ",
        "parallel text": "\n\n".join(PROSE[language] for language in PROSE),
        "Vietnamese": "Người quản lý bến cảng giữ hai cuốn sổ. Trong cuốn thứ nhất ông ghi những gì thuỷ triều mang vào: gỗ từ phương bắc, muối, một thùng cam không ai đặt. Trong cuốn thứ hai ông viết những điều đã thấy nhưng không thể tính tiền. ",
        "IPA": "/ðə ˈhɑːbə ˈmɑːstə kɛpt tuː ˈlɛdʒəz/ /ɪn ðə fɜːst hiː rəʊt wɒt keɪm ɪn ɒn ðə taɪd/ ",
        "math": "Let ε > 0 and choose δ = min(1, ε/5). If |x − 2| < δ then |x² − 4| = |x − 2||x + 2| < 5δ ≤ ε. Hence lim x² = 4 as x → 2. Σ aᵢ ≤ Σ bᵢ ⇒ ∫ f dμ ≤ ∫ g dμ. ",
    }


def _asked() -> dict[str, Sound]:
    return {
        "banana 200 times": Sound("banana " * 200, "Write the word banana 200 times."),
        "a line fifty times": Sound(
            "I must not talk in class.\n" * 50, "Write 'I must not talk in class.' fifty times."
        ),
        "a Chinese character": Sound("福" * 500, "请把“福”字重复写五百遍"),
        "German": Sound("Hallo Welt! " * 100, "Schreib hundertmal 'Hallo Welt!'"),
        "French": Sound("bonjour " * 150, "Répète le mot bonjour 150 fois, s'il te plaît."),
        "Spanish": Sound("hola " * 120, "Repite la palabra hola 120 veces"),
        "Russian": Sound("привет " * 100, "Напиши слово привет сто раз"),
        "Japanese": Sound("ありがとう" * 100, "「ありがとう」を100回繰り返してください"),
        "Arabic": Sound("شكرا " * 100, "كرر كلمة شكرا 100 مرة"),
        "count to 2000": Sound(" ".join(map(str, range(1, 2001))), "Count from 1 to 2000."),
        "emoji": Sound("🎉" * 1000, "print 1,000 party emojis"),
        "a thousand rows": Sound("".join(f"| {i} | open |\n" for i in range(1, 501)), "Give me a table with 500 rows"),
    }
