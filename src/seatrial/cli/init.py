"""`seatrial init`: a commented stack file to begin with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from seatrial.cli.planning_inputs import FactsFile, Gpus, Offline, Store


def init(
    model: Annotated[
        str | None, typer.Argument(help="Repository (owner/name) or folder of the checkpoint.", show_default=False)
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write it; - is stdout.")] = Path(
        "stack.yaml"
    ),
    example: Annotated[
        Literal["two-4090", "one-h100"] | None,
        typer.Option("--example", help="A model and a machine that go together."),
    ] = None,
    name: Annotated[str, typer.Option("--name", help="The stack's name.")] = "review",
    served_name: Annotated[str | None, typer.Option("--served-name", help="The name that clients send.")] = None,
    image: Annotated[str | None, typer.Option("--image", help="The engine's image, with a pinned tag.")] = None,
    facts: FactsFile = None,
    gpus: Gpus = None,
    store: Store = None,
    offline: Offline = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing stack file.")] = False,
) -> None:
    """Write a commented stack file for this host and a model, and its JSON Schema beside it for your editor.

    What a plan would take from the machine of the day (the number of GPUs, the model's context) is written down, so
    that the stack stays what it is.
    """
    import json

    from seatrial.cli.planning_inputs import find_facts
    from seatrial.errors import InputError
    from seatrial.planning.initial import EXAMPLES, initial_stack
    from seatrial.stack.schema import stack_schema
    from seatrial.stack.writing import write_stack
    from seatrial.text_files import write_whole

    shown = EXAMPLES[example] if example else None
    if shown is None and model is None:
        raise InputError(
            "no model is named",
            where="init",
            advice="E.g.: seatrial init QuantTrio/Qwen3.6-35B-A3B-AWQ, or seatrial init --example two-4090.",
        )
    chosen = model or (shown.model if shown else "")
    known = find_facts(
        chosen, facts=facts, gpus=gpus or (shown.gpus if shown and not facts else None), store=store, offline=offline
    )
    stack = initial_stack(
        shown.name if shown else name,
        chosen,
        served_name=served_name or (shown.served_name if shown else None),
        image=image,
        model=known.model,
        host=known.host,
    )
    head = [shown.says if shown else f"{chosen}, to be proven before anyone relies on it."]
    head.append("Every key: seatrial schema. What becomes of it: seatrial plan.")
    text = write_stack(stack, head=head)
    for note in known.notes:
        typer.echo(note, err=True)
    if str(output) == "-":
        typer.echo(text, nl=False)
        return
    if output.exists() and not force:
        raise InputError("it exists already", where=str(output), advice="Give another name (-o), or --force.")
    write_whole(output, text)
    write_whole(output.parent / "stack.schema.json", json.dumps(stack_schema(), indent=2, ensure_ascii=False) + "\n")
    typer.echo(f"{output} is written. Next: seatrial plan {output}")
