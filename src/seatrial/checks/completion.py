"""Checks on an answer as a whole: present, well formed, ended as it says, counted as it should be. Pure."""

from __future__ import annotations

from seatrial.checks.asked import Asked, ToolChoice
from seatrial.checks.finding import one_line, place, proven, refuted, shown, whole
from seatrial.endpoint.answer import REASONING, Answer
from seatrial.verdicts import CheckResult

FINISH_REASONS = frozenset({"stop", "length", "tool_calls", "content_filter"})


def answer_present(asked: Asked, answer: Answer) -> CheckResult:
    """There is an answer: text in content, or a call. Reasoning alone answers nothing."""
    check = "answer_present"
    if answer.tool_calls:
        return proven(check, "there is a call")
    if (answer.content or "").strip():
        return proven(check, f"there are {len(answer.content or '')} characters of content")
    reasoning = answer.reasoning or ""
    if reasoning.strip():
        cut = " and the token limit ended it" if answer.finish_reason == "length" else ""
        return refuted(
            check,
            f"only reasoning ({len(reasoning)} characters), no content and no call{cut}",
            place(asked, REASONING, reasoning, max(0, len(reasoning) - 80), len(reasoning)),
        )
    detail = f"no content, no reasoning, no call (finish_reason is {shown(answer.finish_reason)})"
    tokens = answer.usage.completion_tokens if answer.usage else None
    if tokens:
        detail += f", yet {tokens} tokens were generated: a parser swallowed them"
    return refuted(check, detail, whole(asked))


def answer_well_formed(asked: Asked, answer: Answer) -> CheckResult:
    """Every field has the type that the protocol gives it."""
    check = "answer_well_formed"
    if answer.defects:
        return refuted(check, "; ".join(answer.defects[:3]), whole(asked, "; ".join(answer.defects)))
    return proven(check, "every field that was read has its type")


def finish_reason_agrees(asked: Asked, answer: Answer) -> CheckResult:
    """`finish_reason` says how the answer ended: `tool_calls` with calls, and only then.

    A forced call (`tool_choice` names a function) may end with `stop`, as at OpenAI.
    """
    check, reason, calls = "finish_reason_agrees", answer.finish_reason, len(answer.tool_calls)
    allowed = {"tool_calls", "stop"} if asked.tool_choice is ToolChoice.NAMED else {"tool_calls"}
    if reason is None:
        problem = "finish_reason is missing: the answer did not end"
    elif reason not in FINISH_REASONS:
        problem = f"finish_reason is {shown(reason)}, which is none of {', '.join(sorted(FINISH_REASONS))}"
    elif calls and reason not in allowed:
        problem = f"tool_calls has {calls}, but finish_reason is {shown(reason)}, not 'tool_calls'"
    elif not calls and reason == "tool_calls":
        problem = "finish_reason is 'tool_calls', but there is no call: the expected call is missing"
    else:
        return proven(check, f"finish_reason is {shown(reason)} with {calls or 'no'} calls")
    return refuted(check, problem, whole(asked, answer.content or ""))


def usage_adds_up(asked: Asked, answer: Answer) -> CheckResult | None:
    """The server's token counts agree with one another and with the answer."""
    usage = answer.usage
    if usage is None:
        return None
    prompt, completion, total = usage.prompt_tokens, usage.completion_tokens, usage.total_tokens
    problems = []
    if prompt is not None and completion is not None and total is not None and prompt + completion != total:
        problems.append(f"total_tokens is {total}, but {prompt} + {completion} are {prompt + completion}")
    if completion == 0 and not answer.is_empty:
        problems.append("completion_tokens is 0, but there is an answer")
    if prompt == 0 and asked.prompt.strip():
        problems.append("prompt_tokens is 0, but there is a prompt")
    if usage.reasoning_tokens is not None and completion is not None and usage.reasoning_tokens > completion:
        problems.append(f"reasoning_tokens ({usage.reasoning_tokens}) is more than completion_tokens ({completion})")
    if usage.cached_tokens is not None and prompt is not None and usage.cached_tokens > prompt:
        problems.append(f"cached_tokens ({usage.cached_tokens}) is more than prompt_tokens ({prompt})")
    if asked.max_tokens is not None and completion is not None and completion > asked.max_tokens:
        problems.append(f"completion_tokens is {completion}, but the request allows {asked.max_tokens}")
    if problems:
        return refuted("usage_adds_up", "; ".join(problems), whole(asked, one_line(str(usage))))
    if prompt is None and completion is None and total is None:
        return None
    return proven("usage_adds_up", f"{prompt} + {completion} = {total} tokens")
