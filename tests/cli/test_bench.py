from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from kit import CommandLine
from seatrial.bench.rows import read_rows
from seatrial.testkit import Fault, Pace, Script, fake_server
from seatrial.testkit.metronome import Tempo, metronome_process

FAST = Pace(time_to_first_token=0.02, tokens_per_second=500)


def bench(seatrial: CommandLine, url: str, *more: str) -> tuple[dict[str, Any], int]:
    """Measure; return what was printed, and the exit code."""
    arguments = ("--url", url, "--concurrency", "1,4", "--requests", "2", "--max-tokens", "60", "--json", *more)
    done = seatrial("bench", *arguments)
    document = json.loads(done.stdout)
    assert isinstance(document, dict)
    return document, done.returncode


def usable(document: dict[str, Any], code: int) -> bool:
    """Whether the numbers may be used; where not, it must be because the machine was too busy to measure."""
    void = document["void"]
    if void is not None:
        assert "this machine is too busy" in void or "bottleneck" in void or "later than they were" in void, void
    assert code == (0 if void is None else 3)
    return void is None


def runs_of(seatrial: CommandLine) -> list[Path]:
    return sorted((seatrial.folder / "runs").iterdir())


def test_known_timing_is_measured(seatrial: CommandLine) -> None:
    pace = Pace(time_to_first_token=0.2, tokens_per_second=50)
    with fake_server(Script(pace=pace)) as server:
        document, code = bench(seatrial, server.base_url)
    usable(document, code)
    for level in document["bench"]["levels"]:
        metric = level["distributions"]
        # The machine may be busy: late is possible, early is not.
        assert 0.2 <= metric["time_to_first_token"]["p50"] < 0.4
        assert 0.018 <= metric["time_per_output_token"]["p50"] < 0.03
        assert level["completed"] == 2 * level["concurrency"]
        assert level["clean_output_token_throughput"] == level["output_token_throughput"]
    assert (seatrial.run_folder / "bench.json").is_file()
    rows = list(read_rows(seatrial.run_folder))
    assert [row.phase for row in rows].count("measured") == 10
    assert (seatrial.run_folder / "report.html").is_file()


def test_each_number_stands_beside_its_formula(seatrial: CommandLine) -> None:
    with fake_server(Script(pace=FAST)) as server:
        shown = seatrial(
            "bench", "--url", server.base_url, "--concurrency", "2", "--requests", "6", "--objective", "ttft=500ms"
        ).stdout
    flat = " ".join(shown.split())
    for words in ("time to first token, ms", "goodput, req/s", "request sent → first", "/ (output tokens − 1)"):
        assert words in flat, shown


def test_a_looping_server_is_fast_and_void(seatrial: CommandLine) -> None:
    with fake_server(Script(faults=frozenset({Fault.LOOP_CONTENT}))) as server:
        document, code = bench(seatrial, server.base_url, "--max-tokens", "400")
    assert code == 3
    assert "broken text" in str(document["void"])
    for level in document["bench"]["levels"]:
        assert level["degenerate"] == level["completed"]
        assert level["clean_output_token_throughput"] == 0
        assert level["output_token_throughput"] > 0


def test_a_server_that_fails_under_load_has_no_numbers(seatrial: CommandLine) -> None:
    with fake_server(Script(faults=frozenset({Fault.DEAD_BEHIND_HEALTH}))) as server:
        document, code = bench(seatrial, server.base_url)
    assert code == 3
    assert document["void"] == "no request was completed"


def test_an_open_loop_and_a_users_own_prompts(seatrial: CommandLine) -> None:
    prompts = seatrial.folder / "prompts.jsonl"
    prompts.write_text('{"prompt": "What is 2+2?"}\n{"prompt": "Count to 3", "max_tokens": 5}\n')
    with fake_server(Script(pace=FAST)) as server:
        document, code = bench(
            seatrial, server.base_url, "--prompts", "prompts.jsonl", "--rate", "20", "--duration", "0.5",
            "--arrivals", "constant", "--prefix-cache", "allow", "--warm-up", "0", "--allowed-degenerate", "1",
        )  # fmt: skip
        asked = {seen.body["messages"][0]["content"] for seen in server.chats}
    usable(document, code)
    (level,) = document["bench"]["levels"]
    assert (level["name"], level["concurrency"], level["completed"]) == ("20 requests/s", None, 10)
    assert asked == {"What is 2+2?", "Count to 3"}
    assert any("more than once" in note for note in document["bench"]["notes"])


def test_a_ramp_names_its_knee(seatrial: CommandLine) -> None:
    with metronome_process(Tempo(0.02, 200, slots=2)) as url:
        arguments = ("--ramp", "--ramp-to", "16", "--max-tokens", "20", "--requests", "4")
        shown = seatrial("bench", "--url", url, *arguments).stdout
    assert "knee: 2 at once" in shown


