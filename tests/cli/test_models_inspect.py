"""`models inspect` by the real program: of a folder, of the store, and of the Hub by range requests alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from checkpoint_kit import checkpoint_files, hybrid_config, hybrid_tensors, only, stored_as_hub_does, write_files
from hub_kit import Hub, commit_of, local_hub
from kit import CommandLine

AWQ: dict[str, Any] = {
    "quant_method": "awq", "bits": 4, "group_size": 32, "zero_point": True, "version": "gemm",
    "modules_to_not_convert": ["linear_attn", "self_attn", "shared_expert", "mlp.gate", "visual"],
}  # fmt: skip
GOOD = checkpoint_files(hybrid_config(**AWQ), hybrid_tensors(only("mlp.experts")))
BAD = checkpoint_files(hybrid_config(**AWQ), hybrid_tensors(only("mlp.experts", "mlp.gate")))


@pytest.fixture
def hub() -> Iterator[Hub]:
    with local_hub() as found:
        yield found


@pytest.fixture
def run(seatrial: CommandLine, hub: Hub) -> CommandLine:
    seatrial.environment |= {"HF_ENDPOINT": hub.url, "HF_HOME": str(seatrial.folder / "home")}
    return seatrial


def test_a_folder_is_read(run: CommandLine) -> None:
    write_files(run.folder / "good", GOOD)
    write_files(run.folder / "bad", BAD)
    text = run("models", "inspect", "./good", expect=0).stdout
    for words in (
        "awq, 4 bit, group 32",
        "routed experts",
        "chat template: tools, thinking",
        "temperature 0.6",
        "risk low",
    ):
        assert words in text
    bad = run("models", "inspect", "./bad", expect=1).stdout
    assert "quantized-where-plain" in bad
    assert "risk fatal" in bad


def test_the_json_is_whole(run: CommandLine) -> None:
    write_files(run.folder / "good", GOOD)
    document = json.loads(run("models", "inspect", "./good", "--json", expect=0).stdout)
    assert document["method"] == "awq"
    assert document["scales_read"] is True
    assert {"kind": "routed experts", "modules": 24, "quantized": 24, "dtypes": ["I32"]} in document["kinds"]
    quick = json.loads(run("models", "inspect", "./good", "--json", "--no-values", expect=0).stdout)
    assert quick["scales_read"] is False


def test_a_commit_in_the_store_is_read_there(run: CommandLine, hub: Hub) -> None:
    store = run.folder / "cache"
    commit = commit_of("a")
    stored_as_hub_does(store / "hub", "owner/Qwen3.6-X", {commit: GOOD}, {"v1": commit})
    document = json.loads(run("models", "inspect", "owner/Qwen3.6-X", "--json", "--store", store, expect=0).stdout)
    assert (document["repo"], document["revision"]) == ("owner/Qwen3.6-X", commit)
    assert [row["repo"] for row in document["on_record"] if row["verdict"] == "broken"] == [
        "QuantTrio/Qwen3.6-27B-AWQ", "cyankiwi/Qwen3.6-35B-A3B-AWQ-4bit",
    ]  # fmt: skip
    assert hub.requests == []


def test_the_hub_is_asked_for_headers_alone(run: CommandLine, hub: Hub) -> None:
    commit = hub.add("owner/Qwen3.6-X", BAD)
    done = run("models", "inspect", "owner/Qwen3.6-X", "--json", "--store", run.folder / "none", expect=1)
    document = json.loads(done.stdout)
    assert document["revision"] == commit
    assert "quantized-where-plain" in [finding["id"] for finding in document["findings"]]
    assert document["scales_read"] is False
    shards = [
        asked
        for method, path, asked, _ in hub.requests
        if method == "GET" and path.partition("?")[0].endswith(".safetensors")
    ]
    assert shards
    assert all(asked and asked.startswith("bytes=0-") for asked in shards)
    assert not list(run.folder.rglob("*.safetensors"))


@pytest.mark.parametrize(("name", "status"), [("owner/missing", 3), ("nothing", 2), ("./nothing", 2), ("/", 2)])
def test_what_is_no_checkpoint_is_one_clear_line(run: CommandLine, name: str, status: int) -> None:
    done = run("models", "inspect", name, "--store", run.folder / "none", expect=status)
    (error,) = [line for line in done.stderr.splitlines() if line.startswith("seatrial: ")]
    assert error.endswith((".", "login."))
    assert done.stdout == ""


def test_a_gated_checkpoint_is_said_to_be(run: CommandLine, hub: Hub) -> None:
    hub.add("owner/gated", GOOD, gated=True)
    done = run("models", "inspect", "owner/gated", "--store", run.folder / "none", expect=3)
    assert "accepted its terms" in done.stderr


def test_a_file_that_is_no_safetensors_is_named(run: CommandLine) -> None:
    folder = write_files(run.folder / "cut", GOOD | {"model-00001-of-00002.safetensors": b"version https://git-lfs"})
    done = run("models", "inspect", folder, expect=2)
    assert "model-00001-of-00002.safetensors" in done.stderr


def test_nothing_is_written_into_the_folder(run: CommandLine) -> None:
    folder = write_files(run.folder / "good", GOOD)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    run("models", "inspect", folder, expect=0)
    assert {path: path.stat().st_mtime_ns for path in Path(folder).rglob("*")} == before
