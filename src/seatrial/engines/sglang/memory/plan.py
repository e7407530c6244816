"""From a model, a host and a launch's options to the sizes of the engine's pools."""

from __future__ import annotations

from dataclasses import dataclass, replace

from seatrial.engines.sglang.memory.findings import memory_findings
from seatrial.engines.sglang.memory.gpu_memory import Free, free_memory, gpu_kind
from seatrial.engines.sglang.memory.levers import levers
from seatrial.engines.sglang.memory.options import MemoryOptions
from seatrial.engines.sglang.memory.parallel import Parallel
from seatrial.engines.sglang.memory.pools import Pools, cell, size_pools, state_bytes
from seatrial.engines.sglang.memory.result import GpuMemory, MemoryFailure, MemoryPlan, Spread
from seatrial.engines.sglang.memory.settings import Settings, settle
from seatrial.engines.sglang.memory.versions import EngineRules, rules_for
from seatrial.engines.sglang.memory.weights import Weights, weights
from seatrial.facts.host import HostFacts
from seatrial.facts.model import ModelFacts

GIB = 1 << 30
INPUT_MARGIN = 6
"""Tokens that the longest input stays under the context or the pool (srt/managers/scheduler.py: −1 and −5)."""
DEFAULT_VERSION = "0.5.16"


@dataclass(frozen=True, slots=True)
class Measured:
    """Figures of a boot's own log, to be taken instead of estimates; GiB, the least of all ranks.

    Attributes:
        before_weights_gib: free memory that the engine measured before the weights (its `pre`, not in the log).
        after_weights_gib: free memory that it measured when it sized the pools (not in the log either).
        begin_gib: "Load weight begin. avail mem"; a little less than `pre`.
        end_gib: "Load weight end ... avail mem", after the draft's where there is one.
        weights_gib: "Load weight end ... mem usage".
    """

    before_weights_gib: float | None = None
    after_weights_gib: float | None = None
    begin_gib: float | None = None
    end_gib: float | None = None
    weights_gib: float | None = None

    @property
    def complete(self) -> bool:
        """Whether nothing has to be estimated any more."""
        before = self.before_weights_gib is not None or self.begin_gib is not None
        return before and (self.after_weights_gib is not None or self.end_gib is not None)


def plan_memory(
    model: ModelFacts,
    host: HostFacts,
    options: MemoryOptions,
    *,
    version: str = DEFAULT_VERSION,
    measured: Measured | None = None,
) -> MemoryPlan:
    """Say what the engine would make of this launch.

    Args:
        model: the checkpoint.
        host: the machine; its first GPUs are taken.
        options: what of the launch decides memory.
        version: of SGLang.
        measured: figures of a boot's log, taken instead of estimates.

    Returns:
        A plan with every figure that can be known; what can't is None, with a note why.
    """
    plan = sized(model, host, options, version=version, measured=measured)
    if plan.failure is not None:
        found = levers(
            lambda changed: sized(model, host, changed, version=version, measured=measured), model, options, plan
        )
        plan = replace(plan, failure=replace(plan.failure, levers=found))
    return replace(plan, findings=memory_findings(plan, model, host, options))


def sized(
    model: ModelFacts,
    host: HostFacts,
    options: MemoryOptions,
    *,
    version: str = DEFAULT_VERSION,
    measured: Measured | None = None,
) -> MemoryPlan:
    """Size one launch, without findings and without looking for levers."""
    rules, exact = rules_for(version)
    notes = [] if exact else [f"the rules of SGLang {rules.since} were taken for {version}"]
    parallel = Parallel.of(options)
    # nvidia-smi shows every card, whatever CUDA_VISIBLE_DEVICES hides: the smallest decides the defaults.
    smallest = float(min(gpu.memory_mib for gpu in host.gpus)) if host.gpus else None
    settings = settle(model, options, rules, smallest_gpu_mib=smallest, compute_capability=host.compute_capability)
    per_token = cell(model, parallel, settings)
    states = state_bytes(model, parallel, settings, rules)
    plan = MemoryPlan(
        version=version,
        mem_fraction_static=settings.mem_fraction_static if smallest or settings.given_fraction else None,
        context_length=settings.context_length,
        slots_per_request=settings.slots_per_request,
        chunked_prefill_size=settings.chunked_prefill_size,
        page_size=settings.page_size,
        decode_graph_sizes=settings.decode_graphs,
        prefill_graph_sizes=settings.prefill_graphs,
        kv_bytes_per_token=None if per_token is None else int(per_token.target + per_token.draft),
        state_bytes_per_slot=None if states is None else states.slot,
    )
    counted = weights(model, options)
    if counted is not None:
        plan = replace(plan, weights_gib=counted.gib, spread={"weights_gib": _weights_spread(counted)})
    if measured is not None and measured.weights_gib is not None:
        plan = replace(plan, weights_gib=measured.weights_gib)
    free = free_memory(host, parallel)
    missing = _missing(model, host, parallel, free, counted, per_token is not None, measured)
    if missing:
        return replace(plan, notes=(*model.notes, *notes, *missing))
    base = _Base(model, options, settings, rules, parallel, plan, free or (), counted, measured)
    return replace(_fill(base), notes=(*model.notes, *notes, *_assumptions(free or (), measured)))


