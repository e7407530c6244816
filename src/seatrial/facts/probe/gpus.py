"""GPUs and how they are joined, through NVIDIA's management library."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from seatrial.facts.host import GpuFacts, GpuLink, GpuProcess
from seatrial.facts.probe.processes import container, owner, process_name

MIB = 1 << 20

TOPOLOGY = {0: "same board", 10: "PIX", 20: "PXB", 30: "PHB", 40: "NODE", 50: "SYS"}
"""`nvmlGpuTopologyLevel_t`, by the words of `nvidia-smi topo -m`."""


@dataclass(frozen=True, slots=True)
class FoundGpus:
    """What the driver says; `gpus` is None where nobody could be asked."""

    gpus: tuple[GpuFacts, ...] | None
    links: tuple[GpuLink, ...] = ()
    driver_version: str | None = None
    cuda_version: str | None = None
    notes: tuple[str, ...] = ()


def gpu_facts() -> FoundGpus:
    """Ask the driver for its GPUs."""
    try:
        import pynvml  # type: ignore[import-untyped]  # noqa: PLC0415 - only who looks at this machine pays for it
    except ImportError:
        return FoundGpus(None, notes=("nvidia-ml-py is not installed, so nobody could ask for GPUs",))
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError_LibraryNotFound:
        return FoundGpus((), notes=("there is no NVIDIA driver here",))
    except pynvml.NVMLError as error:
        return FoundGpus(None, notes=(f"the NVIDIA driver does not answer: {error}",))
    try:
        return _found(pynvml)
    finally:
        with contextlib.suppress(pynvml.NVMLError):
            pynvml.nvmlShutdown()


def _found(nvml: Any) -> FoundGpus:
    count = _ask(nvml, "nvmlDeviceGetCount") or 0
    handles = [_ask(nvml, "nvmlDeviceGetHandleByIndex", index) for index in range(count)]
    cuda = _ask(nvml, "nvmlSystemGetCudaDriverVersion")
    gpus = tuple(_gpu(nvml, index, handle) for index, handle in enumerate(handles) if handle is not None)
    lost = sum(handle is None for handle in handles)
    return FoundGpus(
        gpus=gpus,
        links=tuple(_links(nvml, handles)),
        driver_version=_text(_ask(nvml, "nvmlSystemGetDriverVersion")),
        cuda_version=f"{cuda // 1000}.{cuda % 1000 // 10}" if cuda else None,
        notes=(f"{lost} of {count} GPUs do not answer the driver",) if lost else (),
    )


def _gpu(nvml: Any, index: int, handle: Any) -> GpuFacts:
    memory = _ask(nvml, "nvmlDeviceGetMemoryInfo", handle)
    pci = _ask(nvml, "nvmlDeviceGetPciInfo", handle)
    capability = _ask(nvml, "nvmlDeviceGetCudaComputeCapability", handle)
    mode = _ask(nvml, "nvmlDeviceGetPersistenceMode", handle)
    return GpuFacts(
        index=index,
        name=_text(_ask(nvml, "nvmlDeviceGetName", handle)) or "unknown GPU",
        memory_mib=memory.total // MIB if memory else 0,
        free_mib=memory.free // MIB if memory else None,
        compute_capability=(capability[0], capability[1]) if capability else None,
        uuid=_text(_ask(nvml, "nvmlDeviceGetUUID", handle)),
        pci_bus_id=_text(pci.busId) if pci else None,
        pcie_generation=_ask(nvml, "nvmlDeviceGetCurrPcieLinkGeneration", handle),
        pcie_width=_ask(nvml, "nvmlDeviceGetCurrPcieLinkWidth", handle),
        persistence_mode=None if mode is None else bool(mode),
        ecc_errors=_ask(
            nvml,
            "nvmlDeviceGetTotalEccErrors",
            handle,
            nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED,
            nvml.NVML_VOLATILE_ECC,
        ),
        temperature_c=_ask(nvml, "nvmlDeviceGetTemperature", handle, nvml.NVML_TEMPERATURE_GPU),
        processes=tuple(_processes(nvml, handle)),
        pcie_generation_max=_ask(nvml, "nvmlDeviceGetMaxPcieLinkGeneration", handle),
        pcie_width_max=_ask(nvml, "nvmlDeviceGetMaxPcieLinkWidth", handle),
        slowdown_c=_ask(
            nvml, "nvmlDeviceGetTemperatureThreshold", handle, getattr(nvml, "NVML_TEMPERATURE_THRESHOLD_SLOWDOWN", 1)
        ),
        throttled=tuple(_throttled(_ask(nvml, "nvmlDeviceGetCurrentClocksEventReasons", handle))),
        mig=_mig(_ask(nvml, "nvmlDeviceGetMigMode", handle)),
    )


THROTTLES = {
    0x08: "slowed by the hardware: heat, or too little power",
    0x20: "slowed by its driver because it is hot",
    0x40: "slowed by the hardware because it is hot",
    0x80: "slowed by the power supply's signal",
}
"""`nvmlClocksEventReasons` (nvml.h) that say that something is wrong; idle and power caps are none of these."""


def _throttled(reasons: int | None) -> Iterator[str]:
    for bit, words in THROTTLES.items():
        if reasons and reasons & bit:
            yield words


def _mig(mode: Any) -> bool | None:
    return None if mode is None else bool(mode[0])


def _processes(nvml: Any, handle: Any) -> Iterator[GpuProcess]:
    for process in _ask(nvml, "nvmlDeviceGetComputeRunningProcesses", handle) or ():
        used = process.usedGpuMemory
        memory = None if used is None else used // MIB
        yield GpuProcess(process.pid, process_name(process.pid), memory, owner(process.pid), container(process.pid))


def _links(nvml: Any, handles: list[Any]) -> Iterator[GpuLink]:
    for (a, one), (b, other) in combinations(enumerate(handles), 2):
        if one is None or other is None:
            continue
        links = _nvlinks(nvml, one, other)
        level = _ask(nvml, "nvmlDeviceGetTopologyCommonAncestor", one, other)
        topology = f"NV{links}" if links else TOPOLOGY.get(level) if level is not None else None
        yield GpuLink(a, b, topology, links, _peer_access(nvml, one, other))


def _nvlinks(nvml: Any, one: Any, other: Any) -> int | None:
    """Count the NVLinks that lead from one card to another; on a host with NVSwitch each one leads to every card."""
    target = _ask(nvml, "nvmlDeviceGetPciInfo", other)
    count = switched = 0
    for link in range(nvml.NVML_NVLINK_MAX_LINKS):
        state = _ask(nvml, "nvmlDeviceGetNvLinkState", one, link)
        if not state:
            continue
        remote = _ask(nvml, "nvmlDeviceGetNvLinkRemotePciInfo", one, link)
        kind = _ask(nvml, "nvmlDeviceGetNvLinkRemoteDeviceType", one, link)
        if kind == getattr(nvml, "NVML_NVLINK_DEVICE_TYPE_SWITCH", 2):
            switched += 1
        elif remote is not None and target is not None and _text(remote.busId) == _text(target.busId):
            count += 1
    return count or switched


def _peer_access(nvml: Any, one: Any, other: Any) -> bool | None:
    """Whether the driver lets each of two cards read and write the other's memory."""
    answers = [
        _ask(nvml, "nvmlDeviceGetP2PStatus", a, b, kind)
        for a, b in ((one, other), (other, one))
        for kind in (nvml.NVML_P2P_CAPS_INDEX_READ, nvml.NVML_P2P_CAPS_INDEX_WRITE)
    ]
    if any(answer is None for answer in answers):
        return None
    return all(answer == nvml.NVML_P2P_STATUS_OK for answer in answers)


def _ask(nvml: Any, question: str, *about: Any) -> Any:
    """Ask the driver; None where this card, this driver or this library has no answer."""
    try:
        return getattr(nvml, question)(*about)
    except (nvml.NVMLError, AttributeError, UnicodeDecodeError):
        return None


def _text(value: Any) -> str | None:
    if value is None:
        return None
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
