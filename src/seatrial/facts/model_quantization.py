"""How a checkpoint's weights were quantized, read from its config."""

from __future__ import annotations

from collections.abc import Mapping

from seatrial.facts.config_fields import Fields
from seatrial.facts.model import QuantizationFacts

MODELOPT = {
    "FP8": ("modelopt_fp8", 8),
    "FP8_PER_CHANNEL_PER_TOKEN": ("modelopt_fp8", 8),
    "FP8_PB_WO": ("modelopt_fp8", 8),
    "NVFP4": ("modelopt_fp4", 4),
    "NVFP4_AWQ": ("modelopt_fp4", 4),
    "W4A16_AWQ": ("modelopt_fp4", 4),
    "MIXED_PRECISION": ("modelopt_mixed", None),
    "W4A8_AWQ": ("w4afp8", 4),
}
"""ModelOpt's name of an algorithm -> the engine's name of the method, and bits of a weight."""


EXCLUSION_KEYS = ("modules_to_not_convert", "ignored_layers", "ignore", "exclude_modules")


def read_quantization(config: Fields, modelopt: Mapping[str, object] | None = None) -> QuantizationFacts | None:
    """Read how the weights were quantized.

    Args:
        config: the whole `config.json`.
        modelopt: the content of `hf_quant_config.json`, where ModelOpt writes it.

    Returns:
        None where nothing is quantized.
    """
    own_file = False
    part = config.part("quantization_config", "compression_config")
    text = config.part("text_config")
    if part is None and text is not None:
        part = text.part("quantization_config")
    if part is None and modelopt is not None:
        inner = modelopt.get("quantization")
        own_file = True
        part = Fields(inner if isinstance(inner, Mapping) else modelopt, f"{config.where}: hf_quant_config.json")
    if part is None or not part.values:
        return None
    algorithm = part.word("quant_algo")
    if algorithm and part.word("quant_method") in (None, "modelopt"):
        return _modelopt(part, algorithm, own_file=own_file)
    method = part.word("quant_method") or "unknown"
    if method == "compressed-tensors" or part.part("config_groups") is not None:
        return _compressed_tensors(part)
    blocks = part.wholes("weight_block_size")
    bits = part.whole("bits", "w_bit", "weight_bits", "num_bits")
    zero_point = part.values.get("zero_point")
    symmetric = part.flag("sym") if part.has("sym") else None if zero_point is None else not zero_point
    return QuantizationFacts(
        method=method,
        bits=bits if bits is not None else {"fp8": 8, "mxfp4": 4, "mxfp8": 8}.get(method),
        group_size=_group(part.values.get("group_size", part.values.get("q_group_size"))),
        symmetric=symmetric,
        format=part.word("format", "packing_format", "fmt", "checkpoint_format"),
        weight_block_size=(blocks[0], blocks[1]) if len(blocks) == 2 else None,
        excluded=_excluded(part),
        lm_head=part.flag("lm_head"),
        kv_cache_dtype=_kv_dtype(part),
        raw=part.values,
    )


def _modelopt(part: Fields, algorithm: str, *, own_file: bool) -> QuantizationFacts:
    """Read ModelOpt's config: what was left out is `ignore` in `config.json`, `exclude_modules` in its own file."""
    method, bits = MODELOPT.get(algorithm.upper(), ("modelopt", None))
    return QuantizationFacts(
        method=method,
        bits=bits,
        group_size=_group(part.values.get("group_size")) or (16 if method == "modelopt_fp4" else None),
        symmetric=True,
        format=algorithm,
        excluded=_excluded(part, ("exclude_modules",) if own_file else ("ignore",)),
        kv_cache_dtype=_kv_dtype(part),
        raw=part.values,
    )


def _compressed_tensors(part: Fields) -> QuantizationFacts:
    groups = part.part("config_groups")
    first = next((value for value in (groups.values.values() if groups else ()) if isinstance(value, Mapping)), {})
    weights = Fields(value if isinstance(value := first.get("weights"), Mapping) else {}, part.where)
    block = weights.wholes("block_structure") if isinstance(weights.values.get("block_structure"), list) else ()
    return QuantizationFacts(
        method="compressed-tensors",
        bits=weights.whole("num_bits"),
        group_size=_group(weights.values.get("group_size")),
        symmetric=weights.flag("symmetric") if weights.has("symmetric") else None,
        format=part.word("format") or _inner_format(first),
        weight_block_size=(block[0], block[1]) if len(block) == 2 else None,
        excluded=_excluded(part),
        kv_cache_dtype=_kv_dtype(part),
        raw=part.values,
    )


def _inner_format(group: Mapping[str, object]) -> str | None:
    value = group.get("format")
    return value if isinstance(value, str) else None


def _excluded(part: Fields, keys: tuple[str, ...] = EXCLUSION_KEYS) -> tuple[str, ...]:
    for key in keys:
        value = part.values.get(key)
        if isinstance(value, list):
            return tuple(str(item) for item in value)
    return ()


def _kv_dtype(part: Fields) -> str | None:
    """Say what the checkpoint asks for; the engine follows it only for some methods."""
    scheme = part.part("kv_cache_scheme")
    if scheme is not None and scheme.whole("num_bits") == 8 and scheme.word("type") == "float":
        return "fp8_e4m3"
    algorithm = part.word("kv_cache_quant_algo", "kv_cache_dtype")
    return "fp8_e4m3" if algorithm and algorithm.upper().startswith("FP8") else None


def _group(value: object) -> int | None:
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else None
