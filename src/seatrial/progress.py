"""How long work tells where it is; the command line draws it, tests and scripts ignore it."""

from __future__ import annotations

from typing import Protocol


class Display(Protocol):
    """Something that shows progress."""

    def phase(self, text: str) -> None:
        """A new phase of work begins; what was shown before is done."""

    def step(self, done: int, total: int, detail: str = "") -> None:
        """So much of the phase is done; `total` may change."""


class Silent:
    """Shows nothing."""

    def phase(self, text: str) -> None:
        """Ignore it."""

    def step(self, done: int, total: int, detail: str = "") -> None:
        """Ignore it."""
