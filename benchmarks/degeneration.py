"""Compare the detectors with three simple ones, and measure their speed and their delay. Prints tables.

    python benchmarks/degeneration.py [FOLDER_OF_TEXTS]

The sets: `handed` (52 cases after public reports), `own`, `own, more`, `held out`, `counting` and `counting, held out`,
`SmolLM2` and `SmolLM2, second` (real answers; see tests/degeneration). If a folder is given, also the text files below
it, all taken to be in order. In the first table only failures count, warnings do not.

The delay of a loop is counted from the first character of its first copy to the character at which the stream is
aborted (or warns), and must be at most 4 periods or 400 characters. Where an honest text looks the same for a while,
the second column of delays is counted from the copy at which the longest honest one ends.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# In place of this file's own folder, where it would hide the tests' namespace of the same name.
sys.path[:1] = [str(ROOT / "src"), str(ROOT / "tests")]

from degeneration.families import Drifting, Family, own_drifting  # noqa: E402
from degeneration.handed import handed_cases  # noqa: E402
from degeneration.specimens import broken, sound  # noqa: E402
from degeneration.specimens_counting import counting_broken, counting_sound  # noqa: E402
from degeneration.specimens_counting_held_out import (  # noqa: E402
    held_out_counting_broken,
    held_out_counting_sound,
)
from degeneration.specimens_held_out import held_out_broken, held_out_sound  # noqa: E402
from degeneration.specimens_more import more_broken, more_sound  # noqa: E402
from seatrial.degeneration import Severity, StreamDetector, scan  # noqa: E402


@dataclass(frozen=True)
class Item:
    """One labelled text; `onset` and `period` where they are known exactly."""

    text: str
    degenerate: bool
    prompt: str | None = None
    onset: int | None = None
    period: int | None = None


def ours(item: Item) -> bool:
    """Tell whether seatrial calls the text a failure."""
    found = scan(item.text, prompt=item.prompt)
    return found is not None and found.severity is Severity.FAIL


def compression(item: Item) -> bool:
    """Tell whether zlib makes less than a tenth of the text."""
    data = item.text.encode("utf-8", "surrogatepass")
    return len(zlib.compress(data)) / max(len(data), 1) < 0.10


def tail_period(item: Item) -> bool:
    """Tell whether the text ends in 8 exact copies of at most 200 characters."""
    text = item.text
    return any(len(text) >= 8 * p and text[-8 * p :] == text[-p:] * 8 for p in range(1, 201))


def four_grams(item: Item) -> bool:
    """Tell whether fewer than 35 % of the runs of four words (characters, where there are no blanks) are unique."""
    units: list[str] = item.text.split()
    if len(units) < 20:
        units = list(item.text)
    grams = list(zip(units, units[1:], units[2:], units[3:], strict=False))
    return len(grams) >= 20 and len(set(grams)) / len(grams) < 0.35


DETECTORS: dict[str, Callable[[Item], bool]] = {
    "seatrial": ours,
    "zlib ratio < 0.10": compression,
    "tail period <= 200, 8 copies": tail_period,
    "4-gram uniqueness < 0.35": four_grams,
}


def sets(folder: Path | None) -> Iterator[tuple[str, list[Item]]]:
    """Yield the labelled sets by name."""
    yield (
        "handed",
        [
            Item(c["text"], c["expect"] != "ok", onset=c["onset_char"], period=c.get("period_chars") if "exact_period" in c.get("detectable_by", ()) else None)  # noqa: E501
            for c in handed_cases()
        ],
    )  # fmt: skip
    own = [Item(b.text, degenerate=True, onset=b.onset, period=b.period) for b in broken().values()]
    yield "own", own + [Item(s.text, degenerate=False, prompt=s.prompt) for s in sound().values()]
    more = [Item(text, degenerate=True) for text in more_broken().values()]
    yield "own, more", more + [Item(text, degenerate=False) for text in more_sound().values()]
    held_out = [Item(text, degenerate=True) for text in held_out_broken().values()]
    yield "held out", held_out + [Item(text, degenerate=False) for text in held_out_sound().values()]
    for name, bad, good in (
        ("counting", counting_broken(), counting_sound()),
        ("counting, held out", held_out_counting_broken(), held_out_counting_sound()),
    ):
        items = [Item(b.text, degenerate=True, prompt=b.prompt) for b in bad.values()]
        yield name, items + [Item(s.text, degenerate=False, prompt=s.prompt) for s in good.values()]
    for name, file in (("SmolLM2", "smollm2_greedy.jsonl"), ("SmolLM2, second", "smollm2_greedy_second.jsonl")):
        rows = map(json.loads, (ROOT / "tests/degeneration/data" / file).read_text("utf-8").splitlines())
        yield name, [Item(r["text"], r["degenerate"], r["prompt"]) for r in rows if r["degenerate"] != "borderline"]
    if folder is not None:
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        texts = [path.read_text("utf-8", "replace")[:20_000] for path in files]
        yield folder.name, [Item(text, degenerate=False) for text in texts]


def compare(folder: Path | None) -> None:
    """Print what each detector catches and calls falsely on each set."""
    print(f"{'set':18} {'detector':30} {'caught':>9} {'false':>9} {'precision':>9} {'recall':>7}")
    for name, items in sets(folder):
        bad = [item for item in items if item.degenerate]
        good = [item for item in items if not item.degenerate]
        for label, detector in DETECTORS.items():
            caught, false = sum(map(detector, bad)), sum(map(detector, good))
            precision = caught / (caught + false) if caught + false else float("nan")
            recall = caught / len(bad) if bad else float("nan")
            print(
                f"{name:18} {label:30} {caught:4}/{len(bad):<4} {false:4}/{len(good):<4} {precision:9.3f} {recall:7.3f}"
            )


def speed_texts() -> dict[str, str]:
    """Return texts to time: three ordinary ones first, then odd ones."""
    r = random.Random(1)
    syllables = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "el", "ir")]
    prose = " ".join("".join(r.choices(syllables, k=r.choice((1, 1, 2, 2, 3)))) for _ in range(150_000))
    names = ["".join(r.choices(syllables, k=3)) for _ in range(3_000)]
    code = "".join(
        f"    def {r.choice(names)}(self, {r.choice(names)}: int) -> None:\n        self.{r.choice(names)} = "
        f"{r.choice(names)}({r.randrange(99)}, [{r.choice(names)}.{r.choice(names)}])\n"
        for _ in range(6_000)
    )
    han = [chr(c) for c in range(0x4E00, 0x5B00)]
    chinese = "".join("".join(r.choices(han, k=r.randrange(4, 20))) + r.choice("，。") for _ in range(40_000))
    any_character = [*range(32, 0xD800), *range(0xE000, 0x30000)]
    return {
        "English-like prose": prose,
        "code": code,
        "Chinese-like prose": chinese,
        "100 KB of '!'": "!" * 100_000,
        "10 MB, one line that loops": "the same line without an end " * 345_000,
        "10 MB, one line of prose": (prose * 11)[:10_000_000] if len(prose) < 10_000_000 else prose,
        "random Unicode": "".join(map(chr, r.choices(any_character, k=400_000))),
        "random bytes as text": r.randbytes(400_000).decode("latin-1"),
        "numbers (CSV)": "\n".join(",".join(str(r.randrange(1_000)) for _ in range(9)) for _ in range(15_000)),
    }


def rates() -> None:
    """Print characters and bytes a second, one core, best of three."""
    print(f"\n{'text':30} {'MB/s':>9} {'M chars/s':>10}")
    for name, text in speed_texts().items():
        best = 1e9
        for _ in range(3):
            start = time.process_time()
            scan(text)
            best = min(best, time.process_time() - start)
        size = len(text.encode("utf-8", "surrogatepass"))
        print(f"{name:30} {size / best / 1e6:9.1f} {len(text) / best / 1e6:10.1f}")
    prose = speed_texts()["English-like prose"][:400_000]
    start = time.process_time()
    detector = StreamDetector()
    for at in range(0, len(prose), 4):
        detector.feed(prose[at : at + 4])
    took = time.process_time() - start
    print(f"{'prose in pieces of 4':30} {len(prose) / took / 1e6:9.1f} {len(prose) / took / 1e6:10.1f}")


def delays() -> None:
    """Print how far after the onset a stream is aborted, and how far after it warns."""
    print(f"\n{'abort after the onset':38} {'texts':>6} {'median':>8} {'worst':>8} {'within the limit':>17}")
    for name, items in [(name, items) for name, items in sets(None) if name in {"handed", "own"}]:
        for exact in (True, False) if name == "handed" else (True,):
            measured = [
                (max(aborted - item.onset, 0), item.period or 0)
                for item in items
                if item.degenerate and item.onset is not None and (item.period is not None) == exact
                if (aborted := first_signs(item.text, item.prompt)[1]) is not None
            ]
            inside = sum(delay <= max(400, 4 * period) for delay, period in measured)
            values = [delay for delay, _ in measured]
            label = f"{name}, {'exact periods' if exact else 'drift and shuffles'}"
            print(
                f"{label:38} {len(values):6} {statistics.median(values):8.0f} {max(values):8} {inside:10}/{len(values)}"
            )
    for title, specimens in (
        ("drift, own and counting", [*own_drifting().values(), *counting_broken().values()]),
        ("drift, counting held out", [*held_out_counting_broken().values()]),
    ):
        heads = f"{'abort, median':>14} {'abort in time':>14} {'or a warning':>13} {'decidable':>10}"
        print(f"\n{title:38} {'texts':>6} {heads}")
        total = [0, 0, 0, 0]
        for family in Family:
            members = [specimen for specimen in specimens if specimen.family is family]
            if members:
                row = _family(family, members)
                total = [a + b for a, b in zip(total, row, strict=True)]
        print(f"{'all':38} {total[0]:6} {'':14} {total[1]:14} {total[2]:13} {total[3]:10}")


def _family(family: Family, specimens: list[Drifting]) -> tuple[int, int, int, int]:
    """Print and count: texts, aborted in time, aborted or warned in time, aborted in time once decidable."""
    aborts: list[int] = []
    in_time = seen = decided = 0
    for specimen in specimens:
        warned, aborted = first_signs(specimen.text, specimen.prompt)
        limit = max(400, 4 * specimen.period)
        if aborted is not None:
            aborts.append(aborted - specimen.onset)
            in_time += aborted - specimen.onset <= limit
            decided += aborted - specimen.decidable <= limit
        seen += min(at for at in (warned, aborted, len(specimen.text)) if at is not None) - specimen.onset <= limit
    middle = f"{statistics.median(aborts):.0f}" if aborts else "never"
    print(f"{family.value:38} {len(specimens):6} {middle:>14} {in_time:14} {seen:13} {decided:10}")
    return len(specimens), in_time, seen, decided


def first_signs(text: str, prompt: str | None) -> tuple[int | None, int | None]:
    """Feed a text in pieces of 4, and return where it first warns and where it is aborted."""
    detector = StreamDetector(prompt=prompt)
    warned: int | None = None
    for at in range(4, len(text) + 4, 4):
        if detector.feed(text[at - 4 : at]):
            return warned, min(at, len(text))
        if warned is None and detector.warning is not None:
            warned = min(at, len(text))
    return warned, None


def main() -> None:
    """Print all tables."""
    compare(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
    rates()
    delays()


if __name__ == "__main__":
    main()
