"""What can be changed so that a launch fits: every lever is tried on the plan itself, and says what it would give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from seatrial.engines.sglang.memory.options import MemoryOptions
from seatrial.engines.sglang.memory.result import MemoryPlan
from seatrial.engines.sglang.memory.versions import rules_for
from seatrial.facts.model import ModelFacts

Sized = Callable[[MemoryOptions], MemoryPlan]
HIGHEST_FRACTION = 0.95
FRACTION_STEP = 0.01


@dataclass(frozen=True, slots=True)
class Lever:
    """One change of a launch, written as its flags.

    Attributes:
        flags: as they would stand on the command line.
        options: the launch with them.
        costs: what is given up for it.
    """

    flags: str
    options: MemoryOptions
    costs: str


def every_lever(
    model: ModelFacts, options: MemoryOptions, plan: MemoryPlan, fraction_step: float = FRACTION_STEP
) -> Iterator[Lever]:
    """List the changes that move memory, for this model and launch; the fraction in steps, the least change first."""
    fraction = plan.mem_fraction_static or 0.0
    step = fraction
    while step + fraction_step <= HIGHEST_FRACTION:
        step = round(step + fraction_step, 2)
        yield Lever(
            f"--mem-fraction-static {step:g}",
            replace(options, mem_fraction_static=step),
            "less room for activations and CUDA graphs",
        )
    if plan.prefill_graph_sizes and options.mem_fraction_static is None:
        yield Lever(
            "--cuda-graph-backend-prefill disabled",
            replace(options, cuda_graph_backend_prefill="disabled"),
            "slower short prefills",
        )
    if model.hybrid:
        yield from _hybrid(options, plan)
    if options.kv_cache_dtype == "auto" and plan.kv_bytes_per_token:
        yield Lever(
            "--kv-cache-dtype fp8_e4m3",
            replace(options, kv_cache_dtype="fp8_e4m3"),
            "keys and values in 8 bits: prove it",
        )
    if model.vision is not None and not options.language_model_only and rules_for(plan.version)[0].language_model_only:
        yield Lever("--language-model-only", replace(options, language_model_only=True), "no images")
    if options.speculative_algorithm is not None:
        yield Lever(
            "without --speculative-algorithm",
            replace(options, speculative_algorithm=None, speculative_num_draft_tokens=None, speculative_num_steps=None),
            "no speculative decoding",
        )


def _hybrid(options: MemoryOptions, plan: MemoryPlan) -> Iterator[Lever]:
    per_request = plan.slots_per_request or 5
    if options.max_mamba_cache_size is None and not options.disable_radix_cache:
        for requests in (1, 2, 4, 8, 16, 32):
            slots = requests * per_request
            yield Lever(
                f"--max-mamba-cache-size {slots}",
                replace(options, max_mamba_cache_size=slots),
                "fewer state slots",
            )
    for ratio in (0.1, 0.3, 0.5, 2.0, 4.0):
        if options.max_mamba_cache_size is None and ratio != options.mamba_full_memory_ratio:
            costs = "fewer state slots" if ratio < (options.mamba_full_memory_ratio or 0.9) else "fewer KV tokens"
            yield Lever(f"--mamba-full-memory-ratio {ratio:g}", replace(options, mamba_full_memory_ratio=ratio), costs)
    if options.mamba_ssm_dtype is None:
        yield Lever(
            "--mamba-ssm-dtype bfloat16",
            replace(options, mamba_ssm_dtype="bfloat16"),
            "recurrent states in 16 bits: reported to break some checkpoints, prove it",
        )
    if not options.disable_radix_cache:
        if options.mamba_radix_cache_strategy in (None, "auto", "extra_buffer"):
            yield Lever(
                "--mamba-radix-cache-strategy extra_buffer_lazy",
                replace(options, mamba_radix_cache_strategy="extra_buffer_lazy"),
                "states for the prefix cache are made later",
            )
            yield Lever(
                "--mamba-radix-cache-strategy no_buffer --disable-overlap-schedule",
                replace(options, mamba_radix_cache_strategy="no_buffer", disable_overlap_schedule=True),
                "no overlap of scheduling and computing",
            )
        yield Lever(
            "--disable-radix-cache",
            replace(options, disable_radix_cache=True, mamba_radix_cache_strategy=None),
            "no prefix cache",
        )


def levers(size: Sized, model: ModelFacts, options: MemoryOptions, plan: MemoryPlan) -> tuple[str, ...]:
    """Say which single changes would let a launch start that otherwise fails, and what each would give.

    Args:
        size: sizes a launch with changed options.
        model: the checkpoint.
        options: the launch that fails.
        plan: its plan.
    """
    found: dict[str, str] = {}
    for lever in every_lever(model, options, plan):
        flag = lever.flags.split()[0] if lever.flags.startswith("--mem") or "ratio" in lever.flags else lever.flags
        if flag in found or (flag.startswith("--max-mamba") and any(key.startswith("--max-mamba") for key in found)):
            continue
        changed = size(lever.options)
        if changed.failure is None and changed.kv_cache_tokens:
            found[flag] = f"{lever.flags} ({_gives(changed)}; {lever.costs})"
    return (*found.values(), *_beyond(model, options))


def _gives(plan: MemoryPlan) -> str:
    slots = "" if plan.mamba_slots is None else f"{plan.mamba_slots} state slots, "
    return f"{slots}{plan.kv_cache_tokens:,} tokens, {plan.max_running_requests} running"


def _beyond(model: ModelFacts, options: MemoryOptions) -> tuple[str, ...]:
    """Name what a flag can't do."""
    found = [f"more GPUs (--tp-size {options.tensor_parallel * 2})"]
    bits = model.quantization.bits if model.quantization else 16
    if bits is None or bits > 4:
        found.append("a checkpoint with fewer bits" if bits != 16 else "a quantized checkpoint (8 or 4 bits)")
    return tuple(found)
