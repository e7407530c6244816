"""Stands in for torchvision: SGLang imports parts of it for images, and a text model never calls them."""

from __future__ import annotations

from torchvision._anything import Anything, lookup

__version__ = "0.26.0"

__all__ = ["Anything"]


def __getattr__(name: str) -> type[Anything]:
    return lookup(name)
