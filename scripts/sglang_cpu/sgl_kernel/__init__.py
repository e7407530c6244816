"""Stands in for SGLang's compiled kernels on a machine without a GPU: every name is there, and calling one raises.

SGLang imports kernels by name and, on the CPU, calls its native paths instead. A call that gets here all the same is a
path that does need a kernel, and must fail loudly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn


def __getattr__(name: str) -> Callable[..., NoReturn]:
    if name.startswith("__"):
        raise AttributeError(name)

    def missing(*_arguments: object, **_keywords: object) -> NoReturn:
        raise RuntimeError(f"sgl_kernel.{name} was called, and this environment has no compiled kernels")

    missing.__name__ = name
    return missing
