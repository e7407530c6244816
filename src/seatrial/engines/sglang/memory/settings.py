"""The settings that a launch ends up with: what was given, and what SGLang chooses where nothing was.

Sources: SGLang 0.5.16 srt/server_args.py:3572-4260 and 7954-7990, srt/arg_groups/overrides.py, speculative_hook.py.
"""

from __future__ import annotations

from dataclasses import dataclass

from seatrial.engines.sglang.memory.options import MemoryOptions
from seatrial.engines.sglang.memory.parallel import Parallel
from seatrial.engines.sglang.memory.stored import ELEMENT_BYTES
from seatrial.engines.sglang.memory.versions import EngineRules
from seatrial.facts.model import LayerKind, ModelFacts

HEADROOM_GPU_MIB = 60 * 1024
"""GPUs over this size keep at least 10 GiB free by default."""
DRAFT_RUNNING_REQUESTS = 48
"""`--max-running-requests` with speculative decoding, where it isn't given."""
QWEN_HYBRID = ("Qwen3Next", "Qwen3_5", "InternS2Preview")
SLOTS = {"radix_off": 1, "no_buffer": 3, "extra_buffer_lazy": 4, "extra_buffer_no_overlap": 4, "extra_buffer": 5}
"""State slots that one running request takes, by how states are kept for the prefix cache."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a launch ends up with.

    Attributes:
        mem_fraction_static: share of the free memory for weights and pools.
        given_fraction: it was given, not chosen.
        chunked_prefill_size: tokens of one prefill step; -1 where prefill is not cut.
        page_size: tokens of one page of the KV pool.
        context_length: tokens; as given, else the model's own.
        kv_bytes: bytes of one element of the KV cache.
        kv_dtype: its name.
        conv_bytes: bytes of one element of the convolution states.
        ssm_bytes: bytes of one element of the recurrent states.
        dtype_bytes: bytes of one weight that is not quantized.
        strategy: how recurrent states are kept for the prefix cache; None for a model without any.
        slots_per_request: state slots of one running request; None likewise.
        mamba_ratio: bytes for states for each byte for keys and values.
        max_running: the limit that was given, or that speculative decoding brings; None without one.
        draft_tokens: tokens that one step drafts; 0 without speculative decoding.
        draft_layers: layers with keys and values that the draft model is charged with.
        draft_pool_layers: layers that its pool really has.
        decode_graphs: batch sizes that are captured; empty where graphs are off.
        prefill_graphs: token counts that are captured; empty where graphs are off.
        sliding_pools: sliding layers get a pool of their own.
        swa_ratio: tokens in it for each token in the full pool.
        reserved_mib: what the chosen fraction leaves free by the engine's own estimate; None where it was given.
        overlap: the scheduler overlaps with the GPU.
        multimodal: the engine serves images too.
    """

    mem_fraction_static: float
    given_fraction: bool
    chunked_prefill_size: int
    page_size: int
    context_length: int
    kv_bytes: float
    kv_dtype: str
    conv_bytes: int
    ssm_bytes: int
    dtype_bytes: int
    strategy: str | None
    slots_per_request: int | None
    mamba_ratio: float
    max_running: int | None
    draft_tokens: int
    draft_layers: int
    draft_pool_layers: int
    decode_graphs: tuple[int, ...]
    prefill_graphs: tuple[int, ...]
    sliding_pools: bool
    swa_ratio: float
    reserved_mib: float | None
    overlap: bool
    multimodal: bool


