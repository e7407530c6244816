"""`seatrial schema`: the JSON Schemas of the files that people write."""

from __future__ import annotations

import enum
from typing import Annotated

import typer


class Subject(enum.StrEnum):
    """What a schema is for."""

    STACK = "stack"
    RULES = "rules"


def schema(
    subject: Annotated[Subject, typer.Argument(help="Which file.")] = Subject.STACK,
) -> None:
    """Print the JSON Schema of a stack file (or of a file of rules), for editors and CI.

    `seatrial schema > stack.schema.json` beside stack.yaml makes editors complete and check it: the file that
    `seatrial init` writes names that schema in its first line.
    """
    import json

    from seatrial.planning.rules import rule_schema
    from seatrial.stack.schema import stack_schema

    made = stack_schema() if subject is Subject.STACK else rule_schema()
    typer.echo(json.dumps(made, indent=2, ensure_ascii=False))
