"""A local Hub with the real one's shapes: listings, hashes, LFS redirects to another host, ranges, gates, limits, cuts.

The client under test is the real huggingface_hub. What goes wrong is said by the test: a connection that is cut after
so many bytes, one corrupt byte, 429 with Retry-After, a token that is not accepted.
"""

from __future__ import annotations

import hashlib
import http.server
import json
import random
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

LARGE_BYTES = 1_000
"""From here on a file is LFS: named by its sha256 and served by the other host."""


def commit_of(text: str) -> str:
    """Make a commit's name."""
    return hashlib.sha1(text.encode()).hexdigest()


def git_name(data: bytes) -> str:
    """Name a blob as git does."""
    return hashlib.sha1(f"blob {len(data)}\0".encode() + data).hexdigest()


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def noise(size: int, seed: int = 0) -> bytes:
    """Make bytes that no other file has."""
    return random.Random(seed).randbytes(size)


DTYPES = {"F32": 4, "F16": 2, "BF16": 2, "I32": 4, "U8": 1, "F8_E4M3": 1, "I64": 8}


def safetensors(tensors: Mapping[str, tuple[str, tuple[int, ...], bytes | None]], *, seed: int = 0) -> bytes:
    """Make a real safetensors file: name -> dtype, shape, content (None: noise)."""
    header: dict[str, Any] = {}
    body = bytearray()
    for number, (name, (dtype, shape, data)) in enumerate(tensors.items()):
        count = 1
        for size in shape:
            count *= size
        content = noise(count * DTYPES[dtype], seed + number) if data is None else data
        assert len(content) == count * DTYPES[dtype], name
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [len(body), len(body) + len(content)]}
        body += content
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + bytes(body)


@dataclass
class Repository:
    """One repository: its branches, and the files of each commit."""

    commits: dict[str, dict[str, bytes]]
    refs: dict[str, str]
    gated: bool = False
    private: bool = False
    licence: str | None = "apache-2.0"


@dataclass
class Hub:
    """The server, and what it shall do wrong.

    Attributes:
        token: the only one that opens gated repositories.
        cut_after: bytes after which the connection of a large file breaks, once each time it is asked.
        corrupt: sha256 of a file -> how often one byte of it is wrong.
        too_many: so many of the next requests for files get 429.
        retry_after: what 429 says, in seconds.
        bytes_per_second: of large files; None for no limit.
        ignore_ranges: the other host sends whole files whatever is asked.
        page: entries of a page of a listing.
        before_block: called before each block of a large file.
        requests: what was asked: method, path, range, whether there was a token.
    """

    repositories: dict[str, Repository] = field(default_factory=dict)
    token: str = "hf_" + "LocalTestTokenAbcdef123456"
    cut_after: int | None = None
    corrupt: dict[str, int] = field(default_factory=dict)
    too_many: int = 0
    retry_after: int = 0
    bytes_per_second: float | None = None
    ignore_ranges: bool = False
    page: int = 1_000
    before_block: Callable[[], None] = lambda: None
    requests: list[tuple[str, str, str | None, str | None]] = field(default_factory=list)
    sent_bytes: int = 0
    url: str = ""
    cdn: str = ""

    def add(self, repo: str, files: Mapping[str, bytes], *, ref: str = "main", **more: Any) -> str:
        """Add a commit; return its name."""
        commit = commit_of(repo + ref + "".join(sorted(files)) + sha256(b"".join(files.values())))
        found = self.repositories.setdefault(repo, Repository({}, {}))
        found.commits[commit] = dict(files)
        found.refs[ref] = commit
        for name, value in more.items():
            setattr(found, name, value)
        return commit

    def content(self, name: str) -> bytes | None:
        """Find a large file by its sha256."""
        for repository in self.repositories.values():
            for files in repository.commits.values():
                for data in files.values():
                    if sha256(data) == name:
                        return data
        return None


