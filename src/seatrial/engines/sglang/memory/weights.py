"""What loading the weights takes of a GPU: tensors as the engine stores them, in PyTorch's segments."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from seatrial.engines.sglang.memory.allocator import reserved_bytes
from seatrial.engines.sglang.memory.exclusion import SHARDS
from seatrial.engines.sglang.memory.modules import Module, modules
from seatrial.engines.sglang.memory.options import MemoryOptions
from seatrial.engines.sglang.memory.parallel import Parallel
from seatrial.engines.sglang.memory.stored import KNOWN, stored
from seatrial.facts.model import LayerKind, ModelFacts

GIB = 1 << 30
ROPE_MARGIN = 256
"""Positions that the table of rotary angles holds beyond the model's context (seen in every boot)."""
TABLE_BYTES = 4
FRAGMENTED = {"mxfp4": (1.10, 0.06)}
"""Methods whose repacking leaves holes: factor, and how far it may be off. Seen once: gpt-oss-20b on an H200."""

FREED_LATE_MIB = {"awq": 1.49, "awq_marlin": 1.49, "gptq": 0.49, "gptq_marlin": 0.49, "mxfp4": 1.53}
"""Leftovers of repacking one layer's experts, by method; Python frees them after "Load weight end", before the pools
are sized. Seen on an H200: 59.7 MiB of 40 layers (AWQ, two models), 23.5 of 48 (GPTQ), 36.7 of 24 (gpt-oss)."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What the weights take of one GPU.

    Attributes:
        gib: memory reserved for them.
        tensors_gib: the tensors alone.
        before_gib: small tables that are made before the engine's "Load weight begin" line (expert placement).
        spread: how far `gib` may be off, as a share of it.
        source: what it was counted from.
        draft_gib: of it, the draft model's.
        late_gib: what grows (or, below zero, is given back) between the engine's last "Load weight end" line and the
            sizing of the pools: the vision tower's table of angles, leftovers of repacked experts.
    """

    gib: float
    tensors_gib: float
    before_gib: float
    spread: float
    source: str
    draft_gib: float = 0.0
    late_gib: float = 0.0


def weights(model: ModelFacts, options: MemoryOptions) -> Weights | None:
    """Count what the weights take of the fullest GPU; None where it can't be counted."""
    parallel = Parallel.of(options)
    if not model.tensor_bytes and not _countable(model):
        return None
    element = {"float32": 4, "float": 4}.get(options.dtype, 2)
    stages = [_stage(model, options, parallel, stage, element) for stage in range(parallel.pipeline)]
    if any(not stage for stage in stages):
        return None
    placement = _placement_bytes(model)
    tables = _tables(model, options)
    reserved = max(reserved_bytes([placement, *stage, *tables]) for stage in stages)
    total = max(sum(stage) for stage in stages) + sum(tables)
    factor, spread = FRAGMENTED.get(model.quantization.method, (1.0, 0.0)) if model.quantization else (1.0, 0.0)
    draft = _draft_bytes(model, options, parallel, element)
    source = "counted from the tensors' headers" if model.tensor_bytes else "counted from the config's sizes"
    uncertain = 0.01 if not any("infer" in note for note in model.notes) else _inferred(model)
    return Weights(
        gib=(reserved * factor - placement + draft) / GIB,
        tensors_gib=(total + draft) / GIB,
        before_gib=placement / GIB,
        spread=max(uncertain, spread),
        source=source,
        draft_gib=draft / GIB,
        late_gib=(0.0 if draft else _vision_table(model, options) / GIB) - _freed_late_gib(model),
    )


def _freed_late_gib(model: ModelFacts) -> float:
    if model.quantization is None or model.experts is None:
        return 0.0
    return FREED_LATE_MIB.get(model.quantization.method, 0.0) * model.experts.layers / 1024


def _inferred(model: ModelFacts) -> float:
    """Say how far weights may be off where what is left out of the quantization was inferred."""
    bits = model.quantization.bits if model.quantization else None
    return 0.06 if bits is not None and bits < 8 else 0.02


def _countable(model: ModelFacts) -> bool:
    known = model.quantization is None or model.quantization.method in KNOWN
    mixes = model.attention is not None or model.latent_attention is not None or model.recurrent is not None
    return known and mixes and not any("from tensors only" in note or "not planned" in note for note in model.notes)


