"""What a memory plan says: figures, each with how far it may be off and what it comes from. Pure values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from seatrial.findings import Finding


@dataclass(frozen=True, slots=True)
class Spread:
    """How far a figure may be off.

    Attributes:
        low: the least that is likely.
        high: the most that is likely.
        source: what the figure comes from, and where the width comes from.
    """

    low: float
    high: float
    source: str


@dataclass(frozen=True, slots=True)
class MemoryFailure:
    """The engine would not start.

    Attributes:
        id: what kind of failure, in kebab-case.
        message: the engine's own error, as its log would say it.
        levers: what can be changed so that it starts, each with what it would give.
    """

    id: str
    message: str
    levers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GpuMemory:
    """One GPU's memory as the plan splits it. GiB, unless the name says otherwise; None where unknown.

    Attributes:
        index: as the driver counts.
        name: as the driver calls it.
        total_gib: all of it.
        driver_gib: the driver's own.
        others_gib: other processes.
        context_gib: this process's CUDA context, kernels and communication buffers.
        before_weights_gib: free before the weights (the engine's `pre`).
        weights_gib: weights, with the draft's.
        after_weights_gib: free after the weights.
        slack_gib: what the fraction leaves outside of the pools: before_weights × (1 − fraction).
        rest_gib: what the pools are made from: after_weights − slack.
        conv_state_bytes: convolution windows of all state slots.
        ssm_state_bytes: recurrent states of all state slots.
        intermediate_state_bytes: states kept for drafted tokens.
        kv_cache_bytes: keys and values, the sliding pool's with them.
        draft_kv_cache_bytes: the draft model's keys and values.
        request_table_bytes: table of each request's tokens.
        graphs_gib: CUDA graphs, by the engine's own estimate.
        activations_gib: activations of one prefill step, by the engine's own estimate.
        pools_end_gib: free once the pools are made (the log's "Memory pool end").
        free_gib: left of that after graphs and activations; negative means that it may run out.
    """

    index: int
    name: str = ""
    total_gib: float | None = None
    driver_gib: float | None = None
    others_gib: float | None = None
    context_gib: float | None = None
    before_weights_gib: float | None = None
    weights_gib: float | None = None
    after_weights_gib: float | None = None
    slack_gib: float | None = None
    rest_gib: float | None = None
    conv_state_bytes: int | None = None
    ssm_state_bytes: int | None = None
    intermediate_state_bytes: int | None = None
    kv_cache_bytes: int | None = None
    draft_kv_cache_bytes: int | None = None
    request_table_bytes: int | None = None
    graphs_gib: float | None = None
    activations_gib: float | None = None
    pools_end_gib: float | None = None
    free_gib: float | None = None


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """What SGLang would make of a launch. Figures are for one server (one copy of the model); None = unknown.

    Attributes:
        version: of the engine, whose rules were taken.
        weights_gib: what loading the weights takes of each GPU.
        mamba_slots: state slots of the hybrid pool; None for a model without recurrent layers.
        kv_cache_tokens: tokens that the KV pool holds (the full pool, for a model with a sliding one).
        swa_cache_tokens: tokens of the sliding pool; None without one.
        max_running_requests: requests that run at once, all attention groups together.
        effective_input_tokens: the longest input that is really answered: min(context, pool) − 6.
        mem_fraction_static: as given, or as the engine would choose it.
        context_length: as given, or as the model declares.
        slots_per_request: state slots that one running request takes; None without recurrent layers.
        chunked_prefill_size: tokens of one prefill step.
        page_size: tokens of one page.
        decode_graph_sizes: batch sizes whose CUDA graphs are captured.
        prefill_graph_sizes: token counts whose CUDA graphs are captured.
        kv_bytes_per_token: of one GPU.
        state_bytes_per_slot: of one GPU.
        gpus: the split of each GPU's memory.
        spread: how far a figure may be off, by the figure's name.
        failure: why the engine would not start; None where it would.
        findings: what there is to say about the launch's memory, the heaviest first.
        notes: what was assumed.
    """

    version: str
    weights_gib: float | None = None
    mamba_slots: int | None = None
    kv_cache_tokens: int | None = None
    swa_cache_tokens: int | None = None
    max_running_requests: int | None = None
    effective_input_tokens: int | None = None
    mem_fraction_static: float | None = None
    context_length: int | None = None
    slots_per_request: int | None = None
    chunked_prefill_size: int | None = None
    page_size: int | None = None
    decode_graph_sizes: tuple[int, ...] = ()
    prefill_graph_sizes: tuple[int, ...] = ()
    kv_bytes_per_token: int | None = None
    state_bytes_per_slot: int | None = None
    gpus: tuple[GpuMemory, ...] = ()
    spread: Mapping[str, Spread] = field(default_factory=dict)
    failure: MemoryFailure | None = None
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()

    def concurrent_requests(self, tokens: int) -> int | None:
        """Say how many requests of so many tokens (input and answer together) run at once; None where unknown."""
        if self.kv_cache_tokens is None or self.max_running_requests is None or tokens < 1:
            return None
        return min(self.max_running_requests, self.kv_cache_tokens // tokens)
