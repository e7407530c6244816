"""What is found on a real machine: real containers, real files, real shared memory, real listeners."""

from __future__ import annotations

import io
import json
import os
import socket
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import Any

import pytest

from docker_kit import LINKS, require_docker
from host.debian_tree import DebianTree
from host.situations import plan
from seatrial.facts.host import HostFacts
from seatrial.facts.probe import probe_host
from seatrial.findings import Finding, Level
from seatrial.host.looking import look
from seatrial.host.looking.caches import cache_key, look_at_caches, mark_caches
from seatrial.host.looking.image import lock_image, look_at_image
from seatrial.host.looking.leftovers import engine_processes, unused_shared_memory
from seatrial.host.looking.packages import package_versions
from seatrial.host.looking.ports import listener_on
from seatrial.host.looking.store import find_snapshot, look_at_store, needed_bytes
from seatrial.host.preflight import preflight
from seatrial.planning.plan import Plan

IMAGE = "seatrial-host-test:v0.5.16"
GIB = 1 << 30


class Quiet:
    def phase(self, text: str) -> None: ...

    def step(self, done: int, total: int, detail: str = "") -> None: ...


def build(tag: str, note: str) -> str:
    """Make an image that is empty but for links and root's name; its digest."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, target in LINKS.items():
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, target
            archive.addfile(link)
        for name in ("usr", "tmp", "root", "etc", "proc", "sys", "dev"):
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(folder)
        for name, text in (("etc/passwd", "root:x:0:0:root:/root:/bin/sh\n"), ("etc/note", note)):
            file = tarfile.TarInfo(name)
            file.size, file.mode = len(text), 0o644
            archive.addfile(file, io.BytesIO(text.encode()))
    change = ["--change", "ENV CUDA_VERSION=13.0.1"]
    done = subprocess.run(
        ["docker", "import", *change, "-", tag], input=buffer.getvalue(), capture_output=True, check=True
    )
    return done.stdout.decode().strip()


@pytest.fixture(scope="module")
def image() -> Iterator[str]:
    require_docker()
    yield build(IMAGE, "one")
    subprocess.run(["docker", "rmi", "-f", IMAGE], capture_output=True, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "hf-cache" / "hub").mkdir(parents=True)
    (tmp_path / "jit-cache").mkdir()
    return tmp_path


def stack(**container: Any) -> Plan:
    python = Path(sys.executable).resolve()
    prefix = Path(sys.base_prefix)
    volumes = ["/usr:/usr:ro", *([] if str(prefix).startswith("/usr") else [f"{prefix}:{prefix}:ro"])]
    environment = {"PATH": f"{python.parent}:/usr/bin:/bin", **container.pop("environment", {})}
    more = container.pop("settings", [])
    extra = {"volumes": volumes, **container.pop("extra", {})}
    return plan(
        engine={"image": IMAGE},
        container={"environment": environment, "extra": extra, **container},
        settings=more,
    )


def found(made: Plan, folder: Path) -> dict[str, Finding]:
    situation = look(made, folder, Quiet(), host=probe_host(store=folder))
    return {finding.id: finding for finding in preflight(situation)}


class TestContainers:
    """The image is tried in a real container."""

    def test_a_container_tells_its_rights_and_packages(self, image: str, folder: Path) -> None:
        situation = look(stack(), folder, Quiet(), host=probe_host(store=folder))
        inside = situation.inside
        assert inside is not None
        assert (inside.problem, inside.uid, inside.user, inside.hub_variable) == ("", 0, "root", "HF_HOME")
        assert inside.hub is not None
        assert (inside.hub.problem, inside.hub.mounted) == ("", True)
        assert inside.caches is not None
        assert inside.caches.problem == ""
        assert situation.image is not None
        assert (situation.image.id, situation.image.cuda) == (image, "13.0.1")
        assert list((folder / "hf-cache" / "hub").iterdir()) == []

    def test_a_store_that_the_containers_account_can_not_write_is_found(self, image: str, folder: Path) -> None:
        (folder / "hf-cache" / "hub").chmod(0o555)
        kinds = found(stack(extra={"user": "1000:1000"}, environment={"USER": "x"}), folder)
        assert kinds["store-not-writable-inside"].level is Level.ERROR
        assert "permission denied" in kinds["store-not-writable-inside"].message

    def test_a_uid_without_a_name_is_found_and_variables_cure_it(self, image: str, folder: Path) -> None:
        (folder / "hf-cache" / "hub").chmod(0o777)
        (folder / "jit-cache").chmod(0o777)
        without = found(stack(extra={"user": "1042:1042"}), folder)
        assert without["uid-without-name"].level is Level.ERROR
        assert "getpwuid" in without["uid-without-name"].message
        cured = found(stack(extra={"user": "1042:1042"}, environment={"USER": "engine", "HOME": "/tmp"}), folder)
        assert "uid-without-name" not in cured

    def test_without_hf_home_the_default_folder_is_told_before_any_download(self, image: str, folder: Path) -> None:
        omitted = [{"variable": "HF_HOME", "omit": True, "why": "a test"}]
        home = {"USER": "engine", "HOME": "/root"}
        kinds = found(stack(extra={"user": "1000:1000"}, environment=home, settings=omitted), folder)
        assert "HF_HOME is not set" in kinds["store-not-writable-inside"].message
        as_root = found(stack(environment={"HOME": "/srv"}, settings=omitted), folder)
        assert as_root["store-not-mounted"].level is Level.ERROR

    def test_an_image_without_python_is_said_so(self, image: str, folder: Path) -> None:
        bare = plan(engine={"image": IMAGE}, container={})
        kinds = found(bare, folder)
        assert "python3" in kinds["container-not-tried"].message, kinds

    def test_secrets_of_the_environment_are_not_among_the_commands_words(self, folder: Path) -> None:
        from seatrial.host.looking.inside import container_command

        words = container_command(stack(environment={"HF_TOKEN": "hf_secret"}), folder, "x", gpus=False)
        assert "HF_TOKEN" in words
        assert not any("hf_secret" in word for word in words)

    def test_no_probe_container_is_left(self, image: str, folder: Path) -> None:
        found(stack(), folder)
        left = subprocess.run(
            ["docker", "ps", "-aq", "--filter", "label=seatrial.probe"], capture_output=True, text=True, check=True
        )
        assert left.stdout == ""


class TestImages:
    """A tag is only a name."""

    def test_a_tag_that_moved_and_one_that_is_gone_are_noticed(self, folder: Path) -> None:
        require_docker()
        name = "seatrial-host-test:moving"
        first = build(name, "first")
        try:
            lock_image(folder, name, first)
            assert look_at_image(name, folder, online=False).locked == first
            subprocess.run(["docker", "tag", first, "seatrial-host-test:kept"], check=True)
            second = build(name, "second")
            moved = look_at_image(name, folder, online=False)
            assert (moved.id, moved.locked, moved.locked_is_here) == (second, first, True)
            subprocess.run(["docker", "rmi", name], capture_output=True, check=True)
            gone = look_at_image(name, folder, online=False)
            assert (gone.id, gone.locked, gone.locked_is_here) == (None, first, True)
        finally:
            for tag in (name, "seatrial-host-test:kept"):
                subprocess.run(["docker", "rmi", "-f", tag], capture_output=True, check=False)

    def test_a_lock_is_about_its_own_name_only(self, folder: Path) -> None:
        lock_image(folder, "one:v1", "sha256:1")
        assert look_at_image("other:v1", folder, online=False).locked is None
        (folder / ".seatrial" / "image.json").write_text("{broken", encoding="utf-8")
        assert look_at_image("one:v1", folder, online=False).locked is None


@pytest.fixture
def container(image: str) -> Iterator[Any]:
    made: list[str] = []

    def run(name: str, *words: str, start: bool = True) -> str:
        made.append(name)
        command = ["docker", "run", "-d"] if start else ["docker", "create"]
        done = subprocess.run(
            [*command, "--name", name, "-v", "/usr:/usr:ro", *words, IMAGE, "/usr/bin/sleep", "60"],
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()[:12]

    yield run
    subprocess.run(["docker", "rm", "-f", *made], capture_output=True, check=False)


class TestLeftovers:
    """What an earlier start left."""

    def test_a_container_of_another_stack_is_told_and_one_of_others_is_not(self, container: Any, folder: Path) -> None:
        container("seatrial-host-test-orphan", "--label", "seatrial.stack=old-review")
        container("seatrial-host-test-foreign")
        situation = look(stack(), folder, Quiet(), host=probe_host(store=folder))
        findings = preflight(situation)
        told = [finding.message for finding in findings if finding.id == "orphan-container"]
        assert any("seatrial-host-test-orphan" in message for message in told)
        assert not any("foreign" in finding.message for finding in findings)

    def test_a_start_that_was_killed_before_the_container_ran_is_told(self, container: Any, folder: Path) -> None:
        container("seatrial-host-test-made", "--label", "seatrial.stack=review", start=False)
        assert "never started" in found(stack(), folder)["container-never-started"].message

    def test_a_container_that_ended_by_kill_is_told(self, container: Any, folder: Path) -> None:
        container("seatrial-host-test-killed", "--label", "seatrial.stack=review")
        subprocess.run(["docker", "kill", "seatrial-host-test-killed"], capture_output=True, check=True)
        subprocess.run(["docker", "wait", "seatrial-host-test-killed"], capture_output=True, check=True)
        assert "SIGKILL" in found(stack(), folder)["unclean-stop"].message

    def test_shared_memory_is_left_over_only_when_nobody_uses_it(self, tmp_path: Path) -> None:
        memory = SharedMemory(name=f"psm_seatrial_{os.getpid()}", create=True, size=4096)
        path = Path("/dev/shm") / memory.name.lstrip("/")
        try:
            os.utime(path, (time.time() - 600, time.time() - 600))
            assert str(path) not in [one.name for one in unused_shared_memory()]
            memory.close()
            (left,) = [one for one in unused_shared_memory() if one.name == str(path)]
            assert left.size_bytes == 4096
        finally:
            path.unlink()

    def test_a_worker_whose_parent_died_is_found(self, tmp_path: Path) -> None:
        words = ["sglang::scheduler_TP0", "60"]
        script = (
            "import subprocess\n"
            f"worker = subprocess.Popen({words!r}, executable='/usr/bin/sleep', stdout=-3, stderr=-3)  # DEVNULL\n"
            "print(worker.pid)"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        pid = int(done.stdout)
        try:
            until = time.monotonic() + 10
            while pid not in [one.pid for one in engine_processes()] and time.monotonic() < until:
                time.sleep(0.05)
            (worker,) = [one for one in engine_processes() if one.pid == pid]
            assert worker.user
        finally:
            os.kill(pid, 9)


class TestPorts:
    """Who listens."""

    def test_a_listening_program_is_named(self) -> None:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen()
            port = listener.getsockname()[1]
            told = listener_on("127.0.0.1", port)
            assert told is not None
            assert (told.port, told.pid) == (port, os.getpid())
        assert listener_on("127.0.0.1", port) is None

    def test_a_container_that_publishes_the_port_is_named(self, container: Any) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        number = container("seatrial-host-test-port", "-p", f"127.0.0.1:{port}:80")
        told = listener_on("127.0.0.1", port)
        assert told is not None
        assert told.container == number


class TestStore:
    """The model store."""

    def test_owners_of_each_model_are_read(self, folder: Path) -> None:
        if os.geteuid() != 0:
            pytest.skip("only root can give files away")
        hub = folder / "hf-cache" / "hub"
        for name, owner in (("models--a--x", 1000), ("models--b--y", 0)):
            (hub / name / "blobs").mkdir(parents=True)
            (hub / name / "blobs" / "w").write_text("w", encoding="utf-8")
            for path in (hub / name, hub / name / "blobs", hub / name / "blobs" / "w"):
                os.chown(path, owner, owner)
        for path in (folder / "hf-cache", hub):
            os.chown(path, 1000, 1000)
        from seatrial.host.situation import Situation

        made = plan()
        (finding,) = [
            one
            for one in preflight(Situation(plan=made, store=look_at_store(made, folder)))
            if one.id == "mixed-owners"
        ]
        assert "models--b--y" in finding.message
        assert "models--a--x" not in finding.message + finding.advice

    def test_what_a_snapshot_lacks_is_named(self, tmp_path: Path) -> None:
        model = tmp_path / "models--o--m"
        commit = "c" * 40
        snapshot = model / "snapshots" / commit
        snapshot.mkdir(parents=True)
        (model / "refs").mkdir()
        assert not find_snapshot(tmp_path, "o/m", "main").reference
        (model / "refs" / "main").write_text(commit, encoding="utf-8")
        assert find_snapshot(tmp_path, "o/m", "main").missing == ("config.json", "model.safetensors")
        (snapshot / "config.json").write_text("{}", encoding="utf-8")
        index = '{"weight_map": {"a": "model-1-of-2.safetensors", "b": "model-2-of-2.safetensors"}}'
        (snapshot / "model.safetensors.index.json").write_text(index, encoding="utf-8")
        (snapshot / "model-1-of-2.safetensors").write_text("", encoding="utf-8")
        (snapshot / "model-2-of-2.safetensors").symlink_to("../../blobs/nowhere")
        (model / "blobs").mkdir()
        (model / "blobs" / "x.incomplete").write_text("", encoding="utf-8")
        told = find_snapshot(tmp_path, "o/m", "main")
        assert (told.missing, told.unfinished) == (("model-2-of-2.safetensors",), ("x.incomplete",))
        (model / "blobs" / "nowhere").write_text("", encoding="utf-8")
        assert find_snapshot(tmp_path, "o/m", "main").is_whole
        assert find_snapshot(tmp_path, "o/m", commit).is_whole
        assert not find_snapshot(tmp_path, "o/other", "main").folder

    def test_the_size_of_a_download_is_known_without_a_gpu(self) -> None:
        size = needed_bytes(plan(HostFacts(gpus=())))
        assert size is not None
        assert 20 * GIB < size < 26 * GIB


def test_caches_remember_what_they_were_made_for(folder: Path) -> None:
    from host.situations import machine

    made, host = plan(), machine()
    assert not look_at_caches(made, folder, "sha256:1", host).entries
    key = cache_key(made, "sha256:1", host)
    assert key == {"image": "sha256:1", "gpu": "sm89", "driver": "580.95.05"}
    mark_caches(folder / "jit-cache", key)
    assert not look_at_caches(made, folder, "sha256:1", host).entries
    (folder / "jit-cache" / "triton").mkdir()
    assert look_at_caches(made, folder, "sha256:1", host).made_for == key
    assert look_at_caches(made, folder, "sha256:2", host).wanted != key


def test_a_good_start_is_remembered_and_only_a_proven_one_moves_the_image(folder: Path) -> None:
    from host.situations import machine
    from seatrial.host.looking.image import locked_image
    from seatrial.host.remembering import remember_good_start

    made, host = plan(), machine()
    name = made.stack.engine.image
    remember_good_start(made, folder, "sha256:1", host)
    remember_good_start(made, folder, "sha256:2", host)
    assert locked_image(folder, name) == "sha256:1"
    remember_good_start(made, folder, "sha256:2", host, promoted=True)
    assert locked_image(folder, name) == "sha256:2"
    assert (folder / "jit-cache" / ".seatrial-made-for.json").is_file()


def test_a_store_on_a_full_file_system_stops_before_the_first_byte(tree: DebianTree) -> None:
    tree.shell("mkdir -p /srv/stack/hf-cache; mount -t tmpfs -o size=1g tmpfs /srv/stack/hf-cache")
    text = "name: review\nmodel: {repo: QuantTrio/Qwen3.6-35B-A3B-AWQ}\nstore: hf-cache\n"
    tree.run("sh", "-c", "cat >/srv/stack/stack.yaml", stdin=text)
    done = tree.seatrial("host", "check", "--stack", "/srv/stack/stack.yaml", "--json", expect=1)
    (found,) = [one for one in json.loads(done.stdout)["findings"] if one["id"] == "disk-full-in-download"]
    assert found["level"] == "error"
    assert "/srv/stack/hf-cache has 1.0 GiB" in found["message"]
    assert tree.shell("ls -A /srv/stack/hf-cache") == ""


def test_packages_of_an_environment_are_read_without_running_it(tmp_path: Path) -> None:
    packages = tmp_path / "lib" / "python3.12" / "site-packages"
    elsewhere = tmp_path / "elsewhere"
    for place, name in (
        (packages, "sglang-0.5.16"),
        (packages, "flashinfer_python-0.6.14"),
        (elsewhere, "torch-2.11.0"),
    ):
        (place / f"{name}.dist-info").mkdir(parents=True)
    (packages / "more.pth").write_text(f"{elsewhere}\n", encoding="utf-8")
    versions = package_versions(tmp_path, ("sglang", "flashinfer-python", "flashinfer-jit-cache", "torch"))
    assert versions == {"sglang": "0.5.16", "flashinfer-python": "0.6.14", "torch": "2.11.0"}


def test_another_machines_facts_are_judged_without_looking_here(tmp_path: Path) -> None:
    from host.situations import machine

    situation = look(plan(), tmp_path, Quiet(), host=machine(source="facts.yaml"))
    assert (situation.store, situation.containers, situation.person) == (None, None, None)
