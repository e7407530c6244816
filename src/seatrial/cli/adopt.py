"""`seatrial adopt`: a hand-written Compose file or command becomes a stack file, with nothing lost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seatrial.cli.lint import Compose, Service, Words
from seatrial.cli.planning_inputs import EngineVersion, FactsFile, Gpus, Offline, Store

if TYPE_CHECKING:
    from seatrial.planning.adopt import Adoption


def adopt(
    compose: Compose = None,
    words: Words = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write it.")] = Path("stack.yaml"),
    service: Service = None,
    facts: FactsFile = None,
    gpus: Gpus = None,
    store: Store = None,
    engine_version: EngineVersion = None,
    offline: Offline = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing stack file.")] = False,
) -> None:
    """Turn a hand-written Compose file (or a command after --) into a stack file.

    Every flag, variable, mount and key finds a place: a field of the stack, a setting with the note where it stood, or
    the container's own part. What rules would set anyway is left to them. Secrets that stand in the file move into
    files of mode 0600 beside the stack file. The Compose file itself is not touched.
    """
    from seatrial.cli.launch_reading import taken
    from seatrial.errors import InputError
    from seatrial.stack.writing import write_stack

    if output.exists() and not force:
        raise InputError("it exists already", where=str(output), advice="Give another name (-o), or --force.")
    launch, read, adoption = taken(
        compose, words or [], engine_version, service=service, facts=facts, gpus=gpus, store=store, offline=offline
    )
    head = [f"Adopted from {launch.where} by `seatrial adopt`."]
    text = write_stack(adoption.stack, head=head, tail=launch.comments)
    _write_secrets(adoption, output.parent)
    from seatrial.text_files import write_whole

    write_whole(output, text)
    for note in (*adoption.notes, *read.known.notes):
        typer.echo(note, err=True)
    count = len(adoption.stack.settings)
    typer.echo(
        f"{output} is written: {count} settings are yours, the rest comes from rules. Next: seatrial plan {output}"
    )


def _write_secrets(adoption: Adoption, folder: Path) -> None:
    from seatrial.text_files import write_secret

    if adoption.api_key is not None and adoption.stack.serve.api_key_file:
        write_secret(folder / adoption.stack.serve.api_key_file, adoption.api_key + "\n")
    if adoption.secret_variables:
        from seatrial.planning.adopt import SECRETS_FILE

        lines = "".join(f"{name}={value}\n" for name, value in adoption.secret_variables.items())
        write_secret(folder / SECRETS_FILE, lines)
