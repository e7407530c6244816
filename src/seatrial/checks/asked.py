"""What a request asked for, as far as checks need it. Pure.

Reads a full OpenAI request, and the short form of recorded cases: `{"user", "tools", "tool_choice", "stream"}`.
Nothing here raises for a malformed request: what can't be read counts as not given.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

ABOUT_LENGTH = 4_000
"""Characters at each end of a prompt in which its question is looked for."""


class ToolChoice(StrEnum):
    """What the request says about calling tools."""

    AUTO = "auto"
    """The model decides."""
    NONE = "none"
    """No tool may be called; also a request without tools."""
    REQUIRED = "required"
    """Some tool must be called."""
    NAMED = "named"
    """One tool, named in the request, must be called."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that the request offers; `parameters` is its JSON Schema, None for a function without any."""

    name: str
    parameters: Mapping[str, Any] | None = None
    description: str = ""

    @property
    def properties(self) -> Mapping[str, Any]:
        """The schemas of the parameters by name, as far as the schema lists them."""
        listed = (self.parameters or {}).get("properties")
        return listed if isinstance(listed, Mapping) else {}

    def property(self, name: str) -> Mapping[str, Any]:
        """The schema of one parameter; empty where it has none."""
        schema = self.properties.get(name)
        return schema if isinstance(schema, Mapping) else {}


@dataclass(frozen=True)
class Asked:
    """One request.

    Attributes:
        prompt: the last thing that the user said.
        tools: the functions offered.
        tool_choice: what it says about calling them.
        named: the function that must be called, where one is named.
        stream: whether a stream was asked for.
        exchange: id of the exchange, for evidence.
        material: all that the user and the tools said, the prompt included: what an answer may quote.
        after_tool_result: whether the last message is a tool's result, not the user's.
        used_call_ids: ids of the calls of earlier turns.
        replayed_arguments: the arguments of the calls of earlier turns, with the name of the function.
        parallel: False where the request forbids more than one call.
        response_format: the `response_format` of the request, if any.
        max_tokens: the most tokens that the answer may have, if the request says so.
    """

    prompt: str = ""
    tools: tuple[Tool, ...] = ()
    tool_choice: ToolChoice = ToolChoice.NONE
    named: str | None = None
    stream: bool = False
    exchange: str = ""
    material: str = ""
    after_tool_result: bool = False
    used_call_ids: frozenset[str] = frozenset()
    replayed_arguments: tuple[tuple[str, Any], ...] = ()
    parallel: bool = True
    response_format: Mapping[str, Any] | None = field(default=None, repr=False)
    max_tokens: int | None = None

    @classmethod
    def from_request(cls, request: Any, *, exchange: str = "") -> Asked:
        """Read a request in either form."""
        if not isinstance(request, Mapping):
            return cls(exchange=exchange)
        messages = _list_of_mappings(request.get("messages"))
        if not messages and isinstance(request.get("user"), str):
            messages = [{"role": "user", "content": request["user"]}]
        spoken = [(str(message.get("role")), _text_of(message.get("content"))) for message in messages]
        tools = _read_tools(request.get("tools"))
        choice, named = _read_tool_choice(request.get("tool_choice"), tools)
        earlier = [call for message in messages for call in _list_of_mappings(message.get("tool_calls"))]
        response_format = request.get("response_format")
        limits = (request.get("max_completion_tokens"), request.get("max_tokens"))
        return cls(
            prompt=next((text for role, text in reversed(spoken) if role == "user"), ""),
            tools=tools,
            tool_choice=choice,
            named=named,
            stream=request.get("stream") is True,
            exchange=exchange,
            material="\n".join(text for role, text in spoken if role in {"user", "tool", "function"}),
            after_tool_result=bool(spoken) and spoken[-1][0] in {"tool", "function"},
            used_call_ids=frozenset(call["id"] for call in earlier if isinstance(call.get("id"), str)),
            replayed_arguments=tuple(_replayed(call) for call in earlier),
            parallel=request.get("parallel_tool_calls") is not False,
            response_format=response_format if isinstance(response_format, Mapping) else None,
            max_tokens=next((limit for limit in limits if type(limit) is int and limit > 0), None),
        )

    @property
    def call_due(self) -> bool | None:
        """Whether a call must come (True), must not come (False), or is left to the model (None)."""
        if self.tool_choice in {ToolChoice.REQUIRED, ToolChoice.NAMED}:
            return True
        return False if self.tool_choice is ToolChoice.NONE else None

    def tool(self, name: str | None) -> Tool | None:
        """Find a tool by its name."""
        return self._by_name.get(name) if name is not None else None

    @cached_property
    def _by_name(self) -> dict[str, Tool]:
        return {tool.name: tool for tool in self.tools}

    @cached_property
    def tool_names_pattern(self) -> str | None:
        """A regular expression (without groups) that matches any tool's name; None where there are no tools."""
        names = sorted((tool.name for tool in self.tools), key=len, reverse=True)
        return f"(?:{'|'.join(map(re.escape, names))})" if names else None

    @cached_property
    def telling_names_pattern(self) -> str | None:
        """The same for the names that are no plain words (`get_weather`, not `search`)."""
        names = [tool.name for tool in self.tools if re.search(r"[^a-z]", tool.name)]
        return f"(?:{'|'.join(map(re.escape, sorted(names, key=len, reverse=True)))})" if names else None

    @cached_property
    def is_about_calls(self) -> bool:
        """Whether the user asks about tools or the form of calls, so that the answer may well show some."""
        prompt = self.prompt
        if len(prompt) > 2 * ABOUT_LENGTH:  # the question stands at an end of a long text
            prompt = f"{prompt[:ABOUT_LENGTH]}\n{prompt[-ABOUT_LENGTH:]}"
        if any(pattern.search(prompt) for pattern in _ABOUT_CALLS):
            return True
        return any(
            _SPEAKS_OF_CALLS.search(sentence)
            and _SPEAKS_OF_FORM.search(sentence)
            and not _WANTS_A_CALL.search(sentence)
            for sentence in re.split(r"[.?!\n]\s", prompt)
        )