@dataclass(frozen=True, slots=True)
class _Base:
    """What a launch's sizing starts from."""

    model: ModelFacts
    options: MemoryOptions
    settings: Settings
    rules: EngineRules
    parallel: Parallel
    plan: MemoryPlan
    free: tuple[Free, ...]
    counted: Weights | None
    measured: Measured | None

    def before(self, way: int = 0) -> float:
        """Free memory before the weights, the least of all GPUs; `way` −1 or +1 moves it by its spread."""
        growth = (self.counted.before_gib if self.counted else 0.0) + min(
            (gpu.kernels_gib for gpu in self.free), default=0.07
        )
        if self.measured is not None and self.measured.before_weights_gib is not None:
            return self.measured.before_weights_gib
        if self.measured is not None and self.measured.begin_gib is not None:
            return self.measured.begin_gib + growth
        return min(gpu.before_weights_gib + way * gpu.spread_gib for gpu in self.free)

    def after(self, way: int = 0) -> float:
        """Free memory after the weights, the least of all GPUs."""
        if self.measured is not None and self.measured.after_weights_gib is not None:
            return self.measured.after_weights_gib
        if self.measured is not None and self.measured.end_gib is not None:
            return self.measured.end_gib - (self.counted.late_gib if self.counted else 0.0)
        assert self.counted is not None  # looked for before
        taken = self.counted.gib * (1 - way * self.counted.spread) + self.counted.before_gib
        if self.measured is not None and self.measured.begin_gib is not None:
            return self.measured.begin_gib - self.counted.gib * (1 - way * self.counted.spread)
        return self.before(way) - taken - min(gpu.kernels_gib for gpu in self.free)


def _fill(base: _Base) -> MemoryPlan:
    middle, low, high = (_pools(base, way) for way in (0, -1, 1))
    settings, plan = base.settings, base.plan
    before, after = base.before(), base.after()
    failure = None
    weights_gib = plan.weights_gib if plan.weights_gib is not None else before - after
    if after <= 0:
        message = (
            f"torch.OutOfMemoryError: CUDA out of memory: {weights_gib:.2f} GiB of weights, {before:.2f} GiB free."
        )
        failure = MemoryFailure("weights-do-not-fit", message, ())
    elif middle.problem is not None and middle.problem_id is not None:
        failure = MemoryFailure(middle.problem_id, middle.problem, ())
    context = min(settings.context_length, middle.tokens) if failure is None else 0
    source = "the free memory and the weights' size, each moved by its own spread"
    spread = dict(plan.spread)
    if failure is None:
        spread["kv_cache_tokens"] = Spread(low.tokens, high.tokens, source)
        spread["max_running_requests"] = Spread(
            low.max_running * base.parallel.attention_data, high.max_running * base.parallel.attention_data, source
        )
        if middle.slots is not None and low.slots is not None and high.slots is not None:
            spread["mamba_slots"] = Spread(max(0, low.slots), high.slots, source)
        reach = [max(0, min(settings.context_length, tokens) - INPUT_MARGIN) for tokens in (low.tokens, high.tokens)]
        spread["effective_input_tokens"] = Spread(reach[0], reach[1], source)
    return replace(
        plan,
        weights_gib=weights_gib,
        mamba_slots=middle.slots if middle.slots is None else max(0, middle.slots),
        kv_cache_tokens=middle.tokens if failure is None else 0,
        swa_cache_tokens=middle.sliding_tokens,
        max_running_requests=middle.max_running * base.parallel.attention_data if failure is None else 0,
        effective_input_tokens=max(0, context - INPUT_MARGIN),
        gpus=tuple(_gpu(base, gpu, middle) for gpu in base.free),
        spread=spread,
        failure=failure,
    )


