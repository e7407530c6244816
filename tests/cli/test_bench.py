from __future__ import annotations

import json

import pytest

from kit import CommandLine
from seatrial.testkit import Fault, Pace, Script, fake_server


def bench(seatrial: CommandLine, url: str, expect: int, *more: str) -> dict[str, object]:
    arguments = ("--url", url, "--concurrency", "1,4", "--requests", "2", "--max-tokens", "60", "--json", *more)
    document = json.loads(seatrial("bench", *arguments, expect=expect).stdout)
    assert isinstance(document, dict)
    return document


def test_known_timing_is_measured(seatrial: CommandLine) -> None:
    pace = Pace(time_to_first_token=0.2, tokens_per_second=50)
    with fake_server(Script(pace=pace)) as server:
        document = bench(seatrial, server.base_url, 0)
    for level in document["bench"]["levels"]:  # type: ignore[index]
        metric = level["distributions"]
        # The machine may be busy: late is possible, early is not.
        assert 0.2 <= metric["time_to_first_token"]["p50"] < 0.4
        assert 0.018 <= metric["time_per_output_token"]["p50"] < 0.03
        assert level["completed"] == 2 * level["concurrency"]
        assert level["clean_output_token_throughput"] == level["output_token_throughput"]
    assert (seatrial.run_folder / "bench.json").is_file()


def test_a_looping_server_is_fast_and_void(seatrial: CommandLine) -> None:
    with fake_server(Script(faults=frozenset({Fault.LOOP_CONTENT}))) as server:
        document = bench(seatrial, server.base_url, 3, "--max-tokens", "400")
    assert "broken text" in str(document["void"])
    for level in document["bench"]["levels"]:  # type: ignore[index]
        assert level["degenerate"] == level["completed"]
        assert level["clean_output_token_throughput"] == 0
        assert level["output_token_throughput"] > 0


def test_a_server_that_fails_under_load_has_no_numbers(seatrial: CommandLine) -> None:
    with fake_server(Script(faults=frozenset({Fault.DEAD_BEHIND_HEALTH}))) as server:
        document = bench(seatrial, server.base_url, 3)
    assert document["void"] == "no request was completed"


@pytest.mark.parametrize("levels", ["", "0", "a", "1,-2"])
def test_levels_that_are_none_are_refused(seatrial: CommandLine, levels: str) -> None:
    done = seatrial("bench", "--url", "http://127.0.0.1:1/v1", "--concurrency", levels, expect=2)
    assert "positive numbers" in done.stderr
