"""What a run writes: every exchange, and never a secret."""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.endpoint.address import Endpoint, Secret
from seatrial.endpoint.answer import Answer
from seatrial.endpoint.client import Client
from seatrial.endpoint.exchange import Exchange, FailureKind, Timing
from seatrial.errors import InputError, Interrupted, StorageError
from seatrial.runs.folder import RunFolder, RunStatus, to_json, write_atomically
from seatrial.runs.redaction import MARK, RedactingFormatter, Redactor
from seatrial.testkit import FakeServer, Reply, Script

from .conftest import RawServer, http

KEY = 'sk-"hünter22"\\-hunter22'
PLAIN = "sk-hunter22-hunter22"


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    level = logging.getLogger("seatrial").level
    yield
    logging.getLogger("seatrial").setLevel(level)


def files(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}


def exchange(**parts: Any) -> Exchange:
    request = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
    return replace(Exchange("r0001", "test", request, Timing(1_800_000_000.5)), **parts)


def rows(run: RunFolder) -> list[dict[str, Any]]:
    with (run.path / "requests.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


# --- secrets


@pytest.mark.parametrize("key", [PLAIN, KEY, "geheim-schlüssel-42"])
async def test_a_key_that_the_server_repeats_is_in_no_file_of_the_run(tmp_path: Path, key: str) -> None:
    def parrot(_: Mapping[str, Any]) -> Reply:
        return Reply(f"Your key is {key}.", reasoning=f"They sent {key}")

    secret = Secret(key)
    with RunFolder(tmp_path, "prove", Redactor([secret])) as run:
        async with (
            FakeServer(Script(answer=parrot)) as server,
            Client(Endpoint(server.base_url, "fake-model", secret), record=run.record) as client,
        ):
            got = await client.chat({"messages": [{"role": "user", "content": f"{key}?"}]}, label=key)
            await client.chat({"messages": [{"role": "user", "content": "x"}], "model": key}, label="404")
        run.write_json("verdict.json", {"evidence": [got], key: key})
        run.write_text("report.html", f"<p>{key}</p>")
        logging.getLogger("seatrial.endpoint").warning("the key %s was refused", key)
        logging.getLogger("seatrial").error("a traceback", exc_info=ValueError(key))
    written = files(run.path)
    assert sorted(written) == ["report.html", "requests.jsonl", "run.json", "seatrial.log", "verdict.json"]
    for name, text in written.items():
        assert "hunter22" not in text, name
        assert "schlüssel" not in text, name
    assert rows(run)[0]["answer"]["content"] == f"Your key is {MARK}."
    assert MARK in written["seatrial.log"]


async def test_the_record_of_a_stream_holds_no_key(tmp_path: Path) -> None:
    secret = Secret("hunter22hunter22")  # one token of the fake server, so it comes in one chunk
    script = Script(answer=lambda _: Reply("Your key is hunter22hunter22 indeed."))
    with RunFolder(tmp_path, "prove", Redactor([secret])) as run:
        async with (
            FakeServer(script) as server,
            Client(Endpoint(server.base_url, "fake-model", secret), record=run.record) as client,
        ):
            await client.chat({"messages": [{"role": "user", "content": "x"}], "stream": True}, label="x")
    (row,) = rows(run)
    assert row["answer"]["content"] == f"Your key is {MARK} indeed."


@pytest.mark.parametrize("key", ["null", "true", "1800", "test", "content", "answer", "messages", "EMPTY"])
def test_a_key_that_is_a_common_word_does_not_tear_up_the_record(tmp_path: Path, key: str) -> None:
    with RunFolder(tmp_path, "prove", Redactor([Secret(key)])) as run:
        run.record(exchange(answer=Answer(content=f"It is {key}!")))
        run.write_json("verdict.json", exchange())
    (row,) = rows(run)
    assert row["answer"]["content"] == f"It is {MARK}!"
    assert row["timing"]["sent_at"] == 1_800_000_000.5
    assert row["request"]["messages"][0]["content"] == "Hi"
    assert json.loads((run.path / "verdict.json").read_text(encoding="utf-8"))["failure"] is None


def test_placeholders_are_no_secrets() -> None:
    redact = Redactor([Secret("x"), Secret("abc"), Secret("")])
    assert redact("x abc") == "x abc"


def test_a_secret_within_a_secret() -> None:
    assert Redactor([Secret("abcd"), Secret("abcdefgh")])("-abcdefgh-abcd-") == f"-{MARK}-{MARK}-"


@given(st.text(min_size=4, max_size=12), st.text(max_size=20), st.text(max_size=20))
def test_no_text_keeps_a_secret(secret: str, before: str, after: str) -> None:
    redact = Redactor([Secret(secret)])
    for text in (before + secret + after, json.dumps(before + secret + after), json.dumps({secret: secret})):
        assert secret not in redact(text).replace(MARK, "")


def test_a_traceback_in_the_log_holds_no_key() -> None:
    record = logging.LogRecord("seatrial", logging.ERROR, "", 1, "asked with %s", (PLAIN,), None)
    assert PLAIN not in RedactingFormatter(Redactor([Secret(PLAIN)])).format(record)


# --- folders


def test_a_run_says_how_it_ended(tmp_path: Path) -> None:
    def status(run: RunFolder) -> Any:
        return json.loads((run.path / "run.json").read_text(encoding="utf-8"))

    with RunFolder(tmp_path, "prove") as run:
        assert status(run)["status"] == "running"
        assert status(run)["process"] == os.getpid()
        assert status(run)["ended"] is None
    assert (status(run)["status"], status(run)["verb"]) == ("finished", "prove")
    assert status(run)["ended"].endswith("Z")
    for error, ended in (
        (KeyboardInterrupt(), RunStatus.INTERRUPTED),
        (asyncio.CancelledError(), RunStatus.INTERRUPTED),
        (Interrupted("stopped"), RunStatus.INTERRUPTED),
        (ValueError("no"), RunStatus.FAILED),
    ):
        with pytest.raises(type(error)), RunFolder(tmp_path, "prove") as run:
            raise error
        assert status(run)["status"] == ended
    assert "ValueError: no" in (run.path / "seatrial.log").read_text(encoding="utf-8")


def test_runs_of_one_second_have_folders_of_their_own(tmp_path: Path) -> None:
    folders = set()
    for _ in range(5):
        with RunFolder(tmp_path / "new" / "deep", "prove") as run:
            folders.add(run.path)
    assert len(folders) == 5


def test_a_folder_that_can_not_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match=r"can't be made.*--runs"):
        RunFolder(tmp_path / "file" / "runs", "prove")


