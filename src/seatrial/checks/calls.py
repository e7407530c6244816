"""Checks on which calls were made: due or not, names, ids, number. Each returns None where it is not due. Pure."""

from __future__ import annotations

import difflib
import json
import re
from collections import Counter
from itertools import islice
from typing import Any

from seatrial.checks.asked import Asked, Tool, ToolChoice
from seatrial.checks.finding import (
    call_place,
    one_line,
    place,
    plural,
    proven,
    refuted,
    refuted_by,
    shown,
    unproven,
    whole,
)
from seatrial.checks.markup import fences, prose_words
from seatrial.endpoint.answer import CONTENT, Answer, ToolCall
from seatrial.verdicts import CheckResult

MAX_SUGGESTION_NAMES = 8

_ANNOUNCES = re.compile(
    r"\b(?:I['’]ll|I will|I['’]m going to|I am going to|let me|now calling|calling)\b(?! know)"
    r"(?P<what>[^.?!\n]{0,120})",
    re.IGNORECASE,
)
_DENIES = re.compile(
    r"\b(?:don['’]t|do not|can['’]t|cannot|unable to|not able to|no|lack)\b[^.?!\n]{0,60}"
    r"\b(?:access|real[- ]time|brows\w+|live|up[- ]to[- ]date|internet|tools?|files? ?system)\b",
    re.IGNORECASE,
)
_DOES = re.compile(r"\b(?:call|calling|use|using|check|look|run|fetch|search|get|read|query|invoke|retrieve|open)\b")
_REPEATS = re.compile(
    r"\b(?:twice|thrice|times|again|repeat\w*|two|three|four|five|six|seven|eight|nine|ten|several|each|both|\d+)\b",
    re.IGNORECASE,
)
_ABOUT_WORDS = re.compile(
    r"\b(?:what does|means?|explain|define|why|how|differences?|thanks?|translate|code|script|snippet|function|example|"
    r"don['’]t|do not|without|joke|poem|haiku|song|essay|story|sentence|one-liner|available|"
    r"(?:a|which|what) (?:\w+ )?command)\b",
    re.IGNORECASE,
)
_GENERIC_WORDS = frozenset(
    re.findall(
        r"\w+", "get set list read write run do make create fetch find search tool call the a of for by in to and"
    )
) | {"item", "items"}


def call_made(asked: Asked, answer: Answer, *, due: bool | None = None) -> CheckResult | None:
    """A call that is due comes as a native tool call.

    Args:
        asked: the request.
        answer: the answer.
        due: whether a call is due; None asks the request. Where neither tells, only an answer that can't stand
            without a call (it announces one, or the prompt speaks of the tool) is judged.
    """
    due = asked.call_due if due is None else due
    calls = answer.tool_calls
    if due is False:
        return None
    if due is None:
        return None if calls else _doubtful_silence(asked, answer)
    if calls:
        return proven("call_made", f"the answer makes {plural(len(calls), 'call')}")
    why = {
        ToolChoice.REQUIRED: "tool_choice is 'required'",
        ToolChoice.NAMED: f"tool_choice names {shown(asked.named)}",
    }.get(asked.tool_choice, "a call was due")
    return refuted("call_made", f"{why}, but tool_calls is empty", whole(asked, answer.content or ""))


def call_withheld(asked: Asked, answer: Answer, *, due: bool | None = None) -> CheckResult | None:
    """No call comes where none may come: `tool_choice` is none, or no tools were offered, or none was due."""
    due = asked.call_due if due is None or asked.tool_choice is ToolChoice.NONE else due
    if due is not False:
        return None
    if not answer.tool_calls:
        return proven("call_withheld", "the answer makes no call, and none was due") if asked.tools else None
    names = ", ".join(shown(call.name) for call in answer.tool_calls[:MAX_SUGGESTION_NAMES])
    why = "no call was due"
    if asked.tool_choice is ToolChoice.NONE:
        why = "tool_choice is 'none'" if asked.tools else "the request offers no tools"
    return refuted("call_withheld", f"{why}, but the answer calls {names}", whole(asked, names))


