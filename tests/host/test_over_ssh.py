"""The same over a real sshd: as root, through sudo, and when the connection does not stand."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from collections.abc import Iterator

import pytest

from host.conftest import PEOPLE
from host.debian_tree import DebianTree, require_tools


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@pytest.fixture
def server(tree: DebianTree) -> Iterator[tuple[DebianTree, list[str]]]:
    """The tree, with an sshd that lets root and bob in by alice's key, and bob become root."""
    require_tools("sshd", "ssh", "ssh-keygen", "sudo")
    port = free_port()
    tree.shell(
        f"""
        mkdir -p /run/sshd /root/.ssh
        getent passwd sshd >/dev/null || useradd -r -d /run/sshd -s /usr/sbin/nologin sshd
        chown root:root /run/sshd; chmod 755 /run/sshd
        ssh-keygen -q -t ed25519 -N '' -f /etc/test_host_key
        runuser -u alice -- sh -c "mkdir -p ~alice/.ssh && ssh-keygen -q -t ed25519 -N '' -f ~alice/.ssh/id_ed25519"
        mkdir -p ~bob/.ssh; cp ~alice/.ssh/id_ed25519.pub ~bob/.ssh/authorized_keys; chown -R bob: ~bob/.ssh
        cp ~alice/.ssh/id_ed25519.pub /root/.ssh/authorized_keys; chown -R root: /root/.ssh; chmod -R go= /root/.ssh
        echo "[127.0.0.1]:{port} $(cat /etc/test_host_key.pub)" >~alice/.ssh/known_hosts
        usermod -p '*' bob  # sshd without PAM refuses accounts whose password is locked
        chown root:root /usr/bin/sudo; chmod 4755 /usr/bin/sudo
        printf 'root ALL=(ALL) ALL\\nbob ALL=(ALL) NOPASSWD: ALL\\n' >/etc/sudoers; chmod 440 /etc/sudoers
        printf '%s\\n' 'Port {port}' 'ListenAddress 127.0.0.1' 'HostKey /etc/test_host_key' 'UsePAM no' >/etc/sshd_test
        printf '%s\\n' 'PermitRootLogin yes' 'PidFile none' 'StrictModes no' >>/etc/sshd_test
        """
    )
    sshd = subprocess.Popen(
        tree.command(["/usr/sbin/sshd", "-D", "-e", "-f", "/etc/sshd_test"]), stderr=subprocess.PIPE, text=True
    )
    try:
        until = time.monotonic() + 20
        while time.monotonic() < until:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert sshd.poll() is None, sshd.stderr.read() if sshd.stderr else ""
                time.sleep(0.05)
        yield tree, ["--ssh-option", f"-p {port}"]
    finally:
        sshd.terminate()
        sshd.wait()


def test_another_machine_is_set_up_over_ssh(server: tuple[DebianTree, list[str]]) -> None:
    tree, options = server
    there = ["--on", "root@127.0.0.1", *options]
    first = json.loads(tree.seatrial("host", "apply", *PEOPLE, "--yes", "--json", *there, user="alice").stdout)
    assert {one["state"] for one in first["applied"]["outcomes"]} == {"done"}
    assert tree.shell("id -nG sglang").split() == ["sglang", "docker"]
    second = json.loads(tree.seatrial("host", "apply", *PEOPLE, "--yes", "--json", *there, user="alice").stdout)
    assert second["changes"] == 0
    tree.shell("chmod g+w /opt/sglang/docker")
    done = tree.seatrial("host", "audit", *PEOPLE, "--fix", *there, user="alice")
    assert "1 changes" in done.stdout
    assert tree.shell("stat -c %a /opt/sglang/docker") == "755"
    tree.seatrial("host", "apply", "--undo", "--yes", *there, user="alice")
    assert tree.shell("stat -c %a /opt/sglang/docker") == "775"


def test_sudo_makes_it_root_over_there(server: tuple[DebianTree, list[str]]) -> None:
    tree, options = server
    plain = json.loads(tree.seatrial("host", "plan", "--on", "bob@127.0.0.1", "--json", *options, user="alice").stdout)
    assert (plain["is_root"], plain["actions"]) == (False, [])
    tree.seatrial("host", "apply", *PEOPLE, "--yes", "--on", "bob@127.0.0.1", "--sudo", *options, user="alice")
    assert tree.shell("getent passwd sglang").endswith("/usr/sbin/nologin")


def test_a_connection_that_does_not_stand_is_one_clear_line(server: tuple[DebianTree, list[str]]) -> None:
    tree, options = server
    done = tree.seatrial("host", "plan", "--on", "mallory@127.0.0.1", *options, user="alice", expect=3)
    assert "Permission denied" in done.stderr
    assert "must work without asking" in done.stderr
    closed = tree.seatrial("host", "audit", "--on", "root@127.0.0.1", "--ssh-option", "-p 9", user="alice", expect=3)
    assert "Connection refused" in closed.stderr
    tree.shell("sed -i '/bob/d' /etc/sudoers")
    refused = tree.seatrial("host", "plan", "--on", "bob@127.0.0.1", "--sudo", *options, user="alice", expect=3)
    assert "`sudo -n` must work" in refused.stderr
