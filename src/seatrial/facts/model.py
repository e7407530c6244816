"""What is true about a checkpoint, from its `config.json` and its tensors' headers, without a weight. Pure values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class LayerKind(StrEnum):
    """What mixes the tokens in one decoder layer; names as in the `layer_types` of transformers where it has one."""

    FULL_ATTENTION = "full_attention"
    SLIDING_ATTENTION = "sliding_attention"
    LATENT_ATTENTION = "latent_attention"
    """Multi-head latent attention (MLA): one compressed vector a token."""
    GATED_DELTA_NET = "linear_attention"
    """Gated delta net (Qwen3-Next, Qwen3.5, Qwen3.6)."""
    MAMBA2 = "mamba2"
    KIMI_DELTA = "kimi_delta_attention"
    LIGHTNING = "lightning_attention"
    SHORT_CONVOLUTION = "short_convolution"
    """A gated short convolution (LFM2): its window is all the state there is."""
    FEED_FORWARD = "feed_forward"
    """No token mixing at all (Nemotron-H's MLP and MoE layers)."""


class FeedForwardKind(StrEnum):
    """What follows the token mixing in one decoder layer."""

    DENSE = "dense"
    EXPERTS = "experts"
    NONE = "none"
    """Nothing: a layer of Nemotron-H is either a mixer or a feed-forward network."""


@dataclass(frozen=True, slots=True)
class AttentionFacts:
    """Softmax attention with keys and values kept for each token.

    Attributes:
        heads: query heads.
        kv_heads: key and value heads.
        head_dim: size of a query or key head.
        v_head_dim: size of a value head.
        output_gate: the query projection also makes a gate of the same size (Qwen3.5 and later).
        window: tokens that a sliding layer sees; None where there is none.
        bias: the query, key and value projections have biases.
        output_bias: the output projection has a bias.
        qk_norm: queries and keys are normalised, with weights of one head's size.
        rotary_dim: elements of a head that carry the position; None without rotary positions.
        keys_are_values: no value projection: the keys serve as values (Gemma 4's full layers).
    """

    heads: int
    kv_heads: int
    head_dim: int
    v_head_dim: int
    output_gate: bool = False
    window: int | None = None
    bias: bool = False
    output_bias: bool = False
    qk_norm: bool = False
    rotary_dim: int | None = None
    keys_are_values: bool = False


@dataclass(frozen=True, slots=True)
class LatentAttentionFacts:
    """Multi-head latent attention: `kv_lora_rank` + `qk_rope_head_dim` elements a token and layer are kept.

    Attributes:
        heads: query heads.
        kv_lora_rank: size of the compressed keys and values.
        qk_rope_head_dim: elements of a key that carry the position.
        qk_nope_head_dim: the other elements of a key.
        v_head_dim: size of a value head.
        q_lora_rank: size of the compressed queries; None where they are not compressed.
        index_head_dim: size of the sparse indexer's key (DeepSeek-V3.2); None without one.
        positions: keys carry a rotary position (Kimi Linear's don't).
    """

    heads: int
    kv_lora_rank: int
    qk_rope_head_dim: int
    qk_nope_head_dim: int
    v_head_dim: int
    q_lora_rank: int | None = None
    index_head_dim: int | None = None
    positions: bool = True


@dataclass(frozen=True, slots=True)
class RecurrentFacts:
    """A linear-attention or state-space mixer: a state of fixed size for each sequence.

    Attributes:
        key_heads: query and key heads (groups, for Mamba2).
        value_heads: value heads (heads, for Mamba2).
        key_head_dim: size of a key head (state size, for Mamba2).
        value_head_dim: size of a value head (head size, for Mamba2).
        conv_kernel: taps of the short convolution.
        state_dtype: what `config.json` asks the state to be kept in, if it does.
    """

    key_heads: int
    value_heads: int
    key_head_dim: int
    value_head_dim: int
    conv_kernel: int
    state_dtype: str | None = None


@dataclass(frozen=True, slots=True)
class ExpertFacts:
    """A mixture of experts.

    Attributes:
        experts: routed experts in one layer.
        experts_per_token: how many of them a token uses.
        intermediate_size: of one routed expert.
        shared_intermediate_size: of all shared experts together; 0 without any.
        layers: how many layers have experts; the others have one dense feed-forward network.
        shared_gate: the shared expert's output is weighed by a gate of its own (Qwen).
        router_bias: the router corrects its scores with a bias for each expert.
        bias: the experts' projections have biases (gpt-oss).
        latent_size: routed experts work in a smaller space of this size (Nemotron 3 Super); None without one.
        parallel_dense: a dense feed-forward network runs beside the experts in every layer (Gemma 4).
    """

    experts: int
    experts_per_token: int
    intermediate_size: int
    shared_intermediate_size: int
    layers: int
    shared_gate: bool = False
    router_bias: bool = False
    bias: bool = False
    latent_size: int | None = None
    parallel_dense: bool = False


@dataclass(frozen=True, slots=True)
class VisionFacts:
    """The vision tower, by the names that SGLang's own default looks for (None where the config has another name).

    Attributes:
        hidden_size: as the config's `hidden_size` says.
        num_hidden_layers: as the config's `num_hidden_layers` says (Qwen's towers say `depth` instead).
        depth: as the config's `depth` says.
        intermediate_size: of a block's feed-forward network.
        out_hidden_size: what the merger makes.
        heads: attention heads of a block.
        patch_elements: elements of one patch: channels × frames × height × width.
        positions: rows of the position table.
        merge: patches that the merger joins along one side.
        gated: the blocks' feed-forward networks are gated (three matrices instead of two).
        deepstack: how many extra mergers feed early layers (Qwen3-VL).
    """

    hidden_size: int | None
    num_hidden_layers: int | None
    depth: int | None
    intermediate_size: int | None = None
    out_hidden_size: int | None = None
    heads: int | None = None
    patch_elements: int | None = None
    positions: int | None = None
    merge: int | None = None
    gated: bool = False
    deepstack: int = 0

    @property
    def blocks(self) -> int | None:
        """How many blocks it has, whatever the config calls that."""
        return self.num_hidden_layers if self.num_hidden_layers is not None else self.depth


@dataclass(frozen=True, slots=True)
class QuantizationFacts:
    """How the weights were quantized.

    Attributes:
        method: `quant_method` of the config: awq, gptq, compressed-tensors, fp8, auto-round, modelopt …
        bits: of a weight.
        group_size: weights that share one scale; -1 a whole column; None where it has no groups.
        symmetric: no zero points.
        format: compressed-tensors' format, e.g. `pack-quantized`, `float-quantized`.
        weight_block_size: FP8 blocks, e.g. (128, 128).
        excluded: modules that were left as they were, as the config names them.
        lm_head: whether the output layer is quantized too.
        kv_cache_dtype: what the checkpoint asks the KV cache to be kept in, if it does.
        raw: the config's own `quantization_config`, for whoever needs more.
    """

    method: str
    bits: int | None = None
    group_size: int | None = None
    symmetric: bool | None = None
    format: str | None = None
    weight_block_size: tuple[int, int] | None = None
    excluded: tuple[str, ...] = ()
    lm_head: bool = False
    kv_cache_dtype: str | None = None
    raw: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChatTemplateFacts:
    """What the chat template knows of.

    Attributes:
        tools: it writes the offered tools into the prompt.
        tool_call_style: how it shows a call: `qwen3_coder` (`<function=name>`), `hermes` (JSON in `<tool_call>`), …
        reasoning: it knows a place for reasoning.
        reasoning_style: how it marks it: `think` (`<think>…</think>`), `harmony` …
        thinking_toggle: the template's argument that turns reasoning off, e.g. `enable_thinking`.
    """

    tools: bool = False
    tool_call_style: str | None = None
    reasoning: bool = False
    reasoning_style: str | None = None
    thinking_toggle: str | None = None


@dataclass(frozen=True, slots=True)
class TensorFacts:
    """One tensor of a checkpoint, as its file's header says.

    Attributes:
        dtype: safetensors' name: BF16, F16, F32, F8_E4M3, I32, U8 …
        shape: rows first.
        bytes: its size in the file.
    """

    dtype: str
    shape: tuple[int, ...]
    bytes: int


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """One checkpoint.

    Attributes:
        source: the folder or the repository that these facts were read from.
        repo: `owner/name` on the Hub, if it is known.
        revision: the commit, if it is known.
        architecture: the first of `architectures`.
        model_type: of the config (of the text part, where there are several parts).
        layers: kind of each decoder layer, in order.
        hidden_size: of the residual stream.
        intermediate_size: of a dense feed-forward layer.
        vocabulary_size: rows of the embedding.
        context_length: tokens, as the config declares.
        dtype: of the weights that are not quantized: bfloat16, float16, float32.
        tied_embeddings: input and output share one table.
        attention: None where no layer keeps keys and values for each head.
        latent_attention: None without MLA.
        recurrent: None without recurrent layers.
        experts: None for a dense model.
        vision: None for a text model.
        quantization: None where nothing is quantized.
        draft_layers: layers for multi-token prediction that the checkpoint brings.
        feed_forward: what follows the mixing in each decoder layer, in order; empty means dense in all.
        gated: feed-forward networks have a gate and an up projection (SwiGLU); one projection otherwise.
        sliding: attention of the sliding layers, where its sizes differ from `attention`.
        norms_per_layer: normalisations over the residual stream in one decoder layer.
        generation: the content of `generation_config.json`: the sampling that its makers recommend.
        sources: where the facts of a known model are known from.
        tensor_bytes: exact bytes of every tensor by its name, from the safetensors headers; empty where unknown.
        tensor_dtypes: dtype of every tensor by its name, likewise.
        tensor_shapes: shape of every tensor by its name, likewise.
        chat_template: None where there is no template to look at.
        notes: what could not be read, and what was assumed instead.
    """

    source: str
    architecture: str
    model_type: str
    layers: tuple[LayerKind, ...]
    hidden_size: int
    intermediate_size: int
    vocabulary_size: int
    context_length: int
    dtype: str
    repo: str | None = None
    revision: str | None = None
    tied_embeddings: bool = False
    attention: AttentionFacts | None = None
    latent_attention: LatentAttentionFacts | None = None
    recurrent: RecurrentFacts | None = None
    experts: ExpertFacts | None = None
    vision: VisionFacts | None = None
    quantization: QuantizationFacts | None = None
    draft_layers: int = 0
    feed_forward: tuple[FeedForwardKind, ...] = ()
    gated: bool = True
    sliding: AttentionFacts | None = None
    norms_per_layer: int = 2
    generation: Mapping[str, object] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    tensor_bytes: Mapping[str, int] = field(default_factory=dict)
    tensor_dtypes: Mapping[str, str] = field(default_factory=dict)
    tensor_shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    chat_template: ChatTemplateFacts | None = None
    notes: tuple[str, ...] = ()

    @property
    def hybrid(self) -> bool:
        """Whether some layers keep a state of fixed size for each sequence."""
        return self.recurrent is not None

    @property
    def multimodal(self) -> bool:
        """Whether it has a vision tower."""
        return self.vision is not None

    def count(self, *kinds: LayerKind) -> int:
        """Count the layers of these kinds."""
        return sum(layer in kinds for layer in self.layers)
