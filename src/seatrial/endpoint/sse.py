"""Server-sent events, parsed as the WHATWG standard says, from bytes as they arrive.

Standard: HTML, section 9.2.6 "Interpreting an event stream". Covered: a byte-order mark, LF, CRLF and CR line
ends (also split over two chunks), comments, several `data` lines, fields without a colon, chunks that end inside a
UTF-8 character. Invalid UTF-8 becomes U+FFFD, as the standard demands.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    """One dispatched event."""

    data: str
    event: str = "message"


class EventStream:
    """Turns the bytes of a response into events; remembers what is not finished yet."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
        self._line: list[str] = []  # pieces of the line that has not ended: joined once, so a huge line stays linear
        self._after_cr = False
        self._started = False
        self._data: list[str] = []
        self._event = ""

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        """Take the next bytes; return the events that they complete."""
        return self._take(self._decode(chunk))

    def finish(self) -> ServerSentEvent | None:
        """Take the end of the stream; return what was left without its closing blank line, if anything.

        The standard drops such an event. It is returned so that a caller can tell a stream that was cut from one
        that only lacks its last line end.
        """
        for event in self._take(self._decode(b"", final=True)):
            return event
        if line := "".join(self._line):
            self._field(line)
            self._line = []
        return self._dispatch()

    def _take(self, text: str) -> list[ServerSentEvent]:
        if not text:
            return []
        if not self._started:
            self._started = True
            text = text.removeprefix("\ufeff")
        if self._after_cr:
            self._after_cr = False
            text = text.removeprefix("\n")
        if "\r" in text:
            # A CR at the very end may be the first half of a CRLF: its LF, if it comes, is skipped above.
            self._after_cr = text.endswith("\r")
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        *lines, unfinished = text.split("\n")
        if lines:
            lines[0] = "".join([*self._line, lines[0]])
            self._line = []
        self._line.append(unfinished)
        events = []
        for line in lines:
            if line:
                self._field(line)
            elif (event := self._dispatch()) is not None:
                events.append(event)
        return events

    def _field(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._event = value

    def _dispatch(self) -> ServerSentEvent | None:
        data, event = self._data, self._event
        self._data, self._event = [], ""
        return ServerSentEvent("\n".join(data), event or "message") if data else None
