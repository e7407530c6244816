"""From what came on the wire to what it says: a capture becomes an exchange and a row. Pure, and after the level."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace

from seatrial.bench.capture import Capture
from seatrial.bench.framing import Framing, NotHttp
from seatrial.bench.result import RequestRow
from seatrial.degeneration import Severity
from seatrial.endpoint.answer import REASONING
from seatrial.endpoint.exchange import Exchange, Timing
from seatrial.endpoint.reading import Reading
from seatrial.trials.broken_text import degenerations

WARM_UP, MEASURED = "warm-up", "measured"


def read_capture(capture: Capture, *, label: str, began: float, wall_clock: float, answer_bytes: int) -> Exchange:
    """Understand a capture.

    Args:
        capture: what came.
        label: of the exchange.
        began: the clock reading that rows count from (`time.monotonic`).
        wall_clock: seconds since 1970 at that moment.
        answer_bytes: the largest answer that is read.

    Returns:
        The exchange as the client of trials would have recorded it, without the raw chunks; its times count from
        when the request was sent.
    """
    sent = capture.sent if capture.sent is not None else capture.started
    empty = Exchange(f"b{capture.number:04d}", label, json.loads(capture.body), Timing(wall_clock + sent - began))
    reading = Reading(empty, answer_bytes, keep_raw=False)
    framing = Framing()
    try:
        framing.advance(capture.data)
        if capture.failure is None and not framing.ended:
            framing.close(capture.data)
    except NotHttp:  # the transport has said so already
        pass
    if framing.status is not None:
        headers = framing.headers
        at = capture.stamps[0] - sent
        reading.begin(framing.status, headers.get("content-type", ""), headers.get("location", ""), at)
        more = all(reading.feed(data, stamp - sent) for data, stamp in _body(capture, framing))
        if more and capture.failure is None:
            reading.end(capture.ended - sent)
    reading.failure = reading.failure or capture.failure
    return reading.exchange(capture.ended - sent)


def _body(capture: Capture, framing: Framing) -> Iterator[tuple[bytes, float]]:
    """Yield the pieces of the body as they were read, each with its moment."""
    reads = iter(zip(capture.ends, capture.stamps, strict=True))
    end, stamp = next(reads, (0, 0.0))
    for start, stop in framing.body(capture.data):
        while start < stop:
            while end <= start:
                end, stamp = next(reads)
            part = min(stop, end)
            yield bytes(capture.data[start:part]), stamp
            start = part  # noqa: PLW2901 - it walks through the segment


def is_degenerate(exchange: Exchange) -> bool:
    """Tell whether any text of the answer is surely broken."""
    return any(found.severity is Severity.FAIL for found in degenerations(exchange))


def row_of(
    exchange: Exchange, capture: Capture, *, level: int, began: float, objectives: Mapping[str, float]
) -> RequestRow:
    """Make the row of an exchange; all clock readings count from `began`."""
    sent = None if capture.sent is None else capture.sent - began
    times = [arrival.seconds for arrival in exchange.timing.arrivals]
    answered = [arrival.seconds for arrival in exchange.timing.arrivals if arrival.field != REASONING]
    usage = exchange.answer.usage if exchange.answer else None

    def moment(seconds: float | None) -> float | None:
        return None if seconds is None or sent is None else sent + seconds

    failed = exchange.failure is not None
    row = RequestRow(
        id=exchange.id,
        level=level,
        phase=WARM_UP if level < 0 else MEASURED,
        scheduled=capture.scheduled - began,
        started=capture.started - began,
        sent=sent,
        first_byte=moment(exchange.timing.headers),
        first_token=moment(times[0] if times else None),
        first_answer_token=moment(answered[0] if answered else None),
        last_token=moment(times[-1] if times else None),
        ended=capture.ended - began,
        chunks=len(times),
        output_tokens=exchange.output_tokens,
        tokens_counted_by_server=usage is not None and usage.completion_tokens is not None,
        prompt_tokens=usage.prompt_tokens if usage else None,
        cached_tokens=usage.cached_tokens if usage else None,
        status=exchange.status,
        finish_reason=exchange.answer.finish_reason if exchange.answer else None,
        degenerate=not failed and is_degenerate(exchange),
        failure=exchange.failure.message if exchange.failure else None,
        gaps_us=tuple(round((later - earlier) * 1e6) for earlier, later in itertools.pairwise(times)),
    )
    return replace(row, meets_objectives=meets(row, objectives))


def meets(row: RequestRow, objectives: Mapping[str, float]) -> bool | None:
    """Tell whether a request meets all objectives (the largest allowed seconds by metric); None where none is stated.

    A failed request and a broken answer meet none; a metric that a request has no value for is not met.
    """
    if not objectives:
        return None
    if row.failure is not None or row.degenerate:
        return False
    values = ((getattr(row, name), limit) for name, limit in objectives.items())
    return all(value is not None and value <= limit for value, limit in values)
