"""Levers of a launch that fails, settings that reach a goal, and what is said about a launch's memory."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.sglang.memory.boots import h200, rtx4090, shape
from seatrial.engines.sglang.memory.advice import Goal, advise, read_goal
from seatrial.engines.sglang.memory.findings import memory_findings
from seatrial.engines.sglang.memory.levers import every_lever
from seatrial.engines.sglang.memory.options import FLAGS, MemoryOptions
from seatrial.engines.sglang.memory.plan import plan_memory, sized
from seatrial.errors import InputError
from seatrial.facts.host import HostFacts
from seatrial.facts.known_models import known_model

TWO = MemoryOptions(tensor_parallel=2)


def options_with(flags: str) -> MemoryOptions:
    """Read flags back as a launch would."""
    values: dict[str, object] = {"--tp-size": 2}
    words = flags.split()
    for number, word in enumerate(words):
        if word.startswith("--"):
            following = words[number + 1] if number + 1 < len(words) else "--"
            values[word] = True if following.startswith("--") else following
    return MemoryOptions.from_settings(values)


def ids(name: str, host: HostFacts, options: MemoryOptions) -> list[str]:
    return [finding.id for finding in plan_memory(shape(name), host, options).findings]


def test_every_lever_of_a_failure_would_let_it_start() -> None:
    model = shape("vlm35-fp8")
    failed = plan_memory(model, rtx4090(), TWO)
    assert failed.failure is not None
    tried = [lever for lever in failed.failure.levers if lever.startswith("--")]
    assert len(tried) >= 4
    for lever in tried:
        again = sized(model, rtx4090(), options_with(lever.split(" (")[0]))
        assert again.failure is None, lever
        assert f"{again.kv_cache_tokens:,} tokens" in lever


def test_zero_slots_name_every_kind_of_lever() -> None:
    found = plan_memory(shape("vlm35-fp8"), rtx4090(), TWO)
    assert found.failure is not None
    assert found.failure.id in ("no-running-requests", "no-state-slots")
    said = " ".join(found.failure.levers)
    for flag in (
        "--mem-fraction-static",
        "--max-mamba-cache-size",
        "--mamba-full-memory-ratio",
        "--mamba-radix-cache-strategy",
        "--disable-radix-cache",
        "--mamba-ssm-dtype",
        "--tp-size",
        "fewer bits",
    ):
        assert flag in said, said


def test_levers_are_flags_that_the_engine_has() -> None:
    model = shape("vlm27-ct")
    base = sized(model, h200(), MemoryOptions())
    flags = {
        word for lever in every_lever(model, MemoryOptions(), base) for word in lever.flags.split() if "--" in word
    }
    assert flags <= set(FLAGS)


@pytest.mark.parametrize(
    "goal", [Goal(context=262_144, concurrency=8), Goal(concurrency=16, length=20_000), Goal(64_000)]
)
def test_what_is_advised_reaches_the_goal_when_it_is_planned_again(goal: Goal) -> None:
    model = known_model("QuantTrio/Qwen3.6-35B-A3B-AWQ")
    assert model is not None
    found = advise(model, rtx4090(), TWO, goal)
    assert found[0].flags == ""
    reaching = [trade for trade in found[1:] if trade.reaches]
    assert reaching
    for trade in reaching:
        again = sized(model, rtx4090(), options_with(trade.flags))
        assert again.failure is None
        assert again.kv_cache_tokens == trade.kv_cache_tokens
        assert (again.effective_input_tokens or 0) + 6 >= (goal.context or 0)
        assert (again.max_running_requests or 0) >= (goal.concurrency or 0)
        if goal.length and goal.concurrency:
            assert (again.concurrent_requests(goal.length) or 0) >= goal.concurrency


def test_where_nothing_reaches_the_goal_the_nearest_ways_are_shown() -> None:
    found = advise(shape("qwen3-8b"), rtx4090(1), MemoryOptions(), Goal(context=40_000, concurrency=3_000))
    assert len(found) > 1
    assert not any(trade.reaches for trade in found)


def test_there_is_no_advice_without_facts() -> None:
    assert advise(shape("qwen3-8b"), HostFacts(gpus=None), MemoryOptions(), Goal(context=1_000)) == ()


@pytest.mark.parametrize(
    ("items", "goal"),
    [
        (["context=262144", "concurrency=8"], Goal(262_144, 8)),
        (["context=256k,concurrency=8"], Goal(262_144, 8)),
        (["length=32k concurrency=4"], Goal(None, 4, 32_768)),
        (["context=1M"], Goal(1_048_576)),
    ],
)
def test_goals_are_read(items: list[str], goal: Goal) -> None:
    assert read_goal(items) == goal


@pytest.mark.parametrize("item", ["context", "context=", "context=0", "context=-1", "speed=9", "context=1.5k", ""])
def test_what_is_no_goal_is_refused_in_one_line(item: str) -> None:
    with pytest.raises(InputError) as caught:
        read_goal([item])
    assert "--goal" in str(caught.value)


def test_a_declared_context_that_the_pool_cannot_hold_is_said() -> None:
    assert "context-unreachable" in ids("qwen3-8b", rtx4090(1), MemoryOptions(context_length=40_960))
    assert "context-unreachable" not in ids("qwen3-8b", h200(), MemoryOptions())


def test_fewer_running_requests_than_were_asked_for_are_said() -> None:
    assert "running-requests-reduced" in ids("vlm9", h200(60_000), MemoryOptions(max_running_requests=1_000))


def test_slots_that_serve_no_request_are_said_with_what_they_would_give() -> None:
    model, options = shape("vlm9"), MemoryOptions(max_running_requests=8)
    found = plan_memory(model, h200(), options)
    idle = next(finding for finding in found.findings if finding.id == "idle-state-slots")
    changed = sized(model, h200(), MemoryOptions(max_running_requests=8, max_mamba_cache_size=40))
    gained = (changed.kv_cache_tokens or 0) - (found.kv_cache_tokens or 0)
    assert idle.advice is not None
    said = int(idle.advice.split(" into ")[1].split(" ")[0].replace(",", ""))
    assert said == pytest.approx(gained, rel=0.01)


def test_heads_that_cannot_be_dealt_out_are_an_error() -> None:
    assert "heads-not-divisible" in ids("qwen3-8b", h200(count=3), MemoryOptions(tensor_parallel=3))
    assert "heads-not-divisible" not in ids("qwen3-8b", h200(count=4), MemoryOptions(tensor_parallel=4))


def test_a_thin_headroom_is_said() -> None:
    assert "thin-headroom" in ids("qwen3-8b", rtx4090(1), MemoryOptions(mem_fraction_static=0.97))
    assert "thin-headroom" not in ids("qwen3-8b", rtx4090(1), MemoryOptions())


def test_a_table_of_many_requests_and_a_long_context_is_said() -> None:
    options = MemoryOptions(context_length=1_000_000, mem_fraction_static=0.9)
    assert "heavy-request-table" in ids("qwen3-0.6b", h200(60_000), options)
    limited = MemoryOptions(context_length=1_000_000, mem_fraction_static=0.9, max_running_requests=64)
    assert "heavy-request-table" not in ids("qwen3-0.6b", h200(60_000), limited)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(["qwen3-8b", "vlm9", "vlm35-awq", "gptoss"]), st.floats(0.3, 0.97))
def test_findings_stand_the_heaviest_first_and_are_never_the_same_twice(name: str, fraction: float) -> None:
    options = MemoryOptions(mem_fraction_static=fraction)
    found = memory_findings(sized(shape(name), rtx4090(1), options), shape(name), rtx4090(1), options)
    assert len({finding.id for finding in found}) == len(found)
    weights = [finding.level for finding in found]
    assert weights == sorted(weights, key=["error", "warning", "note"].index)
