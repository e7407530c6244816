"""The faults of what a model says: one wrong thing done to a right reply. Pure."""

# ruff: noqa: SIM905 - lists of words read better as text
from __future__ import annotations

import json
import random
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from seatrial.testkit.faults import Details, Fault
from seatrial.testkit.prose import prose
from seatrial.testkit.reply import Call, Reply
from seatrial.testkit.tokens import prompt_of, tokenize

_SALAD = (
    "lattice|的|ниже|getX|oyster|));|quinze|un|ability|été|\\x|kernel|sofa|ようこそ|mice|#else|ural|Tuesday|gross|ẵ"
    "|vector|pun|über|cheese|NULL|ing|marble|сто|forty|ozone|::|whence|cabinet|ness|ly|trout|是|alpha|%d|wardrobe"
    "|그리고|시장|ไทย|ของ|مدينة|كتاب|שלום|κόσμος|город|также|因此|或者|カメラ|ありがとう|हिन्दी|और|rhombus|glyph|atrophy|쓰다|ولكن|για"
    "|которые|內存|ceiling|mustard|ization|verb|nought|ledger|Füße|ñandú|ถนน|क्षेत्र|数据|ペン|사람|ليس|עולם|νερό|берег"
).split("|")

SALAD_WORDS = 240
"""At least: what a detector that reads about 200 words at a time needs."""


def distort_request(request: Mapping[str, Any], faults: frozenset[Fault]) -> Mapping[str, Any]:
    """Change what the model gets to see of a request; the rest of the server sees it as it is."""
    tools, choice = request.get("tools"), request.get("tool_choice")
    if not tools:
        return request
    must_call = choice == "required" or isinstance(choice, Mapping)
    if Fault.IGNORE_TOOLS in faults or (Fault.IGNORE_REQUIRED in faults and must_call):
        return {key: value for key, value in request.items() if key not in {"tools", "tool_choice"}}
    if Fault.IGNORE_NAMED in faults and isinstance(choice, Mapping):
        others = [tool for tool in tools if tool["function"]["name"] != choice["function"]["name"]]
        return {**request, "tools": others or tools, "tool_choice": "required"}
    if (Fault.CALL_DESPITE_NONE in faults and choice == "none") or (
        Fault.CALL_NOT_DUE in faults and choice in (None, "auto")
    ):
        return {**request, "tool_choice": "required"}
    return request


def distort_reply(
    reply: Reply,
    request: Mapping[str, Any],
    faults: frozenset[Fault],
    details: Details,
    *,
    budget: int,
    again: bool = False,
) -> Reply:
    """Do to a reply what the faults say; `budget` is how many tokens an endless one fills."""
    scene = _Scene(request, details, budget, again)
    for fault, distort in _DISTORTIONS.items():
        if fault in faults:
            reply = distort(reply, scene)
    return reply


