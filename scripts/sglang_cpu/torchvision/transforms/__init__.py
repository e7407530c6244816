"""Stands in for `torchvision.transforms`."""

from __future__ import annotations

from torchvision._anything import Anything, lookup


def __getattr__(name: str) -> type[Anything]:
    return lookup(name)
