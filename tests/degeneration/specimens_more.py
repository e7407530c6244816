"""More own specimens, of kinds that single out one detector each. Terse on purpose: data, not prose."""

# ruff: noqa: E501
from __future__ import annotations

import base64
import itertools
import json
import random

from degeneration.prose import LATIN, PROSE

E = PROSE["english"]
DAYS = [
    "a partridge in a pear tree",
    "two turtle doves",
    "three french hens",
    "four calling birds",
    "five gold rings",
    "six geese a-laying",
    "seven swans a-swimming",
    "eight maids a-milking",
    "nine ladies dancing",
    "ten lords a-leaping",
    "eleven pipers piping",
    "twelve drummers drumming",
]
ORDINALS = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
]


def more_sound() -> dict[str, str]:
    """Return further texts in order by name."""
    r = random.Random(5)
    return {
        "12days": "\n\n".join(
            f"On the {ORDINALS[i]} day of Christmas my true love sent to me\n" + ",\n".join(DAYS[i::-1]) + "."
            for i in range(12)
        ),
        "macdonald": "\n\n".join(
            f"Old MacDonald had a farm, E-I-E-I-O,\nand on that farm he had a {a}, E-I-E-I-O.\nWith a {s}-{s} here and a {s}-{s} there,\nhere a {s}, there a {s}, everywhere a {s}-{s},\nOld MacDonald had a farm, E-I-E-I-O."
            for a, s in (
                ("cow", "moo"),
                ("pig", "oink"),
                ("duck", "quack"),
                ("horse", "neigh"),
                ("lamb", "baa"),
                ("dog", "woof"),
            )
        ),
        "qr": "\n".join("".join(r.choice("█ ") * 2 for _ in range(25)) for _ in range(25)),
        "knit": "\n".join(f"Row {i}: k2, p2, k2, p2, k2, p2, k2, p2" for i in range(1, 41)),
        "knit2": "Row 1: " + "k2, p2, " * 20 + "\nRow 2: " + "p2, k2, " * 20,
        "calendar": "Mo Tu We Th Fr Sa Su\n"
        + "\n".join(" ".join(f"{d:2d}" for d in range(w, w + 7)) for w in range(1, 29, 7)) * 3,
        "sudoku": ("+-------+-------+-------+\n" + "| . . . | . . . | . . . |\n" * 3) * 3
        + "+-------+-------+-------+\n",
        "seatmap": "\n".join(f"{i:2d} " + "[ ][ ][ ] [ ][ ][ ]" for i in range(1, 31)),
        "pem": "-----BEGIN KEY-----\n"
        + "\n".join(base64.b64encode(r.randbytes(48)).decode() for _ in range(20))
        + "\n-----END KEY-----",
        "ssh": "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC" + base64.b64encode(r.randbytes(280)).decode(),
        "affirm": "\n".join(f"I am {w}." for w in E.split()[:50]),
        "buffalo": "Buffalo buffalo Buffalo buffalo buffalo buffalo Buffalo buffalo. " * 2 + E,
        "chords": "\n".join("C     G     Am    F" for _ in range(12)),
        "abc": "X:1\nK:D\n" + "|:" + "dAFA dAFA|dAFA GFED|" * 6 + ":|",
        "maze": "\n".join("".join(r.choice("# ") for _ in range(40)) for _ in range(20)),
        "life0": "\n".join("." * 20 for _ in range(14)),
        "k8s": "\n---\n".join(
            f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cm-{i}\n  namespace: default\ndata:\n  key: value"
            for i in range(25)
        ),
        "terraform": "\n".join(
            f'resource "aws_instance" "web{i}" {{\n  ami = "ami-123"\n  instance_type = "t3.micro"\n}}'
            for i in range(25)
        ),
        "nginx": "".join(f"    server 10.0.0.{i}:8080;\n" for i in range(1, 65)),
        "hosts": "".join(f"10.0.{i // 256}.{i % 256} host{i}\n" for i in range(120)),
        "csv zero rows": "a,b,c,d\n" + "0,0,0,0\n" * 40,
        "csv same rows": "name,state\n" + "".join(f"x{i},ok\n" for i in range(100)),
        "form": "".join(f"{i}. ______________________________\n" for i in range(1, 31)),
        "underscores": "Name: " + "_" * 60 + "\nDate: " + "_" * 60 + "\n",
        "bingo": "\n".join("| " + " | ".join(f"{r.randrange(75):2d}" for _ in range(5)) + " |" for _ in range(30)),
        "staff": "\n".join(["-" * 78] * 5 + [" " * 78] + ["-" * 78] * 5),
        "box2": "┌" + "─" * 60 + "┐\n" + ("│" + " " * 60 + "│\n") * 8 + "└" + "─" * 60 + "┘",
        "yes-list": "\n".join(f"| q{i} | yes |" for i in range(60)),
        "dup import": "".join(
            f"export * from './{w}';\n"
            for w in sorted(set(E.replace(".", "").replace(",", "").replace(":", "").split()))
        ),
        "gherkin": "\n\n".join(
            f"Scenario: case {i}\n  Given a user\n  When the user clicks button {i}\n  Then the page shows {i}"
            for i in range(1, 31)
        ),
        "jsonlines calls": "\n".join(
            json.dumps({"turn": i, "name": "read_file", "arguments": json.dumps({"path": f"src/f{i}.py"})})
            for i in range(40)
        ),
        "calls paging": "\n".join(
            json.dumps(
                {"turn": i, "name": "read_file", "arguments": json.dumps({"path": "src/a.py", "start_line": i * 100})}
            )
            for i in range(40)
        ),
        "xml": "<r>" + "".join(f"<item><id>{i}</id><name>n{i}</name><ok>true</ok></item>" for i in range(100)) + "</r>",
        "emptytags": "<row>" + "<cell/>" * 24 + "</row>\n",
        "unit circle": "\n".join(f"sin({d}°) = {d / 360:.4f}, cos({d}°) = {1 - d / 360:.4f}" for d in range(0, 361, 5)),
        "multi tables": "\n".join(f"{a} x {b} = {a * b}" for a in range(1, 13) for b in range(1, 13)),
        "squares": "\n".join(f"{i}^2 = {i * i}" for i in range(1, 101)),
        "subs": "\n\n".join(
            f"{i}\n00:00:{i * 2 % 60:02d},000 --> 00:00:{i * 2 % 60 + 1:02d},500\n{s.strip()}."
            for i, s in enumerate((E * 2).split("."), 1)
            if s.strip()
        ),
        "thai prose x": PROSE["thai"],
        "zh legal": "".join(
            f"第{n}条 甲方未经乙方书面同意，不得将本合同项下的{w}转让给第三方。\n"
            for n, w in zip(
                "一二三四五六七八九十",
                ["权利", "义务", "债权", "债务", "设备", "房屋", "股份", "商标", "专利", "技术"],
                strict=True,
            )
        ),
        "ja list": "".join(
            f"・{w}を確認してください。\n"
            for w in ["電源", "配線", "温度", "圧力", "油量", "弁", "計器", "警報", "記録", "扉", "窓", "鍵"]
        ),
        "haiku zh": "床前明月光，疑是地上霜。举头望明月，低头思故乡。",
        "conv": "\n".join(f"User: question {i}?\nAssistant: answer {i}." for i in range(1, 41)),
        "retry log": "".join(
            f"Attempt {i} of 30 failed: connection refused. Retrying in {i} s...\n" for i in range(1, 31)
        ),
        "wait tokens": "".join(f"Step {i}: subtract {i}, leaving {500 - i * (i + 1) // 2}.\n" for i in range(1, 31)),
        "latex table": "\\begin{tabular}{lll}\n" + " & & \\\\ \\hline\n" * 14 + "\\end{tabular}",
        "ascii cat": " /\\_/\\ \n( o.o )\n > ^ < \n" * 4,
        "hex colors": ", ".join(f"#{i:02x}{i:02x}{i:02x}" for i in range(0, 256, 4)),
        "ipv6": "\n".join(f"2001:db8::{i:x}" for i in range(100)),
        "permutations": "\n".join("".join(p) for p in itertools.permutations("ABCD")) * 1,
        "binary": "\n".join(f"{i:3d} = {i:08b}" for i in range(128)),
        "truth5": "\n".join(" ".join("01"[i >> k & 1] for k in range(5)) for i in range(32)),
        "phrase drill": "".join(
            f"{p} {v} au marché.\n"
            for p in ("Je vais", "Tu vas", "Il va", "Nous allons", "Vous allez", "Ils vont")
            for v in ("souvent", "parfois", "toujours")
        ),
        "scales": " ".join("C D E F G A B C B A G F E D C" * 1 for _ in range(6)),
        "lorem5": LATIN * 3,
        "dialogue": "\n".join(
            f'"{w}?" she said.\n"{w}," he said.'
            for w in ["Yes", "No", "Maybe", "Later", "Now", "Never", "Always", "Sometimes", "Here", "There"]
        ),
        "git log": "".join(
            f"commit {r.getrandbits(160):040x}\nAuthor: A <a@example.org>\nDate:   Mon Mar {d} 10:00:00 2024 +0000\n\n    Fix typo\n\n"
            for d in range(1, 29)
        ),
        "docker ps": "\n".join(
            f'{r.getrandbits(48):012x}   nginx:latest   "/docker-entrypoint.…"   2 hours ago   Up 2 hours   80/tcp   web_{i}'
            for i in range(30)
        ),
        "cargo": "".join(f"   Compiling crate{i} v0.1.{i}\n" for i in range(90)),
        "ellipses": "Well..... " * 6 + E,
        "kana list": "あいうえお かきくけこ さしすせそ たちつてと なにぬねの",
        "stars rating": "\n".join(f"Film {i}: {'★' * (i % 5 + 1)}{'☆' * (4 - i % 5)}" for i in range(40)),
        "prayer": "Hail Mary, full of grace, the Lord is with thee; blessed art thou among women, and blessed is the fruit of thy womb. "
        * 3,
        "kyrie": "Lord, have mercy.\nLord, have mercy.\nChrist, have mercy.\nChrist, have mercy.\nLord, have mercy.\nLord, have mercy.\n",
        "dna codons": " ".join(r.choice(["ATG", "CAG", "TTT", "GGC", "TAA"]) for _ in range(300)),
        "protein": "".join(r.choice("ACDEFGHIKLMNPQRSTVWY") for _ in range(900)),
        "poly-q": "MATLEKLMKAFESLKSF" + "Q" * 60 + "PPPPPPPPPPPQLPQPPPQ",
        "sql nulls": "INSERT INTO t VALUES\n"
        + ",\n".join(f"({i}, NULL, NULL, NULL, NULL, NULL, NULL)" for i in range(60))
        + ";",
        "empty sql": "(NULL, NULL, NULL, NULL),\n" * 20,
        "json pretty null": json.dumps([None] * 120, indent=2),
        "json pretty zero": json.dumps([[0] * 20] * 20, indent=1),
        "json empty objs": json.dumps([{}] * 150),
        "array false": json.dumps({"mask": [False] * 256}),
        "rust": "".join(f"    assert_eq!(f({i}), {i * i});\n" for i in range(80)),
        "go": "".join(f"\tif err := step{i}(); err != nil {{\n\t\treturn err\n\t}}\n" for i in range(30)),
        "err": "\tif err != nil {\n\t\treturn nil, err\n\t}\n".join(f"\tx{i}, err := call{i}()\n" for i in range(25)),
        "bash": "echo\n" * 12,
        "css": "".join(f".col-{i} {{ width: {i * 100 / 12:.4f}%; }}\n" for i in range(1, 13)) * 4,
        "tap": "".join(f"ok {i}\n" for i in range(1, 200)),
        "blank lines code": "def f():\n    pass\n\n\n\n\n\n" * 10,
        "sql dump": "".join(
            f"({i},'2024-01-{i % 28 + 1:02d}','{r.choice(['open', 'closed'])}',{r.random():.2f}),\n" for i in range(150)
        ),
        "table of same": "| a | b |\n|---|---|\n" + "| TBD | TBD |\n" * 20,
        "kanban": "\n".join("| | | |" for _ in range(10)),
    }


