"""`seatrial models lint`: layout, owners, modes and room of the store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from seatrial.cli.models_shared import StacksOption, StoreOption
from seatrial.cli.options import Json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from seatrial.store.lint import Account


def lint(store: StoreOption = None, stack: StacksOption = None, as_json: Json = False) -> None:
    """Find what is wrong with the store as a folder: layout, owners, modes, a readable token, little room.

    Reads no weights. Writes one probe file into the hub folder and removes it. Where a stack file runs its container
    as another account, that account must be able to write the store, too. Exit code 1: an error was found.
    """
    from seatrial.cli.findings_output import print_findings
    from seatrial.cli.models_shared import find_store
    from seatrial.cli.output import console, print_json
    from seatrial.findings import exit_code
    from seatrial.store.layout import hub_folder
    from seatrial.store.lint import lint_store

    place = find_store(store, stack)
    findings = lint_store(place, list(_accounts(stack)))
    if as_json:
        print_json({"store": hub_folder(place), "findings": findings})
    else:
        print_findings(console(), findings, nothing=f"{hub_folder(place)}: nothing to say")
    raise typer.Exit(int(exit_code(findings)))


def _accounts(stacks: Sequence[Path] | None) -> Iterator[Account]:
    """Find the accounts of containers that do not run as root."""
    from seatrial.cli.deploying import DEFAULT_STACK
    from seatrial.launches.interpolation import parse_env_file
    from seatrial.stack.reading import load_stack
    from seatrial.store.lint import Account

    for path in (*(stacks or ()), DEFAULT_STACK):
        if not path.is_file() or not load_stack(path).container.non_root:
            continue
        env = path.absolute().parent / ".env"
        try:
            values = parse_env_file(env.read_text(encoding="utf-8"))
            user, group = int(values["SGLANG_UID"]), int(values["SGLANG_GID"])
        except (OSError, KeyError, ValueError):
            continue  # `seatrial up` says what is missing
        yield Account(user, frozenset({group}), f"the container's account {user}:{group}")
