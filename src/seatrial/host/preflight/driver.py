"""The driver against the image's CUDA, and why an old system-wide compiler is left alone. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from seatrial.facts.host import HostFacts
from seatrial.findings import Finding, Level
from seatrial.host.knowledge import cuda_knowledge
from seatrial.host.situation import Situation
from seatrial.planning.plan import Plan


def check(situation: Situation) -> Iterator[Finding]:
    """Compare driver and CUDA."""
    host = situation.host
    if host is None or runs_on_cpu(situation.plan):
        return
    if host.gpus is None or (not host.gpus and host.driver_version is None):
        yield Finding(
            Level.ERROR if host.gpus is not None else Level.WARNING,
            "no-gpu",
            "no NVIDIA GPU answers on this host" + (f": {host.notes[0]}" if host.notes else ""),
            "Install the NVIDIA driver, and see that `nvidia-smi` lists the cards.",
        )
        return
    cuda, source = _wanted(situation)
    if cuda is not None:
        yield from _driver(host, cuda, source)
        yield from _compiler(host, cuda)


def runs_on_cpu(plan: Plan | None) -> bool:
    """Whether the plan needs no GPU at all, or its container is given none by the stack file's own word."""
    if plan is None:
        return False
    device = plan.setting("--device")
    deploy = plan.stack.container.extra.get("deploy")
    return (device is not None and device.value == "cpu") or (deploy is not None and "devices" not in str(deploy))


def _wanted(situation: Situation) -> tuple[str | None, str]:
    """Say which CUDA the engine is built with, and where that is known from."""
    if situation.image is not None and situation.image.cuda:
        return situation.image.cuda, "the image says so"
    plan = situation.plan
    if plan is None:
        return None, ""
    build = cuda_knowledge().build_of(plan.version)
    return (build.cuda, f"{plan.stack.engine.kind} {plan.version} is built with it") if build else (None, "")


def _driver(host: HostFacts, cuda: str, source: str) -> Iterator[Finding]:
    oldest, version = cuda_knowledge().oldest_driver(cuda), host.driver_version
    if oldest is None or version is None:
        yield Finding(
            Level.NOTE,
            "cannot-tell",
            f"whether the driver runs CUDA {cuda} can't be told: "
            + ("its version is unknown" if version is None else "no oldest driver is known for it"),
            "Compare with the table of NVIDIA's CUDA Compatibility page.",
        )
        return
    if _major(version) >= int(oldest):
        newest = host.cuda_version or "unknown"
        if newest != "unknown" and _pair(newest) < _pair(cuda):
            yield Finding(
                Level.NOTE,
                "driver-of-an-earlier-minor",
                f"the driver {version} brings CUDA {newest}, the engine is built with {cuda} ({source}): the "
                f"same major "
                "version runs, but code that is kept as PTX only would need the newer driver",
                "Nothing, unless a kernel fails with `unsupported toolchain`; then update the driver.",
            )
        return
    workstation = all("GeForce" in gpu.name or "RTX" in gpu.name for gpu in host.gpus or ())
    forward = "" if workstation else " On data-centre cards the image's cuda-compat libraries may bridge that."
    yield Finding(
        Level.ERROR if workstation else Level.WARNING,
        "driver-too-old",
        f"the driver {version} can't run CUDA {cuda} ({source}): it needs {oldest} or newer.{forward}",
        f"Update the host's driver to {oldest} or newer; the host's CUDA toolkit plays no part in it.",
    )


def _compiler(host: HostFacts, cuda: str) -> Iterator[Finding]:
    nvcc = host.nvcc_version
    if nvcc is None or _pair(nvcc) >= _pair(cuda):
        return
    yield Finding(
        Level.NOTE,
        "older-system-nvcc",
        f"the system-wide nvcc is {nvcc}, older than the engine's CUDA {cuda}; a container uses its own",
        "Leave it alone: other users of this host may need it. A bare-metal environment gets a compiler of its own "
        "(pip install nvidia-cuda-nvcc, with CUDA_HOME and PATH set for that environment only).",
    )


def _major(version: str) -> int:
    digits = version.split(".", maxsplit=1)[0]
    return int(digits) if digits.isdigit() else 0


def _pair(version: str) -> tuple[int, int]:
    parts = [int(part) if part.isdigit() else 0 for part in version.split(".")[:2]]
    return (parts[0], parts[1] if len(parts) > 1 else 0)