def more_broken() -> dict[str, str]:
    """Return further degenerate texts by name."""
    r = random.Random(6)
    return {
        "json string null": '{"content": "' + "\\u0000" * 300,
        "nan in string": '{"code": "' + "nan " * 200,
        "zeros short": '{"embedding": [' + "0.0, " * 200,
        "ws mix": E + "".join(r.choice([" ", "\n", "\t", "  "]) for _ in range(1500)),
        "punct soup": E + "".join(r.choice("?!.,") for _ in range(1500)),
        "hahah": E + "".join(r.choice(["ha", "Ha", "hA", "HA"]) for _ in range(600)),
        "role loop": ("User: yes\nAssistant: I understand. How can I help you?\n") * 60,
        "sent+1 new": E
        + " ".join(
            f"{r.choice(['I see.', 'That is fine with me.', 'We can proceed with the plan.', 'Let me know what you think.', 'The plan is good as it is.'])}"
            if i % 6
            else f"{' '.join(r.choice(E.split()) for _ in range(5))}."
            for i in range(300)
        ),
        "esc nl": '{"c": "' + "\\n" * 400,
        "weekday": E
        + "".join(
            f"{['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'][i % 7]}, {i % 28 + 1} {['January', 'February', 'March'][i // 28 % 3]}: rest day and light reading.\n"
            for i in range(300)
        ),
        "hexid log": E + "".join(f"request {r.getrandbits(64):016x} failed, retrying now.\n" for i in range(300)),
        "json same forever": '[{"x": 0, "y": 0, "name": "point"}, ' + '{"x": 0, "y": 0, "name": "point"}, ' * 200,
        "yaml same": "items:\n" + "  - name: foo\n    value: bar\n" * 120,
        "csv same": "a,b,c\n" + "x,ok,fine\n" * 200,
        "latex": "\\hline\n" * 150,
        "bullets": E + "\n- \n- " * 200,
        "stars": "*" * 600,
        "md bold": "**" * 300 + " ",
        "nums": "1 " * 600,
        "numbers letters": "a1 " * 300,
        "zh sentence": "好的，我明白了。" * 80,
        "ja": "はい、わかりました。\n" * 80,
        "hi": "मुझे नहीं पता। " * 80,
        "tool xml": '<tool_call>\n{"name": "ls", "arguments": {}}\n</tool_call>\n' * 60,
        "svg": "<svg><path d='" + "M0 0 L1 1 " * 300,
        "b64 endless": "data:image/png;base64,iVBORw0KGgo" + "A" * 6000,
        "hexendless": "0x" + "F" * 4000,
        "think numbered": "".join(f"<think>\nAttempt {i}\n</think>\n" for i in range(300)),
        "url growing": "https://x.org/" + "a/" * 400,
        "path growing": "".join("/usr" * i + "\n" for i in range(1, 60)),
        "long code": "def f(x):\n    return x\n\n" * 100,
        "bullet counter": E + "".join(f"- Item {i}: important point to consider\n" for i in range(1, 400)),
        "refs": E
        + "".join(
            f"[{i}] Smith, J. (2020). A study of things. Journal of Things, {i}(2), {i * 3}-{i * 3 + 10}.\n"
            for i in range(1, 300)
        ),
    }
