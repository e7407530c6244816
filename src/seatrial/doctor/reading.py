"""Reads log lines: what Docker, Compose, Kubernetes, a journal and the engine put around a message is taken off.

Only lines that matter come here; the scanner passes over all others as bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import IO

from seatrial.doctor.model import LogLine

BLOCK_BYTES = 1 << 20
"""How much is read at once."""
PLAIN_TIME_LENGTH = len("2031-02-03 04:05:06")
LONGEST_LINE_BYTES = 64 * 1024
"""A longer line is cut there: the longest real one, the engine's arguments, has 16 KiB."""

COLOURS = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
RAW_COLOURS = re.compile(rb"(?:\x1b|\\u001[bB])\[[0-9;?]*[A-Za-z]")

RAW_COMPOSE = re.compile(rb"(?:[A-Za-z0-9][\w.-]{0,120}? +\| ?)?(?:\d{4}-\d\d-\d\dT\S{8,40} )?")

DOCKER_JSON = '{"log":'
KUBERNETES = re.compile(
    r"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)) (?:stdout|stderr) [FP] "
)
COMPOSE = re.compile(r"(?P<source>[A-Za-z0-9][\w.-]{0,120}?) +\| ?")
DOCKER_TIME = re.compile(r"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)[ \t]")
JOURNAL = re.compile(r"[A-Z][a-z]{2} [ 0-3]?\d \d\d:\d\d:\d\d \S+ [\w./@-]+\[\d+\]: ")

SGLANG_PREFIX = re.compile(r"\[(?P<time>\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?)(?P<rank>[^\]\n]{0,80})\] ?")
OLD_SGLANG_PREFIX = re.compile(r"\[(?:\d\d:\d\d:\d\d)?(?P<rank>[ ]?(?:TP\d+|DP\d+|gpu(?:_id)?=\d+)(?: TP\d+)?)\] ?")
TORCH_RANK = re.compile(r"\[(?:default|rank)(?P<rank>\d+)\]:[ ]?")
VLLM_PREFIX = re.compile(
    r"(?:\((?P<process>[\w. =:-]{1,60})\) )?(?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d"
    r"(?:\.\d+)? \[[^\]]{1,120}\] "
)
PROCESS_PREFIX = re.compile(r"\((?P<process>[A-Z][\w. =:-]{1,60})\) ")
RANK_WORDS = re.compile(r"\b(?:DP|TP|PP|EP)\d+\b")


def blocks_to_lines(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines of a stream without their ends; a line longer than `LONGEST_LINE_BYTES` is cut.

    Memory stays at a few blocks, whatever the stream's size, and whether or not it has line ends.
    """
    rest = b""
    skipping = False
    while block := stream.read(BLOCK_BYTES):
        lines = block.split(b"\n")
        if skipping:
            if len(lines) == 1:
                continue
            del lines[0]
            skipping = False
        lines[0] = rest + lines[0]
        rest = lines.pop()
        yield from lines
        if len(rest) > LONGEST_LINE_BYTES:
            # A progress bar rewrites its line for ever: its last state may stand before a message.
            cut = rest.rfind(b"\r")
            skipping = cut < 0
            yield rest[:LONGEST_LINE_BYTES] if skipping else rest[:cut]
            rest = b"" if skipping else rest[cut + 1 :]
    if rest:
        yield rest


def to_bytes(lines: Iterable[str | bytes]) -> Iterator[bytes]:
    """Bring lines of text or bytes to bytes without their ends."""
    for line in lines:
        yield (line.encode("utf-8", "surrogateescape") if isinstance(line, str) else line).rstrip(b"\r\n")


def parse_line(raw: bytes, number: int) -> LogLine:
    """Read one line; any bytes are taken."""
    text = raw[:LONGEST_LINE_BYTES].decode("utf-8", "replace")
    time: float | None = None
    source = ""
    if text.startswith(DOCKER_JSON):
        text, time = _docker_json(text)
        if "\r" in text:
            text = next((state for state in reversed(text.split("\r")) if state.strip()), "")
    if "\x1b" in text:
        text = COLOURS.sub("", text)
    whole = text
    if text[:1].isalnum():
        if "T" in text[:12] and (match := KUBERNETES.match(text) or DOCKER_TIME.match(text)):
            time, text = parse_time(match["time"]), text[match.end() :]
        elif match := JOURNAL.match(text):
            text = text[match.end() :]
        if (bar := text.find("|", 0, 130)) > 0 and text[bar - 1] == " " and (match := COMPOSE.match(text)):
            source, text = match["source"], text[match.end() :]
            if "T" in text[:12] and (match := DOCKER_TIME.match(text)):
                time, text = parse_time(match["time"]), text[match.end() :]
    if (glued := text.find("][2")) > 0 and "it" in text[glued - 8 : glued]:
        text = text[glued + 1 :]  # a progress bar without a line end, then a message: "?it/s][2031-02-03 …"
    text, rank, stamp, prefixed = _logger_prefix(text)
    return LogLine(number, text, whole, source, rank, stamp if stamp is not None else time, prefixed)


def parse_time(text: str) -> float | None:
    """Read a time; one without a zone is taken for UTC. None where it is none."""
    try:
        plain = text if len(text) == PLAIN_TIME_LENGTH else _trim_fraction(text.replace(",", "."))
        read = datetime.fromisoformat(plain)
        return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def _trim_fraction(text: str) -> str:
    """Cut nanoseconds to microseconds: Python reads no finer ones."""
    return re.sub(r"(\.\d{6})\d+", r"\1", text)


def _docker_json(text: str) -> tuple[str, float | None]:
    """Unwrap a line of Docker's json-file driver; a broken one stays as it is."""
    try:
        row = json.loads(text)
    except (ValueError, RecursionError):
        return text, None
    if not isinstance(row, dict) or not isinstance(row.get("log"), str):
        return text, None
    time = row.get("time")
    return row["log"].rstrip("\r\n"), parse_time(time) if isinstance(time, str) else None


def _logger_prefix(text: str) -> tuple[str, str, float | None, bool]:
    """Take the logger's prefix off: message, rank, time, whether there was one."""
    rank, time, prefixed = "", None, False
    if match := TORCH_RANK.match(text):
        rank, text = f"rank {match['rank']}", text[match.end() :]
    if text.startswith("[") and (match := SGLANG_PREFIX.match(text)):
        time, prefixed = parse_time(match["time"]), True
        rank = " ".join(RANK_WORDS.findall(match["rank"])) or rank
        text = text[match.end() :]
        if match := TORCH_RANK.match(text):
            rank, text = rank or f"rank {match['rank']}", text[match.end() :]
    elif text.startswith("[") and (match := OLD_SGLANG_PREFIX.match(text)):
        prefixed, rank, text = True, match["rank"].strip(), text[match.end() :]
    elif text[:1] == "(" or text[:5] in ("INFO ", "ERROR", "WARNI", "DEBUG", "CRITI"):
        if match := VLLM_PREFIX.match(text):
            # vLLM writes its prefix before every line of a traceback, and traces are of this level.
            prefixed = match["process"] is None and match["level"] not in ("ERROR", "CRITICAL")
            rank = match["process"] or rank
            text = text[match.end() :]
        elif match := PROCESS_PREFIX.match(text):
            rank, text = match["process"], text[match.end() :]
    return text, rank, time, prefixed
