"""A checkpoint's facts from the Hub without its weights: the real client against a local server of the Hub's shapes."""

from __future__ import annotations

import http.server
import json
import struct
import threading
from collections.abc import Iterator
from typing import ClassVar

import pytest

from kit import CommandLine
from seatrial.facts.file import parse_facts

COMMIT = "0123456789abcdef0123456789abcdef01234567"
CONFIG = {
    "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "hidden_size": 64, "intermediate_size": 128,
    "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "vocab_size": 256,
    "max_position_embeddings": 4096, "torch_dtype": "bfloat16",
}  # fmt: skip


def _shard() -> bytes:
    """Make a real safetensors file with one tensor."""
    header = json.dumps(
        {"model.embed_tokens.weight": {"dtype": "BF16", "shape": [256, 64], "data_offsets": [0, 32768]}}
    ).encode()
    return struct.pack("<Q", len(header)) + header + bytes(32768)


class Hub(http.server.BaseHTTPRequestHandler):
    """What the client asks of the Hub: a repository's files, and ranges of them."""

    files: ClassVar[dict[str, bytes]] = {
        "config.json": json.dumps(CONFIG).encode(),
        "generation_config.json": b"{}",
        "chat_template.jinja": b"{% if tools %}<tool_call>{% endif %}<think>{{ messages }}",
        "model.safetensors": _shard(),
    }
    sent: ClassVar[int] = 0

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
        del format, args

    def _answer(self, *, body: bool) -> None:
        path = self.path.partition("?")[0]
        if path.startswith("/api/models/owner/gated"):
            self._send(403, b"{}", {"X-Error-Code": "GatedRepo"}, body=body)
        elif path.startswith("/api/models/owner/name"):
            siblings = [{"rfilename": name} for name in self.files]
            document = {"id": "owner/name", "sha": COMMIT, "siblings": siblings, "tags": [], "downloads": 0}
            self._send(200, json.dumps(document).encode(), {"Content-Type": "application/json"}, body=body)
        elif path.startswith(f"/owner/name/resolve/{COMMIT}/") and path.rsplit("/", 1)[-1] in self.files:
            self._file(self.files[path.rsplit("/", 1)[-1]], body=body)
        else:
            self._send(404, b"{}", {"X-Error-Code": "RepoNotFound"}, body=body)

    def _file(self, data: bytes, *, body: bool) -> None:
        headers = {"ETag": f'"{hash(data) & 0xFFFFFFFF:x}"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}
        asked = self.headers.get("Range")
        if asked:
            first, _, last = asked.removeprefix("bytes=").partition("-")
            end = min(int(last or len(data) - 1), len(data) - 1)
            headers["Content-Range"] = f"bytes {first}-{end}/{len(data)}"
            Hub.sent += end + 1 - int(first)
            self._send(206, data[int(first) : end + 1], headers, body=body)
        else:
            self._send(200, data, headers, body=body)

    def _send(self, status: int, data: bytes, headers: dict[str, str], *, body: bool) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if body:
            self.wfile.write(data)


@pytest.fixture
def hub() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()


def test_the_facts_come_from_small_files_and_headers(seatrial: CommandLine, hub: str) -> None:
    text = seatrial("facts", "--gpus", "h100", "--model", "owner/name", expect=0, HF_ENDPOINT=hub).stdout
    model = parse_facts(text, where="facts.yaml").model
    assert model is not None
    assert (model.repo, model.revision, model.context_length) == ("owner/name", COMMIT, 4096)
    assert model.chat_template is not None
    assert model.chat_template.tools
    assert model.tensor_bytes["model.embed_tokens.weight"] == 32768


def test_what_the_hub_does_not_have_or_does_not_give_is_one_clear_line(seatrial: CommandLine, hub: str) -> None:
    gated = seatrial("facts", "--gpus", "h100", "--model", "owner/gated", expect=3, HF_ENDPOINT=hub)
    missing = seatrial("facts", "--gpus", "h100", "--model", "owner/missing", expect=3, HF_ENDPOINT=hub)
    assert "accepted its terms" in gated.stderr
    assert "does not know" in missing.stderr
    assert not gated.stdout + missing.stdout


def test_a_hub_that_can_not_be_reached_ends_at_once(seatrial: CommandLine) -> None:
    done = seatrial("facts", "--gpus", "h100", "--model", "owner/name", expect=3, HF_ENDPOINT="http://127.0.0.1:9")
    assert "can't be reached" in done.stderr
