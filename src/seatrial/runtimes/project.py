"""A stack's folder on disk: the files that make it, its secrets, and what starts it. What all runtimes share."""

from __future__ import annotations

import socket
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

from seatrial.endpoint.address import Secret, read_api_key
from seatrial.errors import InputError, StartError, StorageError
from seatrial.planning.plan import Plan
from seatrial.runtimes.instance import Instance, Launcher
from seatrial.runtimes.snapshot import Snapshot
from seatrial.stack.model import Stack
from seatrial.text_files import write_secret

ENGINE_CONFIG = "secrets/engine.yaml"


@dataclass(frozen=True, slots=True)
class Project(ABC):
    """Where a stack lies.

    Attributes:
        stack_file: the stack file; its folder holds everything else.
    """

    stack_file: Path

    @property
    def folder(self) -> Path:
        """The stack's folder."""
        return self.stack_file.absolute().parent

    @property
    @abstractmethod
    def file_names(self) -> tuple[str, ...]:
        """The files that make the stack, by their names in the folder."""

    @property
    @abstractmethod
    def is_written(self) -> bool:
        """Whether there is anything that could have been started."""

    @abstractmethod
    def files(self, plan: Plan, stack_text: str) -> Snapshot:
        """Say what the files of a plan hold."""

    @abstractmethod
    def edited_by_hand(self, wanted: Snapshot) -> str:
        """Show how a written file was edited by hand; empty where none was."""

    @abstractmethod
    def drift(self, wanted: Snapshot) -> list[str]:
        """Say where the files on disk differ from what the plan would write, a sentence each."""

    @abstractmethod
    def refuse_unready(self, plan: Plan) -> None:
        """Make sure that this runtime can start the plan here.

        Raises:
            InputError: it can't, with what to do about it.
        """

    @abstractmethod
    def launcher(self, plan: Plan | None = None) -> Launcher:
        """Find what starts and stops the stack; without a plan, only what was started before can be asked for."""

    def refuse_edited(self, wanted: Snapshot) -> None:
        """Never overwrite what somebody wrote by hand.

        Raises:
            InputError: a file is not as seatrial wrote it; with the difference.
        """
        shown = self.edited_by_hand(wanted)
        if shown:
            raise InputError(
                f"it was edited by hand, or not written by seatrial:\n{shown}",
                where=str(self.folder / self.file_names[-1]),
                advice="Take the change into the stack file (`seatrial adopt`), or overwrite it with --force.",
            )

    def write_secrets(self, stack: Stack) -> Secret | None:
        """Write the engine's own config file with the API key, mode 0600; return the key.

        Raises:
            InputError: the key's file can't be read, or others can read it.
        """
        if stack.serve.api_key_file is None:
            return None
        key = read_api_key(self.folder / stack.serve.api_key_file)
        assert key is not None
        path = self.folder / ENGINE_CONFIG
        text = f"api-key: {_quoted(key.reveal())}\n"
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            write_secret(path, text)
        return key

    def make_folders(self, stack: Stack) -> None:
        """Make the store and the cache folder before Docker does: it would make them root's.

        Raises:
            StorageError: they can't be made.
        """
        for name in (stack.store, stack.jit_cache):
            path = self.folder / name
            try:
                path.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise StorageError(f"it can't be made ({error.strerror})", where=str(path)) from None


def refuse_taken_port(stack: Stack, ours: list[Instance]) -> None:
    """Make sure that nobody else listens where the stack wants to be reached.

    Raises:
        StartError: another program does.
    """
    wanted = f":{stack.serve.port}"
    if any(place.endswith(wanted) for one in ours for places in one.ports.values() for place in places):
        return
    host = stack.serve.reachable_host
    try:
        socket.create_connection((host, stack.serve.port), timeout=2).close()
    except OSError:
        return
    raise StartError(
        f"another server already listens on {host}:{stack.serve.port}",
        where="serve.port",
        advice=f"`ss -ltnp 'sport = :{stack.serve.port}'` names it; stop it, or take another port.",
    )


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
