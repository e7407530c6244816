"""Looks at this machine. Whatever is absent, or does not answer, stays unknown with a note; nothing here fails."""

from __future__ import annotations

from pathlib import Path

from seatrial.facts.host import HostFacts
from seatrial.facts.probe.docker import docker_facts
from seatrial.facts.probe.gpus import gpu_facts
from seatrial.facts.probe.system import system_facts
from seatrial.facts.probe.topology import completed


def probe_host(*, store: Path | None = None, docker: bool = True) -> HostFacts:
    """Find out what is true about this machine.

    Args:
        store: where models are kept, for the free disk space.
        docker: ask Docker too, which takes a tenth of a second or more.
    """
    gpus = completed(gpu_facts())
    system = system_facts(store or Path())
    asked = docker_facts() if docker else None
    notes = (*gpus.notes, *system.notes, *(asked.notes if asked else ()))
    return HostFacts(
        gpus=gpus.gpus,
        links=gpus.links,
        driver_version=gpus.driver_version,
        cuda_version=gpus.cuda_version,
        nvcc_version=system.nvcc_version,
        docker=asked.docker if asked else None,
        memory_mib=system.memory_mib,
        shm_mib=system.shm_mib,
        disk_free_mib=system.disk_free_mib,
        cpus=system.cpus,
        notes=notes,
        clock_synchronized=system.clock_synchronized,
    )
