"""What a chat completion says, in one shape, whether it came whole or as a stream. Pure.

Servers differ: reasoning stands in `reasoning_content` (SGLang, llama.cpp) or `reasoning` (newer vLLM); some leave
fields out or give them the wrong type. What is wrong is kept in `Answer.defects`, in words, and never raises.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

CONTENT, REASONING, ARGUMENTS = "content", "reasoning_content", "tool_calls.function.arguments"
"""Names of the text fields of an answer, as evidence and detectors use them."""

REASONING_KEYS = ("reasoning_content", "reasoning")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call as the server gave it; `arguments` is the JSON text, not yet parsed."""

    id: str | None
    name: str | None
    arguments: str
    index: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """The server's own token counts; None where it gave none."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """One assistant message with what came around it."""

    model: str | None = None
    content: str | None = None
    reasoning: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None
    usage: Usage | None = None
    defects: tuple[str, ...] = ()

    def text_of(self, name: str) -> str:
        """Return one text field by its name; the arguments of several calls stand one after another."""
        if name == CONTENT:
            return self.content or ""
        if name == REASONING:
            return self.reasoning or ""
        return "\n".join(call.arguments for call in self.tool_calls)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing in it: no text, no reasoning, no call."""
        return not ((self.content or "").strip() or (self.reasoning or "").strip() or self.tool_calls)


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of text that a stream's chunk added to one field."""

    field: str
    text: str


def parse_completion(body: Any) -> Answer | None:
    """Read a whole (not streamed) chat completion; None when it is not one at all."""
    choice = _first_choice(body)
    if choice is None or not isinstance(choice.get("message"), Mapping):
        return None
    defects: list[str] = []
    message = choice["message"]
    calls = message.get("tool_calls")
    if calls is not None and not isinstance(calls, list):
        defects.append(f"tool_calls is {_kind(calls)}, not a list")
        calls = None
    _note_oddities(choice, message, defects)
    return Answer(
        model=_text(body, "model", defects),
        content=_text(message, "content", defects),
        reasoning=_reasoning(message, defects),
        tool_calls=tuple(_tool_call(call, index, defects) for index, call in enumerate(calls or ())),
        finish_reason=_text(choice, "finish_reason", defects),
        usage=parse_usage(body.get("usage")),
        defects=tuple(defects),
    )


def parse_usage(usage: Any) -> Usage | None:
    """Read a `usage` object; None when there is none. Counts that are no integers count as not given."""
    if not isinstance(usage, Mapping):
        return None
    completion = usage.get("completion_tokens_details")
    prompt = usage.get("prompt_tokens_details")
    reasoning_tokens = _count(completion, "reasoning_tokens")
    if reasoning_tokens is None:
        reasoning_tokens = _count(usage, "reasoning_tokens")
    return Usage(
        prompt_tokens=_count(usage, "prompt_tokens"),
        completion_tokens=_count(usage, "completion_tokens"),
        total_tokens=_count(usage, "total_tokens"),
        reasoning_tokens=reasoning_tokens,
        cached_tokens=_count(prompt, "cached_tokens"),
    )


@dataclass(slots=True)
class _CallParts:
    id: str | None = None
    name: str | None = None
    arguments: list[str] = field(default_factory=list)