def call_count_allowed(asked: Asked, answer: Answer) -> CheckResult | None:
    """At most one call comes where the request says `parallel_tool_calls: false`."""
    if asked.parallel or not answer.tool_calls:
        return None
    if len(answer.tool_calls) == 1:
        return proven("call_count_allowed", "one call, as parallel_tool_calls: false demands")
    return refuted(
        "call_count_allowed",
        f"parallel_tool_calls is false, but the answer makes {plural(len(answer.tool_calls), 'call')}",
        whole(asked, ", ".join(shown(call.name) for call in answer.tool_calls)),
    )


def call_names_known(asked: Asked, answer: Answer) -> CheckResult | None:
    """Every call names a function that the request offers; where one is demanded by name, that one."""
    if not answer.tool_calls:
        return None
    problems = [
        (
            f"call {position} {problem}",
            whole(asked, f"name: {shown(call.name)}, arguments: {one_line(call.arguments, 80)}"),
        )
        for position, call in enumerate(answer.tool_calls, start=1)
        if (problem := _name_problem(asked, call)) is not None
    ]
    if problems:
        return refuted_by("call_names_known", problems)
    names = sorted({str(call.name) for call in answer.tool_calls})
    return proven("call_names_known", f"all names are offered: {one_line(', '.join(names))}")


def call_ids_unique(asked: Asked, answer: Answer) -> CheckResult | None:
    """Every call has an id, and no id stands for two calls of one conversation."""
    calls = answer.tool_calls
    if not calls:
        return None
    check = "call_ids_unique"
    problems = []
    for position, call in enumerate(calls, start=1):
        if not (call.id or "").strip():
            problems.append(f"call {position} ({shown(call.name)}) has no id")
        elif call.id in asked.used_call_ids:
            problems.append(f"call {position} has the id {shown(call.id)} of an earlier turn")
    counted = Counter(call.id for call in calls if call.id)
    problems += [
        f"the id {shown(identity)} stands for {count} calls" for identity, count in counted.items() if count > 1
    ]
    if problems:
        return refuted_by(check, [(problem, whole(asked, problem)) for problem in problems])
    return proven(check, f"{plural(len(calls), 'id')}, all different")


def calls_differ(asked: Asked, answer: Answer) -> CheckResult | None:
    """No call is made twice with the same arguments, unless the user asks for repetition.

    A call without arguments may come twice (a die is rolled twice); five times is a loop. So is a call that earlier
    turns have made again and again, byte for byte.
    """
    calls = answer.tool_calls
    check = "calls_differ"
    if calls and asked.replayed_arguments:
        from seatrial.degeneration import Severity, scan_tool_calls  # noqa: PLC0415 - keeps this package quick to import

        earlier = [(name, arguments) for name, arguments in asked.replayed_arguments if isinstance(arguments, str)]
        looping = scan_tool_calls([*earlier, *((call.name or "", call.arguments) for call in calls)])
        if looping is not None and looping.end > len(earlier):
            make = refuted if looping.severity is Severity.FAIL else unproven
            return make(check, f"over the turns: {looping.why.rstrip('.')}", call_place(asked, answer, 0))
    if len(calls) < 2:
        return None
    (name, arguments), count = Counter((call.name, _canonical(call.arguments)) for call in calls).most_common(1)[0]
    empty = arguments.strip() in {"", "{}"}
    allowed = 4 if empty else 1
    if count <= allowed or (count <= 12 and _REPEATS.search(asked.prompt) and not asked.after_tool_result and empty):
        return proven(check, f"{plural(len(calls), 'call')}, none repeated")
    if re.search(r"\b(?:twice|times|again|repeat\w*)\b", asked.prompt, re.IGNORECASE) and count <= 12:
        return proven(check, f"{plural(len(calls), 'call')}, repeated as the user asked")
    position = next(at for at, call in enumerate(calls) if _canonical(call.arguments) == arguments)
    return refuted(
        check,
        f"{shown(name)} is called {count} times with the same arguments",
        call_place(asked, answer, position),
    )


