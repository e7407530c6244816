"""What of a launch decides memory: the flags and variables, by name and type. None means that the engine chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType

from seatrial.errors import InputError


@dataclass(frozen=True, slots=True)
class MemoryOptions:
    """The settings that memory depends on; each is named after its flag. None means that the engine chooses."""

    tensor_parallel: int = 1
    data_parallel: int = 1
    pipeline_parallel: int = 1
    expert_parallel: int = 1
    dp_attention: bool = False
    dtype: str = "auto"
    quantization: str | None = None
    kv_cache_dtype: str = "auto"
    mamba_ssm_dtype: str | None = None
    mamba_conv_dtype: str | None = None
    mem_fraction_static: float | None = None
    mamba_full_memory_ratio: float | None = None
    max_mamba_cache_size: int | None = None
    mamba_radix_cache_strategy: str | None = None
    max_running_requests: int | None = None
    max_total_tokens: int | None = None
    page_size: int | None = None
    context_length: int | None = None
    chunked_prefill_size: int | None = None
    max_prefill_tokens: int | None = None
    swa_full_tokens_ratio: float | None = None
    disable_hybrid_swa_memory: bool = False
    disable_radix_cache: bool = False
    disable_overlap_schedule: bool = False
    attention_backend: str | None = None
    linear_attn_backend: str | None = None
    disable_cuda_graph: bool = False
    disable_decode_cuda_graph: bool = False
    disable_prefill_cuda_graph: bool = False
    disable_cuda_graph_padding: bool = False
    cuda_graph_max_bs_decode: int | None = None
    cuda_graph_bs_decode: tuple[int, ...] | None = None
    cuda_graph_max_bs_prefill: int | None = None
    cuda_graph_bs_prefill: tuple[int, ...] | None = None
    cuda_graph_backend_decode: str | None = None
    cuda_graph_backend_prefill: str | None = None
    speculative_algorithm: str | None = None
    speculative_num_draft_tokens: int | None = None
    speculative_num_steps: int | None = None
    speculative_eagle_topk: int | None = None
    speculative_draft_model_path: str | None = None
    language_only: bool = False
    language_model_only: bool = False
    mm_enable_dp_encoder: bool = False
    enable_lora: bool = False
    enable_dp_lm_head: bool = False
    moe_a2a_backend: str | None = None
    enable_memory_saver: bool = False
    model_path: str | None = None

    @staticmethod
    def from_settings(values: Mapping[str, object]) -> MemoryOptions:
        """Take from a launch's settings what memory depends on.

        Args:
            values: canonical flag or variable -> typed value (`"--tp-size": 2`,
                `"SGLANG_MAMBA_CONV_DTYPE": "float16"`); names that memory doesn't depend on are passed over.

        Raises:
            InputError: a value is of another type than its flag.
        """
        found: dict[str, object] = {}
        for name, value in values.items():
            field = FLAGS.get(name)
            if field is not None and value is not None:
                found[field] = _typed(name, field, value)
        return MemoryOptions(**found)  # type: ignore[arg-type]


FLAGS: Mapping[str, str] = MappingProxyType(
    {
        "--tp-size": "tensor_parallel",
        "--dp-size": "data_parallel",
        "--pp-size": "pipeline_parallel",
        "--ep-size": "expert_parallel",
        "--enable-dp-attention": "dp_attention",
        "SGLANG_MAMBA_CONV_DTYPE": "mamba_conv_dtype",
    }
    | {
        "--" + field.name.replace("_", "-"): field.name
        for field in fields(MemoryOptions)
        if field.name
        not in (
            "tensor_parallel",
            "data_parallel",
            "pipeline_parallel",
            "expert_parallel",
            "dp_attention",
            "mamba_conv_dtype",
        )
    }
)
"""Canonical flag or variable -> the option's field."""

_TYPES = {field.name: str(field.type) for field in fields(MemoryOptions)}


def _typed(name: str, field: str, value: object) -> object:
    kind = _TYPES[field]
    wrong = InputError(f"{value!r} is not what {name} takes", where=name)
    if kind == "bool":
        if isinstance(value, bool):
            return value
        raise wrong
    if kind.startswith("tuple"):
        if isinstance(value, Sequence) and all(isinstance(item, int) for item in value):
            return tuple(value)
        raise wrong
    try:
        if kind.startswith("int"):
            if isinstance(value, bool) or float(str(value)) != int(float(str(value))):
                raise wrong
            return int(float(str(value)))
        if kind.startswith("float"):
            return float(str(value))
    except ValueError:
        raise wrong from None
    return str(value)
