"""The bytes of a stream: how an event is framed, and what can be odd or wrong about it. Pure."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from seatrial.testkit.faults import Details, Fault
from seatrial.testkit.wire import Chunk

DONE = "[DONE]"
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode  # made once: it is used for each token
ERROR = {
    "error": {
        "object": "error",
        "message": "CUDA error: an illegal memory access was encountered",
        "type": "InternalServerError",
        "param": None,
        "code": 500,
    }
}


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes that are written at once; `token` as in `Chunk`."""

    data: bytes
    token: int | None = None


def frame(chunks: Iterable[Chunk], faults: frozenset[Fault], details: Details) -> Iterator[Piece]:
    """Yield the bytes of a stream, one piece an event."""
    for count, chunk in enumerate(chunks):
        text = _encode(chunk.document)
        if count == details.good_chunks and Fault.ERROR_EVENT in faults:
            yield Piece(_event(json.dumps(ERROR), faults))
            break
        if count == details.good_chunks and Fault.INVALID_JSON_CHUNK in faults:
            text = text[: len(text) // 2]
        if Fault.COMMENTS in faults:
            yield Piece(_lines([": keep-alive", ""], faults))
        yield Piece(_event(text, faults), chunk.token)
    if Fault.MISSING_DONE not in faults:
        yield Piece(_event(DONE, faults))


def split(data: bytes, largest: int, random_: random.Random) -> Iterator[bytes]:
    """Cut bytes into pieces of 1 to `largest`, wherever that falls."""
    at = 0
    while at < len(data):
        size = random_.randint(1, largest)
        yield data[at : at + size]
        at += size


def _event(text: str, faults: frozenset[Fault]) -> bytes:
    # A line feed may stand beside the braces of a JSON object, never inside a string.
    in_lines = Fault.MULTI_LINE_DATA in faults and text != DONE
    lines = [text[:1], text[1:-1], text[-1:]] if in_lines else [text]
    return _lines([f"data: {line}" for line in lines] + [""], faults)


def _lines(lines: list[str], faults: frozenset[Fault]) -> bytes:
    end = "\r\n" if Fault.CRLF in faults else "\n"
    return "".join(line + end for line in lines).encode("utf-8", errors="replace")