def test_two_runs_are_compared(seatrial: CommandLine) -> None:
    usable_runs = True
    for pace in (Pace(0.2, 100), Pace(0.4, 50)):
        with fake_server(Script(pace=pace)) as server:
            usable_runs &= usable(*bench(seatrial, server.base_url, "--requests", "4", "--max-tokens", "30"))
    one, two = runs_of(seatrial)
    if not usable_runs:
        assert "is void" in seatrial("bench", "compare", one, two, expect=3).stdout
        pytest.skip("this machine is too busy to measure on")
    found = json.loads(seatrial("bench", "compare", one, two, "--json", "--margin", "0.1", expect=1).stdout)
    answers = {row["metric"]: row["answer"] for row in found["rows"] if row["level"] == "4 at once"}
    assert answers["clean_output_token_throughput"] == "slower"
    assert answers["time_to_first_token:p50"] == "slower"
    assert found["findings"]
    assert "faster" in seatrial("bench", "compare", two, one, expect=0).stdout
    assert "can't tell" in seatrial("bench", "compare", one, one, expect=0).stdout


def test_two_servers_are_compared_in_turns(seatrial: CommandLine) -> None:
    arguments = ("--concurrency", "2", "--max-tokens", "20", "--blocks", "3")
    with fake_server(Script(pace=Pace(0.1, 200))) as one, fake_server(Script(pace=Pace(0.2, 100))) as two:
        shown = seatrial("bench", "compare", one.base_url, two.base_url, *arguments).stdout
    assert "slower" in shown
    assert "one after the other" not in shown
    kept = json.loads((seatrial.run_folder / "comparison.json").read_text())
    assert kept["interleaved"]
    assert kept["rows"]


def test_a_comparison_of_unlike_things_is_refused(seatrial: CommandLine) -> None:
    assert "two of one kind" in seatrial("bench", "compare", "runs/x", "http://127.0.0.1:1", expect=2).stderr
    assert "no benchmark" in seatrial("bench", "compare", "runs/x", "runs/y", expect=2).stderr
    assert "--ledger" in seatrial("bench", "compare", "runs/x", expect=2).stderr


def test_a_run_can_be_had_in_other_tools_shapes(seatrial: CommandLine) -> None:
    with fake_server(Script(pace=FAST)) as server:
        arguments = ("--url", server.base_url, "--concurrency", "2", "--requests", "2", "--max-tokens", "20")
        line = seatrial("bench", *arguments, "--format", "sglang-jsonl").stdout
    assert json.loads(line)["completed"] == 4
    seatrial("bench", "export", seatrial.run_folder, "--format", "aiperf-csv", "--output", "out.csv", expect=0)
    text = (seatrial.folder / "out.csv").read_text()
    assert text.startswith("Metric,avg,min,max")
    assert "Time to First Token (ms)" in text


def test_the_client_checks_itself(seatrial: CommandLine) -> None:
    done = seatrial("bench", "--self-check", "--json")
    assert done.returncode in {0, 3}, done.stderr  # 3 on a machine that is too busy
    found = json.loads(done.stdout)
    assert found["errors"]["time_to_first_token"]["count"] == found["streams"] == 64
    assert (found["void"] is None) == (done.returncode == 0)


def test_ctrl_c_leaves_what_had_ended(seatrial: CommandLine) -> None:
    with fake_server(Script(pace=FAST)) as server:
        arguments = ("--concurrency", "1,2", "--duration", "3", "--max-tokens", "20", "--warm-up", "0")
        process = seatrial.start("bench", "--url", server.base_url, *arguments)
        until = time.monotonic() + 30
        while max((seen.in_flight for seen in server.chats), default=0) < 2:
            assert time.monotonic() < until
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert process.returncode == 130
    written = json.loads((seatrial.run_folder / "bench.json").read_text())
    assert not written["complete"]
    assert [level["name"] for level in written["levels"]] == ["1 at once"]
    assert json.loads((seatrial.run_folder / "run.json").read_text())["status"] == "interrupted"


@pytest.mark.parametrize("levels", ["", "0", "a", "1,-2", "1.5", "nan"])
def test_levels_that_are_none_are_refused(seatrial: CommandLine, levels: str) -> None:
    done = seatrial("bench", "--url", "http://127.0.0.1:1/v1", "--concurrency", levels, expect=2)
    assert "numbers" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--objective", "tftt=1"), "Did you mean ttft?"),
        (("--objective", "ttft=fast"), "no positive time"),
        (("--ramp", "--rate", "1"), "levels of its own"),
        (("--json", "--format", "aiperf-csv"), "standard output"),
        (("--prompts", "missing.jsonl"), "can't be read"),
    ],
)
def test_options_that_can_not_be_meant_are_refused(
    seatrial: CommandLine, arguments: tuple[str, ...], said: str
) -> None:
    done = seatrial("bench", "--url", "http://127.0.0.1:1/v1", *arguments, expect=2)
    assert said in " ".join(done.stderr.split())


def test_a_server_must_be_named(seatrial: CommandLine) -> None:
    assert "--url" in seatrial("bench", "--concurrency", "1", expect=2).stderr
