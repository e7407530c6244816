"""What a fake server does, as one value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from seatrial.endpoint.address import Secret
from seatrial.testkit.faults import Details, Fault
from seatrial.testkit.good_model import GoodModel
from seatrial.testkit.reply import Answer


@dataclass(frozen=True, slots=True)
class Pace:
    """When the tokens of a stream are written: against the clock, so that delays don't add up.

    Token number i (from 0) is written at `time_to_first_token + i / tokens_per_second` seconds after the request
    arrived; in every stream alike, however many there are. Never earlier; later by about a millisecond (the event
    loop's own resolution) and by what a busy machine adds: `Seen.written_at` says when it really was.
    """

    time_to_first_token: float = 0.0
    tokens_per_second: float = 50.0

    def due(self, token: int) -> float:
        """Return when a token is due, in seconds after the request arrived."""
        return self.time_to_first_token + token / self.tokens_per_second


@dataclass(slots=True)
class Seen:
    """One request that the server got, and when it wrote what.

    Attributes:
        number: 1 for the first request to any path.
        method: `GET`, `POST`, …
        path: with the query.
        headers: names in lower case.
        body: the parsed JSON, the text where it is none, or None.
        connection: tells connections apart.
        in_flight: chat requests that were being answered when it came, itself among them.
        received_at: clock reading (`time.monotonic`, which all processes of a host share on Linux), seconds.
        written_at: clock readings, one for each token that was written.
        late: seconds between when the latest token was due and when it was written; 0 without a pace.
    """

    number: int
    method: str
    path: str
    headers: Mapping[str, str]
    body: Any
    connection: int
    in_flight: int
    received_at: float
    written_at: list[float] = field(default_factory=list)
    late: float = 0.0


@dataclass(frozen=True, slots=True)
class Script:
    """What a fake server does. Without arguments: everything right, at once.

    Attributes:
        model: the name that it serves.
        answer: the model: takes a request's JSON body, returns a `Reply`.
        faults: what it does wrong.
        when: tells for each chat request whether the faults of answers apply to it (faults of whole servers,
            such as HTML_EVERYWHERE, always apply).
        details: the numbers behind the faults.
        context_length: prompt and answer together, in tokens.
        api_key: what a request must carry, or None.
        pace: when tokens are written; None is as fast as it can.
        created: the time that answers carry, seconds since 1970: fixed, so that answers can be compared.
    """

    model: str = "fake-model"
    answer: Answer = field(default_factory=GoodModel)
    faults: frozenset[Fault] = frozenset()
    when: Callable[[Seen], bool] = lambda _seen: True
    details: Details = field(default_factory=Details)
    context_length: int = 32_768
    api_key: Secret | None = None
    pace: Pace | None = None
    created: int = 1_800_000_000

    def has(self, fault: Fault) -> bool:
        """Whether a fault is switched on."""
        return fault in self.faults
