"""Tool calls over turns, and all the parts of one answer."""

from __future__ import annotations

import json

import pytest

from degeneration.prose import PROSE
from seatrial.degeneration import Kind, Severity, scan_answer, scan_tool_calls

READ = ("read_file", '{"path": "a.py"}')
WRITE = ("write_file", '{"path": "a.py", "text": "x"}')


def test_different_calls_are_fine() -> None:
    assert scan_tool_calls([]) is None
    assert scan_tool_calls([READ]) is None
    assert scan_tool_calls([("read_file", json.dumps({"path": f"{i}.py"})) for i in range(50)]) is None
    assert scan_tool_calls([READ, WRITE, READ]) is None


@pytest.mark.parametrize(("copies", "severity"), [(3, Severity.WARN), (4, Severity.WARN), (5, Severity.FAIL)])
def test_the_same_call_again_and_again_warns_and_then_fails(copies: int, severity: Severity) -> None:
    found = scan_tool_calls([WRITE] + [READ] * copies + [WRITE])
    assert found is not None
    assert (found.severity, found.kind) == (severity, Kind.REPEATED_TOOL_CALL)
    assert (found.onset, found.end) == (1, 1 + copies)


def test_a_malformed_call_may_repeat_less_and_a_polling_one_more() -> None:
    broken = scan_tool_calls([("read_file", '{"path": ')] * 4)
    assert broken is not None
    assert broken.severity is Severity.FAIL
    assert scan_tool_calls([("wait_for_job", '{"id": 7}')] * 8) is None
    assert scan_tool_calls([("wait_for_job", '{"id": 7}')] * 30) is not None


def test_a_cycle_of_two_calls_is_a_loop_too() -> None:
    found = scan_tool_calls([READ, WRITE] * 6)
    assert found is not None
    assert (found.severity, found.period) == (Severity.FAIL, 2)


def test_every_part_of_an_answer_is_judged_and_named() -> None:
    found = scan_answer(
        content="All good.",
        reasoning="wait " * 300,
        tool_arguments=[json.dumps({"steps": [{"text": "ok"}, {"text": "\n" * 900}]})],
        finish_reason="stop",
    )
    assert [item.field for item in found] == ["reasoning_content", "tool_calls.function.arguments[0]"]


def test_strings_inside_arguments_are_judged_unescaped() -> None:
    arguments = json.dumps({"a": {"b": ["fine", "".join(f"\n{i}. " for i in range(1, 400))]}})
    found = scan_answer(content=None, reasoning=None, tool_arguments=[arguments], finish_reason="stop")
    assert found
    assert found[0].severity is Severity.FAIL


def test_a_good_answer_has_no_findings() -> None:
    assert scan_answer(content="Four.", reasoning="2 + 2", tool_arguments=["{}", ""], finish_reason="stop") == ()
    assert scan_answer(content=None, reasoning=None, tool_arguments=['{"q": 1}'], finish_reason="length") == ()


def test_a_budget_that_ends_in_reasoning_is_a_failure_when_much_was_reasoned() -> None:
    thinking = " ".join(PROSE.values())
    (found,) = scan_answer(content="", reasoning=thinking, tool_arguments=[], finish_reason="length")
    assert (found.severity, found.kind) == (Severity.FAIL, Kind.LENGTH_WITHOUT_ANSWER)
    (found,) = scan_answer(content=" \n", reasoning="Hm.", tool_arguments=[], finish_reason="length")
    assert found.severity is Severity.WARN
    assert scan_answer(content="12", reasoning=thinking, tool_arguments=[], finish_reason="length") == ()
