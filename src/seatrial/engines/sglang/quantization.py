"""Which kernel SGLang runs for a quantized checkpoint, what it computes in, and on which GPUs. Pure.

Read in SGLang 0.5.16: `layers/quantization/` (`awq/`, `gptq.py`, `compressed_tensors/`, `fp8.py`, `auto_round.py`) and
the checks in `model_loader/loader.py:279-286`.
"""

from __future__ import annotations

from dataclasses import dataclass

from seatrial.facts.model import ModelFacts, QuantizationFacts

BOTH = ("float16", "bfloat16")
HALF = ("float16",)
Capability = tuple[int, int]

AMPERE: Capability = (8, 0)
ADA: Capability = (8, 9)
TURING: Capability = (7, 5)
VOLTA: Capability = (7, 0)
PASCAL: Capability = (6, 0)


@dataclass(frozen=True, slots=True)
class Kernel:
    """What computes the quantized layers.

    Attributes:
        method: SGLang's name of the method, as its log says it.
        kernel: `marlin` (4 or 8 bit weights, 16-bit arithmetic), `fp8`, `plain`, or `none` for an unquantized model.
        dtypes: what it can compute in.
        oldest: the oldest compute capability that it runs on.
        experts: whether it can run a mixture of experts.
    """

    method: str
    kernel: str
    dtypes: tuple[str, ...]
    oldest: Capability
    experts: bool = True


UNQUANTIZED = Kernel("none", "none", ("float16", "bfloat16", "float32"), PASCAL)


def kernel_for(model: ModelFacts, *, requested: str | None, capability: Capability | None) -> Kernel | None:
    """Choose as SGLang 0.5.16 does.

    Args:
        model: the checkpoint.
        requested: `--quantization`, if it is given.
        capability: the oldest GPU's; None where it is unknown.

    Returns:
        None for a method that is not known here, and where the GPU would decide and is unknown.
    """
    quantization = model.quantization
    if quantization is None:
        return UNQUANTIZED if requested in (None, "unquant") else _online(requested, capability)
    method = quantization.method
    if method == "auto-round":
        packing = str(quantization.raw.get("packing_format", ""))
        method = "awq" if "awq" in packing else "gptq"
    if method == "awq":
        return _awq(quantization, requested)
    if method == "gptq":
        return _gptq(quantization, requested)
    if method == "compressed-tensors":
        return _compressed(quantization, capability)
    if method == "fp8":
        return _fp8("fp8", capability)
    if method == "moe_wna16":
        return Kernel("moe_wna16", "plain", BOTH, VOLTA)
    return None


def _awq(quantization: QuantizationFacts, requested: str | None) -> Kernel:
    if requested == "moe_wna16":
        return Kernel("moe_wna16", "plain", BOTH, TURING)
    convertible = quantization.bits in (4, 8) and quantization.group_size in (-1, 32, 64, 128)
    if requested == "awq" or not convertible:
        return Kernel("awq", "plain", HALF, TURING)
    return Kernel("awq_marlin", "marlin", BOTH, AMPERE)


def _gptq(quantization: QuantizationFacts, requested: str | None) -> Kernel:
    if requested == "moe_wna16":
        return Kernel("moe_wna16", "plain", BOTH, VOLTA)
    if requested == "gptq" or quantization.symmetric is False or quantization.bits not in (4, 8):
        return Kernel("gptq", "plain", HALF, PASCAL, experts=False)
    return Kernel("gptq_marlin", "marlin", BOTH, AMPERE)


def _compressed(quantization: QuantizationFacts, capability: Capability | None) -> Kernel | None:
    if quantization.format == "pack-quantized":
        return Kernel("compressed-tensors", "marlin", BOTH, AMPERE)
    if quantization.format in ("float-quantized", "naive-quantized") and quantization.bits in (8, None):
        return _fp8("compressed-tensors", capability)
    return None


def _fp8(method: str, capability: Capability | None) -> Kernel | None:
    if capability is None:
        return None
    return Kernel(method, "fp8" if capability >= ADA else "marlin", BOTH, AMPERE)


def _online(requested: str | None, capability: Capability | None) -> Kernel | None:
    """Unquantized weights that are quantized while they load."""
    return _fp8("fp8", capability) if requested == "fp8" else None