def _stage(model: ModelFacts, options: MemoryOptions, parallel: Parallel, stage: int, element: int) -> list[int]:
    if model.tensor_bytes:
        return _from_headers(model, options, parallel, element)
    held: Iterable[Module] = modules(
        model,
        parallel,
        vision=not options.language_model_only,
        whole_vision=options.mm_enable_dp_encoder,
        stage=stage,
    )
    return [size for module in held for size in stored(module, model.quantization, element).tensors]


def _placement_bytes(model: ModelFacts) -> int:
    """Count the tables of where experts lie (srt/eplb/expert_location.py): layers × experts² × 8 bytes, two more."""
    if model.experts is None:
        return 0
    layers, experts = len(model.layers), model.experts.experts
    return layers * experts * experts * 8 + 2 * layers * experts * 8


def _tables(model: ModelFacts, options: MemoryOptions) -> list[int]:
    """Count the tables of rotary angles: one for each way of turning, shared by all layers."""
    positions = max(model.context_length, options.context_length or 0) + ROPE_MARGIN
    found = []
    if model.attention is not None and model.attention.rotary_dim:
        found.append(positions * model.attention.rotary_dim * TABLE_BYTES)
        local = LayerKind.SLIDING_ATTENTION in model.layers and model.architecture.startswith("Gemma")
        if local:
            own = model.sliding.rotary_dim if model.sliding and model.sliding.rotary_dim else model.attention.rotary_dim
            found.append(positions * own * TABLE_BYTES)
    if model.latent_attention is not None and model.latent_attention.positions:
        found.append(positions * model.latent_attention.qk_rope_head_dim * TABLE_BYTES)
    late = _vision_table(model, options)
    return [*found, late] if late else found


