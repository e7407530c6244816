"""What the planning verbs share: options, and how stack, host, model and engine version are found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from seatrial.engines.sglang.catalogue import Catalogue
    from seatrial.facts.host import HostFacts
    from seatrial.facts.model import ModelFacts
    from seatrial.stack.model import Stack

FactsFile = Annotated[
    Path | None,
    typer.Option(
        "--facts", metavar="FILE", help="Facts of another machine (and model), as `seatrial facts` wrote them."
    ),
]
Gpus = Annotated[
    str | None,
    typer.Option("--gpus", metavar="SPEC", help="GPUs of another machine, e.g. '2x RTX 4090', '1x H100', '4x3090'."),
]
Store = Annotated[
    Path | None, typer.Option("--store", metavar="FOLDER", help="Model store (HF_HOME) to look for the checkpoint in.")
]
Offline = Annotated[bool, typer.Option("--offline", help="Never ask the Hub for a model's config.")]
EngineVersion = Annotated[
    str | None,
    typer.Option("--engine-version", metavar="VERSION", help="The engine's version, where the image does not say it."),
]


@dataclass(frozen=True, slots=True)
class Known:
    """What is known about the machine and the checkpoint; None where it is not, with the reasons."""

    host: HostFacts | None
    model: ModelFacts | None
    notes: tuple[str, ...] = ()


def find_facts(
    model: str,
    *,
    revision: str | None = None,
    facts: Path | None = None,
    gpus: str | None = None,
    store: Path | None = None,
    offline: bool = False,
) -> Known:
    """Find facts: a file's go first, then what options name, then what is found here.

    Raises:
        InputError: a file or an option can't be read.
    """
    from seatrial.errors import InputError, SeatrialError
    from seatrial.facts.file import read_facts

    notes: list[str] = []
    written = read_facts(facts) if facts else None
    if facts and gpus:
        raise InputError("a file of facts and GPUs are given", where="--gpus", advice="Give one of the two.")
    host = written.host if written and written.host else _host(gpus)
    known_model = written.model if written else None
    if known_model is not None and not _is_about(known_model, model):
        notes.append(f"the facts file is about {known_model.repo or known_model.source}, not about {model}")
        known_model = None
    if known_model is None and model:
        from seatrial.facts.resolve import model_facts

        try:
            known_model = model_facts(model, store=store, revision=revision, offline=offline)
        except SeatrialError as error:
            notes.append(str(error))
    return Known(host, known_model, tuple(notes))


def facts_for(
    stack: Stack, file: Path, *, facts: Path | None, gpus: str | None, store: Path | None, offline: bool
) -> Known:
    """Find the facts that the plan of a stack file needs; its store lies relative to it.

    Raises:
        InputError: a file or an option can't be read.
    """
    return find_facts(
        stack.model.repo,
        revision=stack.model.revision,
        facts=facts,
        gpus=gpus,
        store=store or file.parent / stack.store,
        offline=offline,
    )


def with_version(stack: Stack, file: Path) -> Stack:
    """Write the engine's version into a stack that names an environment and no version: what is installed there.

    Raises:
        InputError: the environment is none, or holds no engine.
    """
    engine = stack.engine
    if engine.environment is None or engine.version is not None:
        return stack
    from seatrial.runtimes.process.environment import find_environment

    found = find_environment(file.absolute().parent / Path(engine.environment).expanduser())
    return stack.model_copy(update={"engine": engine.model_copy(update={"version": found.version})})


def _host(gpus: str | None) -> HostFacts | None:
    if gpus:
        from seatrial.facts.example_hosts import host_from_spec

        return host_from_spec(gpus)
    from seatrial.facts.probe import probe_host

    host = probe_host()
    return host if host.gpus else None


def _is_about(facts: ModelFacts, model: str) -> bool:
    return model in {facts.repo, facts.source} or not facts.repo or "/" not in model or model.startswith((".", "/"))


def catalogue_for(stack: Stack, version: str | None = None) -> Catalogue:
    """Load the flags of a stack's engine version, or of the nearest version that is known."""
    from seatrial.engines.sglang.catalogue import load

    return load(version or stack.engine.resolved_version or "")
