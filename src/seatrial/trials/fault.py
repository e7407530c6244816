"""Whose fault is it that a call did not arrive: the model's, or the server's parser's?

The same question is asked again with the server told to leave the text alone (SGLang: `skip_special_tokens` false,
`separate_reasoning` false). Where that raw text holds a call, SGLang's `/parse_function_call` is asked what its own
parsers make of it.
"""

from __future__ import annotations

import json

from seatrial.checks import Asked
from seatrial.checks.markup import find_calls, find_markers
from seatrial.endpoint.exchange import Exchange
from seatrial.trials.interface import Asker, Case
from seatrial.trials.tool_cases import ToolCase

NO_CALL = (
    "the model never made the call: there is no trace of one in its text. Does the chat template put `tools` into the "
    "prompt, and can this checkpoint call tools?"
)
MALFORMED = "the model began a call and made it malformed, so no parser can read it: suspect the checkpoint"
LOST = (
    "the model made the call and the server's parser lost it: look at the parser "
    "(SGLang, vLLM: --tool-call-parser; llama.cpp: --jinja and the chat template)"
)
RAW = {"skip_special_tokens": False, "separate_reasoning": False, "tool_choice": "auto"}


async def whose_fault(asker: Asker, case: ToolCase, exchange: Exchange) -> str:
    """Say in a sentence where a call that is due was lost."""
    if exchange.answer is None:
        return "the request was not answered"
    asked = Asked.from_request(exchange.request, exchange=exchange.id)
    texts = [exchange.answer.content or "", exchange.answer.reasoning or ""]
    if (said := diagnose(asked, texts)) is not None:
        return said
    raw = await asker.ask(Case(f"{case.id}-raw", {**case.request(streamed=False), **RAW}))
    if raw.answer is None or raw.failure is not None:
        return f"{NO_CALL} (the server gives no raw text to look deeper)"
    return diagnose(asked, [raw.answer.content or "", raw.answer.reasoning or ""]) or NO_CALL


def diagnose(asked: Asked, texts: list[str]) -> str | None:
    """Look for a call in the texts: whole (the parser lost it), malformed, or not at all (None)."""
    for text in texts:
        if holds_a_whole_call(text, asked):
            return LOST
        if find_markers(text) or find_calls(text, asked):
            return MALFORMED
    return None


def holds_a_whole_call(text: str, asked: Asked) -> bool:
    """Tell whether a text holds a JSON object that names an offered tool, or a closed XML call of one."""
    names = {tool.name for tool in asked.tools}
    decoder = json.JSONDecoder()
    at = text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except ValueError:
            at = text.find("{", at + 1)
            continue
        if isinstance(value, dict) and value.get("name") in names:
            return True
        at = text.find("{", max(end, at + 1))
    return any(f"<function={name}>" in text and "</function>" in text for name in names)
