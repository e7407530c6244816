"""The files of a stack that runs as a process: the stack file alone; and where that must not be done."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seatrial.errors import InputError
from seatrial.planning.plan import Plan
from seatrial.runtimes.instance import PLAN_LABEL, STACK_LABEL
from seatrial.runtimes.process.command import Command, command_of
from seatrial.runtimes.process.environment import find_environment, production_tree
from seatrial.runtimes.process.local import RECORD, LocalProcess
from seatrial.runtimes.project import ENGINE_CONFIG, Project
from seatrial.runtimes.snapshot import STATE_FOLDER, Snapshot


@dataclass(frozen=True, slots=True)
class ProcessProject(Project):
    """A stack that runs as a process of this machine."""

    @property
    def file_names(self) -> tuple[str, ...]:
        """The stack file."""
        return (self.stack_file.name,)

    @property
    def _state(self) -> Path:
        return self.folder / STATE_FOLDER / "process"

    @property
    def is_written(self) -> bool:
        """Whether a process was ever started."""
        return (self._state / RECORD).is_file()

    def files(self, plan: Plan, stack_text: str) -> Snapshot:
        """Say what the files of a plan hold: the command is made anew at each start."""
        del plan
        return Snapshot({self.stack_file.name: stack_text})

    def edited_by_hand(self, wanted: Snapshot) -> str:
        """Nothing is written that could be."""
        del wanted
        return ""

    def drift(self, wanted: Snapshot) -> list[str]:
        """Nothing is written that could differ."""
        del wanted
        return []

    def refuse_unready(self, plan: Plan) -> None:
        """Make sure that the engine is there, is the version that was planned for, and may run here.

        Raises:
            InputError: one of these is not so.
        """
        environment = self._environment(plan)
        for path in (self.folder, environment):
            tree = production_tree(path)
            if tree is not None:
                raise InputError(
                    f"{tree} is a production tree: there the engine runs from its pinned image, in a container",
                    where=f"engine.environment: {environment}",
                    advice="Evaluate in another folder, with an environment of its own; or give engine.image.",
                )
        found = find_environment(environment)
        if found.version != plan.version:
            raise InputError(
                f"the environment holds {found.version}, and the plan is for {plan.version}",
                where="engine.version",
                advice="Leave engine.version out: it is then read from the environment.",
            )

    def launcher(self, plan: Plan | None = None) -> LocalProcess:
        """Find the process of this stack."""
        if plan is None:
            return LocalProcess(self._state)
        return LocalProcess(self._state, lambda: self._start(plan))

    def _start(self, plan: Plan) -> tuple[Command, dict[str, Any]]:
        stack = plan.stack
        environment = self._environment(plan)
        config = self.folder / ENGINE_CONFIG if stack.serve.api_key_file else None
        command = command_of(plan, environment / "bin" / "python", self.folder, config, os.environ)
        facts = {
            "name": stack.name,
            "environment": str(environment),
            "host": stack.serve.host,
            "port": stack.serve.port,
            "labels": {STACK_LABEL: stack.name, PLAN_LABEL: plan.digest},
        }
        return command, facts

    def _environment(self, plan: Plan) -> Path:
        named = plan.stack.engine.environment
        assert named is not None, "chosen by it"
        return (self.folder / Path(named).expanduser()).absolute()
