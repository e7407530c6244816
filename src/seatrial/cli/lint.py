"""`seatrial lint`: what is missing, wrong, useless or dangerous in a launch that somebody wrote by hand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seatrial.cli.options import Json
from seatrial.cli.planning_inputs import EngineVersion, FactsFile, Gpus, Offline, Store

if TYPE_CHECKING:
    from seatrial.planning.lint import Lint

Compose = Annotated[
    Path | None,
    typer.Argument(
        metavar="[COMPOSE]", help="A Compose file, or its folder. Without one: the one here.", show_default=False
    ),
]
Words = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[-- COMMAND …]", help="Or a command: -- python3 -m sglang.launch_server …", show_default=False
    ),
]
Service = Annotated[
    str | None, typer.Option("--service", metavar="NAME", help="The Compose service, where several run an engine.")
]


def lint(
    compose: Compose = None,
    words: Words = None,
    service: Service = None,
    facts: FactsFile = None,
    gpus: Gpus = None,
    store: Store = None,
    engine_version: EngineVersion = None,
    offline: Offline = False,
    as_json: Json = False,
) -> None:
    """Check a hand-written Compose file, or a command line, against everything that a plan knows.

    Says which required settings are missing and what returns without them, which change nothing, which contradict each
    other or the engine's version, and what is unsafe around the container. What depends on the GPUs needs their facts:
    those of this host, --facts, or --gpus.

    Exit code 0: no errors; 1: errors; 2: something can't be read.
    """
    from seatrial.findings import exit_code

    found, notes = check(
        compose,
        words or [],
        service=service,
        facts=facts,
        gpus=gpus,
        store=store,
        engine_version=engine_version,
        offline=offline,
    )
    if as_json:
        from seatrial.cli.output import print_json
        from seatrial.planning.document import lint_document

        print_json({**lint_document(found), "notes": list(notes)})
        raise typer.Exit(int(exit_code(found.findings)))
    from rich.text import Text

    from seatrial.cli.findings_output import print_findings
    from seatrial.cli.output import console

    out = console()
    out.print(Text(f"{found.launch.where}, as a launch of SGLang {found.version}", style="bold"))
    for note in notes:
        out.print(Text(note, style="dim"))
    out.print()
    print_findings(out, found.findings, nothing="nothing is missing, and nothing is wrong")
    raise typer.Exit(int(exit_code(found.findings)))


def check(
    compose: Path | None,
    words: list[str],
    *,
    service: str | None,
    facts: Path | None,
    gpus: str | None,
    store: Path | None,
    engine_version: str | None,
    offline: bool,
) -> tuple[Lint, tuple[str, ...]]:
    """Read a launch, find the facts, and hold it against the rules.

    Raises:
        InputError: something that was named can't be read.
    """
    from dataclasses import replace

    from seatrial.cli.launch_reading import taken, with_config
    from seatrial.findings import by_weight
    from seatrial.planning.lint import lint as hold

    launch, read, adopted = taken(
        compose, words, engine_version, service=service, facts=facts, gpus=gpus, store=store, offline=offline
    )
    command, about_config = with_config(launch, read)
    found = hold(
        launch,
        command,
        adopted.stack,
        model=read.known.model,
        host=read.known.host,
        catalogue=read.catalogue,
        version_known=read.version is not None,
    )
    return replace(found, findings=by_weight((*found.findings, *about_config))), read.known.notes
