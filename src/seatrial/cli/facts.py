"""`seatrial facts`: what is true about this machine, and about a checkpoint, as YAML for other verbs and machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from seatrial.cli.options import Json
from seatrial.cli.planning_inputs import Gpus, Offline, Store

if TYPE_CHECKING:
    from pathlib import Path

    from seatrial.facts.file import FactsFile
    from seatrial.facts.host import HostFacts
    from seatrial.facts.model import ModelFacts


def facts(
    model: Annotated[
        str | None, typer.Option("--model", help="Also the facts of a checkpoint: a folder, or owner/name.")
    ] = None,
    revision: Annotated[str | None, typer.Option("--revision", help="Its branch, tag or commit.")] = None,
    gpus: Gpus = None,
    store: Store = None,
    offline: Offline = False,
    as_json: Json = False,
) -> None:
    """Print what is true about this machine as YAML: GPUs and how they are joined, driver, Docker, memory, disk.

    `seatrial facts > facts.yaml` here, `seatrial plan --facts facts.yaml` anywhere. What is unknown is left out, and
    said in a comment; edit the file where you know better. No weight is loaded.
    """
    from seatrial.facts.file import FactsFile, write_facts

    known = FactsFile(_host(gpus, store), _model(model, revision, store, offline=offline))
    if as_json:
        from seatrial.cli.output import print_json

        print_json({"host": known.host, "model": known.model})
        return
    for line in _head(known):
        typer.echo(f"# {line}")
    typer.echo(write_facts(known), nl=False)


def _host(gpus: str | None, store: Path | None) -> HostFacts:
    if gpus:
        from seatrial.facts.example_hosts import host_from_spec

        return host_from_spec(gpus)
    from seatrial.facts.probe import probe_host

    return probe_host(store=store)


def _model(name: str | None, revision: str | None, store: Path | None, *, offline: bool) -> ModelFacts | None:
    if name is None:
        return None
    from seatrial.facts.resolve import model_facts

    return model_facts(name, store=store, revision=revision, offline=offline)


def _head(known: FactsFile) -> list[str]:
    """Say where the facts come from and what could not be found out."""
    from seatrial import __version__

    lines = [f"Written by seatrial {__version__} facts. What is left out is unknown."]
    for part in (known.host, known.model):
        lines += part.notes if part else ()
    return lines
