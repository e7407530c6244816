"""A plan becomes the command and the environment of a process. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from seatrial.planning.plan import Plan
from seatrial.planning.setting import text_of

MODULE = "sglang.launch_server"
LEFT_OUT = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
"""Of our own environment: they would make the engine's interpreter find our packages."""


@dataclass(frozen=True, slots=True)
class Command:
    """What is started.

    Attributes:
        words: the interpreter and its arguments; no secret is among them.
        variables: the whole environment.
    """

    words: tuple[str, ...]
    variables: Mapping[str, str]


def command_of(plan: Plan, python: Path, folder: Path, engine_config: Path | None, ours: Mapping[str, str]) -> Command:
    """Make the command of a plan.

    Args:
        plan: its settings become arguments and variables.
        python: the engine's interpreter.
        folder: the stack's; its store lies relative to it.
        engine_config: the 0600 file with the API key; None without a key.
        ours: the environment that we run in; the engine gets it too, without what is about our own Python.
    """
    words = [str(python), "-m", MODULE, *plan.arguments]
    if engine_config is not None:
        words += ["--config", str(engine_config)]
    variables = {name: value for name, value in ours.items() if name not in LEFT_OUT}
    variables["HF_HOME"] = str((folder / plan.stack.store).resolve())
    variables["PYTHONUNBUFFERED"] = "1"
    variables |= {name: text_of(value) for name, value in plan.variables.items()}
    variables |= dict(plan.stack.container.environment)
    # Packages of the engine's environment come first on PATH too: it calls ninja and nvcc by name.
    variables["PATH"] = f"{python.parent}:{variables.get('PATH', '/usr/bin:/bin')}"
    return Command(tuple(words), variables)
