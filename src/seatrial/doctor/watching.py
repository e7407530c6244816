"""Follows a log line by line: of a starting server, or of a file of any size. Memory stays bounded.

Most lines of a log mean nothing here. Each loses its digits, and one look into a table says whether lines of that shape
can matter: only those are read. Lines of a shape that is known well enough are only counted.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from seatrial.doctor.figures import FIGURE_WORDS, read_figures
from seatrial.doctor.model import DEADLY, GRAVITY, ROLES, Event, EventKind, LogLine, Role, Traceback
from seatrial.doctor.reading import LONGEST_LINE_BYTES, RAW_COLOURS, RAW_COMPOSE, parse_line
from seatrial.doctor.signature import DIGITS, Knowledge, Phase, Signature, load_knowledge, shape_of, words_of
from seatrial.doctor.starts import MOST_FOLLOWED, Seen, Start
from seatrial.doctor.tracebacks import TracebackReader

MOST_SHAPES = 16_384
"""Shapes of lines that are remembered; then the table begins anew."""
LONGEST_SHAPE = 600
"""The shape of a longer line is not remembered."""
READ_OF_A_LINE = 24_576
"""What of a long line is looked at: enough for the engine's arguments."""
MOST_STARTS = 64
"""Starts that are remembered of a server that starts over and over."""
KEPT_BATCHES = 2_000
"""The newest lines about batches, for "why is it slow"."""
KEPT_TAIL = 400
"""The newest lines of all, for a bundle."""
KEPT_HEAD = 120
MOST_STATES = 8
"""States of a progress bar that are looked at: a message may stand behind the last ones."""

ECHO = re.compile(rb"(?:Receive|Finish|Finish stream|Receive stream): obj=|Receive OpenAI request|Received request ")
"""Lines that repeat a request: whatever they hold was said by a client, not by the server."""
BATCH_WORDS = (b"decode batch", b"prefill batch")
TRACEBACK_WORD = b"traceback"
DURING = frozenset({b"during", b"above"})
ERROR_PARTS = (b"error", b"exception", b"fatal", b"critical")
FIGURE_SET = frozenset(FIGURE_WORDS)
FLAG_WORDS = FIGURE_SET | {TRACEBACK_WORD, b"above", b"batch", b"usage"}
MOST_ERROR_LOOKS = 2_000
"""Lines with the word "error" that are looked at in one start, for a first error where there is no traceback."""
ERROR_LINE = re.compile(
    r"^(?:[A-Za-z_][\w.]*\.)?[A-Za-z_]\w*(?:Error|Exception|Interrupt|Exit|Warning)\b(?:: |\(|$)"
    r"|^(?:ERROR|FATAL|CRITICAL|E\d{4})\b|\b(?:error|fatal|Fatal|FATAL)(?: error)?: "
)

KNOWN_WELL = 100
"""A line that was read so often is only counted from then on, as long as nothing else happens."""

Kind = tuple[Signature | Phase, ...]
SKIP: Kind = ()


@dataclass(slots=True)
class _Fold:
    """A shape whose lines are only counted: they are sightings of one signature in one start, in one state of it."""

    start: Start
    seen: Seen
    marks: int