def _pools(base: _Base, way: int) -> Pools:
    return size_pools(
        base.model,
        base.options,
        base.settings,
        base.rules,
        before_weights_gib=base.before(way),
        after_weights_gib=base.after(way),
    )


def _gpu(base: _Base, free: Free, pools: Pools) -> GpuMemory:
    settings, parallel = base.settings, base.parallel
    before, after = base.before(), base.after()
    slack = before * (1 - settings.mem_fraction_static)
    states = state_bytes(base.model, parallel, settings, base.rules)
    slots = 0 if pools.slots is None else max(0, pools.slots) + 1  # one slot more is made, for padding
    per_token = cell(base.model, parallel, settings)
    assert per_token is not None  # looked for before
    entries = pools.tokens + settings.page_size
    keys = entries * (per_token.full or per_token.target)
    if pools.sliding_tokens is not None:
        keys += (pools.sliding_tokens + settings.page_size) * per_token.sliding
    draft = entries * per_token.draft
    table = (pools.max_running + 1) * (settings.context_length + 4 + settings.draft_tokens) * 4
    graphs = _graphs_gib(settings)
    activations = max(settings.chunked_prefill_size, 2048) * 1.5 / 1024
    row = states.slot * settings.draft_tokens if states else 0  # one request more is made, for padding
    made = (slots * (states.slot if states else 0) + pools.intermediate_bytes + row + keys + draft + table) / GIB
    end = after - made
    return GpuMemory(
        index=free.gpu.index,
        name=free.gpu.name,
        total_gib=free.total_gib,
        driver_gib=free.driver_gib,
        others_gib=free.others_gib,
        context_gib=free.context_gib + free.kernels_gib + (base.counted.before_gib if base.counted else 0.0),
        before_weights_gib=before,
        weights_gib=base.plan.weights_gib if base.plan.weights_gib is not None else before - after,
        after_weights_gib=after,
        slack_gib=slack,
        rest_gib=after - slack,
        conv_state_bytes=None if states is None else slots * states.conv,
        ssm_state_bytes=None if states is None else slots * states.ssm,
        intermediate_state_bytes=pools.intermediate_bytes if settings.draft_tokens and states else None,
        kv_cache_bytes=int(keys),
        draft_kv_cache_bytes=int(draft) if per_token.draft else None,
        request_table_bytes=table,
        graphs_gib=graphs,
        activations_gib=activations,
        pools_end_gib=end,
        free_gib=end - graphs - activations,
    )


def _graphs_gib(settings: Settings) -> float:
    """Estimate the graphs as the engine does: 2 MiB a request of the largest batch, 8 MiB a prefill size."""
    decode = 2 * max(settings.decode_graphs, default=0)
    return (decode + 8 * len(settings.prefill_graphs)) / 1024


def _weights_spread(counted: Weights) -> Spread:
    return Spread(counted.gib * (1 - counted.spread), counted.gib * (1 + counted.spread), counted.source)


def _missing(
    model: ModelFacts,
    host: HostFacts,
    parallel: Parallel,
    free: tuple[Free, ...] | None,
    counted: Weights | None,
    attention_known: bool,
    measured: Measured | None,
) -> list[str]:
    """Say what must be known and is not."""
    missing = []
    if measured is None or not measured.complete:
        if host.gpus is None:
            missing.append("the host's GPUs are not known: free memory and pools can't be planned")
        elif free is None:
            missing.append(f"the launch needs {parallel.gpus} GPUs and the host has {len(host.gpus)}")
        if counted is None:
            missing.append("what the weights take is not known for this architecture or quantization")
    if not attention_known:
        missing.append("the model's attention is not known: the cache of one token can't be counted")
    if model.hybrid and any("not planned" in note for note in model.notes):
        missing.append("the model's states are not planned yet")
    return missing


def _assumptions(free: tuple[Free, ...], measured: Measured | None) -> list[str]:
    if measured is not None:
        return ["free memory and weights are the log's own"]
    found = []
    if any(gpu.assumed_idle for gpu in free):
        found.append("it was assumed that nothing else runs on the GPUs")
    if any(gpu_kind(gpu.gpu.name).shared_with_host for gpu in free):
        found.append("the GPU's memory is the host's: whatever the host runs takes from it, and that was not planned")
    return found
