"""What a chat template knows of, seen in its text; the template is never run."""

from __future__ import annotations

import re

from seatrial.facts.model import ChatTemplateFacts

CALL_STYLES = (
    ("qwen3_coder", ("<function=",)),
    ("glm", ("<arg_key>",)),
    ("minimax", ("<minimax:tool_call>",)),
    ("kimi", ("<|tool_call_begin|>",)),
    ("deepseek", ("<｜tool▁call▁begin｜>",)),
    ("deepseek_dsml", ("<｜DSML｜",)),
    ("harmony", ("<|channel|>", "functions.")),
    ("mistral", ("[TOOL_CALLS]",)),
    ("gemma", ("<|tool_call>",)),
    ("nemotron", ("<TOOLCALL>",)),
    ("hermes", ("<tool_call>",)),
    ("llama3_json", ("<|python_tag|>",)),
    ("llama3_json", ('{"name": function name',)),
)
"""How a call is shown -> marks that the template has; the first style whose marks are all there."""
REASONING_STYLES = (
    ("harmony", "<|channel|>analysis"),
    ("think", "<think>"),
    ("magistral", "[THINK]"),
    ("gemma", "<|channel>thought"),
)
_TOGGLES = ("enable_thinking", "thinking_budget", "reasoning_effort", "thinking")


def read_chat_template(text: str | None) -> ChatTemplateFacts | None:
    """Say what a template knows of; None where there is no template."""
    if not text:
        return None
    tools = re.search(r"\btools\b", text) is not None
    style = next((name for name, marks in CALL_STYLES if all(mark in text for mark in marks)), None) if tools else None
    reasoning = next((name for name, mark in REASONING_STYLES if mark in text), None)
    toggle = next((name for name in _TOGGLES if re.search(rf"\b{name}\b", text)), None)
    return ChatTemplateFacts(
        tools=tools,
        tool_call_style=style,
        reasoning=reasoning is not None,
        reasoning_style=reasoning,
        thinking_toggle=toggle if reasoning is not None else None,
    )


def pick_template(value: object) -> str | None:
    """Take the template from `tokenizer_config.json`'s `chat_template`: a text, or a list of named ones."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        named = {str(item.get("name")): item.get("template") for item in value if isinstance(item, dict)}
        chosen = named.get("tool_use") or named.get("default")
        return chosen if isinstance(chosen, str) else None
    return None
