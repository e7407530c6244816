"""Stands in for `torchvision.transforms.v2.functional`."""

from __future__ import annotations

from typing import Any

from torchvision._anything import lookup  # type: ignore[import-not-found]  # beside it, in its environment


def __getattr__(name: str) -> Any:
    return lookup(name)
