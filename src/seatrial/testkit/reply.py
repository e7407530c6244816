"""What a model says to one request, before it becomes HTTP. Values only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call; `arguments` is JSON text, so that it can be broken. The server gives it an id."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Reply:
    """One assistant message.

    Attributes:
        content: the text of the answer.
        reasoning: the text of the thinking before it, or None for a model that does not think.
        tool_calls: the calls, in order.
        finish_reason: None lets the server say what is true (`tool_calls`, `length` when it cut the reply, `stop`).
    """

    content: str = ""
    reasoning: str | None = None
    tool_calls: tuple[Call, ...] = ()
    finish_reason: str | None = None


Answer = Callable[[Mapping[str, Any]], Reply]
"""A model: takes the JSON body of a chat request, returns what it says."""
