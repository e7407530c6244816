"""`seatrial models`: the model store. One file a verb; here they are gathered."""

from __future__ import annotations

import typer

from seatrial.cli.models_inspect import inspect
from seatrial.cli.models_lint import lint
from seatrial.cli.models_list import list_
from seatrial.cli.models_pull import pull
from seatrial.cli.models_rm import rm
from seatrial.cli.models_verify import verify

models = typer.Typer(
    no_args_is_help=True, help="The model store: pull, look into, check and safely remove checkpoints of the Hub."
)
models.command("pull")(pull)
models.command("list")(list_)
models.command("verify")(verify)
models.command("inspect")(inspect)
models.command("rm")(rm)
models.command("lint")(lint)
