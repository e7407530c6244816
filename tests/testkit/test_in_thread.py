"""The fake server for code that is not asynchronous, and by hand."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from kit import hear_ctrl_c
from seatrial.testkit import Fault, Script, fake_server, fake_server_process
from seatrial.testkit.__main__ import main


def chat(base_url: str, key: str = "") -> Any:
    body = {"model": "fake-model", "messages": [{"role": "user", "content": "What is 2+2?"}]}
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
    with urlopen(Request(f"{base_url}/chat/completions", json.dumps(body).encode(), headers), timeout=5) as response:
        return json.load(response)["choices"][0]["message"]["content"]


def test_a_server_in_a_thread_answers_and_closes() -> None:
    with fake_server() as server:
        assert chat(server.base_url) == "2+2 = 4."
        assert len(server.chats) == 1
        port = int(server.origin.rsplit(":", 1)[1])
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=1)


def test_a_script_can_be_replaced_while_it_serves() -> None:
    with fake_server() as server:
        server.script = Script(faults=frozenset({Fault.EMPTY_ANSWER}))
        assert chat(server.base_url) == ""


def test_a_port_that_is_taken_is_an_error_not_a_hang() -> None:
    with fake_server() as server:
        port = int(server.origin.rsplit(":", 1)[1])
        with pytest.raises(OSError, match=r"address already in use|in use"), fake_server(port=port):
            pass


def test_an_error_in_the_block_still_closes_the_server() -> None:
    with pytest.raises(ZeroDivisionError), fake_server() as server:
        raise ZeroDivisionError
    with pytest.raises(OSError, match="refused"):
        chat(server.base_url)


def test_a_server_in_a_process_of_its_own_ends_with_the_block() -> None:
    with fake_server_process("--fault", "token_salad") as base_url:
        assert "4" not in chat(base_url)
    with pytest.raises(OSError, match="refused"):
        chat(base_url)


def test_a_process_that_can_not_start_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="ended at once"), fake_server_process("--fault", "no such fault"):
        pass


def test_by_hand_with_a_key(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("sesame-open-now\n", encoding="utf-8")
    file.chmod(0o600)
    with fake_server_process("--api-key-file", str(file)) as base_url:
        assert chat(base_url, "sesame-open-now") == "2+2 = 4."
        with pytest.raises(HTTPError, match="401"):
            chat(base_url, "wrong")


def test_by_hand_a_key_that_can_not_be_read_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--api-key-file", str(tmp_path / "absent")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_by_hand_it_lists_its_faults(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list-faults"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert "loop_reasoning" in listed
    assert "crlf  (legal)" in listed
    assert len(listed) == len(Fault)


def test_by_hand_ctrl_c_ends_it_quietly() -> None:
    import signal

    command = [sys.executable, "-m", "seatrial.testkit", "--port", "0"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, preexec_fn=hear_ctrl_c) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline().startswith("http://127.0.0.1:")
        process.send_signal(signal.SIGINT)
        assert process.wait(5) == 0
        assert process.stderr.read() == ""
