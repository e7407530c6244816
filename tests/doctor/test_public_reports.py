"""Logs in the shape of public reports: the right cause first, at the right level, and nothing benign is alarming.

`data/public_reports.jsonl`: lines as in those reports; names, numbers and times are made up.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seatrial.doctor import diagnose
from seatrial.doctor.signature import load_knowledge

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "public_reports.jsonl").read_text("utf-8").splitlines()
]

CAUSES = {
    "C-01": "hybrid-state-cache-too-small", "C-06": "out-of-memory-capturing-graphs",
    "C-08": "out-of-memory-for-attention-workspace", "C-09": "negative-token-pool", "C-10": "gpu-memory-unbalanced",
    "C-11": "conv-state-dtype-mismatch", "C-13": "marlin-shard-too-small", "C-14": "checkpoint-tensors-not-loaded",
    "C-18": "dtype-not-supported-by-quantization", "C-19": "fp8-not-on-this-gpu", "C-21": "architecture-not-supported",
    "C-25": "nvcc-older-than-headers", "C-28": "cuda-home-broken", "C-30": "cudnn-too-old-for-torch",
    "C-31": "kernel-needs-more-shared-memory", "C-32": "gpus-without-peer-access",
    "C-34": "custom-all-reduce-graph-buffers", "C-36": "shared-memory-too-small", "C-38": "host-out-of-memory",
    "C-39": "other-ranks-did-not-load", "C-41": "watchdog-timeout", "C-42": "speculative-verify-hangs",
    "C-43": "illegal-memory-access", "C-44": "input-too-long", "C-46": "context-longer-than-model",
    "C-51": "weight-file-cut-short", "C-53": "docker-has-no-gpu-driver", "C-57": "io-uring-blocked",
    "C-59": "deepgemm-compiling", "C-B1": "default-moe-kernel-config", "C-B2": "package-walk-error",
    "C-B4": "token-pool-clamped",
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_the_cause_is_named_at_its_level(row: dict[str, object]) -> None:
    lines = row["lines"]
    assert isinstance(lines, list)
    found = diagnose(lines)
    assert found.cause is not None
    assert (found.cause.id, found.cause.level.value) == (CAUSES[str(row["id"])], row["level"])
    assert not found.unknown
    assert found.cause.fix or row["level"] in ("benign", "warning", "slow")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_prefixes_of_compose_and_other_ranks_change_nothing(row: dict[str, object]) -> None:
    lines = row["lines"]
    assert isinstance(lines, list)
    prefixed = [f"sglang-1  | {line}" for line in lines]
    found = diagnose(prefixed)
    assert found.cause is not None
    assert found.cause.id == CAUSES[str(row["id"])]


def test_the_real_log_of_a_float16_model_with_a_bfloat16_state_gets_its_cause() -> None:
    """SGLang 0.5.16 on an H200: AWQ, --dtype float16, no SGLANG_MAMBA_CONV_DTYPE; the first request killed it."""
    path = Path(__file__).parent / "data" / "h200_awq_float16_without_conv_dtype.log"
    found = diagnose(path.read_text(encoding="utf-8").splitlines())
    assert found.cause is not None
    assert (found.cause.id, found.cause.level.value) == ("conv-state-dtype-mismatch", "fatal-at-first-request")
    assert "SGLANG_MAMBA_CONV_DTYPE=float16" in found.cause.fix


def test_nothing_benign_is_deadly() -> None:
    for row in ROWS:
        if row["level"] in ("benign", "warning", "slow", "request-error"):
            assert not diagnose(row["lines"]).deadly


def test_a_traceback_that_nobody_knows_is_said_to_be_unknown() -> None:
    lines = [
        "[2031-01-01 10:00:00] server_args=ServerArgs(model_path='x')",
        "[2031-01-01 10:00:01] Scheduler hit an exception: Traceback (most recent call last):",
        '  File "/x.py", line 1, in f',
        "    g()",
        "ZeroDivisionError: never seen before",
        "[2031-01-01 10:00:01] Received sigquit from a child process. It usually means the child failed.",
    ]
    found = diagnose(lines)
    assert found.unknown
    assert found.traceback is not None


def test_signatures_have_names_of_their_own() -> None:
    names = [signature.id for signature in load_knowledge().signatures]
    assert len(names) == len(set(names))
    assert len(names) > 60


@settings(deadline=None)
@given(
    st.lists(
        st.binary(max_size=200) | st.sampled_from([line.encode() for row in ROWS for line in row["lines"]]), max_size=12
    )
)
def test_no_bytes_give_a_traceback(lines: list[bytes]) -> None:
    found = diagnose(lines)
    assert found.cause is None or found.cause.cause
