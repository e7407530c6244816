"""The account model on a real Debian tree: what getent, stat and getfacl say, and what people can and can't do."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from host.conftest import PEOPLE
from host.debian_tree import DebianTree, require_tools

ROOT = "/opt/sglang"
HUB = f"{ROOT}/hf-cache/hub"
LISTING = f"find {ROOT} -printf '%p %U:%G %m %y\\n' | sort; getfacl -Rpn {ROOT} 2>/dev/null"
PULL = f"""
mkdir -p {HUB}/models--a--b/blobs {HUB}/models--a--b/snapshots/c0ffee {HUB}/models--a--b/refs
echo weights >{HUB}/models--a--b/blobs/w.incomplete
mv {HUB}/models--a--b/blobs/w.incomplete {HUB}/models--a--b/blobs/w
ln -s ../../blobs/w {HUB}/models--a--b/snapshots/c0ffee/model.safetensors
echo c0ffee >{HUB}/models--a--b/refs/main
"""


def test_the_account_is_a_system_account_that_nobody_logs_in_as(applied: DebianTree) -> None:
    name, _, uid, gid, _, home, shell = applied.shell("getent passwd sglang").split(":")
    assert (name, home, shell) == ("sglang", ROOT, "/usr/sbin/nologin")
    assert int(uid) < 1000
    assert applied.shell("getent group sglang").split(":")[2] == gid
    assert applied.shell("getent shadow sglang").split(":")[1].startswith("!")
    assert applied.shell("id -nG sglang").split() == ["sglang", "docker"]
    assert applied.shell("id -nG alice").split() == ["alice", "sglang"]
    assert "docker" not in applied.shell("id -nG bob")


def test_the_tree_has_the_modes_of_the_deployment_notes(applied: DebianTree) -> None:
    require_tools("getfacl")
    stated = applied.shell(
        f"cd {ROOT}; stat -c '%n %U:%G %a' . docker docker/secrets hf-cache hf-cache/hub jit-cache ledger"
    )
    assert stated.splitlines() == [
        ". sglang:sglang 755",
        "docker sglang:sglang 755",
        "docker/secrets sglang:sglang 700",
        "hf-cache sglang:sglang 2775",
        "hf-cache/hub sglang:sglang 2775",
        "jit-cache sglang:sglang 755",
        "ledger sglang:sglang 755",
    ]
    acl = applied.shell(f"getfacl -p {HUB}").splitlines()
    assert {"# flags: -s-", "default:user::rwx", "default:group::rwx", "default:other::r-x"} <= set(acl)
    assert "default" not in applied.shell(f"getfacl -p {ROOT}/docker")


def test_a_second_apply_changes_nothing(applied: DebianTree) -> None:
    before = applied.shell(LISTING)
    journals = applied.shell("ls /var/lib/seatrial/host")
    again = json.loads(applied.seatrial("host", "apply", *PEOPLE, "--yes", "--json").stdout)
    assert again["changes"] == 0
    assert again["applied"]["outcomes"] == []
    assert applied.shell(LISTING) == before
    assert applied.shell("ls /var/lib/seatrial/host") == journals
    assert "nothing to change" in applied.seatrial("host", "plan", *PEOPLE).stdout


def test_an_admin_pulls_a_model_and_another_admin_deletes_it(applied: DebianTree) -> None:
    applied.shell(PULL, user="alice")
    assert applied.shell(f"stat -c '%U:%G %a' {HUB}/models--a--b/blobs/w") == "alice:sglang 664"
    assert applied.shell(f"stat -c '%U:%G %a' {HUB}/models--a--b/blobs") == "alice:sglang 2775"
    assert json.loads(applied.seatrial("host", "apply", *PEOPLE, "--yes", "--json").stdout)["changes"] == 0
    applied.shell(f"echo update >>{HUB}/models--a--b/blobs/w; rm -r {HUB}/models--a--b", user="bob")
    assert applied.shell(f"ls {HUB}") == ""


def test_an_outsider_reads_models_and_changes_none(applied: DebianTree) -> None:
    applied.shell(PULL, user="alice")
    assert applied.shell(f"cat {HUB}/models--a--b/snapshots/c0ffee/model.safetensors", user="mallory") == "weights"
    applied.shell(f"rm -r {HUB}/models--a--b", user="mallory", fails=True)
    applied.shell(f"touch {HUB}/x", user="mallory", fails=True)


@pytest.mark.parametrize("user", ["alice", "bob", "mallory"])
def test_nobody_in_the_group_changes_what_runs_in_production(applied: DebianTree, user: str) -> None:
    compose = f"{ROOT}/docker/compose.yaml"
    for attempt in (
        f"echo x >>{compose}",
        f"rm -f {compose}",
        f"mv {compose} {ROOT}/docker/old",
        f"touch {ROOT}/docker/compose.override.yaml",
        f"mv {ROOT}/docker {ROOT}/mine",
        f"mv {ROOT} /opt/mine",
        f"ls {ROOT}/docker/secrets",
        f"touch {ROOT}/jit-cache/kernel.so",
        f"touch {ROOT}/ledger/x",
    ):
        applied.shell(attempt, user=user, fails=True)
    assert applied.shell(f"cat {compose}") == "services: {}"


def test_the_service_account_changes_it(applied: DebianTree) -> None:
    applied.shell(f"runuser -u sglang -- sh -c 'echo x >>{ROOT}/docker/compose.yaml'")
    assert applied.shell(f"tail -1 {ROOT}/docker/compose.yaml") == "x"


MESS = f"""
useradd -m -s /bin/bash sglang; echo sglang:secret | chpasswd
{PULL}
mkdir -p {ROOT}/docker/secrets {ROOT}/jit-cache/triton
echo key >{ROOT}/docker/secrets/api_key
echo 'services: {{}}' >{ROOT}/docker/compose.yaml
echo TOKEN=1 >{ROOT}/docker/.env
echo hf_x >{ROOT}/hf-cache/token
chmod -R g+w,o+w {ROOT}/docker; chmod 644 {ROOT}/docker/secrets/api_key
setfacl -m u:mallory:rw {ROOT}/docker/compose.yaml
chown -R alice:alice {HUB}/models--a--b
"""


def test_a_tree_that_grew_by_hand_is_mended_and_can_be_had_back(tree: DebianTree) -> None:
    require_tools("getfacl", "setfacl")
    tree.shell(MESS)
    before = tree.shell(LISTING)
    shadow, account = tree.shell("getent shadow sglang"), tree.shell("getent passwd sglang")
    tree.seatrial("host", "apply", *PEOPLE, "--yes")
    assert tree.shell(
        f"stat -c '%U:%G %a' {ROOT}/docker/compose.yaml {ROOT}/docker/.env {ROOT}/docker/secrets/api_key "
        f"{ROOT}/hf-cache/token"
    ).splitlines() == [
        "sglang:sglang 644",
        "sglang:sglang 640",
        "sglang:sglang 600",
        "sglang:sglang 600",
    ]
    assert "mallory" not in tree.shell(f"getfacl {ROOT}/docker/compose.yaml")
    assert tree.shell("getent passwd sglang").endswith(":/opt/sglang:/usr/sbin/nologin")
    assert tree.shell("getent shadow sglang").split(":")[1].startswith("!")
    tree.shell(f"rm -r {HUB}/models--a--b/blobs && echo again >{HUB}/models--a--b/refs/main", user="bob")
    assert json.loads(tree.seatrial("host", "plan", *PEOPLE, "--json").stdout)["changes"] == 0
    tree.shell(f"rm -r {HUB}/models--a--b; {PULL} chown -R alice:alice {HUB}/models--a--b")
    shown = tree.seatrial("host", "apply", "--undo", "--yes", expect=None).stdout
    assert tree.shell("getent passwd sglang") == account
    assert tree.shell("getent shadow sglang").split(":")[1] == shadow.split(":")[1]
    kept = [line for line in before.splitlines() if "models--a--b" not in line and line.startswith(ROOT)]
    after = [line for line in tree.shell(LISTING).splitlines() if "models--a--b" not in line and line.startswith(ROOT)]
    assert [line for line in after if "/ledger" not in line] == kept, shown
    assert "user:mallory:rw-" in tree.shell(f"getfacl -p {ROOT}/docker/compose.yaml")


def test_undo_removes_what_apply_made_and_keeps_what_came_since(applied: DebianTree) -> None:
    applied.shell(PULL, user="alice")
    undone = applied.seatrial("host", "apply", "--undo", "--yes", expect=1).stdout
    assert "hf-cache/hub stays: " in undone
    assert "still owns files" in undone
    assert applied.shell(f"cat {HUB}/models--a--b/blobs/w") == "weights"
    assert applied.shell("getent passwd sglang").startswith("sglang:")
    assert applied.shell(f"ls {ROOT}").split() == ["docker", "hf-cache"]
    assert applied.shell("id -nG alice") == "alice"


def test_links_that_an_admin_plants_lead_nowhere(applied: DebianTree) -> None:
    applied.shell(
        f"ln -s /etc {HUB}/etc; ln -s /etc/shadow {HUB}/shadow; ln -s {ROOT}/docker {HUB}/docker", user="alice"
    )
    applied.shell(f"echo root >/opt/roots; ln /opt/roots {HUB}/hard 2>/dev/null || cp /opt/roots {HUB}/hard")
    before = applied.shell("stat -c '%U:%G %a' /etc /etc/shadow /opt/roots")
    report = applied.seatrial("host", "audit", *PEOPLE, "--fix", expect=None).stdout
    assert applied.shell("stat -c '%U:%G %a' /etc /etc/shadow /opt/roots") == before
    assert "second name" in report
    assert json.loads(applied.seatrial("host", "plan", *PEOPLE, "--json").stdout)["changes"] == 0


def test_without_root_it_says_what_needs_root_and_does_the_rest(applied: DebianTree) -> None:
    applied.shell(PULL, user="alice")
    applied.shell(f"chmod -R g-w {HUB}/models--a--b; chmod g+w {ROOT}/docker; useradd -m carol")
    shown = applied.seatrial("host", "apply", *PEOPLE, "--admin", "carol", "--yes", user="alice", expect=3).stdout
    assert "This needs root, and alice is not" in shown
    assert "usermod -aG sglang carol" in shown
    assert "sudo seatrial host apply" in shown
    assert applied.shell(f"stat -c %a {HUB}/models--a--b/blobs/w") == "664"
    assert applied.shell(f"stat -c %a {ROOT}/docker") == "775"
    left = json.loads(applied.seatrial("host", "plan", *PEOPLE, "--admin", "carol", "--json").stdout)
    assert [one["summary"] for one in left["actions"]] == [
        "put carol into the group sglang",
        "mend /docker in /opt/sglang/docker",
    ]
    applied.seatrial("host", "apply", "--undo", "--yes", user="alice")
    assert applied.shell(f"stat -c %a {HUB}/models--a--b/blobs/w") == "644"


def test_nobody_is_asked_without_a_terminal(tree: DebianTree) -> None:
    done = tree.seatrial("host", "apply", expect=2)
    assert "add --yes" in done.stderr
    assert "useradd -r" in done.stdout
    tree.shell("getent passwd sglang", fails=True)


def test_what_nothing_here_can_do_is_said(tree: DebianTree) -> None:
    tree.shell("groupdel docker")
    done = tree.seatrial("host", "apply", "--admin", "nobody-such", "--yes", expect=3)
    assert "There is no account nobody-such" in done.stdout
    assert "install Docker Engine" in done.stdout
    assert tree.shell("id -nG sglang") == "sglang"


def test_an_apply_that_is_killed_is_finished_by_the_next_and_can_be_undone(tree: DebianTree) -> None:
    tree.shell(f"mkdir -p {HUB}; cd {HUB}; for d in $(seq 60); do mkdir d$d; (cd d$d; seq 500 | xargs touch); done")
    before = tree.shell(f"find {ROOT} -printf '%p %U:%G %m\\n' | sort")
    process = start_apply(tree)
    until = time.monotonic() + 60
    while tree.shell(f"find {HUB} -user sglang | wc -l") in ("0", "1") and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    tree.seatrial("host", "apply", *PEOPLE, "--yes")
    assert json.loads(tree.seatrial("host", "plan", *PEOPLE, "--json").stdout)["changes"] == 0
    for _ in tree.shell("ls /var/lib/seatrial/host").split():
        tree.seatrial("host", "apply", "--undo", "--yes", expect=None)
    after = tree.shell(f"find {ROOT} -printf '%p %U:%G %m\\n' | sort")
    assert after == before
    tree.shell("getent passwd sglang", fails=True)


def start_apply(tree: DebianTree) -> subprocess.Popen[bytes]:
    """Start an apply whose process can be killed: `nsenter` and `chroot` become the program itself."""
    words = tree.seatrial_words("host", "apply", *PEOPLE, "--yes")
    return subprocess.Popen(tree.command(words), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def test_units_are_written_on_request_and_systemd_takes_them(applied: DebianTree, tmp_path: Path) -> None:
    applied.shell(
        "mkdir -p /usr/local/bin; printf '#!/bin/sh\\n' >/usr/local/bin/seatrial; chmod 755 /usr/local/bin/seatrial"
    )
    applied.seatrial("host", "apply", *PEOPLE, "--service", "--yes")
    units = applied.shell("ls /etc/systemd/system | grep seatrial").split()
    assert units == ["seatrial-sglang-reproof.service", "seatrial-sglang-reproof.timer", "seatrial-sglang.service"]
    text = applied.shell("cat /etc/systemd/system/seatrial-sglang-reproof.service")
    assert "User=sglang" in text
    assert "/usr/local/bin/seatrial host reprove --stack /opt/sglang/docker/stack.yaml --suite quick" in text
    again = json.loads(applied.seatrial("host", "plan", *PEOPLE, "--service", "--json").stdout)
    assert again["changes"] == 0
    applied.seatrial("host", "apply", "--undo", "--yes")
    assert applied.shell("ls /etc/systemd/system | grep seatrial || true") == ""


def test_systemd_takes_the_units(applied: DebianTree) -> None:
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd is not installed")
    applied.shell("printf '#!/bin/sh\\n' >/usr/local/bin/seatrial; chmod 755 /usr/local/bin/seatrial")
    applied.seatrial("host", "apply", *PEOPLE, "--service", "--yes")
    units = applied.shell("ls -d /etc/systemd/system/seatrial*").split()
    assert len(units) == 3
    said = applied.run("systemd-analyze", "verify", "--man=no", *units)
    assert [line for line in said.stderr.splitlines() if "seatrial" in line and "docker.service" not in line] == []


def test_a_folder_full_of_something_else_is_not_given_away(tree: DebianTree) -> None:
    tree.shell("mkdir -p /srv/photos; touch /srv/photos/a /srv/photos/b; chown -R alice: /srv/photos")
    done = tree.seatrial("host", "apply", "--root", "/srv/photos", "--yes", expect=3)
    assert "no stack's tree" in done.stdout
    assert tree.shell("stat -c %U /srv/photos/a") == "alice"
    assert "foreign-tree" in tree.seatrial("host", "audit", "--root", "/srv/photos", expect=1).stdout
