"""From a checkpoint's parsed JSON files to `ModelFacts`. Pure: reading the files is `model_folder`'s part."""

from __future__ import annotations

from collections.abc import Mapping

from seatrial.errors import InputError
from seatrial.facts.chat_template import read_chat_template
from seatrial.facts.config_fields import Fields
from seatrial.facts.model import (
    AttentionFacts,
    ExpertFacts,
    FeedForwardKind,
    LatentAttentionFacts,
    LayerKind,
    ModelFacts,
    RecurrentFacts,
    TensorFacts,
    VisionFacts,
)
from seatrial.facts.model_layers import block_names, feed_forward_kinds, layer_kinds
from seatrial.facts.model_quantization import read_quantization

TEXT_PARTS = ("text_config", "llm_config", "language_config", "thinker_config")
"""Where a multimodal model's config keeps its language model."""
CONTEXT_KEYS = ("max_sequence_length", "seq_length", "max_seq_len", "model_max_length", "max_position_embeddings")
"""In the order in which SGLang asks for them (srt/utils/hf_transformers/common.py, 0.5.16)."""


def read_model(
    config: Mapping[str, object],
    *,
    source: str,
    repo: str | None = None,
    revision: str | None = None,
    tensors: Mapping[str, TensorFacts] | None = None,
    chat_template: str | None = None,
    generation_config: Mapping[str, object] | None = None,
    modelopt_config: Mapping[str, object] | None = None,
    sources: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
) -> ModelFacts:
    """Read what is true about a checkpoint.

    Args:
        config: the content of `config.json`.
        source: the folder or repository that it was read from; errors name it.
        repo: `owner/name`, where known.
        revision: the commit, where known.
        tensors: every tensor's dtype and shape by its name, from the safetensors headers.
        chat_template: the text of the chat template.
        generation_config: the content of `generation_config.json`.
        modelopt_config: the content of `hf_quant_config.json`.
        sources: where the facts of a known model are known from.
        notes: what is not certain about them.

    Raises:
        InputError: the config is not a language model's, or a value has another type than it must.
    """
    whole = Fields(config, source)
    text = _text_part(whole)
    architectures = whole.words("architectures") or text.words("architectures")
    if not architectures:
        raise InputError("no `architectures`", where=source, advice="It must be a transformers `config.json`.")
    architecture = architectures[0]
    latent = _latent(text)
    layers = layer_kinds(text, latent=latent is not None)
    follows = feed_forward_kinds(text, layers)
    hidden = text.need("hidden_size", "n_embd", "d_model")
    attention = None if latent else _attention(text, hidden, architecture)
    return ModelFacts(
        source=source,
        repo=repo,
        revision=revision,
        architecture=architecture,
        model_type=text.word("model_type") or whole.word("model_type") or "unknown",
        layers=layers,
        feed_forward=follows,
        hidden_size=hidden,
        intermediate_size=_intermediate(text, hidden),
        vocabulary_size=text.need("vocab_size"),
        context_length=_context(text),
        dtype=(whole.word("dtype", "torch_dtype") or text.word("dtype", "torch_dtype") or "float32").removeprefix(
            "torch."
        ),
        tied_embeddings=_tied(whole, text, architecture),
        gated=(text.word("mlp_hidden_act") or "") != "relu2" and "gpt2" not in (text.word("model_type") or ""),
        norms_per_layer=1 if block_names(text) else 4 if architecture.startswith(("Gemma2", "Gemma3", "Gemma4")) else 2,
        attention=attention,
        sliding=_sliding(text, attention, architecture) if LayerKind.SLIDING_ATTENTION in layers else None,
        latent_attention=latent,
        recurrent=_recurrent(text, layers, hidden),
        experts=_experts(text, follows),
        vision=_vision(whole),
        quantization=read_quantization(whole, modelopt_config),
        draft_layers=text.whole("mtp_num_hidden_layers", "num_nextn_predict_layers") or 0,
        tensor_bytes={name: tensor.bytes for name, tensor in (tensors or {}).items()},
        tensor_dtypes={name: tensor.dtype for name, tensor in (tensors or {}).items()},
        tensor_shapes={name: tensor.shape for name, tensor in (tensors or {}).items()},
        chat_template=read_chat_template(chat_template),
        generation=dict(generation_config or {}),
        sources=sources,
        notes=(*notes, *_notes(text, architecture)),
    )


def _text_part(whole: Fields) -> Fields:
    for key in TEXT_PARTS:
        part = whole.part(key)
        if part is not None:
            return part.part("text_config") or part
    return whole


