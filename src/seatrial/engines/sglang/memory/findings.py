"""What there is to say about a launch's memory before it is started."""

from __future__ import annotations

from collections.abc import Iterator

from seatrial.engines.sglang.memory.options import MemoryOptions
from seatrial.engines.sglang.memory.parallel import Parallel, indivisible
from seatrial.engines.sglang.memory.result import MemoryPlan
from seatrial.facts.host import HostFacts
from seatrial.facts.model import ModelFacts
from seatrial.findings import Finding, Level, by_weight

GIB = 1 << 30
HEADROOM_SHARE = 0.6
"""Share of the engine's own estimate of activations and graphs under which the slack is called thin. On a 24 GB card
this is 2.5 GiB, the least that such cards are reported to run with."""
HEAVY_TABLE_SHARE = 0.25
"""Share of what the fraction leaves outside of the pools: graphs and activations need the rest."""
USELESS_SLOTS = 4
"""State slots for this many times the running requests that were asked for are called wasteful."""


def memory_findings(
    plan: MemoryPlan, model: ModelFacts, host: HostFacts, options: MemoryOptions
) -> tuple[Finding, ...]:
    """Say what is wrong, risky, wasteful or not known about a launch's memory, the heaviest first."""
    found = [*_cut(model, options), *_fit(plan), *_use(plan, options), *_gpus(plan, host), *_unknown(plan)]
    return by_weight(found)


def _cut(model: ModelFacts, options: MemoryOptions) -> Iterator[Finding]:
    """Say which heads can't be dealt out over the GPUs: the engine refuses those while it loads."""
    parts = Parallel.of(options).attention
    facts = model.attention
    if facts is not None and (facts.heads % parts or indivisible(facts.kv_heads, parts)):
        yield Finding(
            Level.ERROR,
            "heads-not-divisible",
            f"{facts.heads} query and {facts.kv_heads} key-value heads can't be dealt out over {parts} GPUs.",
            "Choose a --tp-size that divides the heads.",
            setting="--tp-size",
        )
    recurrent = model.recurrent
    if recurrent is not None and recurrent.value_heads % parts and recurrent.value_heads > 1:
        yield Finding(
            Level.ERROR,
            "state-heads-not-divisible",
            f"{recurrent.value_heads} recurrent heads can't be dealt out over {parts} GPUs.",
            "Choose a --tp-size that divides them.",
            setting="--tp-size",
        )


def _fit(plan: MemoryPlan) -> Iterator[Finding]:
    if plan.failure is not None:
        advice = " Or: ".join(plan.failure.levers)
        yield Finding(
            Level.ERROR,
            plan.failure.id,
            f"It would not start: {plan.failure.message}",
            f"Change one of these: {advice}." if advice else "",
            setting="--mem-fraction-static",
        )
        return
    context, tokens = plan.context_length, plan.kv_cache_tokens
    if context is not None and tokens is not None and tokens < context:
        yield Finding(
            Level.WARNING,
            "context-unreachable",
            f"The KV pool holds {tokens:,} tokens, less than the declared context of {context:,}: inputs over "
            f"{plan.effective_input_tokens:,} tokens are refused, or cut with --allow-auto-truncate.",
            f"Declare --context-length {tokens // 1024 * 1024}, or make the pool larger (see `plan --goal`).",
            setting="--context-length",
        )
    for gpu in plan.gpus[:1]:
        needed = (gpu.graphs_gib or 0) + (gpu.activations_gib or 0) + 0.5
        if gpu.pools_end_gib is not None and gpu.pools_end_gib < HEADROOM_SHARE * needed:
            yield Finding(
                Level.WARNING,
                "thin-headroom",
                f"{gpu.pools_end_gib:.1f} GiB stay free for CUDA graphs and activations; the engine itself would keep "
                f"{needed:.1f} GiB. It may run out while it starts or at the first long prompt.",
                "Lower --mem-fraction-static, --chunked-prefill-size or the graphs' largest batch.",
                setting="--mem-fraction-static",
            )


def _use(plan: MemoryPlan, options: MemoryOptions) -> Iterator[Finding]:
    running = plan.max_running_requests
    asked = options.max_running_requests
    if asked is not None and running is not None and plan.failure is None and running < asked:
        yield Finding(
            Level.WARNING,
            "running-requests-reduced",
            f"{asked} running requests were asked for, {running} fit.",
            "Make the pools larger, or ask for what fits.",
            setting="--max-running-requests",
        )
    slots, each = plan.mamba_slots, plan.slots_per_request
    if slots and each and asked and not options.disable_radix_cache and options.max_mamba_cache_size is None:
        spare = slots - asked * each
        charged = _charged_bytes(plan)
        if slots > USELESS_SLOTS * asked * each and plan.state_bytes_per_slot and charged:
            tokens = int(spare * plan.state_bytes_per_slot / charged)
            yield Finding(
                Level.NOTE,
                "idle-state-slots",
                f"{slots} state slots are made and {asked} running requests need {asked * each}: "
                f"--max-running-requests frees no state. The rest serves the prefix cache only.",
                f"--max-mamba-cache-size {asked * each} would turn it into {tokens:,} more KV tokens.",
                setting="--max-mamba-cache-size",
            )
    table, slack = max(((gpu.request_table_bytes or 0, gpu.slack_gib or 0) for gpu in plan.gpus), default=(0, 0.0))
    if table > HEAVY_TABLE_SHARE * slack * GIB and asked is None and running and plan.failure is None:
        yield Finding(
            Level.WARNING,
            "heavy-request-table",
            f"The table of requests takes {table / GIB:.1f} GiB of each GPU, outside of every pool: {running:,} "
            f"requests of {plan.context_length:,} tokens.",
            "Set --max-running-requests to what is really served.",
            setting="--max-running-requests",
        )


def _charged_bytes(plan: MemoryPlan) -> float | None:
    """Say what the engine charges for one token: with a draft this can be more than the token takes."""
    gpu = plan.gpus[0] if plan.gpus else None
    if gpu is None or gpu.rest_gib is None or not plan.kv_cache_tokens:
        return None
    states = (gpu.conv_state_bytes or 0) + (gpu.ssm_state_bytes or 0) + (gpu.intermediate_state_bytes or 0)
    return max(0.0, gpu.rest_gib * GIB - states) / plan.kv_cache_tokens


def _gpus(plan: MemoryPlan, host: HostFacts) -> Iterator[Finding]:
    held = [gpu for gpu in plan.gpus if (gpu.others_gib or 0) > 0.5]
    if held:
        worst = max(held, key=lambda gpu: gpu.others_gib or 0)
        yield Finding(
            Level.WARNING,
            "gpu-in-use",
            f"Other processes hold {worst.others_gib:.1f} GiB of GPU {worst.index}; "
            "the pools are sized for the fullest GPU.",
            "Stop them, or leave that GPU out.",
        )
    sizes = {gpu.memory_mib for gpu in host.gpus or ()}
    if len(sizes) > 1:
        yield Finding(
            Level.NOTE,
            "gpus-of-different-size",
            f"The GPUs have {min(sizes)} to {max(sizes)} MiB: the engine takes its defaults from the smallest, even if "
            "it doesn't use it.",
            "Set --mem-fraction-static and --chunked-prefill-size by hand.",
            setting="--mem-fraction-static",
        )


def _unknown(plan: MemoryPlan) -> Iterator[Finding]:
    if plan.kv_cache_tokens is None:
        yield Finding(
            Level.NOTE,
            "memory-unknown",
            f"The memory can't be planned: {'; '.join(plan.notes) or 'something is not known'}.",
            "Give the host's facts, or a model folder with its safetensors.",
        )
