"""A stack's folder on disk: the files that the plan writes, what was edited by hand, and whether the port is free."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from pathlib import Path

from seatrial.endpoint.address import Secret, read_api_key
from seatrial.errors import InputError, StartError
from seatrial.launches.interpolation import parse_env_file
from seatrial.planning.plan import Plan
from seatrial.release.snapshot import Snapshot
from seatrial.runtimes.compose.docker import Container
from seatrial.runtimes.compose.rendering import (
    PLAN_LABEL,
    Places,
    difference,
    is_as_written,
    plan_digest,
    render_compose,
    render_env,
)
from seatrial.stack.model import Stack
from seatrial.text_files import write_secret

COMPOSE_FILE = "compose.yaml"
ENV_FILE = ".env"
ENGINE_CONFIG = "secrets/engine.yaml"


@dataclass(frozen=True, slots=True)
class Project:
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
    def file_names(self) -> tuple[str, ...]:
        """The files that make the stack, by their names in the folder."""
        return (self.stack_file.name, COMPOSE_FILE, ENV_FILE)

    def files(self, plan: Plan, stack_text: str) -> Snapshot:
        """Say what the files of a plan hold."""
        places = Places(plan.stack.store, plan.stack.jit_cache, f"./{ENGINE_CONFIG}" if _has_key(plan.stack) else None)
        return Snapshot(
            {
                self.stack_file.name: stack_text,
                COMPOSE_FILE: render_compose(plan, places),
                ENV_FILE: self._env(),
            }
        )

    def _env(self) -> str:
        """Keep an .env that is there: it may hold what only this host knows."""
        path = self.folder / ENV_FILE
        if path.is_file():
            return path.read_text(encoding="utf-8")
        return render_env(os.getuid(), os.getgid())

    def edited_by_hand(self, wanted: Snapshot) -> str:
        """Show how the Compose file was edited by hand; empty where it was not, or is not there."""
        path = self.folder / COMPOSE_FILE
        if not path.is_file():
            return ""
        found = path.read_text(encoding="utf-8", errors="replace")
        if is_as_written(found):
            return ""
        return difference(wanted.files[COMPOSE_FILE], found, name=COMPOSE_FILE)

    def refuse_edited(self, wanted: Snapshot) -> None:
        """Never overwrite what somebody wrote by hand.

        Raises:
            InputError: the Compose file is not as seatrial wrote it; with the difference.
        """
        shown = self.edited_by_hand(wanted)
        if shown:
            raise InputError(
                f"it was edited by hand, or not written by seatrial:\n{shown}",
                where=str(self.folder / COMPOSE_FILE),
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

    def check_non_root(self, stack: Stack) -> None:
        """Make sure that the container's account can write what it must, where it does not run as root.

        Raises:
            InputError: `.env` lacks its numbers, or a folder is not its own to write.
        """
        if not stack.container.non_root:
            return
        variables = parse_env_file(self._env())
        try:
            user, group = int(variables["SGLANG_UID"]), int(variables["SGLANG_GID"])
        except (KeyError, ValueError):
            raise InputError(
                "container.non_root needs SGLANG_UID and SGLANG_GID", where=str(self.folder / ENV_FILE)
            ) from None
        for name in (stack.store, stack.jit_cache):
            path = self.folder / name
            if not _may_write(path, user, group):
                raise InputError(
                    f"user {user}, group {group} can't write it, and the engine must",
                    where=str(path),
                    advice=f"Run: chown -R {user}:{group} {path}",
                )

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
                from seatrial.errors import StorageError  # noqa: PLC0415 - only where it goes wrong

                raise StorageError(f"it can't be made ({error.strerror})", where=str(path)) from None


def _may_write(path: Path, user: int, group: int) -> bool:
    facts = path.stat()
    bits = 0o200 if facts.st_uid == user else 0o020 if facts.st_gid == group else 0o002
    return user == 0 or bool(facts.st_mode & bits)


def refuse_taken_port(stack: Stack, ours: list[Container]) -> None:
    """Make sure that nobody else listens where the stack wants to be reached.

    Raises:
        StartError: another program does.
    """
    wanted = f":{stack.serve.port}"
    if any(place.endswith(wanted) for container in ours for places in container.ports.values() for place in places):
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


def runs_as_planned(plan: Plan, containers: list[Container]) -> Container | None:
    """Find the running container that was started from this very plan."""
    digest = plan_digest(plan)
    return next((found for found in containers if found.is_running and found.labels.get(PLAN_LABEL) == digest), None)


def _has_key(stack: Stack) -> bool:
    return stack.serve.api_key_file is not None


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
