"""A stack's files as they were at one moment: enough to start it again, byte for byte."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from seatrial.errors import InputError
from seatrial.text_files import write_whole

STATE_FOLDER = ".seatrial"
"""In the stack's folder: what seatrial must remember about it. Journal, last proven stack, a process's record."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """File names, relative to the stack's folder, and what they hold. Secrets are no part of it: they stay in place."""

    files: Mapping[str, str]

    @property
    def digest(self) -> str:
        """Name it in twelve hexadecimal digits."""
        parts = (f"{name}\0{text}" for name, text in sorted(self.files.items()))
        return hashlib.sha256("\0\0".join(parts).encode()).hexdigest()[:12]

    @staticmethod
    def take(folder: Path, names: Iterable[str]) -> Snapshot:
        """Read the files of these names that are there."""
        files = {}
        for name in names:
            path = folder / name
            if path.is_file():
                files[name] = path.read_text(encoding="utf-8")
        return Snapshot(files)

    def put(self, folder: Path) -> None:
        """Write every file that differs, each whole or not at all.

        Raises:
            StorageError: the folder can't be written, or the disk is full.
        """
        for name, text in self.files.items():
            path = folder / name
            if not path.is_file() or path.read_text(encoding="utf-8") != text:
                write_whole(path, text)

    def save(self, path: Path) -> None:
        """Keep it as one file, which appears whole or not at all.

        Raises:
            StorageError: the folder can't be written, or the disk is full.
        """
        write_whole(path, json.dumps({"files": dict(self.files)}, ensure_ascii=False, indent=1) + "\n")

    @staticmethod
    def load(path: Path) -> Snapshot | None:
        """Read what `save` kept; None where there is nothing.

        Raises:
            InputError: it is there and can't be understood.
        """
        try:
            files = json.loads(path.read_text(encoding="utf-8"))["files"]
            return Snapshot({str(name): str(text) for name, text in files.items()})
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"the kept files can't be read ({type(error).__name__})", where=str(path)) from None
