"""`models verify` finds each kind of damage, and `--repair` mends it, by the real program against a local Hub."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from checkpoint_kit import plain_model, tree, write_files
from hub_kit import Hub, commit_of, git_name, local_hub, noise, safetensors, sha256
from kit import CommandLine

REPO = "owner/name"
SHARD = "model-00001-of-00002.safetensors"
FILES = plain_model()


@pytest.fixture
def hub() -> Iterator[Hub]:
    with local_hub() as found:
        yield found


@pytest.fixture
def run(seatrial: CommandLine, hub: Hub) -> CommandLine:
    seatrial.environment |= {"HF_ENDPOINT": hub.url, "HF_HOME": str(seatrial.folder / "home")}
    hub.add(REPO, FILES)
    seatrial("models", "pull", REPO, "--store", seatrial.folder / "cache", expect=0)
    return seatrial


def folder_of(run: CommandLine) -> Path:
    return run.folder / "cache/hub/models--owner--name"


def snapshot_of(run: CommandLine) -> Path:
    (snapshot,) = (folder_of(run) / "snapshots").iterdir()
    return snapshot


def verify(run: CommandLine, *arguments: str, expect: int) -> dict[str, Any]:
    done = run("models", "verify", *arguments, "--json", "--store", run.folder / "cache", expect=expect)
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def ids(document: dict[str, Any]) -> list[str]:
    return [finding["id"] for model in document["models"] for finding in model["findings"]]


def test_a_model_as_it_was_pulled_is_whole_and_every_byte_was_compared(run: CommandLine) -> None:
    document = verify(run, expect=0)
    assert document["whole"]
    assert ids(document) == []
    assert document["models"][0]["checked_bytes"] == sum(map(len, FILES.values()))
    assert "whole" in run("models", "verify", REPO, "--store", run.folder / "cache", expect=0).stdout


def flip(run: CommandLine) -> None:
    blob = (snapshot_of(run) / SHARD).resolve()
    data = bytearray(blob.read_bytes())
    data[len(data) // 2] ^= 4
    blob.write_bytes(data)


def cut(run: CommandLine) -> None:
    blob = (snapshot_of(run) / SHARD).resolve()
    blob.write_bytes(blob.read_bytes()[:-5_000])


def empty(run: CommandLine) -> None:
    (snapshot_of(run) / SHARD).resolve().write_bytes(b"")


def drop_blob(run: CommandLine) -> None:
    (snapshot_of(run) / SHARD).resolve().unlink()


def drop_name(run: CommandLine) -> None:
    (snapshot_of(run) / "tokenizer.json").unlink()


def drop_shard(run: CommandLine) -> None:
    (snapshot_of(run) / SHARD).unlink()


def pointer(run: CommandLine) -> None:
    blob = (snapshot_of(run) / SHARD).resolve()
    blob.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")


def drop_ref(run: CommandLine) -> None:
    (folder_of(run) / "refs/main").unlink()


def dangle(run: CommandLine) -> None:
    (folder_of(run) / "refs/main").write_text(commit_of("gone"))


def abandon(run: CommandLine) -> None:
    (folder_of(run) / "blobs" / f"{sha256(b'x')}.1a2b3c4d.incomplete").write_bytes(b"half")


def spare(run: CommandLine) -> None:
    (folder_of(run) / "blobs" / sha256(b"spare")).write_bytes(b"spare")


DAMAGES: list[tuple[Callable[[CommandLine], None], set[str], int]] = [
    (flip, {"content-corrupt"}, 1),
    (cut, {"content-corrupt", "file-size", "shard-truncated"}, 1),
    (empty, {"content-corrupt", "file-size", "shard-unreadable"}, 1),
    (drop_blob, {"link-broken", "shard-missing"}, 1),
    (drop_name, {"file-missing"}, 1),
    (drop_shard, {"file-missing", "shard-missing"}, 1),
    (pointer, {"content-corrupt", "file-size", "shard-unreadable"}, 1),
    (abandon, {"download-abandoned"}, 0),
    (spare, {"content-unused"}, 0),
]


@pytest.mark.parametrize(("damage", "expected", "status"), DAMAGES, ids=[damage.__name__ for damage, _, _ in DAMAGES])
def test_damage_is_found_and_mended(
    run: CommandLine, damage: Callable[[CommandLine], None], expected: set[str], status: int
) -> None:
    before = tree(run.folder / "cache")
    damage(run)
    found = set(ids(verify(run, expect=status)))
    assert expected <= found
    document = verify(run, "--repair", expect=0)
    assert document["whole"]
    assert document["repaired"]
    assert tree(run.folder / "cache") == before
    assert ids(verify(run, expect=0)) == []


def test_without_hashes_sizes_names_and_headers_are_still_compared(run: CommandLine) -> None:
    flip(run)
    assert ids(verify(run, "--no-hashes", expect=0)) == []
    cut(run)
    assert set(ids(verify(run, "--no-hashes", expect=1))) == {"file-size", "shard-truncated"}


def test_a_missing_branch_is_said_for_an_engine_without_network(run: CommandLine) -> None:
    drop_ref(run)
    assert ids(verify(run, expect=0)) == ["ref-main-missing"]
    dangle(run)
    assert ids(verify(run, expect=1)) == ["ref-dangling"]


def test_half_a_download_is_kept_for_the_next_pull(run: CommandLine) -> None:
    half = folder_of(run) / "blobs" / f"{sha256(b'more')}.incomplete"
    half.write_bytes(b"half of it")
    assert ids(verify(run, expect=0)) == ["download-half"]
    verify(run, "--repair", expect=0)
    assert half.exists()


def test_tensors_are_compared_with_the_index(run: CommandLine, hub: Hub) -> None:
    files = dict(FILES)
    index = json.loads(files["model.safetensors.index.json"])
    first, second = sorted(index["weight_map"])[:2]
    index["weight_map"]["model.layers.99.mlp.weight"] = SHARD
    del index["weight_map"][second]
    files["model.safetensors.index.json"] = json.dumps(index).encode()
    files["model-old.safetensors"] = safetensors({first: ("BF16", (2, 2), None)})
    hub.add("owner/wrong", files)
    run("models", "pull", "owner/wrong", "--store", run.folder / "cache", expect=0)
    document = verify(run, "owner/wrong", expect=1)
    assert set(ids(document)) == {"tensors-missing", "tensors-extra", "shard-extra"}


def test_a_link_out_of_the_store_is_an_error_for_the_container(run: CommandLine) -> None:
    elsewhere = run.folder / "elsewhere.json"
    elsewhere.write_bytes(FILES["config.json"])
    name = snapshot_of(run) / "config.json"
    name.unlink()
    name.symlink_to(elsewhere)
    assert "link-outside" in ids(verify(run, expect=1))


def test_one_commit_can_be_looked_at_alone_and_what_is_not_there_is_said(run: CommandLine) -> None:
    assert verify(run, f"{REPO}@main", expect=0)["whole"]
    for name in ("owner/missing", f"{REPO}@v9"):
        done = run("models", "verify", name, "--store", run.folder / "cache", expect=2)
        assert "not in the store" in done.stderr
    assert "no store" in run("models", "verify", "--store", run.folder / "none", expect=2).stderr


def test_a_store_of_another_program_is_checked_by_its_blobs_names(run: CommandLine) -> None:
    """Without a listing, the names of the blobs are hashes all the same."""
    for path in (folder_of(run) / ".seatrial").iterdir():
        path.unlink()
    assert ids(verify(run, expect=0)) == ["listing-unknown"]
    flip(run)
    assert "content-corrupt" in ids(verify(run, expect=1))
    verify(run, "--repair", expect=0)


def flat(run: CommandLine, files: dict[str, bytes], commit: str, *, records: bool = True) -> Path:
    """Lay files into the hub folder, with what `hf download --local-dir` keeps beside them."""
    hub = run.folder / "cache/hub"
    write_files(hub, files)
    for name, data in files.items() if records else ():
        etag = sha256(data) if len(data) >= 1_000 else git_name(data)
        write_files(hub / ".cache/huggingface/download", {f"{name}.metadata": f"{commit}\n{etag}\n1.0\n".encode()})
    return hub


def test_flat_files_are_named_and_moved_to_their_model(run: CommandLine, hub: Hub) -> None:
    other = plain_model(seed=7)
    other["README.md"] = b"---\nbase_model: big/base\n---\n`vllm serve owner/flat` or `hf download owner/flat`"
    commit = hub.add("owner/flat", other)
    flat(run, other, commit)
    document = verify(run, expect=1)
    assert document["flat_files"]["candidates"][0]["repo"] == "owner/flat"
    assert sorted(document["flat_files"]["files"]) == sorted(other)
    text = run("models", "verify", "--store", run.folder / "cache", expect=1).stdout
    assert "of owner/flat? its model card's commands name it 2 times" in text
    refused = run("models", "verify", "--repair", "--store", run.folder / "cache", expect=2)
    assert "--as owner/flat" in refused.stderr
    done = verify(run, "--repair", "--as", "owner/flat", expect=0)
    assert sorted(done["moved"]) == sorted(other)
    snapshot = run.folder / "cache/hub/models--owner--flat/snapshots" / commit
    assert {path.name: path.read_bytes() for path in snapshot.iterdir()} == other
    assert not list((run.folder / "cache/hub").glob("*.safetensors"))
    run("models", "pull", "owner/flat", "--store", run.folder / "cache", expect=0)
    assert not any("/owner/flat/resolve/" in path for _, path, _, _ in hub.requests)


def test_a_flat_model_that_is_in_the_store_already_is_recognised_by_its_content(run: CommandLine) -> None:
    flat(run, FILES, snapshot_of(run).name)
    document = verify(run, expect=1)
    assert document["flat_files"]["candidates"][0] == {"repo": REPO, "why": "its commit is in the store, too"}
    verify(run, "--repair", "--as", REPO, expect=0)


def test_two_models_laid_over_each_other_are_said_to_be(run: CommandLine, hub: Hub) -> None:
    one, two = plain_model(seed=11), plain_model(seed=12)
    two["config.json"] = b'{"model_type": "other"}'
    first, second = hub.add("owner/one", one), hub.add("owner/two", two)
    del two[SHARD]
    flat(run, one, first)
    flat(run, two, second)
    document = verify(run, expect=1)
    assert document["flat_files"]["mixed"]
    assert set(document["flat_files"]["commits"]) == {first, second}
    verify(run, "--repair", "--as", "owner/two", expect=1)
    left = [
        path.name for path in (run.folder / "cache/hub").iterdir() if path.is_file() and path.name != "CACHEDIR.TAG"
    ]
    assert left == [SHARD]
    verify(run, "--repair", "--as", "owner/one", expect=0)


def test_flat_files_move_without_the_hub_where_their_records_say_enough(run: CommandLine, hub: Hub) -> None:
    other = plain_model(seed=7)
    commit = hub.add("owner/flat", other)
    flat(run, other, commit)
    run.environment["HF_ENDPOINT"] = "http://127.0.0.1:9"
    done = verify(run, "--repair", "--as", "owner/flat", expect=0)
    assert sorted(done["moved"]) == sorted(other)


def test_a_flat_file_with_other_content_than_the_models_is_left_alone(run: CommandLine, hub: Hub) -> None:
    other = plain_model(seed=7)
    commit = hub.add("owner/flat", other)
    hub_folder = flat(run, other | {SHARD: noise(len(other[SHARD]), 3)}, commit)
    verify(run, "--repair", "--as", "owner/flat", expect=1)
    assert (hub_folder / SHARD).exists()
    assert [path.name for path in (hub_folder / "models--owner--flat/snapshots").iterdir()] == [commit]
