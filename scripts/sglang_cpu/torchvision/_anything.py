"""A class that takes anything and does nothing: what every name of the stand-in is."""

from __future__ import annotations

from typing import Any


class _Names(type):
    def __getattr__(cls, name: str) -> Any:
        return lookup(name)


class Anything(metaclass=_Names):
    """Takes anything, does nothing, and has every attribute."""

    def __init__(self, *_arguments: Any, **_keywords: Any) -> None:
        pass

    def __call__(self, *_arguments: Any, **_keywords: Any) -> Any:
        return self

    def __getattr__(self, name: str) -> Any:
        return lookup(name)


def lookup(name: str) -> type[Anything]:
    """Give any public name a class; names with two underscores are Python's own, and must be absent."""
    if name.startswith("__"):
        raise AttributeError(name)
    return Anything