def settle(
    model: ModelFacts,
    options: MemoryOptions,
    rules: EngineRules,
    *,
    smallest_gpu_mib: float | None,
    compute_capability: tuple[int, int] | None,
) -> Settings:
    """Say which settings a launch ends up with.

    Args:
        model: the checkpoint.
        options: what was given.
        rules: of the engine's version.
        smallest_gpu_mib: `memory.total` of the smallest GPU that nvidia-smi shows; None where unknown.
        compute_capability: of the GPUs; None where unknown.
    """
    parallel = Parallel.of(options)
    latent = model.architecture in rules.latent or (model.latent_attention is not None and not model.hybrid)
    multimodal = (model.multimodal or model.architecture in rules.multimodal) and (
        model.architecture not in rules.multimodal_disabled
    )
    draft_tokens, max_running = _speculation(model, options)
    draft_layers, draft_pool_layers = _draft_layers(model, options, rules)
    size = rules.for_gpu(smallest_gpu_mib)
    chunk = options.chunked_prefill_size if options.chunked_prefill_size is not None else size.chunked_prefill_size
    batch = _decode_batch(options, rules, size.decode_max_batch)
    # The fraction is chosen before the attention backend takes the graphs away: it reserves for them all the same.
    captures = options.attention_backend not in ("torch_native", "flex_attention")
    decode = decode_sizes(options, batch) if _decode_graphs_on(options) and captures else ()
    prefill_on = _prefill_graphs_on(model, options, rules, latent=latent, multimodal=multimodal)
    reserved_for = _prefill_sizes(options, rules, chunk, latent=latent) if prefill_on else ()
    prefill = reserved_for if captures else ()
    reserved = None
    if options.mem_fraction_static is not None:
        fraction = options.mem_fraction_static
    elif smallest_gpu_mib is None:
        fraction = rules.unknown_gpu["mem_fraction_static"]
    else:
        reserved = _reserved_mib(options, parallel, chunk, batch, reserved_for, latent=latent, gpu_mib=smallest_gpu_mib)
        fraction = round((smallest_gpu_mib - reserved) / smallest_gpu_mib, 3)
    text_only = options.language_only or options.language_model_only
    if options.mem_fraction_static is None and multimodal and not text_only and model.vision is not None:
        fraction *= _vision_factor(model)
    if options.dp_attention and options.data_parallel > 1 and chunk > 0:
        chunk //= options.data_parallel
    overlap = not options.disable_overlap_schedule and options.pipeline_parallel == 1
    page = _page_size(model, options, compute_capability)
    strategy = _strategy(model, options, rules, page) if model.hybrid else None
    dtype = _dtype(model, options)
    kv_dtype = _kv_dtype(model, options, dtype, compute_capability)
    return Settings(
        mem_fraction_static=fraction,
        given_fraction=options.mem_fraction_static is not None,
        chunked_prefill_size=chunk,
        page_size=page,
        context_length=options.context_length or model.context_length,
        kv_bytes=_kv_bytes(kv_dtype),
        kv_dtype=kv_dtype,
        conv_bytes=2 if options.mamba_conv_dtype != "float32" else 4,
        ssm_bytes=_ssm_bytes(model, options),
        dtype_bytes=ELEMENT_BYTES.get(dtype, 2),
        strategy=strategy,
        slots_per_request=_slots(strategy, overlap=overlap) if strategy else None,
        mamba_ratio=options.mamba_full_memory_ratio or rules.mamba_full_memory_ratio,
        max_running=max_running,
        draft_tokens=draft_tokens,
        draft_layers=draft_layers,
        draft_pool_layers=draft_pool_layers,
        decode_graphs=decode,
        prefill_graphs=prefill,
        sliding_pools=_sliding_pools(model, options, rules),
        swa_ratio=options.swa_full_tokens_ratio or rules.swa_full_tokens_ratio,
        reserved_mib=reserved,
        overlap=overlap and strategy != "no_buffer",
        multimodal=multimodal,
    )


def decode_sizes(options: MemoryOptions, largest: int) -> tuple[int, ...]:
    """List the batch sizes whose decode graphs are captured."""
    if options.cuda_graph_bs_decode:
        return options.cuda_graph_bs_decode
    if options.disable_cuda_graph_padding:
        sizes = list(range(1, largest + 1))
    elif options.speculative_algorithm is None:
        sizes = [1, 2, 4, 8, 12, *range(16, 257, 8), *range(272, 512, 16), *range(512, largest + 1, 32)]
    else:
        sizes = [*range(1, 9), *range(10, 33, 2), *range(40, 65, 4), *range(72, 257, 8), *range(272, largest + 1, 16)]
    kept = [size for size in sizes if size <= largest]
    return tuple(kept if largest in kept else [*kept, largest])


def prefill_sizes(largest: int) -> tuple[int, ...]:
    """List the token counts whose prefill graphs are captured."""
    sizes = [
        *range(4, 33, 4),
        *range(48, 257, 16),
        *range(288, 513, 32),
        *range(576, 1025, 64),
        *range(1280, 4097, 256),
        *range(4608, largest + 1, 512),
    ]
    return tuple(size for size in sizes if size <= largest)


def _decode_graphs_on(options: MemoryOptions) -> bool:
    if options.cuda_graph_backend_decode is not None:
        return options.cuda_graph_backend_decode != "disabled"
    return not (options.disable_cuda_graph or options.disable_decode_cuda_graph)


def _prefill_graphs_on(
    model: ModelFacts, options: MemoryOptions, rules: EngineRules, *, latent: bool, multimodal: bool
) -> bool:
    if options.cuda_graph_backend_prefill is not None:
        return options.cuda_graph_backend_prefill != "disabled"
    if options.disable_cuda_graph or options.disable_prefill_cuda_graph:
        return False
    refused = (
        latent and not rules.latent_prefill_graphs,
        options.dp_attention and options.data_parallel > 1 and not rules.data_parallel_prefill_graphs,
        options.pipeline_parallel > 1 and not rules.pipeline_prefill_graphs,
        options.moe_a2a_backend not in (None, "none"),
        options.enable_lora,
        LayerKind.KIMI_DELTA in model.layers and not rules.kimi_delta_prefill_graphs,
        multimodal and model.architecture not in rules.multimodal_prefill_graphs,
    )
    return not any(refused)


