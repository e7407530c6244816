"""Regular expressions that are compiled when they are first needed, so that importing the package stays cheap."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache


def lazily(pattern: str, flags: int = 0) -> Callable[[], re.Pattern[str]]:
    """Return a function that gives the compiled pattern, compiled once at its first call."""
    return cache(lambda: re.compile(pattern, flags))
