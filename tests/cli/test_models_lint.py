"""`models lint`: layout, owners, modes and room of a store, each made wrong on a real disk."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from checkpoint_kit import plain_model, stored_as_hub_does, write_files
from hub_kit import commit_of
from kit import CommandLine

COMMIT = commit_of("a")
FILES = plain_model()


@pytest.fixture
def hub(seatrial: CommandLine) -> Path:
    hub = seatrial.folder / "cache" / "hub"
    stored_as_hub_does(hub, "owner/name", {COMMIT: FILES}, {"main": COMMIT})
    share(hub)
    return hub


def share(hub: Path) -> None:
    """Give it the modes of the deployment notes."""
    for path in (hub, *hub.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o2775 if path.is_dir() else 0o664)


def lint(run: CommandLine, *arguments: str | Path, expect: int = 0) -> dict[str, dict[str, Any]]:
    done = run("models", "lint", "--json", *(arguments or ("--store", run.folder / "cache")), expect=expect)
    return {finding["id"]: finding for finding in json.loads(done.stdout)["findings"]}


def quiet(found: dict[str, dict[str, Any]]) -> set[str]:
    """What is said of any store on this disk is left out."""
    return found.keys() - {"default-acl-missing", "disk-low", "listing-unknown"}


def test_a_shared_store_in_order_has_nothing_wrong(seatrial: CommandLine, hub: Path) -> None:
    assert quiet(lint(seatrial)) == set()
    assert lint(seatrial, "--store", hub) == lint(seatrial)


def test_what_seatrial_pulled_passes_its_own_lint(seatrial: CommandLine) -> None:
    from hub_kit import local_hub

    seatrial.folder.chmod(0o755)
    (seatrial.folder / "cache/hub").mkdir(parents=True)
    (seatrial.folder / "cache/hub").chmod(0o2775)
    with local_hub() as server:
        server.add("owner/name", FILES)
        seatrial("models", "pull", "owner/name", "--store", seatrial.folder / "cache", expect=0, HF_ENDPOINT=server.url)
    assert quiet(lint(seatrial)) == set()


def needs_root() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")


def test_a_root_containers_files_are_found_with_one_command(seatrial: CommandLine, hub: Path) -> None:
    needs_root()
    stored_as_hub_does(hub, "owner/byroot", {COMMIT: FILES}, {"main": COMMIT})
    share(hub)
    for path in (hub, *(hub / "models--owner--name").rglob("*"), hub / "models--owner--name"):
        os.chown(path, 1234, 2345, follow_symlinks=False)
    found = lint(seatrial)["owners-mixed"]
    assert "models--owner--byroot" in found["message"]
    assert "models--owner--name" not in found["message"]
    assert found["advice"] == f"One command: chown -R 1234:2345 {hub}"


def test_an_admin_of_the_group_may_pull_without_a_complaint(seatrial: CommandLine, hub: Path) -> None:
    needs_root()
    for path in (hub, *hub.rglob("*")):
        os.chown(path, 1234, 2345, follow_symlinks=False)
    for path in (hub / "models--owner--name", *(hub / "models--owner--name").rglob("*")):
        os.chown(path, 4321, 2345, follow_symlinks=False)
    assert quiet(lint(seatrial)) == set()
    os.chown(hub / "models--owner--name/refs", 4321, 777)
    assert "owners-mixed" in lint(seatrial)


def test_modes_that_setgid_does_not_mend_are_found(seatrial: CommandLine, hub: Path) -> None:
    blob = next((hub / "models--owner--name/blobs").iterdir())
    blob.chmod(0o644)
    (hub / "models--owner--name/refs").chmod(0o775)
    found = lint(seatrial)
    assert "1 files and folders: models--owner--name" in found["modes-narrow"]["message"]
    assert f"chmod -R g+rwX {hub}" in found["modes-narrow"]["advice"]
    assert "find" in found["setgid-missing"]["advice"]
    subprocess.run(found["setgid-missing"]["advice"], shell=True, check=True)
    blob.chmod(0o664)
    assert quiet(lint(seatrial)) == set()


def test_a_store_of_one_account_is_only_noted(seatrial: CommandLine, hub: Path) -> None:
    for path in (hub, *hub.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() else 0o644)
    assert quiet(lint(seatrial)) == {"store-not-shared"}


def test_weights_that_everybody_may_write_are_an_error(seatrial: CommandLine, hub: Path) -> None:
    next((hub / "models--owner--name/blobs").iterdir()).chmod(0o666)
    assert "o-w" in lint(seatrial, expect=1)["store-world-writable"]["advice"]


def test_a_token_that_others_can_read_is_an_error_and_is_not_shown(seatrial: CommandLine, hub: Path) -> None:
    token = hub.parent / "token"
    token.write_text("hf_SecretOfSomebody12345")
    token.chmod(0o640)
    found = lint(seatrial, expect=1)
    assert "0640" in found["token-readable"]["message"]
    assert "SecretOfSomebody" not in json.dumps(found)
    token.chmod(0o600)
    assert quiet(lint(seatrial)) == set()


def test_flat_files_are_an_error(seatrial: CommandLine, hub: Path) -> None:
    write_files(hub, FILES | {"README.md": b"`hf download owner/flat`"})
    found = lint(seatrial, expect=1)["flat-files"]
    assert "owner/flat" in found["message"]
    assert "--local-dir" in found["message"]


def test_a_hub_in_the_hub_and_models_beside_it_are_errors(seatrial: CommandLine, hub: Path) -> None:
    stored_as_hub_does(hub / "hub", "owner/deep", {COMMIT: FILES}, {"main": COMMIT})
    assert "HF_HOME" in lint(seatrial, expect=1)["hub-in-hub"]["message"]
    stored_as_hub_does(hub.parent, "owner/beside", {COMMIT: FILES}, {"main": COMMIT})
    assert "models--owner--beside" in lint(seatrial, expect=1)["models-beside-hub"]["message"]


def test_a_folder_that_no_engine_finds_by_name_is_said(seatrial: CommandLine, hub: Path) -> None:
    write_files(hub / "my-model", FILES)
    (hub / "my-model").chmod(0o2775)
    assert "my-model" in lint(seatrial)["folder-unknown"]["message"]


def test_a_missing_main_or_a_cut_file_is_said_before_going_offline(seatrial: CommandLine, hub: Path) -> None:
    (hub / "models--owner--name/refs/main").unlink()
    assert "without network" in lint(seatrial)["ref-main-missing"]["message"]
    shard = (hub / "models--owner--name/snapshots" / COMMIT / "model-00001-of-00002.safetensors").resolve()
    shard.write_bytes(shard.read_bytes()[:-9])
    assert "owner/name" in lint(seatrial, expect=1)["shard-truncated"]["message"]


def test_a_container_that_is_not_root_must_be_able_to_write(seatrial: CommandLine, hub: Path) -> None:
    (seatrial.folder / "stack.yaml").write_text(
        "name: a\nmodel:\n  repo: owner/name\nstore: ./cache\ncontainer:\n  non_root: true\n"
    )
    (seatrial.folder / ".env").write_text("SGLANG_UID=4242\nSGLANG_GID=4343\n")
    found = lint(seatrial, expect=1)["store-not-writable-for"]
    assert "4242:4343" in found["message"]
    assert f"chown -R 4242:4343 {hub}" in found["advice"] or "chown -R 4242:4343" in found["advice"]


def test_a_read_only_store_is_found_by_writing(seatrial: CommandLine, hub: Path) -> None:
    """A mode does not tell: the mount is read-only, and the account may be root."""
    if subprocess.run(["unshare", "--mount", "--map-root-user", "true"], capture_output=True, check=False).returncode:
        pytest.skip("no mount namespaces here")
    command = " ".join(map(str, seatrial.command(["models", "lint", "--json", "--store", "cache"])))
    script = f"mount --bind cache cache && mount -o remount,bind,ro cache || exit 77; {command}"
    done = subprocess.run(
        ["unshare", "--mount", "--map-root-user", "sh", "-c", script],
        cwd=seatrial.folder, env=seatrial.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode == 77:
        pytest.skip("nothing may be mounted here")
    assert "store-not-writable" in [finding["id"] for finding in json.loads(done.stdout)["findings"]]
    assert done.returncode == 1


def test_a_store_that_is_not_there_is_said(seatrial: CommandLine) -> None:
    assert set(lint(seatrial, "--store", seatrial.folder / "none")) == {"store-missing"}


def test_no_probe_is_left(seatrial: CommandLine, hub: Path) -> None:
    before = sorted(path.name for path in hub.iterdir())
    lint(seatrial)
    assert sorted(path.name for path in hub.iterdir()) == before
