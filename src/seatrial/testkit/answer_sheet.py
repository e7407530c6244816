"""A model that knows the right answers to the questions of seatrial's own trials: what a perfect server says.

Merge requests are left to `Reviewer`, everything else to `GoodModel` behind it. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from seatrial.testkit.reply import Answer, Call, Reply
from seatrial.testkit.reviewer import Reviewer
from seatrial.testkit.tokens import prompt_of
from seatrial.trials.over_long_input import CODE_WORDS
from seatrial.trials.together import CITIES, question
from seatrial.trials.tool_cases import ExpectedCall, ToolCase, tool_groups

ALL_LINES = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class AnswerSheet:
    """Answers the tool cases, the questions of `together`, code words and needles; passes on everything else."""

    otherwise: Answer = field(default_factory=Reviewer)

    def __call__(self, request: Mapping[str, Any]) -> Reply:
        """Answer one request."""
        prompt = prompt_of(request)
        reply = self.otherwise(request)
        if (case := case_asked(request)) is not None:
            calls = tuple(call_of(expected, case, prompt) for expected in case.expected)
            content = "" if calls else (_words(case) or reply.content)
            return Reply(content, reply.reasoning, calls)
        for city in CITIES:
            if request.get("tools") and prompt == question(city):
                call = Call("get_weather", json.dumps({"city": city}))
                return Reply("", reply.reasoning, (call,))
        if (code := re.search(r"The secret code is (\d+)\.", prompt)) is not None:
            return Reply(code.group(1), reply.reasoning)
        if "Reply with all three code words" in prompt:
            seen = [word for word in CODE_WORDS.values() if word in prompt]
            return Reply(" ".join(seen), reply.reasoning)
        return reply


def case_asked(request: Mapping[str, Any]) -> ToolCase | None:
    """Find the tool case that a request asks."""
    for group in tool_groups().values():
        for case in group.cases:
            if (
                list(case.messages) == request.get("messages")
                and list(case.tools) == request.get("tools")
                and case.tool_choice == request.get("tool_choice")
            ):
                return case
    return None


def call_of(expected: ExpectedCall, case: ToolCase, prompt: str) -> Call:
    """Make the call that is right, with the texts that the prompt dictates."""
    arguments = dict(expected.arguments)
    for name in case.contains:
        block = ALL_LINES.search(prompt)
        arguments[name] = block.group(1) if block else case.contains[name]
    return Call(expected.name, json.dumps(arguments, ensure_ascii=False))


def _words(case: ToolCase) -> str:
    """Return the words that a case without a call must get, where it says."""
    if not case.says:
        return ""
    return f"It is {case.says[0].split('|')[0]} degrees there now, with light snow."
