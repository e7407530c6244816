"""From a request's JSON body to what is answered: validation, limits, the model, its faults, token counts. Pure.

Statuses and messages are SGLang's (0.5.16: entrypoints/openai/serving_chat.py, managers/tokenizer_manager.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from seatrial.testkit.distortion import distort_reply, distort_request
from seatrial.testkit.faults import Fault
from seatrial.testkit.reply import Call, Reply
from seatrial.testkit.script import Script
from seatrial.testkit.tokens import Cut, count_prompt, cut_prompt, tokenize

RESERVED_TOKENS = 6
"""Longest accepted prompt is the context less this, as in SGLang."""

CUTS = {Fault.TRUNCATE_HEAD: Cut("head"), Fault.TRUNCATE_TAIL: Cut("tail"), Fault.TRUNCATE_MIDDLE: Cut("middle")}


@dataclass(frozen=True, slots=True)
class Refusal:
    """A status other than 200 and its JSON body."""

    status: int
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Served:
    """A reply within its token budget, and its counts."""

    reply: Reply
    prompt_tokens: int
    completion_tokens: int
    reasoning_tokens: int
    matched_stop: str | int | None
    was_cut: bool = False

    @property
    def finish_reason(self) -> str:
        """What the answer says about its end."""
        assert self.reply.finish_reason is not None
        return self.reply.finish_reason


def refuse(status: int, message: str, kind: str = "BadRequestError", param: str | None = None) -> Refusal:
    """Make an error answer in SGLang's flat shape."""
    body = {"object": "error", "message": message, "type": kind, "param": param, "code": status}
    return Refusal(status, body)


