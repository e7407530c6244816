"""The audit on a real Debian tree: each kind of drift is found with what it breaks, and mended where that is safe."""

from __future__ import annotations

import json
from typing import Any

import pytest

from host.conftest import PEOPLE
from host.debian_tree import DebianTree, require_tools

ROOT = "/opt/sglang"
HUB = f"{ROOT}/hf-cache/hub"

MENDED = [
    (f"chmod g+w {ROOT}/docker/compose.yaml", "docker-group-write", "error", "docker/compose.yaml", "seatrial status"),
    (f"chmod g+w {ROOT}/docker", "docker-group-write", "error", "docker", "runs in production"),
    (f"chmod o+w {ROOT}/docker/compose.yaml", "docker-others-write", "error", "docker/compose.yaml", "everybody"),
    (f"chmod g+w {ROOT}", "tree-group-write", "error", ROOT, "replace everything in it"),
    (f"setfacl -m g:alice:rwx {ROOT}/docker", "docker-access-acl", "error", "docker", "mode looks right"),
    (f"setfacl -dm g:alice:rwx {ROOT}/docker", "docker-default-acl", "error", "docker", "next file"),
    (f"install -m 644 /dev/null {ROOT}/docker/secrets/api_key", "readable-secret", "error", "secrets/api_key", "key"),
    (f"install -m 640 /dev/null {ROOT}/docker/tls.key", "readable-secret", "error", "docker/tls.key", "group may read"),
    (f"install -m 644 /dev/null {ROOT}/docker/.env", "readable-secret", "error", "docker/.env", "everybody"),
    (
        f"install -m 644 -o alice /dev/null {ROOT}/hf-cache/token",
        "readable-secret",
        "error",
        "hf-cache/token",
        "account",
    ),
    (
        f"mkdir -p {ROOT}/jit-cache/triton/x",
        "root-owned-cache",
        "warning",
        "jit-cache/triton",
        "chown -hR sglang:sglang",
    ),
    (f"setfacl -k {HUB}; mkdir {HUB}/models--b", "hf-cache-no-default-acl", "warning", "hub", "umask (0644)"),
    (f"chmod g-s {HUB}", "hf-cache-no-setgid", "warning", "hf-cache/hub", "first group"),
    (f"mkdir {HUB}/m; chown alice:alice {HUB}/m", "hf-cache-group", "warning", "hub/m", "other admins can't"),
    (f"mkdir {HUB}/m; chown mallory {HUB}/m", "hf-cache-owner", "warning", "hub/m", "its owner may change it"),
    (f"touch {HUB}/f; chmod 644 {HUB}/f", "hf-cache-not-group-writable", "warning", "hub/f", "setgid keeps the group"),
    (f"touch {HUB}/f; chmod 4775 {HUB}/f", "hf-cache-setuid", "error", "hub/f", "owner's rights"),
    (f"touch {ROOT}/ledger/x; chmod 666 {ROOT}/ledger/x", "ledger-others-write", "error", "ledger/x", "evidence"),
]


@pytest.mark.parametrize(("drift", "kind", "level", "where", "says"), MENDED, ids=[row[0] for row in MENDED])
def test_drift_in_the_tree_is_found_and_mended(
    kept: DebianTree, drift: str, kind: str, level: str, where: str, says: str
) -> None:
    require_tools("setfacl")
    kept.shell(drift)
    told = audit(kept)
    found = [one for one in told if one["id"] == kind]
    assert found, told
    assert found[0]["level"] == level
    assert found[0]["where"].endswith(where)
    assert says in found[0]["message"] + found[0]["advice"]
    assert [one["id"] for one in audit(kept, "--fix")] == ["docker-group-is-root"]
    assert json.loads(kept.seatrial("host", "plan", *PEOPLE, "--json").stdout)["changes"] == 0


