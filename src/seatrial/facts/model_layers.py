"""What each decoder layer is made of: how it mixes tokens, and what follows the mixing."""

from __future__ import annotations

from seatrial.errors import InputError
from seatrial.facts.config_fields import Fields
from seatrial.facts.model import FeedForwardKind, LayerKind

_NAMES = {
    "full_attention": LayerKind.FULL_ATTENTION,
    "attention": LayerKind.FULL_ATTENTION,
    "hybrid": LayerKind.FULL_ATTENTION,
    "sliding_attention": LayerKind.SLIDING_ATTENTION,
    "chunked_attention": LayerKind.SLIDING_ATTENTION,
    "linear_attention": LayerKind.GATED_DELTA_NET,
    "mamba": LayerKind.MAMBA2,
    "mamba2": LayerKind.MAMBA2,
    "conv": LayerKind.SHORT_CONVOLUTION,
    "moe": LayerKind.FEED_FORWARD,
    "mlp": LayerKind.FEED_FORWARD,
}
_PATTERN = {"M": "mamba", "*": "attention", "-": "mlp", "E": "moe", "O": "moe"}
"""One letter a layer, as Nemotron-H's `hybrid_override_pattern` writes it."""


def layer_kinds(text: Fields, *, latent: bool) -> tuple[LayerKind, ...]:
    """Say how each decoder layer mixes tokens.

    Args:
        text: the language model's part of the config.
        latent: its attention is latent (MLA).

    Raises:
        InputError: the config names a kind of layer that seatrial doesn't know.
    """
    attention = LayerKind.LATENT_ATTENTION if latent else LayerKind.FULL_ATTENTION
    names = block_names(text) or text.words("layer_types")
    if names:
        kinds = []
        for name in names:
            if name not in _NAMES:
                raise InputError(f"the kind of layer {name!r} is not known", where=text.where)
            kind = _NAMES[name]
            kinds.append(attention if kind is LayerKind.FULL_ATTENTION else kind)
        return tuple(kinds)
    count = text.need("num_hidden_layers", "n_layer", "num_layers")
    numbers = range(count)
    linear = text.part("linear_attn_config")
    if linear is not None:  # Kimi Linear numbers its layers from one
        delta = {number - 1 for number in linear.wholes("kda_layers")}
        return tuple(LayerKind.KIMI_DELTA if number in delta else attention for number in numbers)
    group = text.whole("layer_group_size")
    if group and text.has("num_linear_key_value_heads", "group_norm_size", "linear_attn_norm_group_size"):
        return tuple(attention if (number + 1) % group == 0 else LayerKind.LIGHTNING for number in numbers)
    interval = text.whole("full_attention_interval")
    if interval and text.has("linear_num_value_heads"):
        return tuple(
            attention if number % interval == interval - 1 else LayerKind.GATED_DELTA_NET for number in numbers
        )
    pattern = text.wholes("hybrid_layer_pattern")
    if pattern:
        return tuple(LayerKind.SLIDING_ATTENTION if sliding else attention for sliding in pattern)
    every = text.whole("sliding_window_pattern")
    if every and every > 1 and text.whole("sliding_window"):
        return tuple(attention if (number + 1) % every == 0 else LayerKind.SLIDING_ATTENTION for number in numbers)
    if text.whole("attention_chunk_size"):  # Llama 4: three chunked layers, then one that sees all
        return tuple(attention if (number + 1) % 4 == 0 else LayerKind.SLIDING_ATTENTION for number in numbers)
    return (attention,) * count


def feed_forward_kinds(text: Fields, layers: tuple[LayerKind, ...]) -> tuple[FeedForwardKind, ...]:
    """Say what follows the mixing in each decoder layer."""
    names = block_names(text)
    if names:
        kinds = {"moe": FeedForwardKind.EXPERTS, "mlp": FeedForwardKind.DENSE}
        return tuple(kinds.get(name, FeedForwardKind.NONE) for name in names)
    numbers = range(len(layers))
    if not text.whole("num_experts", "n_routed_experts", "num_local_experts"):
        return (FeedForwardKind.DENSE,) * len(layers)
    dense_only = set(text.wholes("mlp_only_layers"))
    first_dense = text.whole("first_k_dense_replace") or 0
    frequency = text.whole("decoder_sparse_step", "interleave_moe_layer_step") or 1
    listed = set(text.wholes("moe_layers")) if isinstance(text.values.get("moe_layers"), list) else set()
    marks = text.values.get("moe_layer_freq")
    marked = list(marks) if isinstance(marks, list) else []
    sparse_step = marks if isinstance(marks, int) and marks > 0 else 1

    def experts(number: int) -> bool:
        if listed:
            return number in listed
        if marked:
            return bool(marked[number]) if number < len(marked) else False
        if number in dense_only or number < first_dense:
            return False
        return (number + 1) % frequency == 0 and number % sparse_step == 0

    return tuple(FeedForwardKind.EXPERTS if experts(number) else FeedForwardKind.DENSE for number in numbers)


def block_names(text: Fields) -> tuple[str, ...]:
    """Name the blocks of a model whose layers are a mixer or a feed-forward network, never both (Nemotron-H)."""
    names = text.words("layers_block_type")
    if names:
        return names
    pattern = text.word("hybrid_override_pattern")
    if pattern is None:
        return ()
    unknown = set(pattern) - set(_PATTERN)
    if unknown:
        raise InputError(f"`hybrid_override_pattern` has the unknown letter {min(unknown)!r}", where=text.where)
    return tuple(_PATTERN[letter] for letter in pattern)