def _name_problem(asked: Asked, call: ToolCall) -> str | None:
    name = call.name
    if name is None or not name.strip():
        return "has no name"
    if asked.tool(name) is None:
        offered = [tool.name for tool in asked.tools]
        if not offered:
            return f"names {shown(name)}, but the request offers no tools"
        glued = [other for other in offered if other in name]
        if glued:
            return f"names {shown(name)}, which is no offered tool: {shown(max(glued, key=len))} with more glued to it"
        close = difflib.get_close_matches(name, offered, n=1, cutoff=0.6)
        listed = shown(close[0]) if close else one_line(", ".join(map(repr, offered[:MAX_SUGGESTION_NAMES])))
        return f"names {shown(name)}, which is no offered tool ({'nearest' if close else 'offered'}: {listed})"
    if asked.named is not None and name != asked.named:
        return f"names {shown(name)}, but tool_choice demands {shown(asked.named)}"
    return None


def _doubtful_silence(asked: Asked, answer: Answer) -> CheckResult | None:
    """Judge an answer without a call where the model may decide: most are fine, some can't be told."""
    text = (answer.content or "").rstrip()
    if not asked.tools or not text or asked.after_tool_result or asked.is_about_calls or text.endswith("?"):
        return None
    telling = asked.telling_names_pattern
    for announced in islice(_ANNOUNCES.finditer(text), 20):
        what = announced.group()
        if not _DOES.search(what):
            continue
        if telling is not None and re.search(rf"\b{telling}\b", what):
            evidence = place(asked, CONTENT, text, *announced.span())
            return refuted("call_made", "the answer announces a call and makes none", evidence)
        if len(text) < 300 and announced.end() >= len(text) - 2:
            evidence = place(asked, CONTENT, text, *announced.span())
            return unproven("call_made", "the answer ends as if a call were to follow, and none does", evidence)
    if _ABOUT_WORDS.search(asked.prompt):
        return None
    if telling is not None and (spoken_of := re.search(telling, text)) and not re.search(telling, asked.prompt):
        return unproven(
            "call_made",
            f"the answer speaks of {shown(spoken_of.group())} and does not call it; whether one was due is not known",
            whole(asked, text),
        )
    only_fence = len(blocks := fences(text)) == 1 and prose_words(text) == 0
    if only_fence and blocks[0]["body"].strip() and any(_takes_one_text(tool) for tool in asked.tools):
        return unproven(
            "call_made",
            "the answer is nothing but a code fence, which may be the text of a call that was not made",
            whole(asked, text),
        )
    spoken = set(re.findall(r"[a-z]+", asked.prompt.lower()))
    for tool in asked.tools:
        words = {word for word in re.findall(r"[a-z]+", tool.name.lower()) if word not in _GENERIC_WORDS}
        if words and words <= spoken:
            if (denied := _DENIES.search(text)) is not None:
                return refuted(
                    "call_made",
                    f"the answer says that it can't do what {shown(tool.name)} does, as if it had not been offered",
                    place(asked, CONTENT, text, *denied.span()),
                )
            return unproven(
                "call_made",
                f"no call, though the prompt speaks of what {shown(tool.name)} does; whether one was due is not known",
                whole(asked, text),
            )
    return None


def _takes_one_text(tool: Tool) -> bool:
    required = (tool.parameters or {}).get("required")
    return (
        isinstance(required, list)
        and len(required) == 1
        and isinstance(required[0], str)
        and tool.property(required[0]).get("type") == "string"
    )


def _canonical(arguments: str) -> str:
    try:
        value: Any = json.loads(arguments)
        return json.dumps(value, sort_keys=True)
    except (ValueError, RecursionError):
        return arguments