def _handler(hub: Hub, *, cdn: bool) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
            del format, args

        def do_HEAD(self) -> None:
            self._serve()

        def do_GET(self) -> None:
            self._serve()

        def _serve(self) -> None:
            address = urlsplit(self.path)
            hub.requests.append((self.command, self.path, self.headers.get("Range"), self.headers.get("Authorization")))
            try:
                if cdn:
                    self._large(unquote(address.path).rsplit("/", 1)[-1], parse_qs(address.query))
                elif address.path.startswith("/api/models/"):
                    self._api(unquote(address.path).removeprefix("/api/models/"), parse_qs(address.query))
                else:
                    self._resolve(unquote(address.path).lstrip("/"))
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def _allowed(self) -> bool:
            return self.headers.get("Authorization") == f"Bearer {hub.token}"

        def _api(self, path: str, query: Mapping[str, list[str]]) -> None:
            repo, rest = "/".join(path.split("/")[:2]), path.split("/")[2:]
            found = hub.repositories.get(repo)
            if found is None or (found.private and not self._allowed()):
                return self._refuse(401, "RepoNotFound")
            if rest == ["auth-check"]:
                if (found.gated or found.private) and not self._allowed():
                    return self._refuse(403 if self.headers.get("Authorization") else 401, "GatedRepo")
                return self._json({})
            revision = "/".join(rest[1:]) if len(rest) > 1 else "main"
            commit = found.refs.get(revision, revision)
            if commit not in found.commits:
                return self._refuse(404, "RevisionNotFound")
            files = found.commits[commit]
            if rest[:1] == ["tree"]:
                return self._tree(path, files, int(query.get("cursor", ["0"])[0]))
            siblings = [
                {"rfilename": name, "size": len(data), "blobId": git_name(data)}
                | ({"lfs": {"sha256": sha256(data), "size": len(data), "pointerSize": 134}} if _large(data) else {})
                for name, data in files.items()
            ]
            card = {"license": found.licence} if found.licence else {}
            return self._json(
                {
                    "_id": "0" * 24, "id": repo, "modelId": repo, "sha": commit, "private": found.private,
                    "gated": "manual" if found.gated else False, "disabled": False, "tags": ["safetensors"],
                    "downloads": 0, "likes": 0, "cardData": card, "siblings": siblings,
                }
            )  # fmt: skip

        def _tree(self, path: str, files: Mapping[str, bytes], start: int) -> None:
            rows: list[dict[str, Any]] = []
            folders = {"/".join(name.split("/")[:depth]) for name in files for depth in range(1, name.count("/") + 1)}
            rows += [{"type": "directory", "oid": commit_of(name), "size": 0, "path": name} for name in sorted(folders)]
            for name, data in files.items():
                row: dict[str, Any] = {"type": "file", "oid": git_name(data), "size": len(data), "path": name}
                if _large(data):
                    row["lfs"] = {"oid": sha256(data), "size": len(data), "pointerSize": 134}
                rows.append(row)
            more = {}
            if start + hub.page < len(rows):
                more["Link"] = f'<{hub.url}/api/models/{path}?recursive=true&cursor={start + hub.page}>; rel="next"'
            self._json(rows[start : start + hub.page], more)

        def _resolve(self, path: str) -> None:
            repo, _, rest = path.partition("/resolve/")
            revision, _, name = rest.partition("/")
            found = hub.repositories.get(repo)
            if found is None or (found.private and not self._allowed()):
                return self._refuse(401, "RepoNotFound")
            if found.gated and not self._allowed():
                return self._refuse(403 if self.headers.get("Authorization") else 401, "GatedRepo")
            if hub.too_many > 0:
                hub.too_many -= 1
                return self._refuse(429, None, {"Retry-After": str(hub.retry_after)})
            commit = found.refs.get(revision, revision)
            data = found.commits.get(commit, {}).get(name)
            if data is None:
                return self._refuse(404, "EntryNotFound")
            headers = {"X-Repo-Commit": commit, "Accept-Ranges": "bytes"}
            if not _large(data):
                return self._send(200, data, headers | {"ETag": f'"{git_name(data)}"'})
            headers |= {
                "X-Linked-Etag": f'"{sha256(data)}"', "X-Linked-Size": str(len(data)), "ETag": '"pointer"',
                "Location": f"{hub.cdn}/{sha256(data)}?Expires=1&Signature=SignedSecretOfTheAddress",
            }  # fmt: skip
            return self._send(302, b"", headers)

        def _large(self, name: str, query: Mapping[str, list[str]]) -> None:
            data = hub.content(name)
            if data is None or "Signature" not in query:
                return self._refuse(403, None)
            if hub.corrupt.get(name, 0) > 0:
                hub.corrupt[name] -= 1
                data = data[:-7] + bytes([data[-7] ^ 1]) + data[-6:]
            asked = None if hub.ignore_ranges else self.headers.get("Range")
            headers = {"ETag": '"cdn"', "Accept-Ranges": "bytes"}
            if not asked:
                return self._send(200, data, headers)
            first, _, last = asked.removeprefix("bytes=").partition("-")
            end = min(int(last or len(data) - 1), len(data) - 1)
            if int(first) > end:
                return self._refuse(416, None)
            headers["Content-Range"] = f"bytes {first}-{end}/{len(data)}"
            return self._send(206, data[int(first) : end + 1], headers)

        def _json(self, document: object, headers: Mapping[str, str] | None = None) -> None:
            self._send(200, json.dumps(document).encode(), {"Content-Type": "application/json", **(headers or {})})

        def _refuse(self, status: int, code: str | None, headers: Mapping[str, str] | None = None) -> None:
            # The real Hub never repeats a token; a proxy's error page may.
            body = json.dumps({"error": f"refused, {self.headers.get('Authorization')}"}).encode()
            message = f"no: {self.headers.get('Authorization')}"
            known = {"X-Error-Code": code, "X-Error-Message": message} if code else {}
            self._send(status, body, {**known, **(headers or {}), "Content-Type": "application/json"})

        def _send(self, status: int, data: bytes, headers: Mapping[str, str]) -> None:
            self.send_response(status)
            for header, value in headers.items():
                self.send_header(header, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command == "HEAD":
                return
            if not (cdn and status in (200, 206)):
                self.wfile.write(data)
                return
            self._blocks(data)

        def _blocks(self, data: bytes) -> None:
            size = 16_384
            for start in range(0, len(data), size):
                hub.before_block()
                block = data[start : start + size]
                if hub.cut_after is not None and start + len(block) > hub.cut_after:
                    self.wfile.write(block[: max(0, hub.cut_after - start)])
                    self.wfile.flush()
                    self.close_connection = True
                    self.connection.close()
                    return
                self.wfile.write(block)
                hub.sent_bytes += len(block)
                if hub.bytes_per_second:
                    time.sleep(len(block) / hub.bytes_per_second)

    return Handler


def _large(data: bytes) -> bool:
    return len(data) >= LARGE_BYTES


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that was killed is no news."""


@contextmanager
def local_hub() -> Iterator[Hub]:
    """Serve a Hub, and its other host for large files, on free ports of this machine."""
    hub = Hub()
    servers = []
    for cdn in (False, True):
        server = _Server(("127.0.0.1", 0), _handler(hub, cdn=cdn))
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        servers.append(server)
    hub.url, hub.cdn = (
        f"http://127.0.0.1:{servers[0].server_address[1]}",
        f"http://localhost:{servers[1].server_address[1]}",
    )
    try:
        yield hub
    finally:
        for server in servers:
            server.shutdown()
            server.server_close()