def test_every_exchange_is_on_disk_at_once(tmp_path: Path) -> None:
    with RunFolder(tmp_path, "prove") as run:
        run.record(exchange())
        assert len(rows(run)) == 1
        run.record(exchange(id="r0002"))
        assert [row["id"] for row in rows(run)] == ["r0001", "r0002"]


async def test_odd_answers_can_be_recorded(tmp_path: Path, raw_server: RawServer) -> None:
    deep = b'{"choices": [{"message": {"content": "x"}}], "x": ' + b"[" * 800 + b"]" * 800 + b"}"
    bodies = [
        deep,
        b'{"choices": [{"message": {"content": "x"}}], "x": NaN, "y": -Infinity, "z": 1e999}',
        rb'{"choices": [{"message": {"content": "\ud800"}}]}',
        b"\xff\x00\xfe",
        b'{"choices": [{"message": {"content": "\\u2028\\u0000"}}]}',
    ]
    with RunFolder(tmp_path, "prove") as run:
        for body in bodies:
            async with Client(Endpoint(await raw_server(http(body)), "m"), record=run.record) as client:
                await client.chat({"messages": []}, label="odd")
        run.write_json("all.json", {"rows": rows(run)})
    lines = (run.path / "requests.jsonl").read_text(encoding="utf-8").split("\n")
    assert len(lines) == len(bodies) + 1
    for line in lines[:-1]:
        json.loads(line, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_results_become_json() -> None:
    now = datetime(2026, 12, 1, 3, 4, 5, tzinfo=UTC)
    assert to_json({"a": (1, 2.5, None, True), "k": FailureKind.REFUSED, "p": Path("x"), "t": now}) == {
        "a": [1, 2.5, None, True],
        "k": "connection refused",
        "p": "x",
        "t": "2026-12-01T03:04:05.000Z",
    }
    document = to_json(exchange(answer=Answer(content="\ud800ä")))
    assert document["answer"]["content"] == "?ä"
    with pytest.raises(TypeError, match="Secret"):
        to_json({"key": Secret(PLAIN)})


def test_a_file_is_whole_or_not_there(tmp_path: Path) -> None:
    path = write_atomically(tmp_path / "a.json", "one")
    write_atomically(path, "two")
    assert path.read_text(encoding="utf-8") == "two"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.json"]
    with pytest.raises(TypeError):
        write_atomically(path, None)  # type: ignore[arg-type]
    assert path.read_text(encoding="utf-8") == "two"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.json"]


def test_a_full_disk_is_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = RunFolder(tmp_path, "test")

    def full(*_arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def write() -> None:
        with folder:
            monkeypatch.setattr("seatrial.runs.folder.write_atomically", full)
            folder.write_json("verdict.json", {})

    with pytest.raises(StorageError, match="can't be written") as told:
        write()
    assert "No space left on device" in str(told.value)
    assert str(folder.path) in str(told.value)