def _vision_table(model: ModelFacts, options: MemoryOptions) -> int:
    """Count the vision tower's table of angles: it is made after the weights, when the pools are about to be sized."""
    vision = model.vision
    if vision is None or options.language_model_only or not (vision.hidden_size and vision.heads and vision.depth):
        return 0
    positions = max(model.context_length, options.context_length or 0) + ROPE_MARGIN
    return positions * (vision.hidden_size // vision.heads // 2) * TABLE_BYTES


def _draft_bytes(model: ModelFacts, options: MemoryOptions, parallel: Parallel, element: int) -> int:
    """Count a draft that the checkpoint brings itself: one more layer, its input projection and its own output layer.

    Embeddings and the output layer are shared with the target after loading, but both are made first and the draft's
    output layer stays until then: a boot of Qwen3-Next's MTP on an H200 took one table more than the layer.
    """
    algorithm = (options.speculative_algorithm or "").upper()
    if algorithm not in ("NEXTN", "EAGLE") or (
        options.speculative_draft_model_path and not _same_model(model, options)
    ):
        return 0
    last = max((n for n, kind in enumerate(model.layers) if kind in _ATTENTION), default=None)
    if last is None:
        return 0
    layer = [
        m
        for m in modules(model, Parallel(parallel.tensor, parallel.attention, parallel.attention_data, parallel.expert))
        if m.layer == last
    ]
    plain = sum(stored(module, None, element).bytes for module in layer)
    fused = 2 * model.hidden_size * model.hidden_size * element
    table = -(-model.vocabulary_size // 64) * 64 * model.hidden_size * element // parallel.tensor
    return plain + fused + 2 * table


_ATTENTION = (LayerKind.FULL_ATTENTION, LayerKind.LATENT_ATTENTION, LayerKind.SLIDING_ATTENTION)


def _same_model(model: ModelFacts, options: MemoryOptions) -> bool:
    return options.speculative_draft_model_path in (options.model_path, model.repo, model.source)


REPLICATED = re.compile(
    r"(norm|layernorm|\.gate\.|router|e_score_correction|pos_embed|patch_embed|kv_a_proj|q_a_proj|shared_expert_gate)"
)
SKIPPED = re.compile(r"^(mtp\.|model\.mtp\.|.*\.rotary_emb\.inv_freq$)")
FUSED = {shard: name for name, parts in SHARDS.items() for shard in parts}
WIDE = {"F32": 4, "BF16": 2, "F16": 2}
PACKED = (".qweight", ".weight_packed", ".qzeros", ".g_idx", ".weight_shape", ".weight_zero_point")
DROPPED = (".g_idx", ".weight_shape")
"""Tensors of packed weights that are not kept once they are loaded."""


def _from_headers(model: ModelFacts, options: MemoryOptions, parallel: Parallel, element: int) -> list[int]:
    """Group a checkpoint's tensors as the engine fuses them, and take one GPU's share of each.

    Experts of a layer become one tensor, fused projections one each; norms, routers, low-rank inputs are on every GPU.
    """
    drafts = _draft_prefix(model)
    groups: dict[str, int] = {}
    for name, size in model.tensor_bytes.items():
        visual = ".visual." in f".{name}" or "vision" in name
        if SKIPPED.match(name) or (drafts and name.startswith(drafts)) or (visual and options.language_model_only):
            continue
        if model.tied_embeddings and name.startswith("lm_head"):
            continue
        if name.endswith(DROPPED) or (name.endswith(".qzeros") and _symmetric(model)):
            continue
        dtype = model.tensor_dtypes.get(name, "")
        recast = dtype in WIDE and not name.endswith((*PACKED, *_EXACT))
        kept = size * element // WIDE[dtype] if recast else size
        whole = visual and options.mm_enable_dp_encoder
        groups[_group(name)] = groups.get(_group(name), 0) + math.ceil(
            kept / (1 if whole else _parts(name, model, parallel)) / parallel.pipeline
        )
    # Files have tensors in any order; the engine makes layer after layer, and segments depend on the order.
    ordered = [groups[name] for name in sorted(groups, key=_made)]
    return [*ordered, *_absorbed(model, parallel, element)]


ORDER = ("visual.", "embed_tokens", ".layers.", "", "lm_head")
FEED_FORWARD = re.compile(r"\.(?:mlp|block_sparse_moe|feed_forward)\.")
LAST = re.compile(r"(?:o_proj|out_proj|down_proj|linear_fc2|attn\.proj)\b")


def _made(name: str) -> tuple[int, int, int, bool]:
    """Say when the engine makes a tensor: tower, embedding, layers (mixer, feed-forward, norms), output layer."""
    part = next((number for number, mark in enumerate(ORDER) if mark and mark in name), ORDER.index(""))
    layer = re.search(r"\.(?:layers|blocks)\.(\d+)\.", name)
    place = 2 if "layernorm" in name or ".norm" in name else 1 if FEED_FORWARD.search(name) else 0
    return part, int(layer[1]) if layer else 0, place, LAST.search(name) is not None


def _parts(name: str, model: ModelFacts, parallel: Parallel) -> int:
    """Say over how many GPUs a tensor is dealt out."""
    if REPLICATED.search(name):
        return 1
    if model.attention is not None and (".k_proj." in name or ".v_proj." in name) and ".visual." not in f".{name}":
        return min(parallel.attention, model.attention.kv_heads)
    return parallel.attention if ".self_attn." in name or ".linear_attn." in name else parallel.tensor


def _draft_prefix(model: ModelFacts) -> tuple[str, ...]:
    """Name the layers past the last one: DeepSeek and GLM keep their draft there; it is not loaded with the model."""
    return tuple(f"model.layers.{len(model.layers) + number}." for number in range(model.draft_layers))


def _absorbed(model: ModelFacts, parallel: Parallel, element: int) -> list[int]:
    """Count what the engine adds to latent attention: the second, taken-apart copy of `kv_b_proj`."""
    if model.latent_attention is None:
        return []
    held = modules(model, parallel, vision=False)
    return [module.elements * element for module in held if module.name.endswith((".w_kc", ".w_vc"))]


_EXACT = ("A_log", "weight_scale_inv", "e_score_correction_bias")


def _symmetric(model: ModelFacts) -> bool:
    return model.quantization is not None and model.quantization.symmetric is True


def _group(name: str) -> str:
    """Name the engine's tensor that a checkpoint's tensor goes into."""
    parts = re.sub(r"\.experts\.\d+\.", ".experts.", name).split(".")
    return ".".join(FUSED.get(part, part) for part in parts)
