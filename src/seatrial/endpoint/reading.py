"""What a response says, read piece by piece: status and headers, a whole body or a stream. Pure: times are handed in.

The client feeds it while bytes come; the benchmark feeds it afterwards, with the moments at which they had come.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from seatrial.endpoint.answer import Answer, Delta, StreamAssembler, parse_completion
from seatrial.endpoint.exchange import Arrival, Exchange, Failure, FailureKind
from seatrial.endpoint.sse import EventStream, ServerSentEvent

Watch = Callable[[Delta], str | None]
"""Sees each piece of a stream's text; returns a reason to stop reading, or None to go on."""

QUOTE_LENGTH = 300
DONE = "[DONE]"


class Reading:
    """The state of reading one response.

    Attributes:
        failure: why there is no whole answer, so far.
        stopped: why `watch` wanted no more of it.
        headers: when status and headers were there, seconds after the request was sent; None before.
    """

    def __init__(
        self, exchange: Exchange, answer_bytes: int, watch: Watch | None = None, *, keep_raw: bool = True
    ) -> None:
        self._exchange = exchange
        self._answer_bytes = answer_bytes
        self._watch = watch
        self._keep_raw = keep_raw
        self._status: int | None = None
        self._content_type = ""
        self._location = ""
        self._size = 0
        self._body = bytearray()
        self._arrivals: list[Arrival] = []
        self._answer: Answer | None = None
        self._events: EventStream | None = None
        self._assembler: StreamAssembler | None = None
        self._raw: Any = None
        self.failure: Failure | None = None
        self.stopped: str | None = None
        self.headers: float | None = None

    @property
    def started(self) -> bool:
        """Whether an answer has begun."""
        return self.headers is not None

    def begin(self, status: int, content_type: str, location: str, at: float) -> None:
        """Take status and headers, which came `at` seconds after the request was sent."""
        self._status, self._content_type, self._location, self.headers = status, content_type, location, at
        if status == 200 and "text/event-stream" in content_type and self._exchange.streamed:
            self._events, self._assembler, self._raw = EventStream(), StreamAssembler(), []

    def feed(self, data: bytes, at: float) -> bool:
        """Take the next bytes of the body; return whether there is need for more."""
        self._size += len(data)
        if self._size > self._answer_bytes:
            self.failure = self._too_long()
            return False
        if self._events is None:
            self._body += data
            return True
        return all(self._take(event, at) for event in self._events.feed(data))

    def end(self, at: float) -> None:
        """Take the end of the body."""
        if self._events is None:
            self._end_whole()
            return
        assert self._assembler is not None
        rest = self._events.finish()
        if rest is not None:
            if rest.data == DONE:
                self._keep(rest.data)
                return
            if parse_json(rest.data) is not None:  # half an event is no event
                self._take(rest, at)
        if self.failure is None and self._assembler.answer().finish_reason is None:
            self.failure = Failure(
                FailureKind.BROKEN_STREAM,
                f"the stream ended after {self._assembler.chunks} chunks without a finish_reason and without [DONE]",
                self._status,
            )

    def exchange(self, total: float) -> Exchange:
        """Return the record; `total` is how long it took, in seconds."""
        answer = self._answer
        if answer is None and self._assembler is not None:
            answer = self._assembler.answer()
        timing = replace(self._exchange.timing, headers=self.headers, total=total, arrivals=tuple(self._arrivals))
        return replace(
            self._exchange,
            timing=timing,
            status=self._status,
            answer=answer,
            failure=self.failure,
            stopped=self.stopped,
            raw=self._raw,
        )

    def _take(self, event: ServerSentEvent, at: float) -> bool:
        """Take one event; return whether there is need for more."""
        data = event.data
        self._keep(data)
        if data == DONE:
            return False
        try:
            chunk = json.loads(data)
        except (ValueError, RecursionError):
            self.failure = Failure(
                FailureKind.NOT_JSON, f"a chunk of the stream is not JSON: {shorten(data)}", self._status
            )
            return False
        if event.event == "error" or (isinstance(chunk, dict) and "error" in chunk and "choices" not in chunk):
            self.failure = Failure(FailureKind.ERROR_EVENT, error_message(chunk, data), self._status)
            return False
        assert self._assembler is not None
        for delta in self._assembler.add(chunk):
            self._arrivals.append(Arrival(at, delta.field, len(delta.text)))
            if self._watch is not None and self.stopped is None:
                self.stopped = self._watch(delta)
        return self.stopped is None

    def _keep(self, data: str) -> None:
        if self._keep_raw:
            self._raw.append(data)

    def _end_whole(self) -> None:
        body = bytes(self._body)
        text = body.decode("utf-8", errors="replace")
        self._raw = parse_json(body)
        status = self._status
        if status is not None and 300 <= status < 400:
            target = (self._location or "nowhere").partition("?")[0]
            message = f"it redirects to {shorten(target)}, which is not followed"
            self.failure = Failure(FailureKind.HTTP_STATUS, message, status)
        elif status != 200:
            self.failure = Failure(FailureKind.HTTP_STATUS, error_message(self._raw, text), status)
        elif self._raw is None:
            kind = self._content_type or "no content type"
            self.failure = Failure(FailureKind.NOT_JSON, f"the body is not JSON ({kind}): {shorten(text)}", 200)
        elif (answer := parse_completion(self._raw)) is None:
            message = error_message(self._raw, text)
            self.failure = Failure(FailureKind.NOT_A_COMPLETION, f"the JSON has no message: {message}", 200)
        elif self._exchange.streamed:
            self._answer = replace(answer, defects=(*answer.defects, "a stream was asked for, a whole answer came"))
        else:
            self._answer = answer
        if self._raw is None:
            self._raw = shorten(text, 2000)

    def _too_long(self) -> Failure:
        size = self._answer_bytes // 2**20
        return Failure(FailureKind.TOO_LONG, f"the answer is longer than {size} MiB and goes on", self._status)


def error_message(body: Any, text: str) -> str:
    """Find the words in an error answer: OpenAI's `error.message`, SGLang's `message`, FastAPI's `detail`."""
    if isinstance(body, Mapping):
        error = body.get("error", body)
        for holder in (error, body):
            if isinstance(holder, Mapping):
                for key in ("message", "detail", "error"):
                    if isinstance(holder.get(key), str):
                        return shorten(holder[key])
        if isinstance(error, str):
            return shorten(error)
    return shorten(text) or "empty body"


def shorten(text: str, length: int = QUOTE_LENGTH) -> str:
    """Fit a text on one line, its end cut off where it is too long."""
    line = " ".join(text[: length * 4].split())
    return line if len(line) <= length else line[: length - 1] + "…"


def parse_json(body: bytes | str) -> Any:
    """Parse JSON; None where it is none."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None
