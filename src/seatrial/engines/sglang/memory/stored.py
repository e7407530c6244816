"""How many bytes a module's tensors take once the engine has loaded (and repacked) them, by quantization method."""

from __future__ import annotations

from dataclasses import dataclass

from seatrial.engines.sglang.memory.exclusion import is_left_out
from seatrial.engines.sglang.memory.modules import Kind, Module
from seatrial.facts.model import QuantizationFacts

ELEMENT_BYTES = {
    "float32": 4, "float": 4, "bfloat16": 2, "float16": 2, "half": 2, "auto": 2,
    "fp8_e4m3": 1, "fp8_e5m2": 1, "bf16": 2, "mxfp8": 1,
}  # fmt: skip
"""Bytes of an element by the name that a flag or a config gives its dtype."""
PACKED = frozenset({"awq", "awq_marlin", "gptq", "gptq_marlin", "auto-round", "moe_wna16", "compressed-tensors"})
"""Methods with integer weights packed into 32-bit words and 16-bit scales."""
EIGHT_BIT = frozenset({"fp8", "modelopt_fp8", "w8a8_fp8", "w8a8_int8", "fbgemm_fp8", "blockwise_int8", "quark"})
FOUR_BIT = frozenset({"modelopt_fp4", "mxfp4", "modelopt_mixed", "w4afp8", "petit_nvfp4"})
KNOWN = PACKED | EIGHT_BIT | FOUR_BIT
"""Methods whose tensors are counted here; any other leaves the weights unknown."""


@dataclass(frozen=True, slots=True)
class Stored:
    """The tensors of one module, in bytes, in the order in which they are made."""

    module: Module
    tensors: tuple[int, ...]
    quantized: bool

    @property
    def bytes(self) -> int:
        """All of them together."""
        return sum(self.tensors)


def stored(module: Module, quantization: QuantizationFacts | None, dtype_bytes: int) -> Stored:
    """Say which tensors a module becomes.

    Args:
        module: what one GPU holds of it.
        quantization: the checkpoint's; None for plain weights.
        dtype_bytes: of one weight that is not quantized.
    """
    element = module.bytes_per_element or dtype_bytes
    bias = (module.bias * element,) if module.bias else ()
    plain = Stored(module, (module.elements * element, *bias), quantized=False)
    if quantization is None or module.kind is Kind.PLAIN or is_left_out(module.name, quantization):
        return plain
    return Stored(module, (*_quantized(module, quantization, dtype_bytes), *bias), quantized=True)


def _quantized(module: Module, quantization: QuantizationFacts, dtype_bytes: int) -> tuple[int, ...]:
    method, bits = quantization.method, quantization.bits or 4
    layout = (quantization.format or "").lower()
    if method in FOUR_BIT or "fp4" in layout or "nvfp4" in layout:
        return _four_bit(module, method)
    if method in EIGHT_BIT or "float-quantized" in layout or "int-quantized" in layout or "naive" in layout:
        return _eight_bit(module, quantization)
    group = quantization.group_size if quantization.group_size and quantization.group_size > 0 else module.columns
    groups = -(-module.columns // group) * module.rows * module.count
    weights = module.elements * bits // 8
    # Marlin drops the zero points of a symmetric checkpoint; an asymmetric one keeps one packed zero a scale.
    keeps_zeros = quantization.symmetric is False and not (
        method == "compressed-tensors" and module.kind is Kind.EXPERTS
    )
    zeros = (groups * bits // 8,) if keeps_zeros else ()
    return (weights, groups * dtype_bytes, *zeros)


def _eight_bit(module: Module, quantization: QuantizationFacts) -> tuple[int, ...]:
    block = quantization.weight_block_size
    if block is None:
        return (module.elements, module.rows * module.count * 4)
    blocks = -(-module.rows // block[0]) * -(-module.columns // block[1]) * module.count
    return (module.elements, blocks * 4)


def _four_bit(module: Module, method: str) -> tuple[int, ...]:
    """Count 4-bit floats: one 8-bit scale for 16 weights (NVFP4) or 32 (MXFP4).

    The MXFP4 path of gpt-oss keeps its scales twice, once swizzled (seen in a boot on an H200).
    """
    weights = module.elements // 2
    if method == "mxfp4":
        return (weights, module.elements // 32, module.elements // 32)
    return (weights, module.elements // 16)
