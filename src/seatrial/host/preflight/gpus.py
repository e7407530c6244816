"""The cards themselves: enough of them, new enough, free, well, and who holds their memory. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from seatrial.engines.sglang.quantization import kernel_for
from seatrial.facts.host import GpuFacts, GpuProcess, HostFacts
from seatrial.findings import Finding, Level
from seatrial.host.situation import Situation
from seatrial.planning.container import gpus_needed
from seatrial.planning.plan import Plan
from seatrial.planning.setting import text_of

DRIVER_MIB = 1_024
"""What a card with nobody on it has in use: the driver's own, up to some hundred MiB, and a desktop's."""
HOT_MARGIN_C = 5


def check(situation: Situation) -> Iterator[Finding]:
    """Look at each card."""
    host, plan = situation.host, situation.plan
    if host is None or not host.gpus:
        return
    if plan is not None:
        yield from _count(host, plan)
        yield from _capability(host, plan)
    for gpu in host.gpus:
        yield from _memory(gpu, plan, situation)
        yield from _health(gpu)
    yield from _persistence(host.gpus)


def _count(host: HostFacts, plan: Plan) -> Iterator[Finding]:
    needed = gpus_needed({setting.name: setting.value for setting in plan.settings})
    if host.gpu_count is not None and host.gpu_count < needed:
        yield Finding(
            Level.ERROR,
            "too-few-gpus",
            f"the plan uses {needed} GPUs, and this host has {host.gpu_count}",
            f"Set serve.tensor_parallel to {host.gpu_count}, if the weights fit then (`seatrial plan`).",
            "--tp-size",
        )


def _capability(host: HostFacts, plan: Plan) -> Iterator[Finding]:
    capability = host.compute_capability
    if capability is None or plan.model is None:
        return
    chosen = plan.setting("--quantization")
    kernel = kernel_for(plan.model, requested=text_of(chosen.value) if chosen else None, capability=capability)
    if kernel is None or capability >= kernel.oldest:
        return
    yield Finding(
        Level.ERROR,
        "gpu-too-old-for-quantization",
        f"{kernel.method} needs compute capability {_dotted(kernel.oldest)}, and the oldest GPU here has "
        f"{_dotted(capability)}",
        "Take a checkpoint in another quantization, or newer cards.",
        "--quantization",
    )


def _dotted(capability: tuple[int, int]) -> str:
    return f"{capability[0]}.{capability[1]}"


def _memory(gpu: GpuFacts, plan: Plan | None, situation: Situation) -> Iterator[Finding]:
    if gpu.free_mib is None:
        return
    held = gpu.memory_mib - gpu.free_mib
    if held <= DRIVER_MIB:
        return
    ours = {one.id for one in situation.containers or () if plan and one.stack == plan.stack.name}
    holders = [process for process in gpu.processes if process.container not in ours or process.container is None]
    if gpu.processes and not holders:
        return  # the very stack that is asked about serves now
    who = "; ".join(holder(process, situation) for process in holders) or (
        "no process of this machine's view: one in another PID namespace, or one that died without its workers"
    )
    weights = plan.memory.weights_gib if plan and plan.memory else None
    too_much = weights is not None and gpu.free_mib / 1024 < weights
    needed = f"; the weights alone take {weights:.1f} GiB of it" if too_much else ""
    yield Finding(
        Level.ERROR if too_much else Level.WARNING,
        "gpu-memory-held",
        f"{held / 1024:.1f} GiB of GPU {gpu.index} ({gpu.name}) are held{needed}: {who}",
        _advice(holders),
    )


def holder(process: GpuProcess, situation: Situation) -> str:
    """Name a process with all that is known of it: PID, program, account, container, memory."""
    parts = [f"PID {process.pid}"]
    parts += [process.name] if process.name else []
    parts += [f"of {process.user}"] if process.user else []
    if process.container:
        named = next((one.name for one in situation.containers or () if one.id == process.container), process.container)
        parts.append(f"in the container {named}")
    if process.memory_mib is not None:
        parts.append(f"{process.memory_mib / 1024:.1f} GiB")
    return " ".join(parts)


def _advice(holders: list[GpuProcess]) -> str:
    inside = [process for process in holders if process.container]
    if inside:
        return f"If it is left over: docker stop {inside[0].container}. seatrial ends nothing that it did not start."
    if holders:
        return f"If it is left over: kill {holders[0].pid}, then wait until its memory is free (nvidia-smi)."
    return "Look with `fuser -v /dev/nvidia*` as root: workers can outlive the server that started them."


def _health(gpu: GpuFacts) -> Iterator[Finding]:
    name = f"GPU {gpu.index} ({gpu.name})"
    if gpu.ecc_errors:
        yield Finding(
            Level.WARNING,
            "ecc-errors",
            f"{name} has had {gpu.ecc_errors} uncorrected memory errors since its driver was loaded: answers "
            f"may be wrong",
            "Reset the card or restart the host; if they come back, have it replaced (`nvidia-smi -q -d ECC`).",
        )
    if gpu.throttled:
        yield Finding(
            Level.WARNING, "gpu-throttled", f"{name} is {' and '.join(gpu.throttled)}", "See to its cooling and power."
        )
    elif gpu.temperature_c is not None and gpu.temperature_c >= (gpu.slowdown_c or 90) - HOT_MARGIN_C:
        yield Finding(
            Level.NOTE,
            "gpu-hot",
            f"{name} is at {gpu.temperature_c} °C, and slows down from {gpu.slowdown_c or 90} °C on",
            "See to its cooling before a benchmark is believed.",
        )
    if gpu.pcie_width and gpu.pcie_width_max and gpu.pcie_width < gpu.pcie_width_max:
        yield Finding(
            Level.NOTE,
            "narrow-pcie",
            f"{name} uses {gpu.pcie_width} of its {gpu.pcie_width_max} PCIe lanes: loading is slower, and so is every "
            "sum over several GPUs without NVLink",
            "Look at the slot and at what shares its lanes; a riser or a second card may halve them.",
        )
    if gpu.pcie_generation and gpu.pcie_generation_max and gpu.pcie_generation < gpu.pcie_generation_max:
        yield Finding(
            Level.NOTE,
            "slow-pcie",
            f"{name} runs PCIe generation {gpu.pcie_generation} of {gpu.pcie_generation_max}; an idle card "
            f"does, to save power",
            "Look again under load (`nvidia-smi -q -d PERFORMANCE`): only then does it tell.",
        )
    if gpu.mig:
        yield Finding(
            Level.WARNING,
            "mig",
            f"{name} is split into instances (MIG): a plan for the whole card does not fit one of them",
            "Plan with the instance's memory (--facts), or have MIG switched off by whoever switched it on.",
        )


def _persistence(gpus: tuple[GpuFacts, ...]) -> Iterator[Finding]:
    off = [str(gpu.index) for gpu in gpus if gpu.persistence_mode is False]
    if off:
        yield Finding(
            Level.NOTE,
            "no-persistence",
            f"persistence mode is off (GPU {', '.join(off)}): each start waits for the driver to load, and "
            f"clocks are reset",
            "systemctl enable --now nvidia-persistenced",
        )
