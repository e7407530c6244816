"""The tool-calling cases: data, in `data/tool_cases.json`. Pure once read.

Each group becomes one trial. A case says what is asked, with which tools, and which calls are right; no calls means
that none is due.
"""

from __future__ import annotations

import functools
import importlib.resources
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """A call that is right: the tool's name, and values that its arguments must have (others may be there too)."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCase:
    """One question with tools.

    Attributes:
        id: unique in its group.
        messages: the conversation so far.
        tools: tools offered, in OpenAI's form.
        expected: the calls that are due; none where words are.
        tool_choice: sent where it is not None.
        contains: by argument name, text that the value of the only call must contain.
        says: regular expressions of which each must match the answer's words.
    """

    id: str
    messages: tuple[Mapping[str, Any], ...]
    tools: tuple[Mapping[str, Any], ...]
    expected: tuple[ExpectedCall, ...]
    tool_choice: Any = None
    contains: Mapping[str, str] = field(default_factory=dict)
    says: tuple[str, ...] = ()

    def request(self, *, streamed: bool) -> dict[str, Any]:
        """Return the request's body, without model, sampling and budget."""
        body: dict[str, Any] = {"messages": list(self.messages), "tools": list(self.tools)}
        if self.tool_choice is not None:
            body["tool_choice"] = self.tool_choice
        if streamed:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return body


@dataclass(frozen=True, slots=True)
class ToolGroup:
    """Cases that belong to one trial."""

    name: str
    title: str
    cases: tuple[ToolCase, ...]


@functools.cache
def tool_groups() -> Mapping[str, ToolGroup]:
    """Read all groups, by name, in the order of the file."""
    text = importlib.resources.files("seatrial.trials").joinpath("data/tool_cases.json").read_text("utf-8")
    document = json.loads(text)
    groups = [_group(group, document["tools"]) for group in document["groups"]]
    return {group.name: group for group in groups}


def _group(group: Mapping[str, Any], tools: Mapping[str, Any]) -> ToolGroup:
    return ToolGroup(group["name"], group["title"], tuple(_case(case, tools) for case in group["cases"]))


def _case(case: Mapping[str, Any], tools: Mapping[str, Any]) -> ToolCase:
    return ToolCase(
        id=case["id"],
        messages=tuple(case["messages"]),
        tools=tuple(tools[name] for name in case["tools"]),
        expected=tuple(ExpectedCall(call["name"], call["arguments"]) for call in case["expected"]),
        tool_choice=case.get("tool_choice"),
        contains=case.get("contains", {}),
        says=tuple(case.get("says", ())),
    )
