"""The modules that one GPU holds of a model, by SGLang's own names and sizes: what weights take is counted from them.

Names and shapes are those of SGLang 0.5.16's model classes, seen in dumps of the running engine's parameters
(Qwen3, Qwen3-Next, Qwen3.5, GLM-4.7-Flash, Nemotron-H, gpt-oss, Qwen2.5) and read in srt/models/*.py for the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from seatrial.engines.sglang.memory.parallel import Parallel, kv_heads_per_gpu
from seatrial.facts.model import AttentionFacts, FeedForwardKind, LayerKind, ModelFacts

VOCABULARY_STEP = 64
"""The embedding's rows are rounded up to this (srt/layers/vocab_parallel_embedding.py)."""

OWN_OUTPUT_LAYER = ("Lfm2",)
"""Architectures whose output layer is a tensor of its own even where it is tied to the embedding."""


class Kind(StrEnum):
    """How a module's weights may be stored."""

    LINEAR = "linear"
    """A projection: quantized unless the config leaves it out."""
    EXPERTS = "experts"
    """All experts of one layer in one tensor: quantized unless the config leaves it out."""
    PLAIN = "plain"
    """Never quantized: norms, routers, convolutions, embeddings."""


@dataclass(frozen=True, slots=True)
class Module:
    """One weight matrix on one GPU.

    Attributes:
        name: as SGLang names it, fused projections under their fused name.
        kind: how it may be stored.
        rows: outputs on this GPU.
        columns: inputs on this GPU.
        count: how many of them stand in one tensor (experts).
        bias: elements of its bias.
        bytes_per_element: fixed size of an element (4 for float32 tensors); None for the model's own dtype.
        layer: number of the decoder layer; None outside of them.
    """

    name: str
    kind: Kind
    rows: int
    columns: int = 1
    count: int = 1
    bias: int = 0
    bytes_per_element: int | None = None
    layer: int | None = None

    @property
    def elements(self) -> int:
        """How many weights it has."""
        return self.rows * self.columns * self.count


