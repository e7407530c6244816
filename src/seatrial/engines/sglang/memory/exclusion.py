"""Which modules a quantization config leaves out, matched as SGLang's quantization methods match its fused names.

Rules from SGLang 0.5.16, srt/layers/quantization/: awq/awq.py, utils.py, fp8.py, gptq/gptq.py,
compressed_tensors/utils.py, modelopt_quant.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from seatrial.facts.model import QuantizationFacts

SHARDS = {
    "qkv_proj": ("q_proj", "k_proj", "v_proj"),
    "gate_up_proj": ("gate_proj", "up_proj"),
    "in_proj_qkvz": ("in_proj_qkv", "in_proj_z"),
    "in_proj_ba": ("in_proj_b", "in_proj_a"),
    "fused_qkv_a_proj_with_mqa": ("q_a_proj", "kv_a_proj_with_mqa"),
}
"""A fused projection -> the projections that checkpoints hold instead of it."""
SUBSTRING_METHODS = frozenset({"awq", "awq_marlin", "moe_wna16"})


def is_left_out(name: str, quantization: QuantizationFacts) -> bool:
    """Whether a linear module or a layer's experts stay as they were.

    Args:
        name: SGLang's (fused) name, e.g. `model.language_model.layers.3.self_attn.qkv_proj`.
        quantization: the checkpoint's config.

    Returns:
        True where it is left out. Where the shards of a fused projection disagree, the engine refuses to start; here
        the first shard decides.
    """
    method = quantization.method
    if name == "lm_head" and not method.startswith("modelopt"):
        return not quantization.lm_head
    if method in SUBSTRING_METHODS:
        return any(pattern in name for pattern in quantization.excluded)
    if method in ("gptq", "gptq_marlin"):
        return _gptq_skips(name, quantization)
    if method == "auto-round":
        return _auto_round_skips(name, quantization)
    if method == "modelopt_mixed":
        return not _listed(name, quantization)
    if method == "mxfp4":
        return ".experts" not in name
    return any(_matches(shard, quantization.excluded, method) for shard in shards(name)[:1])


def shards(name: str) -> tuple[str, ...]:
    """Name the checkpoint's projections behind a fused one; the name itself for any other."""
    head, _, tail = name.rpartition(".")
    return tuple(f"{head}.{shard}" for shard in SHARDS.get(tail, (tail,)))


def _matches(name: str, patterns: Iterable[str], method: str) -> bool:
    for pattern in patterns:
        if pattern.startswith("re:"):
            if re.match(pattern[3:], name):
                return True
        elif method == "compressed-tensors":
            if pattern == name or pattern.lower() in name.lower():
                return True
        elif "*" in pattern:
            expression = re.escape(pattern).replace(r"\*", ".*")
            if re.fullmatch(expression, name) or any(re.fullmatch(expression, part) for part in name.split(".")):
                return True
        elif f".{pattern.strip('.')}." in f".{name}.":
            return True
    return False


def _gptq_skips(name: str, quantization: QuantizationFacts) -> bool:
    """GPTQ knows rules: `-:expression` leaves a module out; a list of modules is not looked at."""
    rules = quantization.raw.get("dynamic")
    if not isinstance(rules, dict) or ".experts" in name:
        return False
    return any(rule.startswith("-:") and any(re.match(rule[2:], shard) for shard in shards(name)) for rule in rules)


def _auto_round_skips(name: str, quantization: QuantizationFacts) -> bool:
    rules = quantization.raw.get("extra_config")
    if not isinstance(rules, dict):
        return False
    for shard in (name, *shards(name)):
        for pattern, setting in rules.items():
            if (pattern == shard or _expression_matches(pattern, shard)) and isinstance(setting, dict):
                bits = setting.get("bits", 16)
                return isinstance(bits, int) and bits >= 16
    return False


def _expression_matches(pattern: str, name: str) -> bool:
    try:
        return re.search(pattern, name) is not None
    except re.error:
        return pattern in name


def _listed(name: str, quantization: QuantizationFacts) -> bool:
    listed = quantization.raw.get("quantized_layers")
    if not isinstance(listed, dict):
        return True
    return any(shard in listed or any(key.startswith(f"{shard}.") for key in listed) for shard in (name, *shards(name)))
