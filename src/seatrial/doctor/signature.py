"""Signatures: what is known about log lines, as data. From `signatures/*.yaml`; `schema.json` there is their schema.

A signature is looked at only where a line holds one of its `words`: that is what makes a big log quick to read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from seatrial.doctor.model import Level, Role
from seatrial.yaml_text import read_yaml

PUNCTUATION = bytes(
    (
        code + 32 if 65 <= code <= 90
        else code if 97 <= code <= 122 or code == 95
        else 32
    )
    for code in range(256)
)  # fmt: skip
"""Letters become small, everything else but `_` becomes a blank."""
DIGITS = b"0123456789"


def words_of(line: bytes) -> bytes:
    """Reduce a line to its words: digits taken out, so that lines that differ by numbers only become one."""
    return line.translate(PUNCTUATION, DIGITS)


def shape_of(line: bytes) -> bytes:
    """Take the digits out of a line: lines of one shape differ by numbers only."""
    return line.translate(None, DIGITS)


@dataclass(frozen=True, slots=True)
class Condition:
    """What must have been seen, and what must not.

    Attributes:
        present: marks of which every one must be there.
        absent: marks of which none may be there.
        any_of: marks of which one must be there.
    """

    present: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    any_of: tuple[str, ...] = ()

    def holds(self, marks: frozenset[str] | set[str]) -> bool:
        """Whether it holds for the marks that were seen. A mark is a mark of a phase, or the id of a signature."""
        return (
            all(mark in marks for mark in self.present)
            and not any(mark in marks for mark in self.absent)
            and (not self.any_of or any(mark in marks for mark in self.any_of))
        )


@dataclass(frozen=True, slots=True)
class Signature:
    """One known line.

    Attributes:
        id: kebab-case.
        level: how grave it is.
        role: what part it plays.
        phase: in which phase it happens.
        patterns: regular expressions, searched in the message; named groups become figures.
        words: a line must hold one of them, or all of one where it is several words (small letters, without digits).
        never: a line that matches this is not meant.
        frames: the traceback that the line ends must hold a frame that matches this.
        engines: whose lines these are: `sglang`, `vllm`, `llama.cpp`, or `any`.
        versions: engine versions that write it, e.g. `<0.5.10`; empty for all.
        before: what must or must not have been seen before the line.
        after: what must or must not follow it, until the log's end.
        cause: what is so; `{name}` is filled in.
        fix: sentences of which the first is taken whose names are all known.
        sources: where that is known from.
        direction: which way the pools' share of memory has to go: `raise`, `lower`, `smaller` (neither helps).
        silence_seconds: after this line silence as long as this is normal.
        examples: lines that it must recognise; the tests hold it to them.
        topic: name of the file that it stands in.
        reads_digits: a pattern names digits (`-9`, `fp8`): then lines of one shape may match or not.
    """

    id: str
    level: Level
    role: Role
    phase: str
    patterns: tuple[re.Pattern[str], ...]
    words: tuple[tuple[bytes, ...], ...]
    cause: tuple[str, ...]
    fix: tuple[str, ...]
    sources: tuple[str, ...]
    never: re.Pattern[str] | None = None
    frames: re.Pattern[str] | None = None
    engines: tuple[str, ...] = ("any",)
    versions: str = ""
    before: Condition = Condition()
    after: Condition = Condition()
    direction: str = ""
    silence_seconds: float | None = None
    examples: tuple[str, ...] = ()
    topic: str = ""
    reads_digits: bool = False

    def match(self, text: str) -> re.Match[str] | None:
        """Find the signature in a message."""
        for pattern in self.patterns:
            if (match := pattern.search(text)) is not None:
                return None if self.never is not None and self.never.search(text) else match
        return None


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase of a start.

    Attributes:
        id: its name.
        title: in words: "loading the weights".
        begins: patterns of lines with which it begins.
        words: a line must hold one of them to be looked at.
        mark: what may be said once it began: a mark for conditions.
        silence_seconds: silence longer than this is a hang; None where silence is normal.
        hang: what a hang here usually is, and what to do.
        order: place in the order of phases.
        source: where the lines are known from.
    """

    id: str
    title: str
    begins: tuple[re.Pattern[str], ...]
    words: tuple[tuple[bytes, ...], ...]
    mark: str
    silence_seconds: float | None
    hang_cause: str
    hang_fix: str
    order: int
    source: str


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Everything that is known about logs.

    Attributes:
        signatures: in the order of their files.
        phases: in the order of a start.
        by_word: which signatures and phases a word calls for, each with the words that must stand beside it.
    """

    signatures: tuple[Signature, ...]
    phases: tuple[Phase, ...]
    by_word: Mapping[bytes, tuple[tuple[frozenset[bytes], Signature | Phase], ...]]

    @classmethod
    def of(cls, signatures: Sequence[Signature], phases: Sequence[Phase]) -> Knowledge:
        """Index signatures and phases by their words."""
        by_word: dict[bytes, tuple[tuple[frozenset[bytes], Signature | Phase], ...]] = {}
        entries: tuple[Signature | Phase, ...] = (*signatures, *phases)
        for entry in entries:
            for first, *others in entry.words:
                by_word[first] = (*by_word.get(first, ()), (frozenset(others), entry))
        return cls(tuple(signatures), tuple(phases), by_word)

    def signature(self, name: str) -> Signature:
        """Find a signature by its id."""
        return next(signature for signature in self.signatures if signature.id == name)


@cache
def load_knowledge() -> Knowledge:
    """Load all signatures and phases of the package.

    Raises:
        InputError: a file of the package is broken.
    """
    folder = resources.files("seatrial.doctor") / "signatures"
    signatures: list[Signature] = []
    phases: list[Phase] = []
    for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if file.name.endswith(".yaml"):
            rows = read_yaml(file.read_text(encoding="utf-8"), where=file.name).value
            if file.name == "phases.yaml":
                phases = [make_phase(row, order) for order, row in enumerate(rows)]
            else:
                topic = file.name.removesuffix(".yaml")
                signatures += [make_signature(row, topic) for row in rows]
    return Knowledge.of(signatures, phases)


def make_signature(row: Mapping[str, Any], topic: str = "") -> Signature:
    """Make a signature of a row of its file."""
    return Signature(
        id=row["id"],
        level=Level(row["level"]),
        role=Role(row.get("role", "cause")),
        phase=row["phase"],
        patterns=tuple(_pattern(text) for text in _many(row["pattern"])),
        words=tuple(_words(text) for text in _many(row["words"])),
        cause=_many(row["cause"]),
        fix=_many(row.get("fix")),
        sources=_many(row["source"]),
        never=_pattern(row["never"]) if "never" in row else None,
        frames=_pattern(row["frames"]) if "frames" in row else None,
        engines=_many(row.get("engine", "any")),
        versions=row.get("versions", ""),
        before=_condition(row.get("before")),
        after=_condition(row.get("after")),
        direction=row.get("direction", ""),
        silence_seconds=row.get("silence_seconds"),
        examples=_many(row.get("examples")),
        topic=topic,
        reads_digits=any(_names_digits(text) for text in (*_many(row["pattern"]), row.get("never", ""))),
    )


def make_phase(row: Mapping[str, Any], order: int) -> Phase:
    """Make a phase of a row of `phases.yaml`."""
    hang = row.get("hang") or {}
    return Phase(
        id=row["id"],
        title=row["title"],
        begins=tuple(_pattern(text) for text in _many(row["begins"])),
        words=tuple(_words(text) for text in _many(row["words"])),
        mark=row["mark"],
        silence_seconds=row["silence_seconds"],
        hang_cause=hang.get("cause", ""),
        hang_fix=hang.get("fix", ""),
        order=order,
        source=row["source"],
    )


def schema() -> dict[str, Any]:
    """Read the JSON Schema of the files of signatures and phases."""
    text = (resources.files("seatrial.doctor") / "signatures" / "schema.json").read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text)
    return document


def _many(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text)


def _names_digits(pattern: str) -> bool:
    r"""Whether a pattern holds digits other than in `\\d` and in counts such as `{1,200}`."""
    return re.search(r"[0-9]", re.sub(r"\{\d*,?\d*\}", "", pattern)) is not None


def _words(text: str) -> tuple[bytes, ...]:
    words = tuple(words_of(text.encode("ascii")).split())
    if not words:
        raise ValueError(f"{text!r} holds no word")
    return words


def _condition(row: Mapping[str, Any] | None) -> Condition:
    row = row or {}
    return Condition(_many(row.get("present")), _many(row.get("absent")), _many(row.get("any_of")))