def _decode_batch(options: MemoryOptions, rules: EngineRules, by_size: tuple[int, int]) -> int:
    if options.cuda_graph_bs_decode:
        return max(options.cuda_graph_bs_decode)
    if options.cuda_graph_max_bs_decode is not None:
        return options.cuda_graph_max_bs_decode
    batch = by_size[0] if options.tensor_parallel < 4 else by_size[1]
    limit = options.max_running_requests
    return min(batch, limit) if rules.decode_batch_follows_running_limit and limit else batch


def _prefill_sizes(options: MemoryOptions, rules: EngineRules, chunk: int, *, latent: bool) -> tuple[int, ...]:
    if options.cuda_graph_bs_prefill:
        return options.cuda_graph_bs_prefill
    largest = options.cuda_graph_max_bs_prefill
    if largest is None:
        largest = min(rules.latent_prefill_graph_tokens, chunk) if latent and rules.latent_prefill_graphs else chunk
        if latent and not rules.latent_prefill_graphs:
            largest = rules.latent_prefill_graph_tokens
        if options.max_total_tokens is not None:
            largest = min(largest, options.max_total_tokens)
        if "llama-2" in (options.model_path or "").lower():
            largest = min(largest, 4096)
    if options.context_length is not None and rules.context_clamps_prefill_graphs:
        largest = min(largest, options.context_length)
    return prefill_sizes(largest)


def _reserved_mib(
    options: MemoryOptions,
    parallel: Parallel,
    chunk: int,
    batch: int,
    prefill: tuple[int, ...],
    *,
    latent: bool,
    gpu_mib: float,
) -> float:
    """Estimate what activations and graphs need, as the engine does (MiB)."""
    steps = chunk if chunk > 0 else (options.max_prefill_tokens or 16384)
    graphs = 0.0
    if _decode_graphs_on(options):
        graphs += batch * 2
    if parallel.attention_data > 1:
        graphs += batch * parallel.attention_data * (4.5 if batch > 300 else 3)
    if prefill:
        graphs += 1536 if latent else len(prefill) * 8
    reserved = 512 + max(steps, 2048) * 1.5 + parallel.world / 8 * 1024 + graphs
    if gpu_mib > HEADROOM_GPU_MIB:
        reserved = max(reserved, 10 * 1024)
    if options.moe_a2a_backend == "deepep" and _decode_graphs_on(options):
        reserved += 2048
    return reserved


def _vision_factor(model: ModelFacts) -> float:
    """Lower the fraction for a vision tower, by its size; Qwen's `depth` is not the key that the engine looks for."""
    assert model.vision is not None  # the caller looked
    layers = 24 if model.vision.num_hidden_layers is None else model.vision.num_hidden_layers
    hidden = 1024 if model.vision.hidden_size is None else model.vision.hidden_size
    ratio = layers * hidden**2 / (24 * 1024**2)
    return 0.95 * max(0.8, min(1.05, 1.0 - 0.1 * (ratio - 1.0)))


def _speculation(model: ModelFacts, options: MemoryOptions) -> tuple[int, int | None]:
    """Say how many tokens one step drafts, and how many requests may run."""
    algorithm = (options.speculative_algorithm or "").upper()
    if not algorithm:
        return 0, options.max_running_requests
    limit = options.max_running_requests or DRAFT_RUNNING_REQUESTS
    steps, top, tokens = (
        options.speculative_num_steps,
        options.speculative_eagle_topk,
        options.speculative_num_draft_tokens,
    )
    if algorithm == "NGRAM":
        return tokens or 12, limit
    if steps is None:
        wide = model.architecture in ("LlamaForCausalLM", "Grok1ForCausalLM") and algorithm != "STANDALONE"
        steps, top, tokens = (5, 4, 8) if wide else (3, 1, 4)
    if top == 1:
        tokens = steps + 1
    return tokens or steps + 1, limit


def _draft_layers(model: ModelFacts, options: MemoryOptions, rules: EngineRules) -> tuple[int, int]:
    """Say how many layers the draft is charged with, and how many its pool has.

    The engine asks the draft's config for `num_nextn_predict_layers`. For a multimodal checkpoint that drafts for
    itself (Qwen3.5, Qwen3.6) it asks the text part, which doesn't have it, and charges all of the target's layers
    instead: seen in a boot on an H200, where a Qwen3.5 draft of one layer cut the pool to a fifth. Without a draft
    path nothing is charged.
    """
    algorithm = (options.speculative_algorithm or "").upper()
    if algorithm not in ("NEXTN", "EAGLE", "EAGLE3", "STANDALONE"):
        return 0, 0
    path = options.speculative_draft_model_path
    if path is None:
        return (1, 1) if model.architecture in rules.own_draft else (0, 1)
    itself = path in (options.model_path, model.repo, model.source)
    return (len(model.layers), 1) if itself and model.multimodal else (1, 1)


