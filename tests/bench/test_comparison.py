from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from seatrial.bench.against_last import KEPT, kept_figures, last_promoted
from seatrial.bench.comparison import Answer, Comparison, compare, compare_interleaved
from seatrial.bench.interleaved import Interleaved
from seatrial.bench.metrics import Offered, summarise
from seatrial.bench.plan import Level
from seatrial.bench.result import BenchResult, LevelResult, LoadFigures, RequestRow
from seatrial.bench.stored import read_bench
from seatrial.bench.workload import builtin
from seatrial.endpoint.address import Endpoint
from seatrial.endpoint.client import Limits
from seatrial.errors import InputError
from seatrial.ledger.database import Ledger
from seatrial.ledger.entry import Combination, Entry, Kind
from seatrial.runs.folder import to_json, write_atomically
from seatrial.testkit import Pace, Script, fake_server

THROUGHPUT = "clean_output_token_throughput"
FIRST = "time_to_first_token:p50"


def level_of(pick: random.Random, *, slower: float = 1.0, count: int = 60, name: str = "8 at once") -> LevelResult:
    """Make a level of a made-up server whose times vary by a fifth, and are `slower` times as long."""
    rows = []
    for number in range(count):
        first = 0.2 * slower * pick.lognormvariate(0, 0.2)
        total = first + 100 * 0.02 * slower * pick.lognormvariate(0, 0.05)
        sent = number / 10
        rows.append(
            RequestRow(
                f"b{number}", 0, "measured", sent, sent, sent=sent, first_token=sent + first, ended=sent + total,
                chunks=101, output_tokens=101, tokens_counted_by_server=True, prompt_tokens=50,
            )
        )  # fmt: skip
    window = sum(row.ended - (row.sent or 0) for row in rows) / 8
    return summarise(rows, Offered(name, 8), window_seconds=window)


def bench_of(*levels: LevelResult, void: str | None = None) -> BenchResult:
    workload = builtin("chat")
    return BenchResult(
        levels, 256, {}, {}, workload.figures(), LoadFigures("closed", None, 1), 1_800_000_000.0, void=void
    )


def answer_of(found: Comparison, metric: str) -> Answer:
    (answer,) = [row.answer for row in found.rows if row.metric == metric]
    return answer


def test_a_slower_server_is_slower_and_a_faster_one_faster() -> None:
    pick = random.Random(1)
    base, slow = bench_of(level_of(pick)), bench_of(level_of(pick, slower=1.2))
    found = compare(base, slow)
    assert answer_of(found, THROUGHPUT) is Answer.SLOWER
    assert answer_of(found, FIRST) is Answer.SLOWER
    back = compare(slow, base)
    assert answer_of(back, THROUGHPUT) is Answer.FASTER
    assert answer_of(back, FIRST) is Answer.FASTER
    (row,) = [row for row in found.rows if row.metric == THROUGHPUT]
    assert row.ratio == pytest.approx(1 / 1.2, rel=0.05)


@pytest.mark.parametrize("count", [12, 60])
def test_the_same_server_twice_is_rarely_told_apart(count: int) -> None:
    pick = random.Random(count)
    told = dict.fromkeys((THROUGHPUT, FIRST, "end_to_end_latency:p90"), 0)
    for _ in range(100):
        found = compare(bench_of(level_of(pick, count=count)), bench_of(level_of(pick, count=count)))
        for metric in told:
            told[metric] += answer_of(found, metric) is not Answer.CANT_TELL
    assert max(told.values()) <= 11, told  # 5 are expected, and of each metric apart


def test_a_regression_is_a_finding_only_beyond_the_margin_and_only_when_it_is_sure() -> None:
    pick = random.Random(2)
    base = bench_of(level_of(pick, count=200))
    assert compare(base, bench_of(level_of(pick, slower=1.3, count=200)), margin=0.1).findings
    assert not compare(base, bench_of(level_of(pick, slower=1.3, count=200)), margin=0.5).findings
    assert not compare(base, bench_of(level_of(pick, slower=1.3, count=3)), margin=0.1).findings
    assert not compare(base, bench_of(level_of(pick, slower=0.7, count=200)), margin=0.1).findings


def test_void_runs_and_runs_without_common_levels_are_not_compared() -> None:
    pick = random.Random(3)
    level = level_of(pick)
    assert "A is void" in (compare(bench_of(level, void="broken"), bench_of(level)).void or "")
    other = level_of(pick, name="2 at once")
    assert "no level of load in common" in (compare(bench_of(level), bench_of(other)).void or "")


