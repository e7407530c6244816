"""The root cause: the first that says what is wrong, not the last line; the direction told apart; figures filled in."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from seatrial.doctor import Level, Named, Role, Watcher, diagnose, judge
from seatrial.doctor.signature import Knowledge, load_knowledge

LAUNCH = "[2031-02-03 04:05:00] server_args=ServerArgs(model_path='a/b', mem_fraction_static={f}, port=30000)"
BEGIN = "[2031-02-03 04:05:01 TP0] Load weight begin. avail mem=23.00 GB"
END = "[2031-02-03 04:06:01 TP0] Load weight end. elapsed=60.0 s, type=X, avail mem={avail} GB, mem usage={used} GB."
POOLS = "[2031-02-03 04:06:02 TP0] Memory pool end. avail mem=0.80 GB"
READY = "[2031-02-03 04:07:00] The server is fired up and ready to roll!"
SIGQUIT = "[2031-02-03 04:08:00] Received sigquit from a child process. It usually means the child failed."
OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 900.00 MiB. "
    "GPU 0 has a total capacity of 23.65 GiB of which 200.00 MiB is free."
)
TOO_LITTLE = "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static."


def cause_of(*lines: str, **more: Any) -> Named:
    found = diagnose(lines, **more)
    assert found.cause is not None
    return found.cause


@pytest.mark.parametrize(
    ("before", "cause"),
    [
        ([], "gpu-out-of-memory"),
        ([LAUNCH.format(f=0.8)], "gpu-occupied-before-start"),
        ([LAUNCH.format(f=0.8), BEGIN], "out-of-memory-loading-weights"),
        ([BEGIN, END.format(avail=7, used=16)], "out-of-memory-allocating-pools"),
        ([BEGIN, END.format(avail=7, used=16), POOLS], "out-of-memory-after-pools"),
        ([POOLS, "Capturing batches (bs=64 avail_mem=0.41 GB)"], "out-of-memory-in-graph-phase"),
        ([POOLS, READY], "out-of-memory-while-serving"),
    ],
)
def test_the_same_error_means_another_thing_in_another_phase(before: list[str], cause: str) -> None:
    assert cause_of(*before, OOM, SIGQUIT).id == cause


def test_the_way_to_move_the_fraction_is_told_apart_with_figures() -> None:
    raised = cause_of(LAUNCH.format(f=0.8), BEGIN, END.format(avail=4.2, used=18.8), TOO_LITTLE, SIGQUIT)
    # 1 - 4.2 / 23 = 0.817: 0.82 is the least, and a hundredth is added so that the pools get something.
    assert "Raise --mem-fraction-static from 0.8 to 0.83" in raised.fix
    assert "18.8 of 23 GiB" in raised.fix
    lowered = cause_of(LAUNCH.format(f=0.9), BEGIN, END.format(avail=12, used=11), POOLS, OOM, SIGQUIT)
    # 0.88 GiB wanted, 0.2 free, 0.5 kept: 1.18 of 23 GiB are 0.051.
    assert "Lower --mem-fraction-static from 0.9 to 0.84" in lowered.fix


def test_figures_of_the_plan_fill_what_the_log_does_not_say() -> None:
    plan = {"settings": [{"flag": "--mem-fraction-static", "value": 0.8}], "host": {"gpus": [{"memory_mib": 24564}]}}
    cause = cause_of(BEGIN, END.format(avail=4.2, used=18.8), TOO_LITTLE, context=plan)
    assert "from 0.8 to 0.83" in cause.fix


@pytest.mark.parametrize("context", [None, {}, {"settings": 3, "memory": [], "host": {"gpus": [None]}, "engine": "x"}])
def test_a_missing_or_odd_plan_hinders_nothing(context: dict[str, Any] | None) -> None:
    assert "Raise --mem-fraction-static" in cause_of(TOO_LITTLE, context=context).fix


def test_too_little_before_and_after_the_pools_means_that_it_does_not_fit() -> None:
    first = [LAUNCH.format(f=0.8), BEGIN, END.format(avail=4.2, used=18.8), TOO_LITTLE, SIGQUIT]
    second = [LAUNCH.format(f=0.9), BEGIN, END.format(avail=4.2, used=18.8), POOLS, OOM, SIGQUIT]
    cause = cause_of(*first, *second)
    assert cause.id == "memory-does-not-fit"
    assert "more GPUs" in cause.fix
    assert cause_of(*first, *first).id == "no-memory-for-kv-cache"


def test_the_cause_is_the_first_error_and_not_what_other_workers_say_of_it() -> None:
    lines = [
        LAUNCH.format(f=0.8),
        "[2031-02-03 04:05:03 TP1] Scheduler hit an exception: Traceback (most recent call last):",
        '  File "/x/loader.py", line 3, in load_weights',
        "KeyError: 'model.layers.3.mlp.experts.w13_weight_packed'",
        "[2031-02-03 04:05:04 TP0] Scheduler hit an exception: Traceback (most recent call last):",
        '  File "/x/bootstrap.py", line 9, in init',
        "RuntimeError: [/gloo/transport/tcp/pair.cc:534] Connection closed by peer [127.0.0.1]:23111",
        "[rank0]:[E203 ProcessGroupNCCL.cpp:632] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL()",
        SIGQUIT,
        "Rank 1 scheduler died during initialization (exit code: 1)",
    ]
    cause = cause_of(*lines)
    assert (cause.id, cause.line) == ("unknown-tensor-name", 4)
    # The same, where the consequence was written first.
    assert cause_of(*lines[4:], *lines[1:4]).id == "unknown-tensor-name"


def test_what_stands_in_the_source_lines_of_a_traceback_did_not_happen() -> None:
    found = diagnose(
        [
            "Traceback (most recent call last):",
            '  File "/x/y.py", line 3, in f',
            '    raise RuntimeError("CUDA out of memory or No space left on device")',
            "ZeroDivisionError: something else",
        ]
    )
    assert found.unknown
    assert found.cause is not None
    assert "ZeroDivisionError" in found.cause.cause


def test_tracebacks_of_two_workers_that_are_written_into_one_another_are_told_apart() -> None:
    watcher = Watcher()
    watcher.feed_all(
        [
            b"[rank0]: Traceback (most recent call last):",
            b"[rank1]: Traceback (most recent call last):",
            b'[rank0]:   File "/x/a.py", line 1, in a',
            b'[rank1]:   File "/x/b.py", line 2, in b',
            b"[rank1]: ValueError: of one",
            b"[rank0]: ValueError: of zero",
        ]
    )
    one, zero = watcher.starts[0].tracebacks
    assert (one.rank, one.error, one.frames) == ("rank 1", "ValueError: of one", ('File "/x/b.py", line 2, in b',))
    assert (zero.rank, zero.error, zero.frames) == ("rank 0", "ValueError: of zero", ('File "/x/a.py", line 1, in a',))


def test_a_disk_that_is_full_is_not_shared_memory_that_is_full() -> None:
    assert cause_of("OSError: [Errno 28] No space left on device: '/hub/blobs/x.incomplete'").id == "disk-full"
    nccl = cause_of("box:1:2 [0] NCCL WARN Call to posix_fallocate failed : No space left on device")
    assert nccl.id == "shared-memory-too-small"
    assert "not the disk" in nccl.cause


def test_weights_that_were_not_loaded_are_found_though_the_server_became_ready() -> None:
    line = "[2031-02-03 04:05:06 TP{}] Parameter model.layers.{}.w not found in params_dict"
    lines = [line.format(rank, layer) for layer in range(48) for rank in (0, 1)]
    found = diagnose([LAUNCH.format(f=0.8), *lines, READY])
    assert found.deadly
    assert found.ready
    assert found.cause is not None
    assert (found.cause.level, found.cause.count, found.cause.ranks) == (Level.GARBAGE_PREDICTOR, 96, ("TP0", "TP1"))


def test_a_fatal_cause_goes_before_a_garbage_predictor() -> None:
    cause = cause_of("Parameter model.layers.0.w not found in params_dict", POOLS, OOM, SIGQUIT)
    assert cause.id == "out-of-memory-after-pools"


def test_what_the_start_survived_is_only_a_warning() -> None:
    missing = "ModuleNotFoundError: No module named 'decord'"
    found = diagnose([LAUNCH.format(f=0.8), missing, READY])
    assert not found.deadly
    assert found.cause is not None
    assert found.cause.level is Level.WARNING
    assert diagnose([LAUNCH.format(f=0.8), missing, SIGQUIT]).deadly


def test_a_server_that_was_started_again_says_why_it_died_and_that_it_serves() -> None:
    found = diagnose([LAUNCH.format(f=0.8), POOLS, READY, OOM, SIGQUIT, LAUNCH.format(f=0.8), POOLS, READY])
    assert found.cause is not None
    assert found.cause.id == "out-of-memory-while-serving"
    assert found.ready
    assert found.starts == 2


def test_the_newest_failing_start_decides() -> None:
    launch = LAUNCH.format(f=0.8)
    found = diagnose([launch, TOO_LITTLE, SIGQUIT, launch, "[Errno 98] address already in use"])
    assert found.cause is not None
    assert found.cause.id == "port-in-use"
    assert "no-memory-for-kv-cache" in [other.id for other in found.others]


def test_an_end_without_any_error_is_unknown_and_says_so() -> None:
    found = diagnose([LAUNCH.format(f=0.8), BEGIN, SIGQUIT])
    assert found.unknown
    assert found.cause is not None
    assert "no error of its own" in found.cause.cause
    assert found.cause.phase == "weight load"


def test_words_of_a_client_accuse_nobody() -> None:
    lines = [
        READY,
        "[2031-02-03 04:05:06] Receive: obj=GenerateReqInput(text='CUDA out of memory. Received sigquit from a child')",
        "[2031-02-03 04:05:07] Finish: obj=GenerateReqInput(rid='1'), out={'text': 'No space left on device'}",
    ]
    assert diagnose(lines).cause is None


def test_a_phase_that_is_silent_for_too_long_hangs() -> None:
    begun = [LAUNCH.format(f=0.8), "[2031-02-03 04:05:06 TP0] Init torch distributed begin."]
    assert diagnose(begun, silence_seconds=20).cause is None
    found = diagnose(begun, silence_seconds=700)
    assert found.cause is not None
    assert (found.cause.id, found.cause.level) == ("hang-distributed-init", Level.HANG)
    assert "TP0" in found.cause.cause
    assert diagnose([*begun, READY], silence_seconds=100_000).cause is None


def test_kernels_that_are_compiled_may_be_silent_for_longer() -> None:
    watcher = Watcher()
    watcher.feed(POOLS)
    assert watcher.silence_is_a_hang(1000)
    watcher.feed("Entering DeepGEMM JIT Pre-Compile session. It may take a long time")
    assert not watcher.silence_is_a_hang(1000)
    assert watcher.silence_is_a_hang(5000)
    assert judge(watcher, silence_seconds=5000).deadly


def test_a_signature_of_another_engine_version_is_not_believed() -> None:
    signature = replace(load_knowledge().signature("port-in-use"), versions=">=0.5.20")
    for context, known in (
        ({"engine": {"version": "0.5.16"}}, False),
        ({"engine": {"image": "lmsysorg/sglang:v0.5.23"}}, True),
        ({}, True),
    ):
        watcher = Watcher(Knowledge.of([signature], []), context=context)
        watcher.feed("[Errno 98] address already in use")
        assert (judge(watcher).cause is not None) is known


def test_general_words_are_the_cause_only_where_nothing_better_is_known() -> None:
    general = "ninja: build stopped: subcommand failed."
    assert cause_of(general).role is Role.GENERAL
    assert cause_of(general, "nvcc fatal   : Unsupported gpu architecture 'sm_120'").id == "nvcc-does-not-know-gpu"
