"""Facts are written as YAML that is read back as the same, and mistakes in such a file are named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.errors import InputError
from seatrial.facts.example_hosts import gpu_kinds, host_from_spec
from seatrial.facts.file import FactsFile, parse_facts, write_facts
from seatrial.facts.host import DockerFacts, GpuFacts, GpuLink, GpuProcess, HostFacts
from seatrial.facts.known_models import known_model, known_repos

SMALL = st.integers(0, 10**6)
NAME = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)
GPUS = st.builds(
    GpuFacts,
    index=SMALL,
    name=NAME,
    memory_mib=SMALL,
    free_mib=st.none() | SMALL,
    compute_capability=st.none() | st.tuples(SMALL, SMALL),
    persistence_mode=st.none() | st.booleans(),
    processes=st.lists(st.builds(GpuProcess, pid=SMALL, name=st.none() | NAME), max_size=2).map(tuple),
)
HOSTS = st.builds(
    HostFacts,
    gpus=st.none() | st.lists(GPUS, max_size=3).map(tuple),
    links=st.lists(st.builds(GpuLink, a=SMALL, b=SMALL, topology=st.none() | NAME), max_size=2).map(tuple),
    driver_version=st.none() | NAME,
    docker=st.none() | st.builds(DockerFacts, version=st.none() | NAME, runtimes=st.lists(NAME, max_size=2).map(tuple)),
    notes=st.lists(NAME, max_size=2).map(tuple),
)


@given(HOSTS)
def test_a_host_comes_back_as_it_was_written(host: HostFacts) -> None:
    assert parse_facts(write_facts(FactsFile(host)), where="facts.yaml") == FactsFile(host)


@pytest.mark.parametrize("repo", known_repos())
def test_every_known_model_comes_back_as_it_was_written(repo: str) -> None:
    model = known_model(repo)
    assert parse_facts(write_facts(FactsFile(model=model)), where="facts.yaml").model == model


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("host: {gpu: []}", "`gpus`"),
        ("host: {gpus: [{index: 0, nam: x, memory_mib: 1}]}", "`name`"),
        ("host: {gpus: [{index: zero, name: x, memory_mib: 1}]}", "host.gpus[0].index"),
        ("host: 3", "mapping"),
        ("hosts: {}", "a facts file holds"),
        ("[", "no valid YAML"),
    ],
)
def test_a_mistake_is_named_with_its_line(text: str, what: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_facts(text, where="facts.yaml")
    assert str(caught.value).startswith("facts.yaml:1")
    assert what in str(caught.value)


def test_what_a_file_leaves_out_is_unknown() -> None:
    host = parse_facts("host:\n  gpus:\n    - {index: 0, name: x, memory_mib: 24564}\n", where="f").host
    assert host is not None
    assert (host.compute_capability, host.driver_version, host.peer_access) == (None, None, True)


@pytest.mark.parametrize("kind", gpu_kinds(), ids=lambda kind: kind.name)
def test_each_kind_of_gpu_is_found_by_all_its_names(kind: object) -> None:
    from seatrial.facts.example_hosts import GpuKind, find_gpu

    assert isinstance(kind, GpuKind)
    for name in (kind.name, kind.name.lower(), *kind.names):
        assert find_gpu(name) == kind


@pytest.mark.parametrize(
    ("spec", "count", "peer", "nvlink"),
    [("2x RTX 4090", 2, False, False), ("4x3090", 4, False, False), ("H100", 1, True, True), ("8xH200", 8, True, True)],
)
def test_a_described_host_knows_how_its_gpus_are_joined(spec: str, count: int, peer: bool, nvlink: bool) -> None:
    host = host_from_spec(spec)
    assert (host.gpu_count, host.peer_access, host.nvlink) == (count, peer, nvlink)


@pytest.mark.parametrize("spec", ["", "0x4090", "99x4090", "2x Voodoo", "4090x2x2", "+"])
def test_a_description_that_is_none_says_how_one_looks(spec: str) -> None:
    with pytest.raises(InputError, match="--gpus"):
        host_from_spec(spec)
