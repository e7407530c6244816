"""`seatrial host`: preflight, accounts and permissions, first-time set-up."""

from __future__ import annotations

import typer

from seatrial.cli.host_accounts import apply, audit, plan
from seatrial.cli.host_check import check
from seatrial.cli.host_reprove import reprove
from seatrial.cli.host_setup import setup

host = typer.Typer(
    no_args_is_help=True,
    help="This machine: preflight checks, the service account and its permissions, first-time set-up.",
)
host.command("check")(check)
host.command("plan")(plan)
host.command("apply")(apply)
host.command("audit")(audit)
host.command("setup")(setup)
host.command("reprove")(reprove)
