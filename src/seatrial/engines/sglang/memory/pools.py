"""The sizes of the pools, from the bytes that are left: the engine's own arithmetic.

Sources: SGLang 0.5.16 srt/mem_cache/kv_cache_configurator.py:1527-1810, srt/model_executor/pool_configurator.py:83-460,
srt/configs/mamba_utils.py:96-230; differences of 0.5.23 as in `data/engine_rules.json`.
"""

from __future__ import annotations

from dataclasses import dataclass

from seatrial.engines.sglang.memory.modules import stage_layers
from seatrial.engines.sglang.memory.options import MemoryOptions
from seatrial.engines.sglang.memory.parallel import Parallel, kv_heads_per_gpu
from seatrial.engines.sglang.memory.settings import Settings
from seatrial.engines.sglang.memory.versions import EngineRules
from seatrial.facts.model import LayerKind, ModelFacts, RecurrentFacts

GIB = 1 << 30
RECURRENT = (
    LayerKind.GATED_DELTA_NET,
    LayerKind.MAMBA2,
    LayerKind.KIMI_DELTA,
    LayerKind.LIGHTNING,
    LayerKind.SHORT_CONVOLUTION,
)
KEPT = (LayerKind.FULL_ATTENTION, LayerKind.SLIDING_ATTENTION, LayerKind.LATENT_ATTENTION)
EVICTION_INTERVAL = 128
"""Tokens between two evictions from a sliding pool (SGLANG_SWA_EVICTION_INTERVAL)."""


@dataclass(frozen=True, slots=True)
class StateBytes:
    """Bytes of one state slot on one GPU, over all recurrent layers that are charged to it."""

    conv: int
    ssm: int

    @property
    def slot(self) -> int:
        """Both together."""
        return self.conv + self.ssm


@dataclass(frozen=True, slots=True)
class Cell:
    """Bytes of one token on one GPU.

    Attributes:
        bytes: charged for one token of the pool.
        target: of it, the model's own keys and values.
        draft: of it, the draft model's.
        full: of one token in all full layers; for a model with sliding pools only.
        sliding: of one token in all sliding layers; likewise.
    """

    bytes: float
    target: int
    draft: int = 0
    full: int = 0
    sliding: int = 0


@dataclass(frozen=True, slots=True)
class Pools:
    """What the engine makes of the rest. Bytes are those of one GPU."""

    slots: int | None
    intermediate_bytes: int
    rest_bytes: int
    tokens: int
    sliding_tokens: int | None
    max_running: int
    problem: str | None = None
    """The engine's own error, where it would refuse."""
    problem_id: str | None = None


def state_bytes(model: ModelFacts, parallel: Parallel, settings: Settings, rules: EngineRules) -> StateBytes | None:
    """Say what one state slot takes of a GPU; None for a model without recurrent layers."""
    facts = model.recurrent
    if facts is None:
        return None
    layers = [number for number, kind in enumerate(model.layers) if kind in RECURRENT]
    charged = len(layers)
    if rules.states_by_stage and parallel.pipeline > 1:
        stages = [stage_layers(len(model.layers), parallel.pipeline, stage) for stage in range(parallel.pipeline)]
        charged = max(sum(first <= number < end for number in layers) for first, end in stages)
    conv, ssm = _state_elements(facts, model, parallel.attention)
    return StateBytes(conv * settings.conv_bytes * charged, ssm * settings.ssm_bytes * charged)


def _state_elements(facts: RecurrentFacts, model: ModelFacts, parts: int) -> tuple[int, int]:
    """Count the elements of one layer's convolution window and recurrent state on one GPU."""
    heads = facts.value_heads // parts if facts.value_heads >= parts else 1
    if LayerKind.KIMI_DELTA in model.layers:
        width = 3 * facts.value_heads * facts.value_head_dim // parts
        return width * (facts.conv_kernel - 1), heads * facts.value_head_dim**2
    if LayerKind.LIGHTNING in model.layers:
        return 0, heads * facts.value_head_dim * facts.key_head_dim
    if LayerKind.SHORT_CONVOLUTION in model.layers:
        return facts.value_head_dim // parts * (facts.conv_kernel - 1), 0
    groups = facts.key_heads
    if groups % parts:  # groups are copied so that every head has its own on the same GPU
        groups = parts
    inner = facts.value_heads * facts.value_head_dim
    width = (inner + 2 * groups * facts.key_head_dim) // parts
    return width * (facts.conv_kernel - 1), heads * facts.value_head_dim * facts.key_head_dim


