"""A launch that seatrial did not write: the engine's words, its variables, and the container around it. Pure values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command line, and the file and line that it stands in."""

    text: str
    where: str


@dataclass(frozen=True, slots=True)
class Variable:
    """One environment variable; None where it is passed on from the caller's environment."""

    value: str | None
    where: str


@dataclass(frozen=True, slots=True)
class PublishedPort:
    """A port of the container that the host publishes.

    Attributes:
        address: that it is published on; `0.0.0.0` where none is stated, as Docker does.
        published: port of the host; None where Docker picks one.
        target: port of the container.
        where: file and line.
    """

    address: str
    published: str | None
    target: str
    where: str


@dataclass(frozen=True, slots=True)
class Mount:
    """Something of the host, or a named volume, inside the container."""

    source: str | None
    target: str
    read_only: bool
    where: str


@dataclass(frozen=True, slots=True)
class Service:
    """The Compose service that runs the engine.

    Attributes:
        name: of the service.
        where: file and line.
        image: as stated, variables filled in; None where it is built.
        ports: in the file's order.
        mounts: in the file's order.
        gpus: how many GPUs it reserves; None where none are, -1 for all.
        keys: the service, variables filled in.
        raw: the service as the file has it, variables as they stand.
        top_level: every other top-level key of the file, as it stands; other services under `services`.
        lines: file and line of each of its keys.
        unset: variables of the file that have no value here.
    """

    name: str
    where: str
    image: str | None
    ports: tuple[PublishedPort, ...]
    mounts: tuple[Mount, ...]
    gpus: int | None
    keys: Mapping[str, Any]
    raw: Mapping[str, Any]
    top_level: Mapping[str, Any]
    lines: Mapping[str, str]
    unset: tuple[str, ...] = ()

    def line(self, key: str) -> str:
        """Name the file and line of one of its keys, or of the service where it has no such key."""
        return self.lines.get(key, self.where)


@dataclass(frozen=True, slots=True)
class Launch:
    """How somebody starts an engine.

    Attributes:
        where: the file, or `command line`.
        words: the whole command, program first.
        variables: environment variables by name.
        service: the container; None for a bare command.
        comments: lines of comment in the file, for whoever rewrites it.
    """

    where: str
    words: tuple[Word, ...]
    variables: Mapping[str, Variable] = field(default_factory=dict)
    service: Service | None = None
    comments: tuple[str, ...] = ()