class Watcher:
    """Reads a log as it grows.

    `feed` takes a line and says what it means; `feed_all` takes many quickly. `starts` holds what was seen.
    """

    def __init__(self, knowledge: Knowledge | None = None, context: Mapping[str, object] | None = None) -> None:
        self.knowledge = knowledge or load_knowledge()
        self.context: Mapping[str, object] = context or {}
        self.lines = 0
        self.starts: list[Start] = []
        self.start_count = 0
        self.head: list[bytes] = []
        self.tail: deque[bytes] = deque(maxlen=KEPT_TAIL)
        self.batches: deque[bytes] = deque(maxlen=KEPT_BATCHES)
        self.batch_count = 0
        self.flags_in_usage: dict[str, None] = {}
        self._in_usage = False
        self._shapes: dict[bytes, tuple[Kind, int]] = {}
        self._folds: dict[bytes, _Fold] = {}
        self._words = frozenset(self.knowledge.by_word)
        entries: tuple[Signature | Phase, ...] = (*self.knowledge.phases, *self.knowledge.signatures)
        self._order = {id(entry): place for place, entry in enumerate(entries)}
        self._current: dict[str, Start] = {}
        self._tracebacks = TracebackReader()
        self._silence_allowed: float | None = None

    @property
    def phase(self) -> str:
        """The phase that the newest start is in; empty before any."""
        start = self._newest()
        return start.phase.id if start and start.phase else ""

    @property
    def is_ready(self) -> bool:
        """Whether the newest start is ready."""
        start = self._newest()
        return bool(start and start.is_ready and start.death_line is None)

    def silence_limit_seconds(self) -> float | None:
        """How long silence is normal in this phase; None for ever."""
        start = self._newest()
        if start is None or start.phase is None or start.phase.silence_seconds is None:
            return None
        return max(start.phase.silence_seconds, self._silence_allowed or 0.0)

    def silence_is_a_hang(self, seconds: float) -> bool:
        """Whether nothing may come any more after so many silent seconds."""
        limit = self.silence_limit_seconds()
        return limit is not None and seconds > limit

    def feed(self, line: str | bytes) -> Event | None:
        """Take one line; return what it means, None where it means nothing.

        A line that means several things gives the gravest; no bytes ever raise.
        """
        raw = line.encode("utf-8", "surrogateescape") if isinstance(line, str) else line
        events = self._take(raw.rstrip(b"\r\n"))
        if not events:
            return None
        return max(events, key=_weight)

    def feed_all(self, lines: Iterable[bytes]) -> None:
        """Take many lines without their ends."""
        shapes, folds, tracebacks, take = self._shapes, self._folds, self._tracebacks, self._take
        tail, translate = self.tail, bytes.translate
        for raw in lines:
            shape = translate(raw, None, DIGITS)
            known = shapes.get(shape)
            if known is not None and not tracebacks.is_open and not self._in_usage:
                kind, flags = known
                if not kind and not flags & ~IS_BATCH:
                    self.lines += 1
                    tail.append(raw)
                    if flags:
                        self.batch_count += 1
                        self.batches.append(raw)
                    continue
                fold = folds.get(shape)
                if fold is not None and fold.marks == len(fold.start.marks) and fold.start is self.starts[-1]:
                    self.lines += 1
                    tail.append(raw)
                    fold.seen.count += 1
                    fold.seen.last_line = fold.start.marks[fold.seen.signature.id].last = self.lines
                    continue
            take(raw)

    def _take(self, raw: bytes) -> list[Event]:
        self.lines += 1
        if len(self.head) < KEPT_HEAD:
            self.head.append(raw[:LONGEST_LINE_BYTES])
        self.tail.append(raw[:LONGEST_LINE_BYTES])
        events: list[Event] = []
        if b"\r" in raw:
            # A progress bar: each of its states is a line of the same service.
            prefix = match[0] if (match := RAW_COMPOSE.match(raw)) else b""
            pieces = [piece for piece in raw[len(prefix) :].split(b"\r") if piece.strip()]
            for piece in pieces[-MOST_STATES:]:
                events += self._take_piece(prefix + piece)
            return events
        return self._take_piece(raw)

    def _take_piece(self, raw: bytes) -> list[Event]:
        if len(raw) > READ_OF_A_LINE:
            raw = raw[:READ_OF_A_LINE]
        if b"\x1b" in raw or b"u001" in raw:
            raw = RAW_COLOURS.sub(b"", raw)
        shape = shape_of(raw)
        kind, flags = self._shapes.get(shape) or self._classify(raw, shape)
        if flags & IS_BATCH:
            self.batch_count += 1
            self.batches.append(raw)
        if flags & IS_ERROR and not kind and (newest := self._newest()) is not None:
            newest.error_looks += 1
            if newest.error_looks > MOST_ERROR_LOOKS:
                flags &= ~IS_ERROR
        if not kind and not flags & ~IS_BATCH and not self._tracebacks.is_open and not self._in_usage:
            return []
        return self._read(parse_line(raw, self.lines), kind, flags, shape)

    def _classify(self, raw: bytes, shape: bytes) -> tuple[Kind, int]:
        """Say what may be in lines of a shape."""
        if (b"Rece" in raw[:200] or b": obj=" in raw[:200]) and ECHO.search(raw, 0, 200):
            return SKIP, 0
        spaced = words_of(raw)
        words = spaced.split()
        here = frozenset(words)
        kind: Kind = SKIP
        if not self._words.isdisjoint(here):
            found = {
                id(entry): entry
                for word in here & self._words
                for others, entry in self.knowledge.by_word[word]
                if others <= here
            }
            # Entries stand in the order of their files, whatever the order of the words.
            kind = tuple(sorted(found.values(), key=lambda entry: self._order[id(entry)]))
        flags = _flags_of(spaced, words, here)
        self._remember(shape, kind, flags)
        return kind, flags

    def _remember(self, shape: bytes, kind: Kind, flags: int) -> None:
        if len(shape) <= LONGEST_SHAPE:
            if len(self._shapes) >= MOST_SHAPES:
                self._shapes.clear()
                self._folds.clear()
            self._shapes[shape] = kind, flags

    def _read(self, line: LogLine, kind: Kind, flags: int, shape: bytes) -> list[Event]:
        events: list[Event] = []
        start = self._start_of(line)
        if self._tracebacks.is_open and line.text[:1].isspace():
            # A frame and its source text: what it says did not happen.
            return self._follow_traceback(start, line)
        possible: list[Signature | Phase] = []
        sighted: list[Seen] = []
        for entry in kind:
            if isinstance(entry, Phase):
                if any(pattern.search(line.text) for pattern in entry.begins):
                    possible.append(entry)
                    start = self._enter(start, entry, line, events)
            elif entry.frames is not None:
                continue
            elif (match := entry.match(line.text)) is not None:
                possible.append(entry)
                if entry.before.holds(start.marks_for(line.rank)):
                    self._sight(start, entry, match, line, events)
                    sighted.append(start.seen[entry.id])
            elif entry.reads_digits:
                possible.append(entry)
        if len(possible) < len(kind):
            # Digits alone don't make a line match: what this one is not, no other line of its shape is.
            self._remember(shape, tuple(possible), flags)
        if flags & IS_FIGURES:
            read_figures(line.text, start.figures)
        if flags & IS_USAGE or self._in_usage:
            self._read_usage(line)
        if (flags & IS_TRACEBACK and start.traceback_count < MOST_FOLLOWED) or self._tracebacks.is_open:
            events += self._follow_traceback(start, line)
        if flags & IS_ERROR and not possible and not events and ERROR_LINE.search(line.text):
            start.add_error(line)
        if len(possible) == len(sighted) == 1 and not flags & ~IS_ERROR and sighted[0].count > KNOWN_WELL:
            self._folds[shape] = _Fold(start, sighted[0], len(start.marks))
        return events

    def _enter(self, start: Start, phase: Phase, line: LogLine, events: list[Event]) -> Start:
        """Take note of a phase's line; the engine's arguments begin a new start."""
        if phase.mark == LAUNCHED and LAUNCHED in start.marks:
            start = self._new_start(line)
        if start.enter(phase, line):
            events.append(Event(EventKind.PHASE, phase.id, line.number, line.text))
            self._silence_allowed = None
        return start

    def _sight(
        self, start: Start, signature: Signature, match: re.Match[str], line: LogLine, events: list[Event]
    ) -> None:
        first = start.sight(signature, match, line)
        if signature.silence_seconds is not None:
            self._silence_allowed = max(self._silence_allowed or 0.0, signature.silence_seconds)
        if first:
            kind = EventKind.DEATH if signature.role is Role.AFTERMATH else EventKind.SIGHTING
            phase = start.phase.id if start.phase else ""
            events.append(Event(kind, phase, line.number, line.text, signature.id, signature.level, signature.role))

    def _follow_traceback(self, start: Start, line: LogLine) -> list[Event]:
        events: list[Event] = []
        ended = self._tracebacks.feed(line)
        if ended is None:
            return events
        start.add_traceback(ended)
        frames = "\n".join(ended.frames)
        for signature in self.knowledge.signatures:
            if signature.frames is None or not signature.frames.search(frames):
                continue
            about = LogLine(line.number, ended.error, line.raw, line.source, ended.rank, line.time)
            match = signature.match(about.text)
            if match is not None and signature.before.holds(start.marks_for(about.rank)):
                self._sight(start, signature, match, about, events)
        return events

    def _read_usage(self, line: LogLine) -> None:
        """Collect the flags that an argument parser lists before it refuses one: they are the right spellings."""
        text = line.text
        if text.startswith("usage: "):
            self._in_usage = True
        elif self._in_usage and not text[:1].isspace():
            self._in_usage = False
        if self._in_usage and len(self.flags_in_usage) < 2_000:
            self.flags_in_usage.update(dict.fromkeys(re.findall(r"--[a-z][a-z0-9-]{1,80}", text)))

    def _newest(self) -> Start | None:
        return self.starts[-1] if self.starts else None

    def _start_of(self, line: LogLine) -> Start:
        start = self._current.get(line.source)
        return self._new_start(line) if start is None else start

    def _new_start(self, line: LogLine) -> Start:
        self.start_count += 1
        start = Start(self.start_count, line.source)
        self._current[line.source] = start
        self.starts.append(start)
        if len(self.starts) > MOST_STARTS:
            del self.starts[1]  # the first and the newest are worth most
        if len(self._current) > MOST_STARTS:
            self._current.pop(next(iter(self._current)))
        return start

    def cut_traceback(self) -> Traceback | None:
        """Return the traceback that is open at the log's end: the rest of it was cut off, or is still to come."""
        return self._tracebacks.unfinished()


LAUNCHED = "launched"
IS_TRACEBACK, IS_ERROR, IS_FIGURES, IS_BATCH, IS_USAGE = 1, 2, 4, 8, 16


def _flags_of(spaced: bytes, words: Sequence[bytes], here: frozenset[bytes]) -> int:
    flags = 0
    if any(part in spaced for part in ERROR_PARTS):
        flags |= IS_ERROR
    if FLAG_WORDS.isdisjoint(here):
        return flags
    if TRACEBACK_WORD in here or here >= DURING:
        flags |= IS_TRACEBACK
    if not FIGURE_SET.isdisjoint(here):
        flags |= IS_FIGURES
    if b"batch" in here and any(phrase in spaced for phrase in BATCH_WORDS):
        flags |= IS_BATCH
    if b"usage" in words[:4]:
        flags |= IS_USAGE
    return flags


def _weight(event: Event) -> tuple[int, int, int]:
    """Order events by how much they say."""
    if event.kind is EventKind.DEATH:
        return (3, 0, 0)
    if event.kind is EventKind.PHASE or event.level is None or event.role is None:
        return (1, 0, 0)
    deadly = 2 if event.level in DEADLY else 0
    return (deadly, -ROLES.index(event.role), -GRAVITY.index(event.level))
