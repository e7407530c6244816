"""GPU facts of several machines, from what their management library answers and what `nvidia-smi topo` prints."""

from __future__ import annotations

from dataclasses import replace

import pytest

from facts import gpu_machines
from facts.gpu_machines import Machine
from facts.nvml_tape import Player, Recorder
from seatrial.facts.host import HostFacts
from seatrial.facts.probe import gpus, topology
from seatrial.facts.probe.gpus import FoundGpus
from seatrial.facts.probe.processes import container_in


def played(machine: Machine) -> FoundGpus:
    return gpus._found(Player(machine.tape))


def host(machine: Machine) -> HostFacts:
    found = played(machine)
    return HostFacts(gpus=found.gpus, links=found.links, driver_version=found.driver_version)


@pytest.mark.parametrize(
    ("machine", "count", "peer", "nvlink", "joined"),
    [
        (gpu_machines.two_4090(), 2, False, False, {"NODE"}),
        (gpu_machines.two_3090(), 2, True, True, {"NV4"}),
        (gpu_machines.eight_h100(), 8, True, True, {"NV18"}),
        (gpu_machines.one_h200(), 1, True, True, set()),
        (gpu_machines.none(), 0, True, True, set()),
    ],
    ids=["2x4090-NODE", "2x3090-NVLink", "8xH100-NVSwitch", "1xH200", "none"],
)
def test_a_machine_is_told_from_its_library(
    machine: Machine, count: int, peer: bool, nvlink: bool, joined: set[str]
) -> None:
    facts = host(machine)
    assert (facts.gpu_count, facts.peer_access, facts.nvlink) == (count, peer, nvlink)
    assert {link.topology for link in facts.links} == joined
    assert len(facts.links) == count * (count - 1) // 2


@pytest.mark.parametrize("machine", [gpu_machines.two_4090(), gpu_machines.two_3090(), gpu_machines.eight_h100()])
def test_library_and_table_agree_about_the_links(machine: Machine) -> None:
    told = played(machine).links
    read = topology.with_peer_access(list(topology.parse_topology(machine.topology)), machine.peers)
    assert tuple(read) == told


@pytest.mark.parametrize("machine", [gpu_machines.two_4090(), gpu_machines.eight_h100()])
def test_what_the_library_does_not_tell_is_taken_from_the_tables(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = played(machine)
    silent = replace(
        told, links=tuple(replace(one, topology=None, nvlinks=None, peer_access=None) for one in told.links)
    )
    tables = {"-m": machine.topology, "-p2p": machine.peers}
    monkeypatch.setattr(topology, "ask", lambda words: topology_said(tables[words[2]]))
    assert topology.completed(silent).links == told.links


def topology_said(text: str) -> object:
    from seatrial.facts.probe.commands import Said

    return Said(text)


def test_without_the_tables_the_links_stay_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    told = replace(played(gpu_machines.two_4090()), links=())
    monkeypatch.setattr(topology, "ask", lambda _words: topology_said(""))
    (link,) = topology.completed(told).links
    assert (link.topology, link.nvlinks, link.peer_access) == (None, None, None)


def test_a_real_h200_tells_its_details() -> None:
    (card,) = played(gpu_machines.one_h200()).gpus or ()
    assert card.name == "NVIDIA H200"
    assert card.compute_capability == (9, 0)
    assert card.memory_mib == 143_771
    assert card.free_mib is not None
    assert card.mig is False
    table = gpu_machines.one_h200().topology
    assert "\x1b[4m" in table, "the driver underlines the head of its table"
    assert topology.parse_topology(table) == ()


def test_a_real_card_answers_as_its_tape() -> None:
    found = gpus.gpu_facts()
    if not found.gpus:
        pytest.skip(f"no GPU here: {found.notes}")
    import pynvml  # type: ignore[import-untyped]

    recorder = Recorder()
    pynvml.nvmlInit()
    try:
        recorded = gpus._found(recorder)
        replayed = gpus._found(Player({"answers": recorder.answers}))
    finally:
        pynvml.nvmlShutdown()
    assert [card.name for card in recorded.gpus or ()] == [card.name for card in found.gpus]
    assert replayed == recorded


def test_escapes_of_a_terminal_are_no_part_of_the_table() -> None:
    underlined = (
        gpu_machines.two_3090().topology.replace("\tGPU0", "\t\x1b[4mGPU0").replace("NUMA ID", "NUMA ID\x1b[0m")
    )
    assert topology.parse_topology(underlined)[0].nvlinks == 4


def test_details_of_a_card_that_slept_in_a_narrow_slot() -> None:
    card = (played(gpu_machines.two_4090()).gpus or ())[0]
    assert (card.pcie_generation, card.pcie_generation_max) == (1, 4)
    assert (card.pcie_width, card.pcie_width_max) == (8, 16)
    assert card.persistence_mode is False
    assert (card.ecc_errors, card.throttled) == (None, ())


@pytest.mark.parametrize(
    ("reasons", "words"),
    [(0x1, 0), (0x4, 0), (0x40, 1), (0x28, 2), (None, 0)],
    ids=["idle", "power cap", "hot", "two", "-"],
)
def test_only_heat_and_power_that_fails_count_as_throttling(reasons: int | None, words: int) -> None:
    assert len(list(gpus._throttled(reasons))) == words


ID = "0123456789ab" + "c" * 52


@pytest.mark.parametrize(
    "cgroups",
    [
        f"0::/docker/{ID}",
        f"0::/system.slice/docker-{ID}.scope",
        f"12:memory:/docker/{ID}\n1:name=systemd:/docker/{ID}",
        f"0::/../../kubepods.slice/cri-containerd-{ID}.scope",
    ],
)
def test_the_container_of_a_process_is_read_from_its_cgroup(cgroups: str) -> None:
    assert container_in(cgroups) == "0123456789ab"


@pytest.mark.parametrize(
    "cgroups", ["", "0::/user.slice/user-0.slice/session-1.scope", "0::/system.slice/docker.service"]
)
def test_a_process_outside_of_containers_has_none(cgroups: str) -> None:
    assert container_in(cgroups) is None