def _intermediate(text: Fields, hidden: int) -> int:
    """Say how wide a dense feed-forward network is; LFM2's config names a width that is cut by a third."""
    size = text.whole(
        "intermediate_size_mlp", "shared_intermediate_size", "block_ff_dim", "intermediate_size", "n_inner"
    )
    size = size or text.whole("ffn_hidden_size") or 4 * hidden
    if not text.flag("block_auto_adjust_ff_dim"):
        return size
    cut = int((text.number("block_ffn_dim_multiplier") or 1.0) * int(2 * size / 3))
    step = text.whole("block_multiple_of") or 1
    return -(-cut // step) * step


def _tied(whole: Fields, text: Fields, architecture: str) -> bool:
    """Input and output share one table; Gemma's configs leave the key out, and transformers' default there is yes."""
    default = architecture.startswith("Gemma")
    return whole.flag("tie_word_embeddings", text.flag("tie_word_embeddings", default))


def _context(text: Fields) -> int:
    scaling = text.part("rope_scaling", "rope_parameters")
    factor = 1.0
    if scaling is not None and "original_max_position_embeddings" not in scaling.values:
        kind = scaling.word("rope_type", "type")
        factor = 1.0 if kind == "llama3" else (scaling.number("factor") or 1.0)
    length = text.whole(*CONTEXT_KEYS)
    return int(factor * length) if length else 2048


def _attention(text: Fields, hidden: int, architecture: str) -> AttentionFacts | None:
    heads = text.whole("num_attention_heads", "n_head")
    if not heads:
        return None
    head = text.whole("global_head_dim") if architecture.startswith("Gemma4") else None
    head = head or text.whole("head_dim", "attention_head_dim") or hidden // heads
    kv_heads = (
        text.whole("num_kv_heads", "num_key_value_heads", "multi_query_group_num", "num_attention_groups") or heads
    )
    if architecture.startswith("Gemma4"):
        kv_heads = text.whole("num_global_key_value_heads") or kv_heads
    if text.flag("multi_query"):
        kv_heads = 1
    parameters = text.part("rope_parameters", "rope_scaling")
    share = text.number("partial_rotary_factor") or (parameters.number("partial_rotary_factor") if parameters else None)
    bias = text.flag("attention_bias", text.flag("qkv_bias", architecture.startswith("Qwen2")))
    return AttentionFacts(
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head,
        v_head_dim=text.whole("v_head_dim") or head,
        output_gate=text.flag("attn_output_gate", architecture.startswith(("Qwen3Next", "Qwen3_5"))),
        window=text.whole("sliding_window"),
        bias=bias,
        output_bias=bias and not architecture.startswith("Qwen2"),
        qk_norm=architecture.startswith(("Qwen3", "Gemma3", "Gemma4", "Glm4Moe", "OlmoE", "Olmo2", "Exaone4")),
        rotary_dim=None if _no_positions(text) else int(head * (share or 1.0)),
        keys_are_values=text.flag("attention_k_eq_v"),
    )


def _no_positions(text: Fields) -> bool:
    """Whether attention carries no rotary positions (Nemotron-H, Granite's hybrids)."""
    return bool(block_names(text)) or text.word("position_embedding_type") == "nope"


def _sliding(text: Fields, attention: AttentionFacts | None, architecture: str) -> AttentionFacts | None:
    """Sizes of the sliding layers' attention, where the config gives them their own."""
    if attention is None:
        return None
    other = text.part("attention_other_setting") or Fields({}, text.where)
    own_head = text.whole("head_dim") if architecture.startswith("Gemma4") else text.whole("swa_head_dim")
    own_kv = text.whole("num_key_value_heads") if architecture.startswith("Gemma4") else None
    head = own_head or other.whole("head_dim") or attention.head_dim
    return AttentionFacts(
        heads=text.whole("swa_num_attention_heads") or other.whole("num_attention_heads") or attention.heads,
        kv_heads=own_kv
        or text.whole("swa_num_key_value_heads")
        or other.whole("num_attention_groups")
        or attention.kv_heads,
        head_dim=head,
        v_head_dim=text.whole("swa_v_head_dim") or (head if own_head else attention.v_head_dim),
        window=text.whole("sliding_window", "attention_chunk_size"),
        bias=attention.bias,
        output_bias=attention.output_bias,
        qk_norm=attention.qk_norm,
        rotary_dim=head,
    )


def _latent(text: Fields) -> LatentAttentionFacts | None:
    rank = text.whole("kv_lora_rank")
    if not rank:
        return None
    return LatentAttentionFacts(
        heads=text.need("num_attention_heads"),
        kv_lora_rank=rank,
        qk_rope_head_dim=text.need("qk_rope_head_dim"),
        qk_nope_head_dim=text.whole("qk_nope_head_dim") or 128,
        v_head_dim=text.whole("v_head_dim") or 128,
        q_lora_rank=text.whole("q_lora_rank"),
        index_head_dim=text.whole("index_head_dim") if text.has("index_topk") else None,
        positions=not text.flag("mla_use_nope"),
    )


def _recurrent(text: Fields, layers: tuple[LayerKind, ...], hidden: int) -> RecurrentFacts | None:
    dtype = text.word("mamba_ssm_dtype")
    if LayerKind.GATED_DELTA_NET in layers:
        return RecurrentFacts(
            key_heads=text.need("linear_num_key_heads"),
            value_heads=text.need("linear_num_value_heads"),
            key_head_dim=text.need("linear_key_head_dim"),
            value_head_dim=text.need("linear_value_head_dim"),
            conv_kernel=text.need("linear_conv_kernel_dim"),
            state_dtype=dtype,
        )
    if LayerKind.MAMBA2 in layers:
        return RecurrentFacts(
            key_heads=text.need("n_groups", "mamba_n_groups"),
            value_heads=text.need("mamba_num_heads", "mamba_n_heads"),
            key_head_dim=text.need("ssm_state_size", "mamba_d_state", "state_size"),
            value_head_dim=text.need("mamba_head_dim", "mamba_d_head"),
            conv_kernel=text.need("conv_kernel", "mamba_d_conv"),
            state_dtype=dtype,
        )
    if LayerKind.KIMI_DELTA in layers:
        linear = text.part("linear_attn_config")
        assert linear is not None  # the layers were told by it
        heads, head = linear.need("num_heads"), linear.need("head_dim")
        return RecurrentFacts(heads, heads, head, head, linear.need("short_conv_kernel_size"), dtype)
    if LayerKind.LIGHTNING in layers:
        heads = text.whole("num_linear_key_value_heads") or text.need("num_attention_heads")
        head = text.whole("head_dim") or hidden // text.need("num_attention_heads")
        return RecurrentFacts(heads, heads, head, head, 1, dtype)
    if LayerKind.SHORT_CONVOLUTION in layers:
        return RecurrentFacts(0, 1, 0, text.whole("conv_dim") or hidden, text.need("conv_L_cache"), dtype)
    return None


def _experts(text: Fields, follows: tuple[FeedForwardKind, ...]) -> ExpertFacts | None:
    count = text.whole("num_experts", "n_routed_experts", "num_local_experts")
    if not count or FeedForwardKind.EXPERTS not in follows:
        return None
    size = text.need("moe_intermediate_size", "expert_ffn_hidden_size", "intermediate_size")
    shared = text.whole("shared_expert_intermediate_size", "moe_shared_expert_intermediate_size")
    if shared is None:
        shared = (text.whole("n_shared_experts", "num_shared_experts") or 0) * size
    return ExpertFacts(
        experts=count,
        experts_per_token=text.whole(
            "num_experts_per_tok", "num_experts_per_token", "moe_topk", "experts_per_token", "top_k_experts"
        )
        or 1,
        intermediate_size=size,
        shared_intermediate_size=shared,
        layers=sum(kind is FeedForwardKind.EXPERTS for kind in follows),
        shared_gate=text.has("shared_expert_intermediate_size"),
        router_bias=text.has("n_group") and not (text.word("topk_method") or "noaux_tc").startswith("g"),
        bias=(text.word("model_type") or "") == "gpt_oss",
        latent_size=text.whole("moe_latent_size"),
        parallel_dense=text.flag("enable_moe_block"),
    )


def _vision(whole: Fields) -> VisionFacts | None:
    part = whole.part("vision_config")
    if part is None:
        thinker = whole.part("thinker_config")
        part = thinker.part("vision_config") if thinker else None
    if part is None:
        return None
    patch = part.whole("patch_size")
    frames = part.whole("temporal_patch_size") or 1
    channels = part.whole("in_channels", "num_channels", "in_chans") or 3
    return VisionFacts(
        hidden_size=part.whole("hidden_size"),
        num_hidden_layers=part.whole("num_hidden_layers"),
        depth=part.whole("depth"),
        intermediate_size=part.whole("intermediate_size"),
        out_hidden_size=part.whole("out_hidden_size"),
        heads=part.whole("num_heads", "num_attention_heads"),
        patch_elements=channels * frames * patch * patch if patch else None,
        positions=part.whole("num_position_embeddings"),
        merge=part.whole("spatial_merge_size"),
        gated=(part.word("hidden_act") or "") == "silu",
        deepstack=len(part.wholes("deepstack_visual_indexes")),
    )


def _notes(text: Fields, architecture: str) -> tuple[str, ...]:
    notes = []
    if architecture.startswith("FalconH1"):
        notes.append("every layer mixes with attention and with a state at once: its memory is not planned yet")
    if text.part("block_configs") is not None or isinstance(text.values.get("block_configs"), list):
        notes.append("its layers differ in size (`block_configs`): weights are planned from tensors only")
    return tuple(notes)
