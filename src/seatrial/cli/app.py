"""The program's verbs, gathered."""

from __future__ import annotations

from typing import Annotated

import typer

from seatrial.cli.adopt import adopt
from seatrial.cli.bench import bench
from seatrial.cli.doctor import doctor
from seatrial.cli.endpoint import endpoint
from seatrial.cli.explain import ACCEPTING, explain
from seatrial.cli.facts import facts
from seatrial.cli.host import host
from seatrial.cli.init import init
from seatrial.cli.install_scripts import install_scripts
from seatrial.cli.judge import judge
from seatrial.cli.ledger import ledger
from seatrial.cli.lint import lint
from seatrial.cli.logs import logs
from seatrial.cli.models import models
from seatrial.cli.plan import plan
from seatrial.cli.prove import prove
from seatrial.cli.scan import scan
from seatrial.cli.schema import schema
from seatrial.cli.status import status
from seatrial.cli.stop import restart, stop
from seatrial.cli.switch import switch
from seatrial.cli.try_command import try_
from seatrial.cli.up import up
from seatrial.cli.upgrade import upgrade

app = typer.Typer(
    name="seatrial",
    help="Launch a self-hosted LLM server, and prove that it answers correctly before anyone relies on it.",
    epilog="Exit codes: 0 proven / fine, 1 refuted / errors found, 2 wrong usage or unreadable input, 3 unproven.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def show_version(wanted: bool) -> None:
    """Print the version and end."""
    if wanted:
        from seatrial import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def seatrial(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Launch a self-hosted LLM server, and prove that it answers correctly before anyone relies on it."""


app.command("try")(try_)
app.command("init")(init)
app.command("facts")(facts)
app.command("plan")(plan)
app.command("lint")(lint)
app.command("adopt")(adopt)
app.command("explain", context_settings=ACCEPTING)(explain)
app.command("upgrade")(upgrade)
app.command("schema")(schema)
app.command("up")(up)
app.command("stop")(stop)
app.command("restart")(restart)
app.command("status")(status)
app.command("logs")(logs)
app.command("switch")(switch)
app.command("install-scripts")(install_scripts)
app.command("doctor")(doctor)
app.add_typer(models, name="models")
app.add_typer(ledger, name="ledger")
app.add_typer(host, name="host")
app.command("prove")(prove)
app.add_typer(bench, name="bench")
app.command("endpoint")(endpoint)
app.command("scan")(scan)
app.command("judge")(judge)
