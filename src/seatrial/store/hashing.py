"""Checks a blob against its name: the Hub names large files by their sha256 and small ones by git's sha1."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path

BLOCK_BYTES = 1 << 22
SHA256 = re.compile(r"[0-9a-f]{64}")
GIT_SHA1 = re.compile(r"[0-9a-f]{40}")

OnBytes = Callable[[int], None]
"""Told how many more bytes were handled; may raise to end the work."""


def can_check(etag: str) -> bool:
    """Whether a blob's name says what its content must be."""
    return SHA256.fullmatch(etag) is not None or GIT_SHA1.fullmatch(etag) is not None


def digest_like(path: Path, etag: str, on_bytes: OnBytes = lambda _more: None) -> str:
    """Compute the digest of a file in the way that a blob's name was computed.

    Args:
        path: the file.
        etag: 64 hexadecimal digits for sha256, 40 for git's sha1 (over `blob SIZE`, a zero byte and the content).
        on_bytes: told of progress.

    Raises:
        OSError: the file can't be read.
    """
    with path.open("rb") as file:
        if GIT_SHA1.fullmatch(etag):
            digest = hashlib.sha1(usedforsecurity=False)
            digest.update(f"blob {path.stat().st_size}\0".encode())
        else:
            digest = hashlib.sha256()
        while block := file.read(BLOCK_BYTES):
            digest.update(block)
            on_bytes(len(block))
    return digest.hexdigest()


def is_whole(path: Path, size: int, etag: str, on_bytes: OnBytes = lambda _more: None) -> bool:
    """Whether a file has the size and the content that its blob's name promises; by size alone for unknown names."""
    if path.stat().st_size != size:
        return False
    return not can_check(etag) or digest_like(path, etag, on_bytes) == etag