def test_what_was_not_the_same_is_told() -> None:
    level = level_of(random.Random(4))
    one, two = bench_of(level), bench_of(level)
    two = replace(two, workload=replace(two.workload, name="review"), sampling={"temperature": 0})
    notes = compare(one, two).notes
    assert any("workload: chat and review" in note for note in notes)
    assert any("sampling" in note for note in notes)


def test_turns_cancel_what_drifts_in_both() -> None:
    pick = random.Random(5)
    blocks = []
    for block in range(6):
        drift = 1 + 0.3 * block  # the machine gets hotter
        blocks.append((level_of(pick, slower=drift), level_of(pick, slower=1.1 * drift)))
    assert answer_of(compare_interleaved(blocks), THROUGHPUT) is Answer.SLOWER
    pooled = compare_interleaved([(one, one) for one, _ in blocks])
    assert answer_of(pooled, THROUGHPUT) is Answer.CANT_TELL


async def test_two_servers_are_measured_in_turns() -> None:
    with (
        fake_server(Script(pace=Pace(0.05, 200))) as fast,
        fake_server(Script(pace=Pace(0.1, 100))) as slow,
    ):
        one, two = (Endpoint(server.base_url, "fake-model") for server in (fast, slow))
        both = Interleaved(one, two, Limits(), builtin("chat", 20), (Level(2, requests=4),), blocks=4)
        await both.measure()
        asked = [[seen.body["messages"][0]["content"][19:] for seen in server.chats] for server in (fast, slow)]
        beginnings = {seen.body["messages"][0]["content"][:18] for server in (fast, slow) for seen in server.chats}
    found = both.comparison()
    assert found.interleaved
    assert answer_of(found, THROUGHPUT) is Answer.SLOWER
    assert sorted(asked[0]) == sorted(asked[1]), "both are asked the same"
    assert len(beginnings) == len(asked[0]) + len(asked[1]), "and none finds it in its cache"


def test_a_benchmark_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    import json

    result = bench_of(level_of(random.Random(6)))
    write_atomically(tmp_path / "bench.json", json.dumps(to_json(result)))
    assert read_bench(tmp_path) == result
    (tmp_path / "bench.json").write_text('{"levels": []}')
    with pytest.raises(InputError, match="another version"):
        read_bench(tmp_path)
    with pytest.raises(InputError, match="no benchmark"):
        read_bench(tmp_path / "nothing")


def test_a_run_is_compared_with_the_last_promoted_one_even_when_its_folder_is_gone(tmp_path: Path) -> None:
    import json

    pick = random.Random(7)
    before, after = bench_of(level_of(pick, count=200)), bench_of(level_of(pick, slower=1.4, count=200))
    ledger = Ledger(tmp_path)
    run = tmp_path / "runs" / "one"
    figures = {"bench": to_json(kept_figures(before))}
    ledger.append(
        Entry(Kind.PROMOTION, "2026-12-01T00:00:00+00:00", Combination("m", "sglang"), stack="s", run=str(run),
              figures=figures)
    )  # fmt: skip
    ledger.close()
    kept = last_promoted(tmp_path, "s").compared_with(after, "new")
    assert {row.metric for row in kept.rows} == set(KEPT)
    assert answer_of(kept, THROUGHPUT) is Answer.SLOWER
    assert kept.findings
    run.mkdir(parents=True)
    write_atomically(run / "bench.json", json.dumps(to_json(before)))
    whole = last_promoted(tmp_path, "s").compared_with(after, "new")
    assert len(whole.rows) > len(kept.rows)
    assert answer_of(whole, THROUGHPUT) is Answer.SLOWER
    with pytest.raises(InputError, match="nothing was promoted"):
        last_promoted(tmp_path, "other")


def test_figures_of_an_older_ledger_give_a_ratio_but_no_answer(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    old = {"output_token_throughput": {"8": 400.0}}
    ledger.append(
        Entry(Kind.PROMOTION, "2026-12-01T00:00:00+00:00", Combination("m", "sglang"), stack="s", figures=old)
    )
    ledger.close()
    found = last_promoted(tmp_path, "s").compared_with(bench_of(level_of(random.Random(8))), "new")
    (row,) = found.rows
    assert row.ratio is not None
    assert row.answer is Answer.CANT_TELL