_CALL = r"(?:tool|function)[ _-]?(?:call|use|invocation)(?:s|ing)?"
_FORM = r"(?:format|syntax|mark-?up|template|tags?|tokens?|xml|schema|notation|structure|grammar|shape)"
_SPEAKS_OF_CALLS = re.compile(
    rf"\b{_CALL}\b|\bcalls?\s+(?:a|the|some|its|an offered)\s+(?:tool|function)|"
    r"\b(?:raw|qwen|llama|hermes|mistral|deepseek|minimax|glm|kimi|gemma|models?)\b[^.?!\n]{0,30}\bcalls?\b",
    re.IGNORECASE,
)
_SPEAKS_OF_FORM = re.compile(
    rf"\b(?:explain|describe|document|illustrate|readme|docs|documentation|parsers?|emits?|wire|encod\w+|seriali\w+|{_FORM})\b"
    r"|\blooks?\s+like\b|\blooks?(?:\s+\w+){0,5}\s*\??\Z",
    re.IGNORECASE,
)
_WANTS_A_CALL = re.compile(
    rf"\b(?:make|issue|do|use|perform|emit)\s+(?:\w+\s+)?{_CALL}\b(?! (?:format|syntax))", re.IGNORECASE
)
_ABOUT_CALLS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:{_CALL}|tools?|functions?)[ -]{_FORM}\b",
        rf"\b{_FORM}\s+(?:of|for|der|des|de|du|von|d'|behind|around|used)\b[^.?!\n]{0, 200}\b(?:{_CALL}|tools?)\b",
        rf"\b(?:raw|literal|example|sample)s?\b[^.?!\n]{0, 200}\b{_CALL}\b",
        rf"\b(?:explain|describe|document|illustrate|quote|erkläre|explique)\b[^.?!\n]{0, 200}\b{_CALL}\b",
        r"\b(?:explain|describe|document|what|which|how)\b[^.?!\n]{0,200}\b(?:chat templates?|special tokens?)\b",
        r"\bhow\b[^.?!\n]{0,200}\b(?:tool|function)s?\b[^.?!\n]{0,200}\b(?:called|look|work|written|formatted|encoded|invoked)\b",
        rf"\bwhat\b[^.?!\n]{0, 200}\b{_CALL}\b[^.?!\n]{0, 200}\b(?:look|mean|consist|are|is)\b",
        r"\b(?:which|what)\s+(?:tools|functions)\s+(?:do|can|are|have|exist|could|may)\b",
        (
            r"\b(?:list|name|show(?: me)?|tell me)\s+(?:all\s+)?(?:of )?(?:your|the|available)\s+(?:\w+\s+)?"
            r"(?:tools|functions)\b"
        ),
        r"\bwhat can you (?:do|call|use)\b",
    )
)


def _list_of_mappings(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list | tuple) else []


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = (part.get("text") for part in _list_of_mappings(content))
    return "\n".join(part for part in parts if isinstance(part, str))


def _read_tools(tools: Any) -> tuple[Tool, ...]:
    read = []
    for entry in _list_of_mappings(tools):
        function = entry.get("function", entry)
        if isinstance(function, Mapping) and isinstance(function.get("name"), str) and function["name"]:
            parameters, description = function.get("parameters"), function.get("description")
            read.append(
                Tool(
                    function["name"],
                    parameters if isinstance(parameters, Mapping) else None,
                    description if isinstance(description, str) else "",
                )
            )
    return tuple(read)


def _read_tool_choice(choice: Any, tools: Sequence[Tool]) -> tuple[ToolChoice, str | None]:
    if isinstance(choice, Mapping):
        function = choice.get("function", choice)
        if isinstance(function, Mapping) and isinstance(function.get("name"), str):
            return ToolChoice.NAMED, function["name"]
        allowed = choice.get("allowed_tools", choice)
        choice = allowed.get("mode") if isinstance(allowed, Mapping) else None
    if isinstance(choice, str) and choice not in {"auto", "none"}:
        if choice in {"required", "any"}:
            return ToolChoice.REQUIRED, None
        if any(tool.name == choice for tool in tools):
            return ToolChoice.NAMED, choice
    return (ToolChoice.NONE, None) if choice == "none" or not tools else (ToolChoice.AUTO, None)


def _replayed(call: Mapping[str, Any]) -> tuple[str, Any]:
    function = call.get("function")
    if not isinstance(function, Mapping):
        return "", None
    name = function.get("name")
    return (name if isinstance(name, str) else ""), function.get("arguments")
