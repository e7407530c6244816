"""Reading a `config.json`: layers, attention, states, experts, towers, quantization; one line for what is wrong."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.errors import InputError
from seatrial.facts.model import FeedForwardKind, LayerKind, ModelFacts
from seatrial.facts.model_config import read_model

DENSE: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 4,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
    "torch_dtype": "bfloat16",
}
HYBRID: dict[str, Any] = {
    "architectures": ["Qwen3_5MoeForConditionalGeneration"],
    "model_type": "qwen3_5_moe",
    "text_config": {
        **{key: value for key, value in DENSE.items() if key != "architectures"},
        "model_type": "qwen3_5_moe_text",
        "head_dim": 256,
        "full_attention_interval": 4,
        "attn_output_gate": True,
        "linear_num_key_heads": 16,
        "linear_num_value_heads": 32,
        "linear_key_head_dim": 128,
        "linear_value_head_dim": 128,
        "linear_conv_kernel_dim": 4,
        "mamba_ssm_dtype": "float32",
        "num_experts": 256,
        "num_experts_per_tok": 8,
        "moe_intermediate_size": 512,
        "shared_expert_intermediate_size": 512,
        "mtp_num_hidden_layers": 1,
    },
    "vision_config": {"depth": 27, "hidden_size": 1152, "patch_size": 16, "num_heads": 16},
}
LATENT: dict[str, Any] = {
    **DENSE,
    "architectures": ["DeepseekV3ForCausalLM"],
    "kv_lora_rank": 512,
    "qk_rope_head_dim": 64,
    "qk_nope_head_dim": 128,
    "v_head_dim": 128,
    "q_lora_rank": 1536,
    "n_routed_experts": 64,
    "moe_intermediate_size": 2048,
    "n_shared_experts": 2,
    "first_k_dense_replace": 1,
    "num_experts_per_tok": 8,
}


def read(config: dict[str, Any], **changes: Any) -> ModelFacts:
    return read_model({**config, **changes}, source="a test")


def test_a_dense_model() -> None:
    model = read(DENSE)
    assert model.layers == (LayerKind.FULL_ATTENTION,) * 4
    assert model.attention is not None
    assert (model.attention.heads, model.attention.kv_heads, model.attention.head_dim) == (32, 8, 128)
    assert (model.dtype, model.context_length, model.tied_embeddings) == ("bfloat16", 131072, False)
    assert not model.hybrid
    assert not model.multimodal
    assert model.experts is None
    assert model.quantization is None


def test_a_head_may_be_larger_than_its_share_of_the_hidden_size() -> None:
    attention = read(DENSE, head_dim=256).attention
    assert attention is not None
    assert attention.head_dim == 256


def test_without_key_value_heads_every_query_head_has_its_own() -> None:
    attention = read({key: value for key, value in DENSE.items() if key != "num_key_value_heads"}).attention
    assert attention is not None
    assert attention.kv_heads == 32


def test_a_hybrid_mixture_of_experts_with_a_vision_tower() -> None:
    model = read(HYBRID)
    assert model.architecture == "Qwen3_5MoeForConditionalGeneration"
    assert model.layers == (LayerKind.GATED_DELTA_NET,) * 3 + (LayerKind.FULL_ATTENTION,)
    assert model.attention is not None
    assert model.attention.output_gate
    assert model.recurrent is not None
    assert (model.recurrent.key_heads, model.recurrent.value_heads, model.recurrent.conv_kernel) == (16, 32, 4)
    assert model.recurrent.state_dtype == "float32"
    assert model.experts is not None
    assert (model.experts.experts, model.experts.layers, model.experts.shared_gate) == (256, 4, True)
    assert model.vision is not None
    assert (model.vision.depth, model.vision.num_hidden_layers, model.vision.blocks) == (27, None, 27)
    assert model.draft_layers == 1


def test_listed_layer_types_go_before_an_interval() -> None:
    text = {**HYBRID["text_config"], "layer_types": ["full_attention"] * 2 + ["linear_attention"] * 2}
    assert read({**HYBRID, "text_config": text}).layers[0] is LayerKind.FULL_ATTENTION


def test_latent_attention_with_dense_first_layers() -> None:
    model = read(LATENT)
    assert model.layers == (LayerKind.LATENT_ATTENTION,) * 4
    assert model.latent_attention is not None
    assert (model.latent_attention.kv_lora_rank, model.latent_attention.qk_rope_head_dim) == (512, 64)
    assert model.feed_forward == (FeedForwardKind.DENSE,) + (FeedForwardKind.EXPERTS,) * 3
    assert model.experts is not None
    assert model.experts.shared_intermediate_size == 4096


@pytest.mark.parametrize("letters", ["M*ME-M", "MMMM*E"])
def test_one_letter_a_layer(letters: str) -> None:
    model = read(
        DENSE,
        hybrid_override_pattern=letters,
        n_groups=8,
        mamba_num_heads=64,
        ssm_state_size=128,
        mamba_head_dim=64,
        conv_kernel=4,
        n_routed_experts=16,
        moe_intermediate_size=1024,
    )
    kinds = {"M": LayerKind.MAMBA2, "*": LayerKind.FULL_ATTENTION}
    assert model.layers == tuple(kinds.get(letter, LayerKind.FEED_FORWARD) for letter in letters)
    assert model.recurrent is not None
    assert model.recurrent.key_head_dim == 128


def test_sliding_layers_by_their_pattern() -> None:
    model = read(DENSE, sliding_window_pattern=2, sliding_window=512)
    assert model.layers[:2] == (LayerKind.SLIDING_ATTENTION, LayerKind.FULL_ATTENTION)


@pytest.mark.parametrize(
    ("quantization", "method", "bits", "group", "symmetric"),
    [
        ({"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True}, "awq", 4, 128, False),
        ({"quant_method": "gptq", "bits": 8, "group_size": -1, "sym": True}, "gptq", 8, -1, True),
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, "fp8", 8, None, None),
        ({"quant_method": "mxfp4"}, "mxfp4", 4, None, None),
        (
            {
                "quant_method": "compressed-tensors",
                "format": "pack-quantized",
                "config_groups": {"group_0": {"weights": {"num_bits": 4, "group_size": 32, "symmetric": True}}},
            },
            "compressed-tensors",
            4,
            32,
            True,
        ),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, "modelopt_fp4", 4, 16, True),
        ({"quant_algo": "FP8"}, "modelopt_fp8", 8, None, True),
    ],
)
def test_quantization_of_every_kind(
    quantization: dict[str, Any], method: str, bits: int, group: int | None, symmetric: bool | None
) -> None:
    found = read(DENSE, quantization_config=quantization).quantization
    assert found is not None
    assert (found.method, found.bits, found.group_size, found.symmetric) == (method, bits, group, symmetric)


@pytest.mark.parametrize("key", ["modules_to_not_convert", "ignored_layers", "ignore"])
def test_modules_that_were_left_out(key: str) -> None:
    found = read(DENSE, quantization_config={"quant_method": "fp8", key: ["lm_head", "x"]}).quantization
    assert found is not None
    assert found.excluded == ("lm_head", "x")


def test_a_kv_dtype_that_the_checkpoint_asks_for() -> None:
    scheme = {"quant_method": "compressed-tensors", "kv_cache_scheme": {"num_bits": 8, "type": "float"}}
    found = read(DENSE, quantization_config=scheme).quantization
    assert found is not None
    assert found.kv_cache_dtype == "fp8_e4m3"


def test_modelopts_own_file_is_read_too() -> None:
    modelopt = {"quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8", "exclude_modules": ["lm_head"]}}
    found = read_model(DENSE, source="a test", modelopt_config=modelopt).quantization
    assert found is not None
    assert (found.method, found.kv_cache_dtype, found.excluded) == ("modelopt_fp8", "fp8_e4m3", ("lm_head",))


@pytest.mark.parametrize(
    "changes",
    [
        {"num_hidden_layers": "four"},
        {"num_hidden_layers": None},
        {"num_hidden_layers": 2.5},
        {"num_hidden_layers": -1},
        {"hidden_size": 0},
        {"num_attention_heads": True},
        {"layer_types": ["something_new"] * 4},
        {"hybrid_override_pattern": "MX"},
    ],
)
def test_what_is_wrong_is_said_in_one_line_with_its_place(changes: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        read(DENSE, **changes)
    assert "a test" in str(caught.value)


@pytest.mark.parametrize("config", [{}, {"a": 1}, {"architectures": []}, {"architectures": "x", "text_config": 3}])
def test_what_is_no_config_is_refused(config: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        read(config)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 300) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from([DENSE, LATENT]), st.data())
def test_any_value_under_any_key_is_read_or_refused_but_breaks_nothing(config: dict[str, Any], data: Any) -> None:
    keys = [*config, "quantization_config", "layer_types", "vision_config", "generation_config", "rope_scaling"]
    key = data.draw(st.sampled_from(keys))
    try:
        read(config, **{key: data.draw(json_values)})
    except InputError:
        return