class StreamAssembler:
    """Rebuilds one answer from the chunks of a stream, as the OpenAI protocol says clients must.

    A call's parts belong to its `index`; its name comes once; its arguments are joined, and parsed only when whole.
    """

    def __init__(self) -> None:
        self._model: str | None = None
        self._content: list[str] | None = None
        self._reasoning: list[str] | None = None
        self._calls: dict[int, _CallParts] = {}
        self._finish_reason: str | None = None
        self._usage: Usage | None = None
        self._defects: list[str] = []
        self.chunks = 0

    def add(self, chunk: Any) -> list[Delta]:
        """Take one parsed chunk; return the text that it added."""
        self.chunks += 1
        if not isinstance(chunk, Mapping):
            self._defects.append(f"chunk {self.chunks} is {_kind(chunk)}, not an object")
            return []
        self._model = self._model or _text(chunk, "model", self._defects)
        self._usage = parse_usage(chunk.get("usage")) or self._usage
        choice = _first_choice(chunk)
        if choice is None:
            return []  # the last chunk often holds usage alone
        ended = self._finish_reason
        self._finish_reason = _text(choice, "finish_reason", self._defects) or ended
        if ended is not None and self._finish_reason != ended:
            self._defects.append(f"finish_reason is {ended!r}, then {self._finish_reason!r}")
        delta = choice.get("delta")
        if not isinstance(delta, Mapping):
            return []
        _note_oddities(choice, delta, self._defects)
        added = self._add_delta(delta)
        if ended is not None and added:
            self._defects.append(f"{added[0].field} goes on after finish_reason: clients have stopped reading")
        return added

    def answer(self) -> Answer:
        """Return what has come so far as one answer."""
        return Answer(
            model=self._model,
            content=None if self._content is None else "".join(self._content),
            reasoning=None if self._reasoning is None else "".join(self._reasoning),
            tool_calls=tuple(
                ToolCall(parts.id, parts.name, "".join(parts.arguments), index)
                for index, parts in sorted(self._calls.items())
            ),
            finish_reason=self._finish_reason,
            usage=self._usage,
            defects=tuple(self._defects),
        )

    def _add_delta(self, delta: Mapping[str, Any]) -> list[Delta]:
        added = []
        if (text := _reasoning(delta, self._defects)) is not None:
            self._reasoning = self._reasoning or []
            self._reasoning.append(text)
            added.append(Delta(REASONING, text))
        if (text := _text(delta, "content", self._defects)) is not None:
            self._content = self._content or []
            self._content.append(text)
            added.append(Delta(CONTENT, text))
        calls = delta.get("tool_calls")
        if isinstance(calls, list):
            added += [piece for call in calls if (piece := self._add_call(call)) is not None]
        elif calls is not None:
            self._defects.append(f"tool_calls is {_kind(calls)}, not a list")
        return [piece for piece in added if piece.text]

    def _add_call(self, call: Any) -> Delta | None:
        if not isinstance(call, Mapping):
            self._defects.append(f"a tool call is {_kind(call)}, not an object")
            return None
        index = call.get("index")
        if not isinstance(index, int):
            self._defects.append("a streamed tool call has no index")
            index = max(self._calls, default=0)
        parts = self._calls.setdefault(index, _CallParts())
        identity = _text(call, "id", self._defects)
        if identity and parts.id and identity != parts.id:
            self._defects.append(f"tool call {index} changes its id in mid-stream")
        parts.id = parts.id or identity
        function = call.get("function")
        if not isinstance(function, Mapping):
            return None
        if name := _text(function, "name", self._defects):
            if parts.name:
                self._defects.append(f"tool call {index} gives a name twice: {parts.name!r}, then {name!r}")
            else:
                parts.name = name
        arguments = _arguments(function, self._defects)
        parts.arguments.append(arguments)
        return Delta(ARGUMENTS, arguments)


def _note_oddities(choice: Mapping[str, Any], message: Mapping[str, Any], defects: list[str]) -> None:
    if choice.get("matched_stop") == "NaN happened":  # SGLang 0.5.16, srt/managers/schedule_batch.py
        defects.append(
            "matched_stop is 'NaN happened': the logits were no numbers, a sign of overflow or a broken quant"
        )
    if isinstance(message.get("function_call"), Mapping) and not message.get("tool_calls"):
        defects.append("the call stands in function_call, which tool_calls has replaced")


def _tool_call(call: Any, index: int, defects: list[str]) -> ToolCall:
    if not isinstance(call, Mapping):
        defects.append(f"tool call {index} is {_kind(call)}, not an object")
        return ToolCall(None, None, "", index)
    function = call.get("function")
    if not isinstance(function, Mapping):
        defects.append(f"tool call {index} has no function")
        function = {}
    return ToolCall(_text(call, "id", defects), _text(function, "name", defects), _arguments(function, defects), index)


def _arguments(function: Mapping[str, Any], defects: list[str]) -> str:
    arguments = function.get("arguments")
    if arguments is None:
        return ""
    if isinstance(arguments, str):
        return arguments
    defects.append(f"arguments are {_kind(arguments)}, not a string of JSON")
    return json.dumps(arguments, ensure_ascii=False)


def _reasoning(message: Mapping[str, Any], defects: list[str]) -> str | None:
    for key in REASONING_KEYS:
        if (text := _text(message, key, defects)) is not None:
            return text
    return None


def _first_choice(body: Any) -> Mapping[str, Any] | None:
    choices = body.get("choices") if isinstance(body, Mapping) else None
    if isinstance(choices, list) and choices and isinstance(choices[0], Mapping):
        return choices[0]
    return None


def _text(holder: Mapping[str, Any], key: str, defects: list[str]) -> str | None:
    value = holder.get(key)
    if value is None or isinstance(value, str):
        return value
    defects.append(f"{key} is {_kind(value)}, not a string")
    return None


def _count(holder: Any, key: str) -> int | None:
    value = holder.get(key) if isinstance(holder, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list", dict: "an object"}
    return names.get(type(value), type(value).__name__)
