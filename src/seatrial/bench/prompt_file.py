"""A user's own prompts, one JSON object a line.

Each line is one of:

    {"messages": [...], "tools": [...], "max_tokens": 200}     a chat, as the API takes it; the last two may be missing
    {"prompt": "..."}                                          one user message
    {"body": {"messages": ...}}                                a line of OpenAI's batch files
    {"conversations": [{"from": "human", "value": "..."}]}     ShareGPT's form: turns up to the last human one
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seatrial.bench.prompts import Prompt
from seatrial.errors import InputError

LARGEST_BYTES = 1024**3
ROLES = {"human": "user", "user": "user", "gpt": "assistant", "assistant": "assistant", "system": "system"}
ADVICE = 'E.g. {"messages": [{"role": "user", "content": "..."}]}'


def read_prompts(path: Path) -> tuple[Prompt, ...]:
    """Read a file of prompts.

    Raises:
        InputError: it can't be read, or a line is none of the forms; it names the line.
    """
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise InputError("it is longer than 1 GiB", where=str(path))
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise InputError(f"it can't be read ({(error.strerror or str(error)).lower()})", where=str(path)) from None
    except UnicodeDecodeError as error:
        raise InputError(f"it is no UTF-8 text (byte {error.start})", where=str(path)) from None
    prompts = tuple(_prompt(line, f"{path}:{number}") for number, line in enumerate(lines, 1) if line.strip())
    if not prompts:
        raise InputError("there is no prompt in it", where=str(path), advice=ADVICE)
    return prompts


def _prompt(line: str, where: str) -> Prompt:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        raise InputError("the line is no JSON", where=where, advice=ADVICE) from None
    if isinstance(row, Mapping) and isinstance(row.get("body"), Mapping):
        row = row["body"]
    if not isinstance(row, Mapping):
        raise InputError("the line is no JSON object", where=where, advice=ADVICE)
    if isinstance(row.get("prompt"), str):
        messages: Any = [{"role": "user", "content": row["prompt"]}]
    elif isinstance(row.get("conversations"), list):
        messages = _from_turns(row["conversations"])
    else:
        messages = row.get("messages")
    if not isinstance(messages, list) or not messages or not all(_is_message(message) for message in messages):
        raise InputError("the line has no messages that can be asked", where=where, advice=ADVICE)
    tools, budget = row.get("tools") or (), row.get("max_completion_tokens", row.get("max_tokens"))
    if not isinstance(tools, list | tuple) or not all(isinstance(tool, Mapping) for tool in tools):
        raise InputError("`tools` is no list of objects", where=where)
    if budget is not None and (not isinstance(budget, int) or isinstance(budget, bool) or budget < 1):
        raise InputError("`max_tokens` is no positive number", where=where)
    return Prompt(tuple(messages), tuple(tools), budget)


def _is_message(message: Any) -> bool:
    return isinstance(message, Mapping) and isinstance(message.get("role"), str)


def _from_turns(turns: list[Any]) -> list[dict[str, str]]:
    """Turn ShareGPT's turns into messages, up to the last one that a person said."""
    messages = [
        {"role": ROLES.get(str(turn.get("from")), "user"), "content": str(turn.get("value", ""))}
        for turn in turns
        if isinstance(turn, Mapping)
    ]
    while messages and messages[-1]["role"] != "user":
        messages.pop()
    return messages
