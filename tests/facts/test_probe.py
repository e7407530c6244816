"""Looking at this machine never fails: what is absent or does not answer stays unknown, with a note."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from seatrial.facts.probe import probe_host
from seatrial.facts.probe.commands import ask
from seatrial.facts.probe.docker import docker_facts
from seatrial.facts.probe.gpus import gpu_facts


def test_this_machine_is_looked_at_whole() -> None:
    host = probe_host()
    assert host.cpus == len(os.sched_getaffinity(0))
    assert host.memory_mib is not None
    assert host.memory_mib > 100
    assert host.disk_free_mib is not None


def test_without_a_driver_there_are_no_gpus_and_a_note() -> None:
    if Path("/proc/driver/nvidia").exists():
        pytest.skip("this machine has the NVIDIA driver")
    found = gpu_facts()
    assert not found.gpus
    assert found.notes


def test_without_docker_there_is_a_note(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = docker_facts()
    assert found.docker is None
    assert found.notes == ("Docker is not installed",)


def test_a_docker_that_can_not_be_reached_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    if ask(["docker", "--version"]).output is None:
        pytest.skip("docker is not installed")
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere.sock")
    found = docker_facts()
    assert found.docker is not None
    assert found.docker.reachable is False
    assert "can't be reached" in found.notes[0]


def test_the_real_docker_is_described() -> None:
    version = ask(["docker", "version", "--format", "{{.Server.Version}}"]).output
    if version is None:
        pytest.skip("no Docker engine answers")
    found = docker_facts().docker
    assert found is not None
    assert (found.version, found.reachable) == (version.strip(), True)
    assert "runc" in " ".join(found.runtimes)


def test_a_command_that_hangs_is_given_up(tmp_path: Path) -> None:
    script = tmp_path / "hangs"
    script.write_text("#!/bin/sh\nexec sleep 30\n", encoding="utf-8")
    script.chmod(0o755)
    began = time.monotonic()
    said = ask([str(script)], seconds=0.2)
    assert said.output is None
    assert "did not answer" in said.problem
    assert time.monotonic() - began < 10


def test_a_command_that_fails_says_why(tmp_path: Path) -> None:
    script = tmp_path / "fails"
    script.write_text("#!/bin/sh\necho broken >&2\nexit 3\n", encoding="utf-8")
    script.chmod(0o755)
    assert "broken" in ask([str(script)]).problem
    assert "not installed" in ask([str(tmp_path / "missing")]).problem
