"""Compare the detectors with three simple ones, and measure their speed and their delay. Prints tables.

    python benchmarks/degeneration.py [FOLDER_OF_TEXTS]

The sets: `handed` (52 cases after public reports), `own`, `own, more` and `held out` (see tests/degeneration). If a
folder is given, also the text files below it, all taken to be in order. Only failures count, warnings do not.
"""

from __future__ import annotations

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

from degeneration.handed import handed_cases  # noqa: E402
from degeneration.specimens import broken, sound  # noqa: E402
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
    if folder is not None:
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        texts = [path.read_text("utf-8", "replace")[:20_000] for path in files]
        yield folder.name, [Item(text, degenerate=False) for text in texts]


def compare(folder: Path | None) -> None:
    """Print what each detector catches and calls falsely on each set."""
    print(f"{'set':12} {'detector':30} {'caught':>9} {'false':>9} {'precision':>9} {'recall':>7}")
    for name, items in sets(folder):
        bad = [item for item in items if item.degenerate]
        good = [item for item in items if not item.degenerate]
        for label, detector in DETECTORS.items():
            caught, false = sum(map(detector, bad)), sum(map(detector, good))
            precision = caught / (caught + false) if caught + false else float("nan")
            recall = caught / len(bad) if bad else float("nan")
            print(
                f"{name:12} {label:30} {caught:4}/{len(bad):<4} {false:4}/{len(good):<4} {precision:9.3f} {recall:7.3f}"
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
    """Print how far after the onset a stream is aborted."""
    print(f"\n{'abort after the onset':30} {'texts':>6} {'median':>8} {'worst':>8} {'within 4 periods or 400':>24}")
    for exact in (True, False):
        for name, items in sets(None):
            measured = [
                (delay, item.period)
                for item in items
                if item.degenerate and item.onset is not None and (item.period is not None) == exact
                if (delay := _delay(item)) is not None
            ]
            if measured:
                inside = sum(delay <= max(400, 4 * (period or 0)) for delay, period in measured)
                values = [delay for delay, _ in measured]
                label = f"{name}, {'exact periods' if exact else 'drift and shuffles'}"
                middle = statistics.median(values)
                print(f"{label:30} {len(values):6} {middle:8.0f} {max(values):8} {inside:14}/{len(values)}")


def _delay(item: Item) -> int | None:
    detector = StreamDetector(prompt=item.prompt)
    for at in range(0, len(item.text), 4):
        if detector.feed(item.text[at : at + 4]):
            return max(at + 4 - (item.onset or 0), 0)
    return None


def main() -> None:
    """Print all tables."""
    compare(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
    rates()
    delays()


if __name__ == "__main__":
    main()
