"""What the verbs of the model store share: options, where the store and the ledgers are, progress, sizes in words."""

from __future__ import annotations

import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Self

import typer

from seatrial.cli.deploying import DEFAULT_STACK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.progress import Progress as Bars

    from seatrial.ledger.entry import Entry
    from seatrial.store.pull import Progress

StoreOption = Annotated[
    Path | None,
    typer.Option(
        "--store",
        metavar="FOLDER",
        help="The store (HF_HOME, or its hub folder). Default: that of stack.yaml, else HF_HOME.",
    ),
]
StacksOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--stack",
        metavar="FILE",
        help="A stack file, or a folder of them, that also uses the store; may be given several times.",
    ),
]
LedgerOption = Annotated[
    Path | None, typer.Option("--ledger", metavar="FOLDER", help="The ledger. Default: those of the stack files found.")
]
NoContainers = Annotated[
    bool,
    typer.Option("--no-containers", help="Don't ask Docker or Podman: no container of this host uses the store."),
]

LINE_SECONDS = 15.0
"""Where nobody watches a bar, a line so often."""


def find_store(store: Path | None, stacks: Sequence[Path] | None = None) -> Path:
    """Find the store: what is named, that of a stack file, HF_HOME, the Hub's own default.

    Raises:
        InputError: the stack file can't be read.
    """
    import os

    if store is not None:
        return store.expanduser()
    files = [path for path in (*(stacks or ()), DEFAULT_STACK) if path.is_file()]
    if files:
        from seatrial.stack.reading import load_stack

        return files[0].parent / load_stack(files[0]).store
    if home := os.environ.get("HF_HOME"):
        return Path(home).expanduser()
    if cache := os.environ.get("HF_HUB_CACHE"):
        return Path(cache).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "huggingface"


def read_entries(store: Path, ledger: Path | None, stacks: Sequence[Path] | None) -> tuple[Entry, ...]:
    """Read the ledgers: the named one, or those of the stack files around the store and the one beside it."""
    from seatrial.errors import SeatrialError
    from seatrial.store.layout import hub_folder
    from seatrial.store.reference_sources import search_folders
    from seatrial.store.standing import read_ledgers

    if ledger is not None:
        return read_ledgers([ledger])[0]
    folders = [hub_folder(store).absolute().parent.parent / "ledger", Path("ledger")]
    for folder in search_folders(store, list(stacks or ())):
        for file in (*(path for path in stacks or () if path.is_file()), folder / "stack.yaml"):
            if file.is_file():
                from seatrial.stack.reading import load_stack

                try:
                    folders.append(file.parent / load_stack(file).ledger)
                except SeatrialError:
                    continue  # `models lint` and every verb of the stack say what is wrong with it
    return read_ledgers(folders)[0]


def in_words(size: float) -> str:
    """Write a number of bytes as people do, in powers of 1024."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(size) < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


class TransferDisplay:
    """Draws bytes, rate and time left on a terminal; writes a line now and then elsewhere."""

    def __init__(self, *, quiet: bool = False) -> None:
        from seatrial.cli.output import console

        self._console = console(stderr=True)
        self._drawing = self._console.is_terminal and not quiet
        self._quiet = quiet
        self._bars: Bars | None = None
        self._told = 0.0
        self._began = time.monotonic()

    def __enter__(self) -> Self:
        from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn, TransferSpeedColumn
        from rich.progress import Progress as Bars

        if self._drawing:
            self._bars = Bars(
                TextColumn("{task.description}"),
                BarColumn(bar_width=24),
                DownloadColumn(binary_units=True),
                TransferSpeedColumn(),
                TextColumn("left"),
                TimeRemainingColumn(elapsed_when_finished=True),
                TextColumn("[dim]{task.fields[detail]}"),
                console=self._console,
                transient=True,
            )
            self._bars.add_task("loading", total=None, detail="")
            self._bars.add_task("checking", total=None, detail="", visible=False)
            self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bars is not None:
            self._bars.stop()

    def show(self, now: Progress) -> None:
        """Show how far a pull is."""
        while not now.sentences.empty():
            self.say(now.sentences.get())
        detail = "another process loads a file of it: waiting" if now.waiting else f"{len(now.done)} files done"
        if self._bars is not None:
            loading, checking = self._bars.task_ids
            self._bars.update(loading, completed=now.loaded_bytes, total=now.total_bytes, detail=detail)
            is_checking = now.loaded_bytes >= now.total_bytes
            self._bars.update(checking, completed=now.checked_bytes, total=now.total_bytes, visible=is_checking)
        elif not self._quiet and time.monotonic() - self._told > LINE_SECONDS:
            self._told = time.monotonic()
            rate = now.new_bytes / max(0.001, self._told - self._began)
            left = (now.total_bytes - now.loaded_bytes) / rate if rate else 0
            words = f"{in_words(now.loaded_bytes)} of {in_words(now.total_bytes)}, {in_words(rate)}/s"
            self._console.print(f"{words}, {left:.0f} s left, {detail}", highlight=False)

    def show_check(self, checked: int, total: int, name: str) -> None:
        """Show how far a verification is."""
        if self._bars is not None:
            loading, checking = self._bars.task_ids
            self._bars.update(loading, visible=False)
            self._bars.update(checking, completed=checked, total=total, detail=name, visible=True)
        elif not self._quiet and time.monotonic() - self._told > LINE_SECONDS:
            self._told = time.monotonic()
            self._console.print(f"{in_words(checked)} of {in_words(total)} checked, {name}", highlight=False)

    def say(self, text: str) -> None:
        """Say a sentence."""
        from rich.text import Text

        if not self._quiet:
            self._console.print(Text(text))