@dataclass(frozen=True, slots=True)
class _Scene:
    request: Mapping[str, Any]
    details: Details
    budget: int
    again: bool

    @property
    def seed(self) -> int:
        return zlib.crc32(prompt_of(self.request).encode("utf-8", errors="replace"))

    def endless(self, head: str, *, quoted: bool = False) -> str:
        """Lengthen a text to `loop_from` characters, then repeat the loop's text past the budget."""
        start = self.details.loop_from
        head = f"{head} {prose(start // 4 + 10, self.seed)}"[:start]
        unit = self.details.loop_text
        text = head + unit * (self.budget // max(len(tokenize(unit)) - 1, 1) + 2)
        return json.dumps(text, ensure_ascii=False)[1:-1] if quoted else text


def _loop_content(reply: Reply, scene: _Scene) -> Reply:
    return replace(reply, content=scene.endless(reply.content), tool_calls=())


def _loop_reasoning(reply: Reply, scene: _Scene) -> Reply:
    return replace(reply, reasoning=scene.endless(reply.reasoning or ""), content="", tool_calls=())


def _loop_arguments(reply: Reply, scene: _Scene) -> Reply:
    if not reply.tool_calls:
        return reply
    first = reply.tool_calls[0]
    names = [key for key, value in _arguments(first).items() if isinstance(value, str)]
    opening = '{"' + (names[0] if names else "text") + '": "'
    return replace(reply, tool_calls=(Call(first.name, opening + scene.endless("", quoted=True)),))


def _token_salad(reply: Reply, scene: _Scene) -> Reply:
    random_ = random.Random(scene.seed)  # noqa: S311 - variety, not secrecy
    words = [random_.choice(_SALAD) for _ in range(max(len(reply.content.split()), SALAD_WORDS))]
    return replace(reply, content=" ".join(words), tool_calls=())


def _wrong_answer(reply: Reply, scene: _Scene) -> Reply:
    if reply.tool_calls:
        return reply
    return replace(reply, content=prose(30, f"wrong {scene.seed}"))


def _wrong_after_cache_hit(reply: Reply, scene: _Scene) -> Reply:
    return _token_salad(reply, scene) if scene.again else reply


def _think_tags_in_content(reply: Reply, _: _Scene) -> Reply:
    thought = reply.reasoning or "The user wants an answer."
    return replace(reply, content=f"<think>\n{thought}\n</think>\n\n{reply.content}", reasoning=None)


def _unclosed_think_tag(reply: Reply, _: _Scene) -> Reply:
    thought = reply.reasoning or "The user wants an answer."
    return replace(reply, content=f"{thought}\n</think>\n\n{reply.content}", reasoning=None)


def _call_in_content(reply: Reply, _: _Scene) -> Reply:
    if not reply.tool_calls:
        return reply
    return replace(reply, content=f"{reply.content}{_markup(reply)}", tool_calls=())


def _call_in_reasoning(reply: Reply, _: _Scene) -> Reply:
    if not reply.tool_calls:
        return reply
    return replace(reply, reasoning=f"{reply.reasoning or ''}\n{_markup(reply)}", tool_calls=())


def _wrong_argument_types(reply: Reply, _: _Scene) -> Reply:
    def wrong(value: Any) -> Any:
        return 7 if isinstance(value, str) else json.dumps(value)

    return _with_arguments(reply, lambda values: {key: wrong(value) for key, value in values.items()})


def _wrong_argument_values(reply: Reply, scene: _Scene) -> Reply:
    def wrong(value: Any, choices: list[Any]) -> Any:
        if choices:
            return next((choice for choice in choices if choice != value), value)
        if isinstance(value, bool):
            return not value
        if isinstance(value, int | float):
            return value + 1
        if isinstance(value, str):
            return "Atlantis" if value != "Atlantis" else "Lemuria"
        if isinstance(value, list):
            return [wrong(part, []) for part in value]
        return {key: wrong(part, []) for key, part in value.items()} if isinstance(value, dict) else value

    def change(call: Call) -> Call:
        properties = _properties(scene.request, call.name)
        values = {key: wrong(value, properties.get(key, {}).get("enum", [])) for key, value in _arguments(call).items()}
        return Call(call.name, json.dumps(values, ensure_ascii=False))

    return replace(reply, tool_calls=tuple(change(call) for call in reply.tool_calls))


def _missing_arguments(reply: Reply, _: _Scene) -> Reply:
    return _with_arguments(reply, lambda _values: {})


def _broken_arguments(reply: Reply, _: _Scene) -> Reply:
    calls = (Call(call.name, call.arguments[: max(len(call.arguments) * 2 // 3, 1)]) for call in reply.tool_calls)
    return replace(reply, tool_calls=tuple(calls))


def _unknown_tool(reply: Reply, _: _Scene) -> Reply:
    return replace(reply, tool_calls=tuple(Call(f"{call.name}_v2", call.arguments) for call in reply.tool_calls))


def _drop_second_call(reply: Reply, _: _Scene) -> Reply:
    return replace(reply, tool_calls=reply.tool_calls[:1])


def _wrong_finish_reason(reply: Reply, _: _Scene) -> Reply:
    return replace(reply, finish_reason="stop" if reply.tool_calls else "tool_calls")


def _empty_answer(_reply: Reply, _: _Scene) -> Reply:
    return Reply(finish_reason="stop")


# The order in which they are applied: what replaces the text first, what wraps it later.
_DISTORTIONS: dict[Fault, Callable[[Reply, _Scene], Reply]] = {
    Fault.WRONG_ANSWER: _wrong_answer,
    Fault.TOKEN_SALAD: _token_salad,
    Fault.WRONG_AFTER_CACHE_HIT: _wrong_after_cache_hit,
    Fault.LOOP_ARGUMENTS: _loop_arguments,
    Fault.WRONG_ARGUMENT_TYPES: _wrong_argument_types,
    Fault.WRONG_ARGUMENT_VALUES: _wrong_argument_values,
    Fault.MISSING_ARGUMENTS: _missing_arguments,
    Fault.BROKEN_ARGUMENTS: _broken_arguments,
    Fault.UNKNOWN_TOOL: _unknown_tool,
    Fault.DROP_SECOND_CALL: _drop_second_call,
    Fault.CALL_IN_CONTENT: _call_in_content,
    Fault.CALL_IN_REASONING: _call_in_reasoning,
    Fault.LOOP_CONTENT: _loop_content,
    Fault.LOOP_REASONING: _loop_reasoning,
    Fault.THINK_TAGS_IN_CONTENT: _think_tags_in_content,
    Fault.UNCLOSED_THINK_TAG: _unclosed_think_tag,
    Fault.EMPTY_ANSWER: _empty_answer,
    Fault.WRONG_FINISH_REASON: _wrong_finish_reason,
}


def _arguments(call: Call) -> dict[str, Any]:
    try:
        values = json.loads(call.arguments)
    except ValueError:
        return {}
    return values if isinstance(values, dict) else {}


def _with_arguments(reply: Reply, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Reply:
    calls = (Call(call.name, json.dumps(change(_arguments(call)), ensure_ascii=False)) for call in reply.tool_calls)
    return replace(reply, tool_calls=tuple(calls))


def _properties(request: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    for tool in request.get("tools") or ():
        if tool["function"]["name"] == name:
            properties: Mapping[str, Any] = tool["function"].get("parameters", {}).get("properties", {})
            return properties
    return {}


def _markup(reply: Reply) -> str:
    calls = []
    for call in reply.tool_calls:
        parameters = "".join(
            f"<parameter={key}>\n{value if isinstance(value, str) else json.dumps(value)}\n</parameter>\n"
            for key, value in _arguments(call).items()
        )
        calls.append(f"<tool_call>\n<function={call.name}>\n{parameters}</function>\n</tool_call>")
    return "\n".join(calls)
