"""Models that are known offline: complete, each with its source, and as large as their makers say."""

from __future__ import annotations

import pytest

from seatrial.engines.sglang.memory.modules import modules
from seatrial.engines.sglang.memory.parallel import Parallel
from seatrial.facts.known_models import known_model, known_repos

BILLIONS = {
    "Qwen/Qwen3-0.6B": 0.596,
    "Qwen/Qwen3-8B": 8.19,
    "Qwen/Qwen2.5-7B-Instruct": 7.62,
    "Qwen/Qwen3-30B-A3B": 30.53,
    "Qwen/Qwen3-Coder-Next": 79.67,
    "meta-llama/Llama-3.1-8B-Instruct": 8.03,
    "meta-llama/Llama-3.1-70B-Instruct": 70.55,
    "deepseek-ai/DeepSeek-V2-Lite": 15.7,
    "openai/gpt-oss-20b": 20.9,
    "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": 31.58,
    "google/gemma-3-1b-it": 1.0,
}
"""Parameters in thousands of millions, as the models' cards or their checkpoints say."""


@pytest.mark.parametrize("repo", known_repos())
def test_every_known_model_is_read_and_says_where_it_is_known_from(repo: str) -> None:
    model = known_model(repo)
    assert model is not None
    assert model.repo == repo
    assert model.sources
    assert model.layers
    assert model.attention or model.latent_attention or model.recurrent


@pytest.mark.parametrize("repo", BILLIONS)
def test_parameters_add_up_to_what_the_makers_say(repo: str) -> None:
    model = known_model(repo)
    assert model is not None
    copies = (".w_kc", ".w_vc")  # the engine's own
    held = [module for module in modules(model, Parallel()) if not module.name.endswith(copies)]
    assert sum(module.elements + module.bias for module in held) / 1e9 == pytest.approx(BILLIONS[repo], rel=0.015)


def test_capitals_do_not_matter_and_unknown_models_are_none() -> None:
    assert known_model(" qwen/QWEN3-8b ") == known_model("Qwen/Qwen3-8B")
    assert known_model("nobody/nothing") is None
    assert known_model("") is None


@pytest.mark.parametrize(
    ("repo", "method"),
    [("QuantTrio/Qwen3.6-35B-A3B-AWQ", "awq"), ("cyankiwi/Qwen3.6-27B-AWQ-INT4", "compressed-tensors")],
)
def test_quantized_models_say_what_was_inferred(repo: str, method: str) -> None:
    model = known_model(repo)
    assert model is not None
    assert model.quantization is not None
    assert model.quantization.method == method
    assert model.hybrid
