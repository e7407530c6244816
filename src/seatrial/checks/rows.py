"""Judges recorded cases: `{"id", "request", "response" | "sse", "expected_arguments"?}`. Pure; nothing here raises.

`response` is a body as the server sent it, `sse` are the lines of a stream. A row with both is judged as a stream,
and the two answers are compared. All other keys of a row are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seatrial.checks.asked import Asked
from seatrial.checks.finding import plural, proven, refuted, shown, unproven, whole
from seatrial.checks.judging import judge
from seatrial.checks.refusals import error_in, request_accepted
from seatrial.checks.stream import stream_parity
from seatrial.endpoint.answer import Answer, StreamAssembler, parse_completion
from seatrial.endpoint.sse import EventStream
from seatrial.verdicts import CheckResult, Verdict


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was found about one row."""

    id: str
    checks: tuple[CheckResult, ...]

    @property
    def verdict(self) -> Verdict:
        """All checks together."""
        return Verdict.of(check.verdict for check in self.checks)


def row_problem(row: Any) -> str | None:
    """Say why a row can't be judged at all, as a clause; None for one that can."""
    if not isinstance(row, Mapping):
        return "a row is a JSON object"
    if not isinstance(row.get("id"), str | int) or isinstance(row.get("id"), bool):
        return 'the row has no "id"'
    if not isinstance(row.get("request"), Mapping):
        return 'the row has no "request" object'
    if "response" not in row and "sse" not in row:
        return 'the row has neither "response" nor "sse"'
    if "sse" in row and not isinstance(row["sse"], list | str):
        return '"sse" is no list of lines'
    expected = row.get("expected_arguments")
    if expected is not None and not _is_expectation(expected):
        return '"expected_arguments" is neither an object nor a list of objects'
    return None


def judge_row(row: Any) -> Judgement:
    """Judge one row; what can't be read is unproven or refuted, with the reason."""
    identity = str(row.get("id", "")) if isinstance(row, Mapping) else ""
    if (problem := row_problem(row)) is not None:
        return Judgement(identity, (unproven("row_readable", problem),))
    expected = row.get("expected_arguments")
    asked = Asked.from_request({**row["request"], "stream": "sse" in row}, exchange=identity)
    if "sse" not in row:
        answer, checks = read_response(asked, row["response"], row.get("http_status"))
    else:
        answer, checks = read_stream(asked, row["sse"])
    if answer is not None:
        checks = (*checks, *judge(asked, answer, expected=expected))
        if "sse" in row and (complete := parse_completion(row.get("response"))) is not None:
            checks = (*checks, stream_parity(asked, complete, answer))
    return Judgement(identity, checks)


def read_response(asked: Asked, body: Any, status: Any = None) -> tuple[Answer | None, tuple[CheckResult, ...]]:
    """Read a whole answer; without one, the checks say why."""
    if isinstance(body, str):
        try:
            body = json.loads(body)
        except (ValueError, RecursionError):
            detail = "the body is not JSON"
            return None, (refuted("answer_readable", detail, whole(asked, body)),)
    error = error_in(body)
    known = status if type(status) is int and status >= 400 else None
    if error is not None or known is not None:
        words, code = error or (shown(body, 160), None)
        return None, (request_accepted(asked, words, known or code),)
    answer = parse_completion(body)
    if answer is None:
        lacks = "message in choices[0]" if isinstance(body, Mapping) and body.get("choices") else "choices"
        detail = f"the body is no chat completion: it has no {lacks}"
        return None, (refuted("answer_readable", detail, whole(asked, shown(body, 160))),)
    return answer, (proven("answer_readable", "the body is a chat completion"),)


def read_stream(asked: Asked, lines: Sequence[Any] | str) -> tuple[Answer | None, tuple[CheckResult, ...]]:
    """Rebuild the answer from the lines of a stream; where that fails, the checks say why."""
    check = "answer_readable"
    assembler, done, after_done = StreamAssembler(), False, 0
    for data, event in _events(lines):
        if data == "[DONE]":
            done = True
            continue
        after_done += done
        if isinstance(data, str):
            try:
                chunk = json.loads(data)
            except (ValueError, RecursionError):
                return None, (refuted(check, "a chunk of the stream is not JSON", whole(asked, data)),)
        else:
            chunk = data
        error = error_in(chunk)
        if error is None and event == "error":
            error = (shown(data, 160), None)
        if error is not None:
            return None, (request_accepted(asked, *error),)
        assembler.add(chunk)
    answer = assembler.answer()
    if assembler.chunks == 0:
        return None, (refuted(check, "the stream holds no chunk", whole(asked)),)
    if after_done:
        return answer, (refuted(check, f"{plural(after_done, 'chunk')} came after [DONE]", whole(asked)),)
    if not done and answer.finish_reason is None:
        detail = f"the stream broke off after {plural(assembler.chunks, 'chunk')}: no finish_reason and no [DONE]"
        return answer, (refuted(check, detail, whole(asked)),)
    return answer, (proven(check, f"the stream holds {plural(assembler.chunks, 'chunk')} and ends"),)


def _events(lines: Sequence[Any] | str) -> Iterator[tuple[Any, str]]:
    """Yield the data of each event, with its name.

    A recording often has no blank lines between its events: then every line is one.
    """
    items: list[Any] = lines.splitlines() if isinstance(lines, str) else list(lines)
    if any(isinstance(item, str) and not item.strip() for item in items) and all(isinstance(i, str) for i in items):
        stream = EventStream()
        events = stream.feed("\n".join(item.rstrip("\r\n") for item in items).encode("utf-8", "replace"))
        rest = stream.finish()
        yield from ((event.data, event.event) for event in [*events, *([rest] if rest else [])])
        return
    yield from _lines_as_events(items)


def _lines_as_events(items: Iterable[Any]) -> Iterator[tuple[Any, str]]:
    event = "message"
    for item in items:
        if not isinstance(item, str):
            yield item, "message"
            continue
        for line in item.splitlines():
            field, _, value = line.partition(":")
            if field == "event":
                event = value.strip()
            elif field == "data":
                yield value.strip(), event
                event = "message"
            elif line.lstrip().startswith("{"):
                yield line.strip(), "message"


def _is_expectation(expected: Any) -> bool:
    return isinstance(expected, Mapping) or (
        isinstance(expected, list) and all(isinstance(entry, Mapping) for entry in expected)
    )