def serve(
    request: Any, script: Script, faults: frozenset[Fault], *, again: bool = False, other: Any = None
) -> Served | Refusal:
    """Answer one chat request.

    Args:
        request: its JSON body, or anything else that came.
        script: the server.
        faults: those that apply to this request.
        again: whether the same messages came before.
        other: the body of another request at the same time, for CROSS_TALK.
    """
    if (refusal := _invalid(request, script, faults)) is not None:
        return refusal
    prompt_tokens, limit = count_prompt(request), script.context_length - RESERVED_TOKENS
    asked = _budget(request)
    room = script.context_length - prompt_tokens
    truncating = next((fault for fault in CUTS if fault in faults), None)
    if Fault.TRUNCATE_TO_NOTHING in faults and prompt_tokens >= limit:
        return Served(Reply(finish_reason="length"), limit, 0, 0, None, was_cut=True)
    if truncating is not None and prompt_tokens + (asked or 0) >= limit:
        room = min(asked or 512, script.context_length // 2)
        request = cut_prompt(request, script.context_length - room - RESERVED_TOKENS, CUTS[truncating])
        prompt_tokens = count_prompt(request)
    elif (refusal := _too_long(prompt_tokens, asked, script)) is not None:
        return refusal
    budget = room if asked is None else min(asked, room)
    source = other if other is not None and Fault.CROSS_TALK in faults else request
    reply = script.answer(distort_request(source, faults))
    reply = distort_reply(reply, source, faults, script.details, budget=budget, again=again)
    return _within(reply, budget, prompt_tokens, request)


def _invalid(request: Any, script: Script, faults: frozenset[Fault]) -> Refusal | None:
    if not isinstance(request, Mapping):
        return refuse(400, "The body is not a JSON object")
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages or not all(isinstance(entry, Mapping) for entry in messages):
        return refuse(400, "messages: Field required, a list that is not empty", param="messages")
    if request.get("model") != script.model:
        return refuse(404, f"The model `{request.get('model')}` does not exist", "NotFoundError", "model")
    tools, choice = request.get("tools"), request.get("tool_choice")
    if tools is not None and not (isinstance(tools, list) and all(_is_function(tool) for tool in tools)):
        return refuse(400, "tools: not a list of functions with names", param="tools")
    if choice is not None and Fault.REJECT_TOOL_CHOICE in faults:
        return refuse(400, "tool_choice: Extra inputs are not permitted", param="tool_choice")
    if choice not in {None, "none", "auto"} if not isinstance(choice, Mapping) else True:
        names = {tool["function"]["name"] for tool in tools or ()}
        if not names:
            return refuse(400, "Tools cannot be empty if tool choice is set to required.", param="tool_choice")
        if isinstance(choice, Mapping):
            name = _named(choice)
            if name not in names:
                return refuse(400, f"Tool '{name}' not found in tools list.", param="tool_choice")
        elif choice != "required":
            return refuse(400, f"tool_choice: {choice!r} is none of none, auto, required", param="tool_choice")
    asked = _budget(request)
    if asked is not None and asked < 1:
        return refuse(400, "max_completion_tokens must be at least 1", param="max_completion_tokens")
    return None


def _is_function(tool: Any) -> bool:
    function = tool.get("function") if isinstance(tool, Mapping) else None
    return isinstance(function, Mapping) and isinstance(function.get("name"), str)


def _named(choice: Mapping[str, Any]) -> Any:
    function = choice.get("function")
    return function.get("name") if isinstance(function, Mapping) else None


def _budget(request: Mapping[str, Any]) -> int | None:
    asked = request.get("max_completion_tokens", request.get("max_tokens"))
    return asked if isinstance(asked, int) and not isinstance(asked, bool) else None


def _too_long(prompt_tokens: int, asked: int | None, script: Script) -> Refusal | None:
    context = script.context_length
    if prompt_tokens >= context:
        message = f"The input ({prompt_tokens} tokens) is longer than the model's context length ({context} tokens)."
        return refuse(400, message)
    if asked is not None and prompt_tokens + asked > context:
        return refuse(
            400,
            f"Requested token count exceeds the model's maximum context length of {context} tokens. You requested a "
            f"total of {prompt_tokens + asked} tokens: {prompt_tokens} tokens from the input messages and {asked} "
            "tokens for the completion. Please reduce the number of tokens in the input messages or the completion "
            "to fit within the limit.",
        )
    if prompt_tokens >= context - RESERVED_TOKENS:
        return refuse(
            400,
            f"Input length ({prompt_tokens} tokens) exceeds the maximum allowed length "
            f"({context - RESERVED_TOKENS} tokens). Use a shorter input or enable --allow-auto-truncate.",
        )
    return None


def _within(reply: Reply, budget: int, prompt_tokens: int, request: Mapping[str, Any]) -> Served:
    """Cut a reply to its budget, in the order in which a model writes: reasoning, content, calls."""
    content, stop = _stopped(reply.content, request.get("stop"))
    room = budget
    texts = []
    for text in (reply.reasoning or "", content, *(call.arguments for call in reply.tool_calls)):
        kept = tokenize(text)[: max(room, 0)]
        room -= len(kept)
        texts.append((text, "".join(kept), len(kept)))
    was_cut = any(whole != kept for whole, kept, _ in texts)
    (_, reasoning, reasoning_tokens), (_, content, _), *calls = texts
    kept_calls = tuple(
        Call(call.name, kept)
        for call, (whole, kept, _) in zip(reply.tool_calls, calls, strict=True)
        if kept or not whole
    )
    finish = reply.finish_reason or ("length" if was_cut else "tool_calls" if kept_calls else "stop")
    matched: str | int | None = stop if stop is not None else None if was_cut else END_OF_TURN
    return Served(
        replace(
            reply,
            content=content,
            reasoning=None if reply.reasoning is None else reasoning,
            tool_calls=kept_calls,
            finish_reason=finish,
        ),
        prompt_tokens=prompt_tokens,
        completion_tokens=min(budget - max(room, 0) + (0 if was_cut else 1), budget),
        reasoning_tokens=reasoning_tokens,
        matched_stop=matched,
        was_cut=was_cut,
    )


END_OF_TURN = 151_645
"""The token id that `matched_stop` gives for a normal end; it counts as a completion token."""


def _stopped(content: str, stop: Any) -> tuple[str, str | None]:
    words = [stop] if isinstance(stop, str) else stop if isinstance(stop, list) else []
    places = [(at, word) for word in words if isinstance(word, str) and word and (at := content.find(word)) >= 0]
    if not places:
        return content, None
    at, word = min(places)
    return content[:at], word