def cell(model: ModelFacts, parallel: Parallel, settings: Settings) -> Cell | None:
    """Say what one token takes of the GPU that keeps most of it; None where the model's attention is not known."""
    stages = [stage_layers(len(model.layers), parallel.pipeline, stage) for stage in range(parallel.pipeline)]
    layers = max((model.layers[first:end] for first, end in stages), key=_kept)
    element = settings.kv_bytes
    latent = model.latent_attention
    if latent is not None:
        count = _kept(layers)
        width = latent.kv_lora_rank + latent.qk_rope_head_dim
        size = int(width * count * element)
        if element < 1:
            size += int(width // 16 * count)
        if latent.index_head_dim is not None:
            size += (latent.index_head_dim + latent.index_head_dim // 128 * 4) * count
        return _with_draft(size, count, settings)
    facts = model.attention
    if facts is None:
        return None
    full = kv_heads_per_gpu(facts.kv_heads, parallel.attention) * (facts.head_dim + facts.v_head_dim)
    full_bytes = int(full * element) + _block_scales(full, settings)
    if settings.sliding_pools:
        own = model.sliding or facts
        sliding = kv_heads_per_gpu(own.kv_heads, parallel.attention) * (own.head_dim + own.v_head_dim)
        sliding_bytes = int(sliding * element) + _block_scales(sliding, settings)
        sliding_count = sum(kind is LayerKind.SLIDING_ATTENTION for kind in model.layers)
        full_count = sum(kind is LayerKind.FULL_ATTENTION for kind in model.layers)
        charged = full_bytes * (full_count + settings.draft_layers) + settings.swa_ratio * sliding_bytes * sliding_count
        if not full_count:
            charged = sliding_bytes * sliding_count + full_bytes * settings.draft_layers
        return Cell(
            charged,
            full_bytes * full_count,
            full_bytes * settings.draft_pool_layers,
            full=full_bytes * full_count,
            sliding=sliding_bytes * sliding_count,
        )
    count = _kept(layers)
    size = full_bytes * count if settings.kv_dtype != "mxfp8" else int(full * element) * count + full * count // 32
    if element < 1:
        one = kv_heads_per_gpu(facts.kv_heads, parallel.attention) * facts.head_dim
        size = int(full * count * 1) // 2 + one * count * 2 // 16 + one * 2
    return _with_draft(size, count, settings)


def _kept(layers: tuple[LayerKind, ...]) -> int:
    return sum(kind in KEPT for kind in layers)


def _block_scales(width: int, settings: Settings) -> int:
    return width // 32 if settings.kv_dtype == "mxfp8" and settings.sliding_pools else 0


def _with_draft(size: int, layers: int, settings: Settings) -> Cell:
    """Charge the draft's layers as if they were the model's own; what is made of it may be less."""
    if not layers:
        return Cell(size, size)
    charged = int(size * (1 + settings.draft_layers / layers))
    return Cell(charged, size, size * settings.draft_pool_layers // layers)


def size_pools(
    model: ModelFacts,
    options: MemoryOptions,
    settings: Settings,
    rules: EngineRules,
    *,
    before_weights_gib: float,
    after_weights_gib: float,
) -> Pools:
    """Size the pools from the free memory before and after the weights, as the engine does.

    Args:
        model: the checkpoint.
        options: what was given.
        settings: what the launch ends up with.
        rules: of the engine's version.
        before_weights_gib: free memory before the weights (the engine's `pre`), the least of all GPUs.
        after_weights_gib: free memory after them, likewise.
    """
    parallel = Parallel.of(options)
    rest = after_weights_gib - before_weights_gib * (1 - settings.mem_fraction_static)
    if settings.multimodal:
        rest -= rules.multimodal_reserve_mib / 1024
    states = state_bytes(model, parallel, settings, rules)
    slots, intermediate = None, 0
    if states is not None:
        slots, intermediate = _slots(options, settings, rules, parallel, rest, states)
        rest -= intermediate / GIB
        if slots <= 0:
            problem = (
                "Not enough GPU memory for hybrid (mamba/linear-attention) state cache. "
                f"Computed max_mamba_cache_size={slots} (total_rest_memory={rest:.2f} GB, "
                f"mamba_cache_per_req={states.slot / (1 << 20):.2f} MB)."
            )
            return Pools(slots, intermediate, int(rest * GIB), 0, None, 0, problem, "no-state-slots")
        rest -= (slots + (1 if rules.padding_slot_charged else 0)) * states.slot / GIB
    if rest <= 0:
        least = 1 - after_weights_gib / before_weights_gib
        problem = (
            "Loaded weights leave no GPU memory for the KV cache under "
            f"--mem-fraction-static={settings.mem_fraction_static}. Raise --mem-fraction-static above {least:.3f} "
            f"(minimum viable = 1 - available/pre = {least:.4f})."
        )
        return Pools(slots, intermediate, int(rest * GIB), 0, None, 0, problem, "no-kv-memory")
    return _tokens(model, options, settings, parallel, int(rest * GIB), slots, intermediate)


def _slots(
    options: MemoryOptions,
    settings: Settings,
    rules: EngineRules,
    parallel: Parallel,
    rest_gib: float,
    states: StateBytes,
) -> tuple[int, int]:
    """Say how many state slots there are, and what the draft's intermediate states take (bytes)."""
    drafts = settings.draft_tokens
    per_request = settings.slots_per_request or 1
    padding = 1 if rules.padding_slot_charged else 0
    limit = None if settings.max_running is None else settings.max_running // parallel.attention_data
    if limit is not None and rules.padding_slot_charged:
        limit = max(1, limit)
    if options.max_mamba_cache_size is not None:
        slots = options.max_mamba_cache_size // parallel.attention_data
    elif options.disable_radix_cache and limit is not None:
        slots = limit
        return slots, states.slot * (slots + padding) * drafts
    else:
        budget = rest_gib * settings.mamba_ratio / (1 + settings.mamba_ratio) * GIB
        if drafts:
            taken = states.slot * (1 + drafts) * padding
            slots = int((budget - taken) // (states.slot * (1 + drafts / per_request)))
        else:
            slots = int((budget - states.slot * padding) // states.slot)
    running = slots // per_request if limit is None else min(limit, slots // per_request)
    return slots, states.slot * (running + padding) * drafts if drafts else 0


def _tokens(
    model: ModelFacts,
    options: MemoryOptions,
    settings: Settings,
    parallel: Parallel,
    rest_bytes: int,
    slots: int | None,
    intermediate: int,
) -> Pools:
    size = cell(model, parallel, settings)
    assert size is not None  # the caller looked
    page = settings.page_size
    capped = _sliding_cap(model, options, settings, parallel)
    sliding: int | None = None
    if settings.sliding_pools and capped is not None:
        sliding = -(-capped // page) * page
        draft = size.draft
        tokens = int((rest_bytes - sliding * size.sliding) // (size.full + draft)) // page * page
    else:
        tokens = int(rest_bytes // size.bytes) // page * page
    if options.max_total_tokens is not None:
        tokens = min(tokens, options.max_total_tokens) // page * page
    problem, problem_id = None, None
    if settings.sliding_pools and capped is None:
        if size.full:
            sliding = int(tokens * settings.swa_ratio) // page * page
            window = _window(model)
            if window is not None and window + page >= sliding:
                problem_id = "no-sliding-memory"
                problem = (
                    f"SWA pool ({sliding} tokens) cannot hold even one request: the prefill admission floor is "
                    f"sliding_window_size ({window}) + page_size ({page}). Increase --swa-full-tokens-ratio or the "
                    "total KV budget."
                )
        else:
            sliding = tokens
    if tokens <= 0 and problem is None:
        problem_id = "no-kv-memory"
        problem = (
            "Not enough memory. Please try to increase --mem-fraction-static. "
            f"Current value: mem_fraction_static={settings.mem_fraction_static}"
        )
    running = max_running_requests(settings, parallel, tokens, slots)
    if running <= 0 and problem is None:
        problem_id = "no-running-requests"
        problem = (
            "Hybrid (mamba/linear-attention) state cache is too small to serve any requests. "
            f"max_mamba_cache_size={slots}, mamba_ratio={settings.slots_per_request}, resulting max_num_reqs={running}."
        )
    return Pools(slots, intermediate, rest_bytes, max(0, tokens), sliding, max(0, running), problem, problem_id)


def max_running_requests(settings: Settings, parallel: Parallel, tokens: int, slots: int | None) -> int:
    """Say how many requests run at once in one attention group."""
    if settings.max_running is not None:
        running = min(settings.max_running // parallel.attention_data, tokens // 2)
    else:
        estimate = max(min(int(tokens / settings.context_length * 512), 4096), 2048)
        running = min(estimate, tokens // 2)
    if slots is not None:
        running = min(running, slots // (settings.slots_per_request or 1))
    return running


def _window(model: ModelFacts) -> int | None:
    """Say how many tokens a sliding layer sees before the present one, as SGLang counts; Llama 4 has chunks."""
    window = model.sliding.window if model.sliding else None
    return window - 1 if window and not model.architecture.startswith("Llama4") else window


def _sliding_cap(model: ModelFacts, options: MemoryOptions, settings: Settings, parallel: Parallel) -> int | None:
    """Bound the sliding pool where nothing is kept for the prefix cache and the requests are counted."""
    window = _window(model)
    counted = options.max_running_requests is not None and options.disable_radix_cache
    if not (settings.sliding_pools and counted and window and LayerKind.FULL_ATTENTION in model.layers):
        return None
    drafts = settings.draft_tokens or 1
    each = window + EVICTION_INTERVAL * drafts + settings.page_size + settings.page_size
    requests = (options.max_running_requests or 0) // parallel.attention_data
    chunks = 2 if settings.overlap else 1
    return each * requests + chunks * settings.chunked_prefill_size + settings.page_size
