"""Following a log: events of a starting server, folded repeats, bounded memory, any bytes."""

from __future__ import annotations

import io
import resource
import time

from hypothesis import given, settings
from hypothesis import strategies as st

from doctor.logs import rows
from seatrial.doctor import EventKind, Level, Watcher, diagnose, judge
from seatrial.doctor.reading import LONGEST_LINE_BYTES, blocks_to_lines, parse_line
from seatrial.doctor.watching import KEPT_BATCHES, MOST_STARTS

REAL = rows("real_sglang_cpu.jsonl")
HEALTHY = next(row for row in REAL if row["name"] == "ok")["lines"]
ANY_LINE = [line.encode() for row in REAL for line in row["lines"]]
PREFIXES = (
    *(b"", b'{"log":"', b"sglang-1  | ", b"[2031-02-03 04:05:06", b"2031-02-03T", b"\x1b[31m"),
    *(b"(Engine pid=1) ERROR 02-03 04:05:06 [x] ", b"[rank0]: ", b"Feb 03 04:05:06 host x[1]: "),
)


def test_a_starting_server_tells_its_phases_one_after_the_other() -> None:
    watcher = Watcher()
    events = [event for line in HEALTHY if (event := watcher.feed(line)) is not None]
    phases = [event.phase for event in events if event.kind is EventKind.PHASE]
    assert (phases[0], phases[-1]) == ("launch", "ready")
    assert not any(event.stops_a_proof for event in events)
    assert watcher.is_ready


def test_the_line_that_ends_a_start_says_so_at_once() -> None:
    watcher = Watcher()
    event = watcher.feed(
        "ValueError: torch.bfloat16 is not supported for quantization method awq. Supported dtypes: [torch.float16]"
    )
    assert event is not None
    assert event.stops_a_proof
    assert event.level is Level.FATAL
    event = watcher.feed("[2031-02-03 04:05:06] Received sigquit from a child process. The child failed.")
    assert event is not None
    assert event.kind is EventKind.DEATH


def test_feeding_line_by_line_and_all_at_once_is_the_same() -> None:
    for row in REAL:
        one, other = Watcher(), Watcher()
        for line in row["lines"]:
            one.feed(line)
        other.feed_all(line.encode() for line in row["lines"])
        assert judge(one, ended=True) == judge(other, ended=True)


def test_repeated_lines_are_folded_and_counted() -> None:
    line = "[2031-02-03 04:05:06 TP1] Parameter model.layers.{}.w not found in params_dict"
    found = diagnose(line.format(number % 60) for number in range(20_000))
    assert found.cause is not None
    assert found.cause.count == 20_000
    assert len(found.cause.evidence) == 5


def test_a_fold_ends_where_the_server_starts_again() -> None:
    lines = ["CUDA error: an illegal memory access was encountered"] * 500
    launch = "server_args=ServerArgs(model_path='x')"
    found = diagnose([launch, *lines, launch, *lines[:200]])
    assert found.cause is not None
    assert (found.cause.count, found.cause.start) == (200, 2)


def test_a_server_that_starts_for_ever_takes_bounded_memory() -> None:
    watcher = Watcher()
    watcher.feed_all(b"server_args=ServerArgs(model_path='x')" for _ in range(5_000))
    assert watcher.start_count == 5_000
    assert len(watcher.starts) <= MOST_STARTS


def test_a_long_log_of_a_serving_server_is_quick_and_small() -> None:
    """200 MB in under 10 s was asked for, 20 MB a second; benchmarks/doctor.py prints what it is here."""
    batch = (
        b"[2031-02-03 04:05:06 TP0] Decode batch, #running-req: %d, #full token: 9000, full token usage: 0.21, "
        b"cuda graph: True, gen throughput (token/s): 1234.56, #queue-req: 0\n"
    )
    text = b"".join(batch % (number % 97) for number in range(150_000))
    watcher = Watcher()
    began = time.perf_counter()
    watcher.feed_all(blocks_to_lines(io.BytesIO(text)))
    seconds = time.perf_counter() - began
    assert watcher.batch_count == 150_000
    assert len(watcher.batches) == KEPT_BATCHES
    assert len(text) / 1e6 / seconds > 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 2 * 1024 * 1024


def test_a_line_without_an_end_is_cut_and_the_next_is_read() -> None:
    stream = io.BytesIO(b"x" * 5_000_000 + b"\nRuntimeError: CUDA error: device-side assert triggered\n")
    lines = list(blocks_to_lines(stream))
    assert max(map(len, lines)) <= LONGEST_LINE_BYTES
    assert lines[-1].startswith(b"RuntimeError")


def test_a_message_behind_a_progress_bar_is_read() -> None:
    bar = "Loading:   0% | 0/1 [00:00<?, ?it/s]\rLoading: 9% | 1/9 [00:00<?, ?it/s]"
    found = diagnose([f"{bar}[2031-02-03 04:05:06 TP1] max_num_reqs=0"])
    assert found.cause is not None
    assert found.cause.id == "hybrid-state-cache-too-small"
    assert found.cause.ranks == ("TP1",)


def test_prefixes_give_source_rank_and_time() -> None:
    line = parse_line(b"sglang-1  | [2031-02-03 04:05:06 DP1 TP0 EP0] hello", 7)
    assert (line.number, line.source, line.rank, line.text) == (7, "sglang-1", "DP1 TP0 EP0", "hello")
    assert line.time == parse_line(b'{"log":"hello","time":"2031-02-03T04:05:06Z"}', 1).time
    assert parse_line(b"[rank3]: hello", 1).rank == "rank 3"


@settings(deadline=None, max_examples=150)
@given(st.lists(st.binary(max_size=300) | st.sampled_from(ANY_LINE), max_size=30))
def test_no_bytes_ever_raise(lines: list[bytes]) -> None:
    watcher = Watcher()
    for line in lines:
        watcher.feed(line)
        assert watcher.silence_is_a_hang(10) in (True, False)
    whole = b"\n".join(lines)
    judge(watcher, metrics=whole.decode("utf-8", "replace"), silence_seconds=1e9)
    judge(watcher, ended=True)
    assert b"".join(blocks_to_lines(io.BytesIO(whole))) == whole.replace(b"\n", b"")


@settings(deadline=None)
@given(st.sampled_from(PREFIXES), st.binary(max_size=400))
def test_no_bytes_ever_raise_behind_any_prefix(prefix: bytes, noise: bytes) -> None:
    assert parse_line(prefix + noise, 1).number == 1
