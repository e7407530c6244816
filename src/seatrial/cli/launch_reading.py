"""Reads what `lint` and `adopt` are given: a Compose file, or a command after `--`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.cli.planning_inputs import Known
    from seatrial.engines.sglang.catalogue import Catalogue
    from seatrial.engines.sglang.command_line import CommandLine
    from seatrial.findings import Finding
    from seatrial.launches.launch import Launch
    from seatrial.planning.adopt import Adoption


def read_launch(file: Path | None, words: Sequence[str], *, service: str | None) -> Launch:
    """Read the launch that a command line names.

    Raises:
        InputError: neither or both are given, or what is given can't be read.
    """
    from seatrial.errors import InputError
    from seatrial.launches.command import read_command
    from seatrial.launches.compose_file import read_compose
    from seatrial.text_files import read_text

    if file is not None and words:
        raise InputError("a file and a command are given", where="--", advice="Give one of the two.")
    if words:
        return read_command(words)
    path = file or _default()
    if path.is_dir():
        path = _default(path)
    return read_compose(
        read_text(path, "Compose file"),
        where=str(path),
        service=service,
        environment=os.environ,
        read_file=lambda name: _beside(path, name),
    )


def _default(folder: Path = Path()) -> Path:
    """Find the Compose file of a folder, by Docker's names in Docker's order."""
    from seatrial.errors import InputError

    for name in ("compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"):
        if (folder / name).is_file():
            return folder / name
    raise InputError(
        "there is no Compose file here",
        where=str(folder.absolute()),
        advice="Name one, or give a command: seatrial lint -- python3 -m sglang.launch_server …",
    )


def _beside(path: Path, name: str) -> str | None:
    try:
        return (path.parent / name).read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return None


@dataclass(frozen=True, slots=True)
class Understood:
    """A launch's words by the engine's flags, and what is known about where and what it starts."""

    command: CommandLine
    catalogue: Catalogue
    known: Known
    version: str | None


def taken(
    compose: Path | None,
    words: list[str],
    engine_version: str | None,
    *,
    service: str | None,
    facts: Path | None,
    gpus: str | None,
    store: Path | None,
    offline: bool,
) -> tuple[Launch, Understood, Adoption]:
    """Read the launch that a command line names, understand it, and turn it into a stack."""
    from seatrial.planning.adopt import adopt

    compose, words = split_arguments(compose, words)
    launch = read_launch(compose, words, service=service)
    read = understood(launch, engine_version, facts=facts, gpus=gpus, store=store, offline=offline)
    adoption = adopt(
        launch,
        read.command,
        model=read.known.model,
        host=read.known.host,
        catalogue=read.catalogue,
        version=read.version,
    )
    return launch, read, adoption


def split_arguments(compose: Path | None, words: list[str]) -> tuple[Path | None, list[str]]:
    """Tell a Compose file from a command: what stands after `--`, or is no file but begins a command."""
    if compose is None or (not words and not _looks_like_a_command(str(compose))):
        return compose, words
    if words and (compose.suffix in (".yaml", ".yml") or compose.exists()) and compose.suffix != ".py":
        is_program = os.access(compose, os.X_OK) and compose.is_file()
        if not is_program:
            return compose, words
    return None, [str(compose), *words]


def _looks_like_a_command(text: str) -> bool:
    return " " in text and not Path(text).exists()


def understood(
    launch: Launch,
    engine_version: str | None,
    *,
    facts: Path | None,
    gpus: str | None,
    store: Path | None,
    offline: bool,
) -> Understood:
    """Understand a launch by the flags of its engine version, and find the facts about host and checkpoint."""
    from seatrial.cli.planning_inputs import Known, find_facts
    from seatrial.engines.sglang.catalogue import load
    from seatrial.engines.sglang.command_line import understand
    from seatrial.stack.model import Engine

    image = launch.service.image if launch.service else None
    version = engine_version or (Engine(image=image).resolved_version if image else None)
    catalogue = load(version or "")
    command = understand([word.text for word in launch.words], catalogue)
    model = str(command.values.get("--model-path", ""))
    folder = store or _store_of(launch)
    known = find_facts(model, facts=facts, gpus=gpus, store=folder, offline=offline) if model else Known(None, None)
    return Understood(command, catalogue, known, version)


def with_config(launch: Launch, read: Understood) -> tuple[CommandLine, tuple[Finding, ...]]:
    """Take in the file that `--config` names, where it can be read here; keys stay out of it.

    Returns:
        The command with the file's flags, and what is to be said about the file.
    """
    from seatrial.engines.sglang.command_line import understand
    from seatrial.engines.sglang.flag_checks import check_config
    from seatrial.errors import InputError
    from seatrial.findings import Finding, Level
    from seatrial.planning.policies import KEY_FLAGS
    from seatrial.text_files import read_text
    from seatrial.yaml_text import read_yaml

    named = read.command.config
    if named is None:
        return read.command, ()
    path = _on_this_host(launch, named)
    try:
        document = read_yaml(read_text(path, "config file"), where=str(path)).value or {}
    except InputError as error:
        advice = "Its flags are not checked; run this where the file can be read."
        message = f"the file that --config names can't be read here: {error.problem}"
        return read.command, (Finding(Level.NOTE, "config-not-read", message, advice, "--config", str(path)),)
    if not isinstance(document, dict):
        message = "the file that --config names holds no keys: the engine ends at once"
        return read.command, (Finding(Level.ERROR, "config-without-keys", message, "", "--config", str(path)),)
    findings = tuple(check_config(document, read.catalogue, str(path)))
    plain = {key: value for key, value in document.items() if f"--{key}".replace("_", "-") not in KEY_FLAGS}
    return understand([word.text for word in launch.words], read.catalogue, plain), findings


def _on_this_host(launch: Launch, path: str) -> Path:
    """Find a container's file on this host, by what is mounted into it."""
    folder = Path(launch.where).parent
    if launch.service is None:
        return Path(path)
    for mount in sorted(launch.service.mounts, key=lambda one: -len(one.target)):
        target = mount.target.rstrip("/")
        if mount.source and (path == target or path.startswith(f"{target}/")):
            return folder / Path(mount.source + path.removeprefix(target)).expanduser()
    return folder / path


def _store_of(launch: Launch) -> Path | None:
    """Find the model store on this host: what is mounted where the engine looks."""
    if launch.service is None:
        home = launch.variables.get("HF_HOME")
        return Path(home.value) if home and home.value else None
    home = launch.variables.get("HF_HOME")
    target = (home.value if home and home.value else "/root/.cache/huggingface").rstrip("/")
    for mount in launch.service.mounts:
        if mount.source and mount.target.rstrip("/") == target:
            return Path(launch.where).parent / Path(mount.source).expanduser()
    return None
