"""Whose fault is it that a call did not arrive: the model's, or the server's parser's?

The same question is asked again with the server told to leave the text alone (SGLang: `skip_special_tokens` false,
`separate_reasoning` false). Where the text holds a call, SGLang's `/parse_function_call` is asked which of its parsers
can read it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

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

PARSERS = ("qwen3_coder", "qwen", "hermes", "llama3", "mistral", "deepseekv3", "glm", "kimi_k2", "pythonic")
"""Names of SGLang's `--tool-call-parser` (0.5.16) that are tried, most usual first."""


async def whose_fault(asker: Asker, case: ToolCase, exchange: Exchange) -> str:
    """Say in a sentence where a call that is due was lost."""
    if exchange.answer is None:
        return "the request was not answered"
    asked = Asked.from_request(exchange.request, exchange=exchange.id)
    texts = [exchange.answer.reasoning or "", exchange.answer.content or ""]
    said = diagnose(asked, texts)
    if said is None:
        raw = await asker.ask(Case(f"{case.id}-raw", {**case.request(streamed=False), **RAW}))
        if raw.answer is None or raw.failure is not None:
            return f"{NO_CALL} (the server gives no raw text to look deeper)"
        texts = [raw.answer.reasoning or "", raw.answer.content or ""]
        said = diagnose(asked, texts) or NO_CALL
    if said is NO_CALL:
        return said
    reader = await parser_that_reads(asker, "\n".join(texts), case.tools)
    return f"{said}. SGLang's own parser {reader!r} reads it: set --tool-call-parser {reader}" if reader else said


def diagnose(asked: Asked, texts: Sequence[str]) -> str | None:
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


async def parser_that_reads(asker: Asker, text: str, tools: Sequence[Mapping[str, Any]]) -> str | None:
    """Ask SGLang which of its parsers finds a call of an offered tool in a text; None on other servers."""
    names = {tool["function"]["name"] for tool in tools}
    for parser in PARSERS:
        body = {"text": text, "tools": list(tools), "tool_call_parser": parser}
        answer = await asker.post_json("/parse_function_call", body, at_origin=True)
        calls = answer.get("calls") if isinstance(answer, Mapping) else None
        if not isinstance(calls, list):
            if parser == PARSERS[0]:
                return None  # no such path here: not SGLang, or no parsers in it
            continue
        if any(isinstance(call, Mapping) and call.get("name") in names for call in calls):
            return parser
    return None
