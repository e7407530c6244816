"""One request and what came of it: the record that every check, report and replay reads. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from seatrial.endpoint.answer import Answer


class FailureKind(StrEnum):
    """Why a request has no answer."""

    REFUSED = "connection refused"
    UNREACHABLE = "unreachable"
    TIMED_OUT = "timed out"
    HTTP_STATUS = "HTTP status"
    NOT_JSON = "not JSON"
    NOT_A_COMPLETION = "not a chat completion"
    BROKEN_STREAM = "broken stream"
    ERROR_EVENT = "error inside the stream"
    TOO_LONG = "too long"


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong, in a sentence's worth of words.

    Attributes:
        kind: the kind of failure.
        message: what was seen, without a full stop.
        status: the HTTP status, where there was one.
    """

    kind: FailureKind
    message: str
    status: int | None = None

    @property
    def is_infrastructure(self) -> bool:
        """Whether it says nothing about the answers: the server could not be asked, or broke off.

        A 4xx status is an answer of the server (except 401, 403, 404, 408 and 429, which are about access, path,
        time and load).
        """
        if self.kind is FailureKind.HTTP_STATUS and self.status is not None:
            return self.status >= 500 or self.status < 400 or self.status in {401, 403, 404, 408, 429}
        return True


@dataclass(frozen=True, slots=True)
class Arrival:
    """A piece of text of a stream: when it came (seconds after the request was sent), to which field, how long."""

    seconds: float
    field: str
    characters: int


@dataclass(frozen=True, slots=True)
class Timing:
    """Clock readings of one request; seconds are after it was sent.

    Attributes:
        sent_at: wall clock, seconds since 1970 (UTC).
        headers: until the status line and headers were there.
        total: until the last byte, or until it failed or was stopped.
        arrivals: the pieces of text of a stream, in order.
    """

    sent_at: float
    headers: float | None = None
    total: float = 0.0
    arrivals: tuple[Arrival, ...] = ()


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request, and its answer or failure.

    Attributes:
        id: unique in its run, e.g. `r0007` (`b0007` in a benchmark).
        label: what asked it, e.g. `tool_call/streamed`.
        request: the JSON body that was sent.
        status: the HTTP status, if the server got that far.
        answer: what was understood of it; for a stream that failed or was stopped, what had come.
        failure: why there is no whole answer, or None.
        stopped: why we stopped reading a stream before its end, or None.
        raw: the body as it came: parsed JSON, or the `data` lines of a stream, or text.
        timing: when things happened.
    """

    id: str
    label: str
    request: Mapping[str, Any]
    timing: Timing
    status: int | None = None
    answer: Answer | None = None
    failure: Failure | None = None
    stopped: str | None = None
    raw: Any = field(default=None, repr=False)

    @property
    def streamed(self) -> bool:
        """Whether a stream was asked for."""
        return bool(self.request.get("stream"))

    @property
    def prompt(self) -> str:
        """The last thing that the user said in it."""
        for message in reversed(self.request.get("messages", ())):
            if message.get("role") == "user" and isinstance(message.get("content"), str):
                return str(message["content"])
        return ""

    @property
    def output_tokens(self) -> int:
        """The server's count of what it wrote, or the number of pieces that came where it gave none."""
        usage = self.answer.usage if self.answer else None
        if usage is not None and usage.completion_tokens is not None:
            return usage.completion_tokens
        return len(self.timing.arrivals)
