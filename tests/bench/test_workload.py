from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from seatrial.bench.prompt_file import read_prompts
from seatrial.bench.workload import PrefixCache, Workload, WorkloadName, builtin
from seatrial.errors import InputError
from seatrial.testkit.tokens import count_prompt


def first(workload: Workload, count: int = 20) -> list[dict[str, Any]]:
    return list(itertools.islice(workload.requests(), count))


def beginning(request: dict[str, Any]) -> str:
    return str(request["messages"][0]["content"])[:20]


@pytest.mark.parametrize("name", list(WorkloadName))
def test_no_two_prompts_begin_alike_and_no_two_runs_do(name: WorkloadName) -> None:
    one, two = builtin(name), builtin(name)
    beginnings = [beginning(request) for workload in (one, two) for request in first(workload)]
    assert len(set(beginnings)) == 40


@pytest.mark.parametrize("name", list(WorkloadName))
def test_the_same_seed_asks_the_same_and_another_one_something_else(name: WorkloadName) -> None:
    def asked(seed: int) -> list[Any]:
        return [request["messages"] for request in first(builtin(name, seed=seed, prefix_cache=PrefixCache.ALLOW))]

    assert asked(1) == asked(1)
    assert asked(1) != asked(2)


def test_prompts_of_two_runs_have_as_many_tokens() -> None:
    sizes = [[count_prompt(request) for request in first(builtin("review"))] for _ in range(3)]
    assert sizes[0] == sizes[1] == sizes[2]


def test_review_offers_tools_and_summarize_is_as_long_as_asked() -> None:
    assert all(request["tools"] for request in first(builtin("review")))
    assert "tools" not in first(builtin("chat"))[0]
    for request in first(builtin("summarize", input_tokens=800)):
        assert 800 <= count_prompt(request) < 900


def test_answers_stop_by_themselves_unless_asked_otherwise() -> None:
    assert "ignore_eos" not in first(builtin("decode"))[0]
    forced = builtin("decode", ignore_eos=True)
    assert first(forced)[0]["ignore_eos"] is True
    assert any("ignore_eos" in note for note in forced.notes(1))


def lines(path: Path, *rows: object) -> Path:
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def test_a_file_of_prompts_may_have_any_of_the_usual_forms(tmp_path: Path) -> None:
    message = {"role": "user", "content": "Hello"}
    rows = read_prompts(
        lines(
            tmp_path / "prompts.jsonl",
            {"messages": [message], "max_tokens": 7},
            {"prompt": "Hello"},
            "",
            {"custom_id": "1", "body": {"messages": [message], "tools": [{"type": "function"}]}},
            {"conversations": [{"from": "human", "value": "Hello"}, {"from": "gpt", "value": "Hi"}]},
        )
    )
    assert [list(row.messages) for row in rows] == [[message]] * 4
    assert (rows[0].output_tokens, len(rows[2].tools)) == (7, 1)
    workload = Workload("jsonl", 100, rows=rows, prefix_cache=PrefixCache.ALLOW)
    assert [request["max_tokens"] for request in first(workload, 5)] == [7, 100, 100, 100, 7]
    assert first(workload, 1)[0]["messages"] == [message]
    assert any("more than once" in note for note in workload.notes(5))
    assert not any("more than once" in note for note in workload.notes(4))


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("{", "no JSON"),
        ("[1]", "no JSON object"),
        ({"messages": []}, "no messages"),
        ({"messages": [{"content": "x"}]}, "no messages"),
        ({"prompt": "x", "tools": "y"}, "tools"),
        ({"prompt": "x", "max_tokens": 0}, "max_tokens"),
    ],
)
def test_a_line_that_is_no_prompt_is_named(tmp_path: Path, row: object, problem: str) -> None:
    path = lines(tmp_path / "prompts.jsonl", {"prompt": "fine"}, row)
    with pytest.raises(InputError, match=problem) as caught:
        read_prompts(path)
    assert caught.value.where == f"{path}:2"


def test_a_file_without_prompts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no prompt"):
        read_prompts(lines(tmp_path / "empty.jsonl"))
    with pytest.raises(InputError, match="can't be read"):
        read_prompts(tmp_path / "missing.jsonl")
