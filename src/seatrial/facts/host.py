"""What is true about a host: its GPUs and how they are joined, its driver, Docker, memory and disk. Pure values.

Everything that could not be found out is None (unknown), never a guess: a rule that needs it says that it can't tell.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class GpuFacts:
    """One GPU.

    Attributes:
        index: as the driver counts.
        name: as the driver calls it, e.g. `NVIDIA GeForce RTX 4090`.
        memory_mib: all of its memory (`memory.total` of nvidia-smi), MiB.
        free_mib: what is free of it now, MiB.
        compute_capability: major and minor, e.g. (8, 9) for Ada.
        uuid: the driver's name for this very card.
        pci_bus_id: where it sits.
        pcie_generation: current link generation.
        pcie_width: current link width, lanes.
        pcie_generation_max: the newest that card and slot can do; an idle card runs slower to save power.
        pcie_width_max: most lanes that the card has.
        persistence_mode: whether the driver stays loaded without a client.
        ecc_errors: uncorrected errors since the driver was loaded.
        temperature_c: degrees Celsius now.
        slowdown_c: degrees Celsius from which on the card slows itself down.
        throttled: why it runs slower than it could now, in words; empty where it does not.
        mig: it is split into instances (MIG).
        processes: who holds memory on it.
    """

    index: int
    name: str
    memory_mib: int
    free_mib: int | None = None
    compute_capability: tuple[int, int] | None = None
    uuid: str | None = None
    pci_bus_id: str | None = None
    pcie_generation: int | None = None
    pcie_width: int | None = None
    persistence_mode: bool | None = None
    ecc_errors: int | None = None
    temperature_c: int | None = None
    processes: tuple[GpuProcess, ...] = ()
    pcie_generation_max: int | None = None
    pcie_width_max: int | None = None
    slowdown_c: int | None = None
    throttled: tuple[str, ...] = ()
    mig: bool | None = None


@dataclass(frozen=True, slots=True)
class GpuProcess:
    """A process that holds memory of a GPU, with the account that runs it and the container (its id) that it is in."""

    pid: int
    name: str | None = None
    memory_mib: int | None = None
    user: str | None = None
    container: str | None = None


@dataclass(frozen=True, slots=True)
class GpuLink:
    """How two GPUs are joined.

    Attributes:
        a: index of one.
        b: index of the other.
        topology: as `nvidia-smi topo -m` says: NV4, PIX, PXB, PHB, NODE, SYS.
        nvlinks: how many NVLinks join them.
        peer_access: whether one can read the other's memory (the driver forbids it on GeForce cards).
    """

    a: int
    b: int
    topology: str | None = None
    nvlinks: int | None = None
    peer_access: bool | None = None


@dataclass(frozen=True, slots=True)
class DockerFacts:
    """Docker as it is installed here.

    Attributes:
        version: of the engine.
        compose_version: of `docker compose`.
        runtimes: names of its runtimes, e.g. `nvidia`.
        cdi_devices: names of the devices that CDI offers, e.g. `nvidia.com/gpu=all`.
        reachable: whether this account may talk to it.
        root: the folder in which it keeps images, on this machine.
    """

    version: str | None = None
    compose_version: str | None = None
    runtimes: tuple[str, ...] = ()
    cdi_devices: tuple[str, ...] = ()
    reachable: bool | None = None
    root: str | None = None


@dataclass(frozen=True, slots=True)
class HostFacts:
    """One machine, or what a file says about one.

    Attributes:
        gpus: in the driver's order; empty on a host without any, None where nobody could look.
        links: each pair of GPUs once.
        driver_version: of the GPU driver.
        cuda_version: the newest CUDA that the driver can run, e.g. `13.0`.
        nvcc_version: of the system-wide compiler, if there is one.
        docker: None where there is none.
        memory_mib: all of the host's memory.
        shm_mib: size of `/dev/shm`.
        disk_free_mib: free space where models are kept.
        cpus: that this process may use.
        clock_synchronized: whether the system's clock is kept right by a time server.
        source: where these facts come from: `this host`, a file, an example.
    """

    gpus: tuple[GpuFacts, ...] | None = None
    links: tuple[GpuLink, ...] = ()
    driver_version: str | None = None
    cuda_version: str | None = None
    nvcc_version: str | None = None
    docker: DockerFacts | None = None
    memory_mib: int | None = None
    shm_mib: int | None = None
    disk_free_mib: int | None = None
    cpus: int | None = None
    source: str = "this host"
    notes: tuple[str, ...] = field(default=())
    clock_synchronized: bool | None = None

    @property
    def gpu_count(self) -> int | None:
        """How many GPUs there are."""
        return None if self.gpus is None else len(self.gpus)

    @property
    def compute_capability(self) -> tuple[int, int] | None:
        """The oldest of all GPUs: what every kernel must run on."""
        known = [gpu.compute_capability for gpu in self.gpus or () if gpu.compute_capability]
        return min(known) if known and len(known) == self.gpu_count else None

    @property
    def peer_access(self) -> bool | None:
        """Whether every pair of GPUs can read each other's memory; True where there is no pair."""
        if self.gpus is None:
            return None
        if len(self.gpus) < 2:
            return True
        answers = {link.peer_access for link in self.links}
        if False in answers:
            return False
        pairs = len(self.gpus) * (len(self.gpus) - 1) // 2
        return True if answers == {True} and len(self.links) == pairs else None

    @property
    def nvlink(self) -> bool | None:
        """Whether NVLink joins every pair of GPUs; True where there is no pair."""
        if self.gpus is None:
            return None
        if len(self.gpus) < 2:
            return True
        counts = [link.nvlinks for link in self.links]
        if any(count == 0 for count in counts):
            return False
        pairs = len(self.gpus) * (len(self.gpus) - 1) // 2
        return True if len(counts) == pairs and all(counts) else None
