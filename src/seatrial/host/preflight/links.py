"""How the cards are joined, and what follows for sums over several of them. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from seatrial.facts.host import GpuLink, HostFacts
from seatrial.findings import Finding, Level
from seatrial.host.situation import Situation

FLAG = "--disable-custom-all-reduce"
INSTEAD = "--enable-p2p-check"
SMALLEST_SHM_MIB = 8 * 1024
"""NCCL and the exchange between ranks share it; the same bound as for a container's own."""


def check(situation: Situation) -> Iterator[Finding]:
    """Say how the cards reach each other."""
    host, plan = situation.host, situation.plan
    if host is None or len(host.gpus or ()) < 2:
        return
    several = plan is None or _ranks(situation) > 1
    joined = ", ".join(sorted({link.topology for link in host.links if link.topology})) or "unknown"
    if not several:
        return
    if host.peer_access is False:
        yield from _without_peer_access(situation, joined)
    elif host.peer_access is None:
        yield Finding(
            Level.NOTE,
            "cannot-tell",
            f"whether the GPUs can read each other's memory can't be told (topology: {joined})",
            f"`nvidia-smi topo -p2p r` tells: anything but OK needs {FLAG}.",
            FLAG,
        )
    if host.nvlink is False:
        yield Finding(
            Level.NOTE,
            "no-nvlink",
            f"no NVLink between {_pairs(host)} (topology: {joined}): every token's sums go over PCIe",
            "Expect less than twice one card's speed; a bridge, where the cards take one, is the only remedy.",
        )
    elif host.nvlink:
        yield Finding(Level.NOTE, "nvlink", f"NVLink joins every pair of GPUs ({joined})")
    if host.shm_mib is not None and host.shm_mib < SMALLEST_SHM_MIB:
        yield Finding(
            Level.WARNING,
            "small-host-shared-memory",
            f"the host's shared memory has {host.shm_mib:,} MiB; NCCL and the exchange between ranks need gibibytes, "
            "and `ipc: host` gives the container this one",
            "mount -o remount,size=16g /dev/shm (and in /etc/fstab).",
        )


def _ranks(situation: Situation) -> int:
    setting = situation.plan.setting("--tp-size") if situation.plan else None
    return setting.value if setting and isinstance(setting.value, int) else 1


def _without_peer_access(situation: Situation, joined: str) -> Iterator[Finding]:
    plan = situation.plan
    given = plan is not None and (plan.setting(FLAG) is not None or plan.setting(INSTEAD) is not None)
    geforce = any("GeForce" in gpu.name for gpu in (situation.host.gpus if situation.host else None) or ())
    why = (
        "NVIDIA's driver forbids it on GeForce cards; no BIOS or board setting changes that"
        if geforce
        else "a switch, an IOMMU or the chipset stands between them"
    )
    yield Finding(
        Level.NOTE if given or plan is None else Level.ERROR,
        "no-peer-access",
        f"the GPUs can't read each other's memory (topology: {joined}): {why}",
        f"{FLAG} is {'in the plan for that' if given else 'needed: SGLang sums through peer access otherwise'}.",
        FLAG,
    )


def _pairs(host: HostFacts) -> str:
    without = [link for link in host.links if link.nvlinks == 0]
    if len(without) == len(host.links):
        return "the GPUs"
    return ", ".join(_pair(link) for link in without[:4]) + (", …" if len(without) > 4 else "")


def _pair(link: GpuLink) -> str:
    return f"{link.a} and {link.b}"
