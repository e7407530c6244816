"""The one family of errors that a user may see: what is wrong, where, and what to do, in one line.

Anything else that reaches the top of the program is a defect of seatrial's own: it is logged with its traceback
and shown as one line too (`Defect`).
"""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What a command's exit status says, the same for every verb."""

    PROVEN = 0
    """Proven, or: all is fine."""
    REFUTED = 1
    """Refuted, or: errors were found."""
    USAGE = 2
    """Wrong usage or unreadable input."""
    UNPROVEN = 3
    """It could not be checked."""
    INTERRUPTED = 130
    """Ended by Ctrl-C (128 + SIGINT, as a shell reports it)."""


class SeatrialError(Exception):
    """Something that the user can mend.

    Attributes:
        problem: what is wrong, as a clause without a full stop.
        where: the file and line, flag or URL that it is about, if any.
        advice: what to do about it, if anything can be said.
    """

    exit_code: ExitCode = ExitCode.USAGE

    def __init__(self, problem: str, *, where: str | None = None, advice: str | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.where = where
        self.advice = advice

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        advice = f" {self.advice}" if self.advice else ""
        return f"{place}{self.problem}.{advice}"


class InputError(SeatrialError):
    """A file or an argument can't be read as what it should be."""


class EndpointError(SeatrialError):
    """The server can't be asked: so nothing about it can be proven or refuted."""

    exit_code = ExitCode.UNPROVEN


class StartError(SeatrialError):
    """A server could not be started or did not stay up."""

    exit_code = ExitCode.UNPROVEN


class FetchError(SeatrialError):
    """Something that must be downloaded could not be, or is not what it should be."""

    exit_code = ExitCode.UNPROVEN


class StorageError(SeatrialError):
    """A file that must be written can't be: the disk is full, or the folder may not be written to."""

    exit_code = ExitCode.UNPROVEN


class Interrupted(SeatrialError):  # noqa: N818 - an interruption is no error
    """Ctrl-C or SIGTERM ended the command; what it found so far is kept."""

    exit_code = ExitCode.INTERRUPTED


class Defect(SeatrialError):  # noqa: N818 - a defect says more than DefectError
    """Something that seatrial itself did wrong; the traceback is in the run's log."""

    exit_code = ExitCode.UNPROVEN
