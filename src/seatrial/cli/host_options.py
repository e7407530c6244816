"""Options that the verbs of `seatrial host` share, and what they mean together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from seatrial.host.accounts import Declared
    from seatrial.host.connection import Connection

Root = Annotated[str, typer.Option("--root", metavar="FOLDER", help="The tree, home of the service account.")]
Service = Annotated[str, typer.Option("--account", metavar="NAME", help="The service account.")]
Admins = Annotated[
    list[str] | None,
    typer.Option("--admin", metavar="USER", help="An account that may change models. Repeatable."),
]
NoDocker = Annotated[
    bool, typer.Option("--no-docker", help="The stack runs as a process: the account needs no Docker.")
]
On = Annotated[
    str | None,
    typer.Option("--on", metavar="HOST", help="Another machine, as `ssh` takes it. It needs Python 3.9, nothing else."),
]
SshOptions = Annotated[
    list[str] | None,
    typer.Option("--ssh-option", metavar="WORDS", help="More words for ssh, e.g. '-p 2222'. Repeatable."),
]
Sudo = Annotated[bool, typer.Option("--sudo", help="Become root over there with `sudo -n`.")]

DEFAULT_ROOT = "/opt/sglang"
DEFAULT_SERVICE = "sglang"


def declared_from(root: str, service: str, admins: list[str] | None, *, no_docker: bool) -> Declared:
    """Make the declared state of the options.

    Raises:
        InputError: a name or the folder is none.
    """
    from seatrial.host.accounts import Declared

    return Declared(service, root.rstrip("/") or "/", tuple(admins or ()), container=not no_docker)


def connection_from(on: str | None, ssh_options: list[str] | None, *, sudo: bool) -> Connection:
    """Choose this machine or another one.

    Raises:
        InputError: options of SSH without a machine.
    """
    import shlex

    from seatrial.errors import InputError
    from seatrial.host.connection import Here, OverSsh

    if on is None:
        if ssh_options or sudo:
            raise InputError("no machine is named", where="--on", advice="E.g. --on root@gpu1, or run it under sudo.")
        return Here()
    return OverSsh(on, tuple(word for words in ssh_options or () for word in shlex.split(words)), sudo)