def modules(
    model: ModelFacts, parallel: Parallel, *, vision: bool = True, whole_vision: bool = False, stage: int = 0
) -> Iterator[Module]:
    """List what one GPU of a pipeline stage holds, in the order in which the engine makes it.

    Args:
        model: the checkpoint.
        parallel: how it is cut over GPUs.
        vision: whether the vision tower is loaded.
        whole_vision: whether every GPU has all of it (`--mm-enable-dp-encoder`).
        stage: which pipeline stage.
    """
    if vision and model.vision is not None and stage == 0:
        yield from _vision(model, 1 if whole_vision else parallel.tensor)
    rows = -(-model.vocabulary_size // VOCABULARY_STEP) * VOCABULARY_STEP
    table = rows if parallel.attention_data > 1 else -(-rows // parallel.tensor)
    first, last = stage == 0, stage == parallel.pipeline - 1
    if first:
        yield Module("model.embed_tokens", Kind.PLAIN, table, model.hidden_size)
    start, end = stage_layers(len(model.layers), parallel.pipeline, stage)
    prefix = f"{layer_prefix(model)}.layers"
    for number in range(start, end):
        yield from _layer(model, parallel, f"{prefix}.{number}", number)
    if last:
        yield Module("model.norm", Kind.PLAIN, model.hidden_size)
        apart = model.architecture.startswith(OWN_OUTPUT_LAYER)
        if not model.tied_embeddings or apart or (parallel.pipeline > 1 and not first):
            yield Module("lm_head", Kind.LINEAR, -(-rows // parallel.tensor), model.hidden_size)


def layer_prefix(model: ModelFacts) -> str:
    """Say what stands before `.layers.N` where quantization configs are matched."""
    return "model.language_model" if model.vision is not None else "model"


def stage_layers(layers: int, stages: int, stage: int) -> tuple[int, int]:
    """Say which layers a pipeline stage holds, first and past the last: the last stages take what doesn't divide."""
    each, rest = divmod(layers, stages)
    sizes = [each + (1 if number >= stages - rest else 0) for number in range(stages)]
    return sum(sizes[:stage]), sum(sizes[: stage + 1])


def _layer(model: ModelFacts, parallel: Parallel, name: str, number: int) -> Iterator[Module]:
    kind = model.layers[number]
    if kind is LayerKind.LATENT_ATTENTION:
        yield from _latent(model, parallel, f"{name}.self_attn", number)
    elif kind in (LayerKind.FULL_ATTENTION, LayerKind.SLIDING_ATTENTION):
        facts = model.sliding if kind is LayerKind.SLIDING_ATTENTION and model.sliding else model.attention
        if facts is not None:
            yield from _attention(model, facts, parallel, f"{name}.self_attn", number)
    elif kind is not LayerKind.FEED_FORWARD:
        yield from _recurrent(model, kind, parallel, name, number)
    follows = model.feed_forward[number] if model.feed_forward else FeedForwardKind.DENSE
    if follows is FeedForwardKind.EXPERTS:
        yield from _experts(model, parallel, f"{name}.mlp", number)
    if follows is FeedForwardKind.DENSE or (model.experts is not None and model.experts.parallel_dense):
        yield from _dense(model, parallel, f"{name}.mlp", model.intermediate_size, parallel.tensor, number)
    yield Module(f"{name}.norms", Kind.PLAIN, model.norms_per_layer * model.hidden_size, layer=number)


def _attention(
    model: ModelFacts, facts: AttentionFacts, parallel: Parallel, name: str, number: int
) -> Iterator[Module]:
    heads = max(1, facts.heads // parallel.attention)
    kept = kv_heads_per_gpu(facts.kv_heads, parallel.attention)
    rows = heads * facts.head_dim * (2 if facts.output_gate else 1) + kept * (facts.head_dim + facts.v_head_dim)
    yield Module(f"{name}.qkv_proj", Kind.LINEAR, rows, model.hidden_size, bias=rows if facts.bias else 0, layer=number)
    yield Module(
        f"{name}.o_proj",
        Kind.LINEAR,
        model.hidden_size,
        heads * facts.v_head_dim,
        bias=model.hidden_size if facts.output_bias else 0,
        layer=number,
    )
    if facts.qk_norm:
        yield Module(f"{name}.qk_norm", Kind.PLAIN, 2 * facts.head_dim, layer=number)


def _latent(model: ModelFacts, parallel: Parallel, name: str, number: int) -> Iterator[Module]:
    facts = model.latent_attention
    assert facts is not None  # the layer's kind says so
    heads = max(1, facts.heads // parallel.attention)
    query = heads * (facts.qk_nope_head_dim + facts.qk_rope_head_dim)
    kept = facts.kv_lora_rank + facts.qk_rope_head_dim
    if facts.q_lora_rank:
        rows = facts.q_lora_rank + kept
        yield Module(f"{name}.fused_qkv_a_proj_with_mqa", Kind.LINEAR, rows, model.hidden_size, layer=number)
        yield Module(f"{name}.q_b_proj", Kind.LINEAR, query, facts.q_lora_rank, layer=number)
    else:
        yield Module(f"{name}.q_proj", Kind.LINEAR, query, model.hidden_size, layer=number)
        yield Module(f"{name}.kv_a_proj_with_mqa", Kind.LINEAR, kept, model.hidden_size, layer=number)
    expanded = heads * (facts.qk_nope_head_dim + facts.v_head_dim)
    yield Module(f"{name}.kv_b_proj", Kind.LINEAR, expanded, facts.kv_lora_rank, layer=number)
    yield Module(f"{name}.o_proj", Kind.LINEAR, model.hidden_size, heads * facts.v_head_dim, layer=number)
    # After loading, kv_b_proj is kept a second time, taken apart into w_kc and w_vc for the absorbed form of MLA.
    yield Module(f"{name}.w_kc", Kind.PLAIN, heads * facts.qk_nope_head_dim, facts.kv_lora_rank, layer=number)
    yield Module(f"{name}.w_vc", Kind.PLAIN, heads * facts.v_head_dim, facts.kv_lora_rank, layer=number)


def _recurrent(model: ModelFacts, kind: LayerKind, parallel: Parallel, layer: str, number: int) -> Iterator[Module]:
    facts = model.recurrent
    assert facts is not None  # the layer's kind says so
    parts, hidden = parallel.attention, model.hidden_size
    keys = facts.key_heads * facts.key_head_dim // parts
    values = facts.value_heads * facts.value_head_dim // parts
    heads = facts.value_heads // parts
    name = f"{layer}.linear_attn"
    if kind is LayerKind.GATED_DELTA_NET:
        yield Module(f"{name}.conv1d", Kind.PLAIN, 2 * keys + values, facts.conv_kernel, layer=number)
        yield Module(f"{name}.in_proj_qkvz", Kind.LINEAR, 2 * keys + 2 * values, hidden, layer=number)
        yield Module(f"{name}.in_proj_ba", Kind.LINEAR, 2 * heads, hidden, layer=number)
        yield Module(f"{name}.A_log", Kind.PLAIN, heads, bytes_per_element=4, layer=number)
        yield Module(f"{name}.dt_bias", Kind.PLAIN, heads + facts.value_head_dim, layer=number)
        yield Module(f"{name}.out_proj", Kind.LINEAR, hidden, values, layer=number)
    elif kind is LayerKind.MAMBA2:
        name = f"{layer}.mixer"
        mixed = values + 2 * keys
        yield Module(f"{name}.conv1d", Kind.PLAIN, mixed, facts.conv_kernel + 1, layer=number)
        yield Module(f"{name}.in_proj", Kind.LINEAR, values + mixed + heads, hidden, layer=number)
        yield Module(f"{name}.A", Kind.PLAIN, heads, bytes_per_element=4, layer=number)
        yield Module(f"{name}.norm", Kind.PLAIN, values + 2 * heads, layer=number)
        yield Module(f"{name}.out_proj", Kind.LINEAR, hidden, values, layer=number)
    elif kind is LayerKind.KIMI_DELTA:
        yield Module(f"{name}.conv1d", Kind.PLAIN, 2 * keys + values, facts.conv_kernel, layer=number)
        yield Module(f"{name}.qkv_proj", Kind.LINEAR, 2 * keys + values, hidden, layer=number)
        yield Module(f"{name}.b_proj", Kind.LINEAR, heads, hidden, layer=number)
        low = facts.value_head_dim  # the gates go through a space of one head's size
        yield Module(f"{name}.fg_a_proj", Kind.LINEAR, 2 * low, hidden, layer=number)
        yield Module(f"{name}.fg_b_proj", Kind.LINEAR, 2 * values, low, layer=number)
        yield Module(f"{name}.o_proj", Kind.LINEAR, hidden, values, layer=number)
    elif kind is LayerKind.LIGHTNING:
        yield Module(f"{name}.query_key_value", Kind.LINEAR, 2 * keys + values, hidden, layer=number)
        yield Module(f"{name}.g_proj", Kind.LINEAR, values, hidden, layer=number)
        yield Module(f"{name}.dense", Kind.LINEAR, hidden, values, layer=number)
    elif kind is LayerKind.SHORT_CONVOLUTION:
        yield Module(f"{layer}.conv.conv", Kind.PLAIN, values, facts.conv_kernel, layer=number)
        yield Module(f"{layer}.conv.in_proj", Kind.LINEAR, 3 * values, hidden, layer=number)
        yield Module(f"{layer}.conv.out_proj", Kind.LINEAR, hidden, values, layer=number)


def _experts(model: ModelFacts, parallel: Parallel, name: str, number: int) -> Iterator[Module]:
    facts = model.experts
    assert facts is not None  # the layer's kind says so
    width = 2 if model.gated else 1
    inner = facts.intermediate_size // parallel.expert_tensor
    count = -(-facts.experts // parallel.expert)
    outer = facts.latent_size or model.hidden_size
    yield Module(f"{name}.experts.w13", Kind.EXPERTS, width * inner, outer, count, layer=number)
    yield Module(f"{name}.experts.w2", Kind.EXPERTS, outer, inner, count, layer=number)
    if facts.bias:
        biases = count * (width * inner + outer)
        yield Module(f"{name}.experts.bias", Kind.PLAIN, biases, bytes_per_element=4, layer=number)
    if facts.latent_size:
        yield Module(f"{name}.fc1_latent_proj", Kind.LINEAR, facts.latent_size, model.hidden_size, layer=number)
        yield Module(f"{name}.fc2_latent_proj", Kind.LINEAR, model.hidden_size, facts.latent_size, layer=number)
    yield Module(f"{name}.gate", Kind.PLAIN, facts.experts, model.hidden_size, layer=number)
    if facts.router_bias:
        yield Module(
            f"{name}.gate.e_score_correction_bias", Kind.PLAIN, facts.experts, bytes_per_element=4, layer=number
        )
    if facts.shared_intermediate_size:
        shared = f"{name}.shared_expert" if facts.shared_gate else f"{name}.shared_experts"
        yield from _dense(model, parallel, shared, facts.shared_intermediate_size, parallel.tensor, number)
    if facts.shared_gate:
        yield Module(f"{name}.shared_expert_gate", Kind.PLAIN, 1, model.hidden_size, layer=number)


def _dense(model: ModelFacts, parallel: Parallel, name: str, size: int, parts: int, number: int) -> Iterator[Module]:
    del parallel
    inner = size // parts
    first = "gate_up_proj" if model.gated else "up_proj"
    yield Module(f"{name}.{first}", Kind.LINEAR, (2 if model.gated else 1) * inner, model.hidden_size, layer=number)
    yield Module(f"{name}.down_proj", Kind.LINEAR, model.hidden_size, inner, layer=number)


def _vision(model: ModelFacts, parts: int) -> Iterator[Module]:
    """List the vision tower: Qwen's merges patches; any other is counted as plain blocks of its sizes."""
    facts = model.vision
    assert facts is not None  # the caller looked
    hidden, blocks = facts.hidden_size, facts.blocks
    if not hidden or not blocks:
        return
    inner = (facts.intermediate_size or 4 * hidden) // parts
    if facts.patch_elements:
        yield Module("visual.patch_embed", Kind.PLAIN, hidden, facts.patch_elements, bias=hidden)
    if facts.positions:
        yield Module("visual.pos_embed", Kind.PLAIN, facts.positions, hidden)
    width = 2 if facts.gated else 1
    for number in range(blocks):
        name = f"visual.blocks.{number}"
        own = hidden // parts
        yield Module(f"{name}.attn.qkv_proj", Kind.PLAIN, 3 * own, hidden, bias=3 * own)
        yield Module(f"{name}.attn.proj", Kind.PLAIN, hidden, own, bias=hidden)
        yield Module(f"{name}.mlp.linear_fc1", Kind.PLAIN, width * inner, hidden, bias=width * inner)
        yield Module(f"{name}.mlp.linear_fc2", Kind.PLAIN, hidden, inner, bias=hidden)
        yield Module(f"{name}.norms", Kind.PLAIN, 4 * hidden)
    if facts.out_hidden_size and facts.merge:
        merged = hidden * facts.merge**2
        for number in range(1 + facts.deepstack):
            name = "visual.merger" if not number else f"visual.deepstack_merger_list.{number - 1}"
            yield Module(f"{name}.linear_fc1", Kind.PLAIN, merged // parts, merged, bias=merged)
            yield Module(f"{name}.linear_fc2", Kind.PLAIN, facts.out_hidden_size, merged // parts, bias=merged)
