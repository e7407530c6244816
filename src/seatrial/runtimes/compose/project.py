"""The files of a stack on Docker: stack file, compose.yaml, .env; what was edited by hand; the container's account."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from seatrial.errors import InputError
from seatrial.launches.interpolation import parse_env_file
from seatrial.planning.plan import Plan
from seatrial.runtimes.compose.docker import Compose
from seatrial.runtimes.compose.rendering import Places, difference, is_as_written, render_compose, render_env
from seatrial.runtimes.project import ENGINE_CONFIG, Project
from seatrial.runtimes.snapshot import Snapshot

COMPOSE_FILE = "compose.yaml"
ENV_FILE = ".env"


@dataclass(frozen=True, slots=True)
class ComposeProject(Project):
    """A stack that runs in a container."""

    @property
    def file_names(self) -> tuple[str, ...]:
        """The stack file, .env and compose.yaml."""
        return (self.stack_file.name, ENV_FILE, COMPOSE_FILE)

    @property
    def is_written(self) -> bool:
        """Whether there is a Compose file."""
        return (self.folder / COMPOSE_FILE).is_file()

    def files(self, plan: Plan, stack_text: str) -> Snapshot:
        """Say what the files of a plan hold."""
        stack = plan.stack
        places = Places(stack.store, stack.jit_cache, f"./{ENGINE_CONFIG}" if stack.serve.api_key_file else None)
        return Snapshot(
            {self.stack_file.name: stack_text, COMPOSE_FILE: render_compose(plan, places), ENV_FILE: self._env()}
        )

    def _env(self) -> str:
        """Keep an .env that is there: it may hold what only this host knows."""
        path = self.folder / ENV_FILE
        if path.is_file():
            return path.read_text(encoding="utf-8")
        return render_env(os.getuid(), os.getgid())

    def edited_by_hand(self, wanted: Snapshot) -> str:
        """Show how the Compose file was edited by hand; empty where it was not, or is not there."""
        if not self.is_written:
            return ""
        found = (self.folder / COMPOSE_FILE).read_text(encoding="utf-8", errors="replace")
        if is_as_written(found):
            return ""
        return difference(wanted.files[COMPOSE_FILE], found, name=COMPOSE_FILE)

    def drift(self, wanted: Snapshot) -> list[str]:
        """Say how the Compose file differs from what the plan would write."""
        if not self.is_written:
            return ["compose.yaml is not written yet: seatrial up"]
        if self.edited_by_hand(wanted):
            return ["compose.yaml was edited by hand"]
        if (self.folder / COMPOSE_FILE).read_text(encoding="utf-8") != wanted.files[COMPOSE_FILE]:
            return ["the stack file was changed since compose.yaml was written: seatrial plan --diff compose.yaml"]
        return []

    def refuse_unready(self, plan: Plan) -> None:
        """Make sure that the container's account can write what it must, where it does not run as root.

        Raises:
            InputError: `.env` lacks its numbers, or a folder is not its own to write.
        """
        stack = plan.stack
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

    def launcher(self, plan: Plan | None = None) -> Compose:
        """Find the Compose project, by the plan's name or by the name in its file."""
        return Compose(self.folder, plan.stack.name if plan else self._name())

    def _name(self) -> str:
        for line in (self.folder / COMPOSE_FILE).read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("name: "):
                return line.removeprefix("name: ").strip().strip('"')
        raise InputError(
            "it names no project", where=str(self.folder / COMPOSE_FILE), advice="`seatrial up` writes it anew."
        )


def _may_write(path: Path, user: int, group: int) -> bool:
    facts = path.stat()
    bits = 0o200 if facts.st_uid == user else 0o020 if facts.st_gid == group else 0o002
    return user == 0 or bool(facts.st_mode & bits)