LEFT = [
    ("usermod -s /bin/bash sglang", "account-with-shell", "error", "root on this host"),
    ("echo sglang:x | chpasswd", "account-with-password", "error", "host apply"),
    ("usermod -aG sudo sglang", "service-account-may-become-root", "error", "gpasswd -d sglang sudo"),
    ("gpasswd -d sglang docker", "not-in-docker-group", "error", "docker compose"),
    ("gpasswd -d bob sglang", "admin-not-in-group", "warning", "next login"),
    ("usermod -d /home/sglang sglang", "other-home", "warning", "/home/sglang"),
    ("groupadd else; usermod -g else sglang", "other-first-group", "error", "else"),
    ("usermod -aG docker bob", "people-in-docker-group", "warning", "gpasswd -d bob docker"),
    ("chmod o+w /opt", "open-folder-above", "error", "chmod go-w /opt"),
    ("chown mallory /opt", "foreign-folder-above", "warning", "/opt"),
    (
        f"mkdir {ROOT}/sglang-env; touch {ROOT}/sglang-env/pyvenv.cfg; chown -R sglang: {ROOT}/sglang-env",
        "environment-in-tree",
        "warning",
        "pinned image",
    ),
    (
        f"mkdir {ROOT}/.ssh; echo k >{ROOT}/.ssh/authorized_keys; chown -R sglang: {ROOT}/.ssh",
        "keys-without-shell",
        "warning",
        "forced command",
    ),
    (
        f"rmdir {HUB}; mkdir -p /data/hub; ln -s /data/hub {HUB}; chown -h sglang: {HUB}",
        "linked-part",
        "warning",
        "bind mount",
    ),
    ("mv /opt/sglang /opt/real; ln -s real /opt/sglang", "tree-unreadable", "error", "it is a link"),
    (f"rmdir {ROOT}/ledger", "folder-missing", "warning", "ledger"),
    (f"touch {HUB}/a; chown root: {HUB}/a; ln {HUB}/a {HUB}/b", "hard-link", "warning", "samefile"),
]


@pytest.mark.parametrize(("drift", "kind", "level", "says"), LEFT, ids=[row[0][:60] for row in LEFT])
def test_what_is_not_safe_to_mend_is_told_and_left(
    applied: DebianTree, drift: str, kind: str, level: str, says: str
) -> None:
    applied.shell(drift)
    told = audit(applied, "--fix")
    found = [one for one in told if one["id"] == kind]
    assert found, told
    assert found[0]["level"] == level
    assert says in found[0]["message"] + found[0]["advice"] + found[0]["where"]


def test_what_a_container_left_as_root_is_only_noted_where_the_group_can_use_it(applied: DebianTree) -> None:
    applied.shell(f"mkdir -p {HUB}/models--a/blobs; touch {HUB}/models--a/blobs/w")
    (found,) = [one for one in audit(applied) if one["id"] == "root-owned-cache"]
    assert found["level"] == "note"
    applied.shell(f"rm -r {HUB}/models--a", user="alice")


def test_a_bare_machine_lacks_account_and_tree(tree: DebianTree) -> None:
    done = tree.seatrial("host", "audit", "--json", expect=1)
    kinds = {one["id"] for one in json.loads(done.stdout)["findings"]}
    assert {"no-service-account", "no-tree"} <= kinds


def test_a_person_without_root_is_told_what_can_not_be_seen(applied: DebianTree) -> None:
    done = applied.seatrial("host", "audit", *PEOPLE, "--json", user="alice", expect=0)
    told = [one["message"] for one in json.loads(done.stdout)["findings"] if one["id"] == "cannot-tell"]
    assert any("password is locked" in message for message in told)
    assert any("can't be looked at by alice" in message for message in told)


def audit(tree: DebianTree, *words: str) -> list[dict[str, Any]]:
    return list(json.loads(tree.seatrial("host", "audit", *PEOPLE, *words, "--json", expect=None).stdout)["findings"])