def _page_size(model: ModelFacts, options: MemoryOptions, capability: tuple[int, int] | None) -> int:
    """Say how many tokens one page holds: one, unless the attention backend wants more."""
    backend = options.attention_backend
    page = options.page_size
    sparse = model.latent_attention is not None and model.latent_attention.index_head_dim is not None
    blackwell = capability is not None and capability[0] == 10
    if sparse:
        return 64
    if backend is None and blackwell:
        backend = _blackwell_backend(model, options)
        if backend is None and model.architecture.startswith(QWEN_HYBRID):
            return 1  # whatever was given
    if backend == "flashmla":
        return 64
    if backend == "cutlass_mla":
        return 128
    if backend in ("trtllm_mla", "tokenspeed_mla", "cutedsl_mla"):
        return page if page in (32, 64) else 64
    if backend == "trtllm_mha":
        return page if page in (16, 32, 64) else 64
    if backend == "fa4" and blackwell and (options.speculative_eagle_topk or 0) <= 1:
        return 128
    return page or 1


def _blackwell_backend(model: ModelFacts, options: MemoryOptions) -> str | None:
    """Say which attention backend a B200 gets, where that decides the page size."""
    if model.latent_attention is not None:
        return "trtllm_mla" if "V3" in model.architecture or "KimiK2" in model.architecture else None
    drafts = options.speculative_algorithm is not None
    if drafts and options.speculative_eagle_topk != 1:
        return None
    if model.architecture.startswith("NemotronH"):
        return "flashinfer"
    kept = options.mamba_radix_cache_strategy in ("extra_buffer", "extra_buffer_lazy")
    if model.hybrid and not (options.disable_radix_cache or drafts or kept):
        return None
    return "trtllm_mha"


def _strategy(model: ModelFacts, options: MemoryOptions, rules: EngineRules, page: int) -> str:
    """Say how states are kept for the prefix cache; pipeline stages take the overlap away only afterwards."""
    if options.disable_radix_cache:
        return "radix_off"
    given = options.mamba_radix_cache_strategy
    if given not in (None, "auto"):
        return str(given)
    triton = options.linear_attn_backend in (None, "triton")
    wants = not options.disable_overlap_schedule or page > 1
    supported = model.architecture in rules.extra_buffer and triton
    return "extra_buffer" if wants and supported else "no_buffer"


def _slots(strategy: str, *, overlap: bool) -> int:
    if strategy == "extra_buffer" and not overlap:
        return SLOTS["extra_buffer_no_overlap"]
    return SLOTS.get(strategy, SLOTS["no_buffer"])


def _dtype(model: ModelFacts, options: MemoryOptions) -> str:
    if options.dtype == "auto":
        # float32 checkpoints are served in bfloat16 or float16, never in float32, unless it is asked for.
        return "bfloat16" if model.dtype == "float32" else model.dtype
    return {"half": "float16", "float": "float32"}.get(options.dtype, options.dtype)


def _kv_dtype(model: ModelFacts, options: MemoryOptions, dtype: str, capability: tuple[int, int] | None) -> str:
    if options.kv_cache_dtype != "auto":
        return {"bf16": "bfloat16"}.get(options.kv_cache_dtype, options.kv_cache_dtype)
    latent = model.latent_attention
    if latent is not None and latent.index_head_dim is not None and capability is not None and capability[0] >= 10:
        return "fp8_e4m3"
    quantization = model.quantization
    if quantization is not None and quantization.method.startswith("modelopt") and quantization.kv_cache_dtype:
        return quantization.kv_cache_dtype
    return dtype


def _kv_bytes(dtype: str) -> float:
    return ELEMENT_BYTES.get(dtype, 0.5 if "fp4" in dtype else 2)


def _ssm_bytes(model: ModelFacts, options: MemoryOptions) -> int:
    asked = options.mamba_ssm_dtype or (model.recurrent.state_dtype if model.recurrent else None) or "float32"
    return {"float32": 4, "bfloat16": 2, "float16": 2}.get(asked, 4)


def _sliding_pools(model: ModelFacts, options: MemoryOptions, rules: EngineRules) -> bool:
    return (
        model.architecture in rules.sliding_pools
        and LayerKind.SLIDING_ATTENTION in model.layers
        and not options.disable_hybrid_swa_memory
    )
