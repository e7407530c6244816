"""A condition holds, does not hold, or can't be told; what is unknown never passes for either."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.planning.conditions import Fact, Truth, all_of, any_of, clauses, fact_names, holds, matches

FACTS: dict[str, Fact] = {
    "host.gpus": 2,
    "host.peer_access": False,
    "model.dtype": "bfloat16",
    "host.nvlink": None,
    "cc": (8, 9),
}


@pytest.mark.parametrize(
    ("condition", "truth"),
    [
        ({}, True),
        ({"host.gpus": 2}, True),
        ({"host.gpus": {"above": 1}, "host.peer_access": False}, True),
        ({"host.gpus": {"above": 2}}, False),
        ({"model.dtype": ["float16", "bfloat16"]}, True),
        ({"model.dtype": {"is_not": ["float16", "bfloat16"]}}, False),
        ({"model.dtype": {"matches": "^b?float16$"}}, True),
        ({"cc": {"at_least": [8, 0], "below": [9, 0]}}, True),
        ({"cc": {"below": [8, 9]}}, False),
        ({"host.nvlink": True}, None),
        ({"host.nvlink": True, "host.gpus": 3}, False),
        ({"any": [{"host.nvlink": True}, {"host.gpus": 2}]}, True),
        ({"any": [{"host.nvlink": True}, {"host.gpus": 3}]}, None),
        ({"not": {"host.nvlink": True}}, None),
        ({"not": {"host.gpus": 3}}, True),
    ],
)
def test_a_condition_has_three_answers(condition: dict[str, object], truth: Truth) -> None:
    assert holds(condition, FACTS) is truth


def test_a_boolean_is_no_number() -> None:
    assert matches(1, True) is False  # noqa: FBT003
    assert matches(True, 1) is False  # noqa: FBT003


def test_every_fact_of_a_condition_is_named_wherever_it_stands() -> None:
    condition = {"a": 1, "any": [{"b": 1}, {"not": {"c": 1}}]}
    assert list(fact_names(condition)) == ["a", "b", "c"]


def test_each_part_says_what_it_wanted_and_what_it_found() -> None:
    (part,) = clauses({"cc": {"below": [9, 0]}}, FACTS)
    assert (part.fact, part.value, part.wanted, part.truth) == ("cc", (8, 9), "below 9.0", True)


TRUTHS = st.lists(st.sampled_from([True, False, None]), max_size=6)


@given(TRUTHS)
def test_making_the_unknown_known_never_turns_an_answer_round(truths: list[Truth]) -> None:
    for decide in (all_of, any_of):
        answer = decide(truths)
        for guess in (True, False):
            known = decide(guess if truth is None else truth for truth in truths)
            assert answer is None or answer is known
