"""The modules that a checkpoint's tensors make up, and whether SGLang expects each plain or quantized. Pure.

Read in SGLang 0.5.16: `models/` (`quant_config=None` at routers, at the shared expert's gate, at the convolution of
the gated delta net and at Qwen3.5's vision tower) and `layers/quantization/`. A quantized tensor at a module that the
engine makes plain, or the reverse, is passed over with "Parameter … not found in params_dict": the weights stay as
they happen to be in memory, and every answer is garbage.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from seatrial.engines.sglang.memory.exclusion import SHARDS, is_left_out
from seatrial.engines.sglang.module_kinds import ModuleKind, kind_of
from seatrial.facts.model import ModelFacts, QuantizationFacts

NEVER_QUANTIZED = frozenset({ModuleKind.ROUTER, ModuleKind.SHARED_EXPERT_GATE, ModuleKind.SMALL, ModuleKind.EMBEDDINGS})
PLAIN_VISION = ("Qwen3_5", "Qwen3VL")
"""Architectures whose vision tower the engine makes plain, whatever the config says."""

PACKED_PARTS = ("qweight", "qzeros", "scales", "g_idx")
COMPRESSED_PARTS = (
    "weight_packed", "weight_scale", "weight_shape", "weight_zero_point", "weight_g_idx", "weight_global_scale",
    "input_global_scale",
)  # fmt: skip
EIGHT_BIT_PARTS = ("weight_scale_inv", "weight_scale", "weight_scale_2", "input_scale", "input_zero_point")
BLOCK_PARTS = ("blocks", "scales", "bias")
"""MXFP4 experts: `gate_up_proj_blocks`, `gate_up_proj_scales`."""
PARTS = frozenset({*PACKED_PARTS, *COMPRESSED_PARTS, *EIGHT_BIT_PARTS, "weight", "bias", "k_scale", "v_scale"})
QUANTIZED_DTYPES = frozenset({"F8_E4M3", "F8_E5M2", "F8_E4M3FNUZ", "F4", "I4", "I8", "U8"})
"""Of a `weight`: whole numbers of 32 and 64 bits are positions and the like."""

NEEDED_PARTS: Mapping[str, tuple[str, ...]] = {
    "qweight": ("scales",),
    "weight_packed": ("weight_scale",),
}
METHOD_WEIGHTS: Mapping[str, tuple[str, ...]] = {
    "awq": ("qweight",),
    "gptq": ("qweight",),
    "auto-round": ("qweight",),
    "fp8": ("weight",),
    "modelopt_fp8": ("weight",),
    "modelopt_fp4": ("weight",),
    "compressed-tensors": ("weight_packed", "weight"),
}
"""Under which name each method looks for a quantized weight."""


@dataclass(frozen=True, slots=True)
class CheckpointModule:
    """One module of a checkpoint, as its tensors show it.

    Attributes:
        name: as the checkpoint names it, without the part.
        kind: which part of the model it is.
        parts: `weight`, or `qweight`, `scales` …
        dtype: of its weight.
        quantized: whether its weight is stored quantized.
    """

    name: str
    kind: ModuleKind
    parts: frozenset[str]
    dtype: str
    quantized: bool


def checkpoint_modules(dtypes: Mapping[str, str]) -> dict[str, CheckpointModule]:
    """Group tensors into modules.

    Args:
        dtypes: safetensors' dtype of every tensor by its name.
    """
    parts: dict[str, dict[str, str]] = {}
    for tensor, dtype in dtypes.items():
        module, part = split(tensor)
        parts.setdefault(module, {})[part] = dtype
    return {name: _module(name, found) for name, found in parts.items()}


def split(tensor: str) -> tuple[str, str]:
    """Divide a tensor's name into module and part; a tensor without a known part is its own module's weight."""
    head, _, tail = tensor.rpartition(".")
    if tail in PARTS:
        return head, tail
    for part in BLOCK_PARTS:
        if tail.endswith(f"_{part}") and ".experts" in tensor:
            return f"{head}.{tail.removesuffix(f'_{part}')}", part
    return tensor, "weight"


def _module(name: str, parts: Mapping[str, str]) -> CheckpointModule:
    weight = next((part for part in ("qweight", "weight_packed", "blocks", "weight") if part in parts), "")
    dtype = parts.get(weight, "")
    quantized = weight in ("qweight", "weight_packed", "blocks") or dtype in QUANTIZED_DTYPES
    return CheckpointModule(name, kind_of(name), frozenset(parts), dtype, quantized)


def engine_name(module: str) -> str:
    """Name the engine's (fused) module that a checkpoint's module is loaded into."""
    experts = re.match(r"(.*\.experts)(?:\.|$)", module)
    if experts and ".shared_experts" not in module:
        return experts[1]
    head, _, tail = module.rpartition(".")
    return next((f"{head}.{fused}" for fused, shards in SHARDS.items() if tail in shards), module)


def expects_quantized(name: str, kind: ModuleKind, model: ModelFacts) -> bool | None:
    """Say whether the engine makes a module quantized.

    Args:
        name: the engine's (fused) name.
        kind: which part of the model it is.
        model: the checkpoint.

    Returns:
        None where it is not known, or depends on how it is started (draft layers).
    """
    quantization = model.quantization
    if quantization is None or kind in NEVER_QUANTIZED:
        return False
    if kind is ModuleKind.VISION:
        return False if model.architecture.startswith(PLAIN_VISION) else None
    if kind in (ModuleKind.DRAFT, ModuleKind.OTHER) or quantization.method not in METHOD_WEIGHTS:
        return None
    if quantization.method == "compressed-tensors" and not _targeted(name, kind, quantization):
        return False
    return not is_left_out(name, quantization)


def _targeted(name: str, kind: ModuleKind, quantization: QuantizationFacts) -> bool:
    """Whether a group of compressed-tensors is about a module: `Linear` means all, `re:…` some."""
    groups = quantization.raw.get("config_groups")
    targets: list[str] = []
    for group in groups.values() if isinstance(groups, Mapping) else ():
        named = group.get("targets") if isinstance(group, Mapping) else None
        targets += [str(target) for target in named] if isinstance(named, list) else []
    if not targets or "Linear" in targets:
        return True
    names = [name, *(f"{name.rpartition('.')[0]}.{shard}" for shard in SHARDS.get(name.rpartition(".")[2], ()))]
    if kind is ModuleKind.EXPERTS:
        names += [f"{name}.0.{projection}" for projection in ("gate_proj", "up_proj", "down_proj")]
    return any(_target_matches(target, name) for target in targets for name in names)


def _target_matches(target: str, name: str) -> bool:
    if not target.startswith("re:"):
        return target == name
    try:
        return re.match(target[3:], name) is not None
    except re.error:
        return False


def missing_parts(module: CheckpointModule) -> tuple[str, ...]:
    """List the parts that a quantized module lacks, e.g. its scales."""
    lacking = [
        need
        for part, needs in NEEDED_PARTS.items()
        if part in module.parts
        for need in needs
        if need not in module.parts
    ]
    if module.dtype.startswith("F8") and not module.parts & {"weight_scale", "weight_scale_inv"}:
        lacking.append("weight_scale")
    return tuple(lacking)


def layer_number(module: str) -> int | None:
    """Find the number of the decoder layer that a module is in."""
    found = re.search(r"\.(?:layers|h|blocks)\.(\d+)\.", module)
    return int(found[1]) if found else None


def short_names(names: Iterable[str]) -> tuple[str, ...]:
    """Write names without their layers and experts, each once: for people."""
    return tuple(dict.fromkeys(re.sub(r"\.\d+(?=\.|$)", ".N", name) for name in names))
