"""Stands in for torchvision: SGLang imports parts of it for images, and a text model never calls them."""

from __future__ import annotations

from typing import Any

from torchvision._anything import lookup  # type: ignore[import-not-found]  # beside it, in its environment

__version__ = "0.26.0"


def __getattr__(name: str) -> Any:
    return lookup(name)
