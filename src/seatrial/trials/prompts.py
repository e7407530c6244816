"""The pool of questions of the loop trial: data, in `data/loop_pool.json`.

Merge-request review, tool use, reasoning, summaries, prose, code and structure, in several languages. The first dozen
are short, so that a quick suite stays quick.
"""

from __future__ import annotations

import functools
import importlib.resources
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Prompt:
    """One question.

    Attributes:
        id: unique in the pool.
        topic: what kind of work it is: review, tools, reasoning, summary, prose, code, structure, fact.
        language: ISO 639-1 code of the language that it is asked in.
        text: the question.
        tools: tools offered with it, in OpenAI's form.
    """

    id: str
    topic: str
    language: str
    text: str
    tools: tuple[Mapping[str, Any], ...] = ()

    @property
    def messages(self) -> list[dict[str, str]]:
        """The conversation that asks it."""
        return [{"role": "user", "content": self.text}]


@functools.cache
def loop_pool() -> tuple[Prompt, ...]:
    """Read the pool."""
    text = importlib.resources.files("seatrial.trials").joinpath("data/loop_pool.json").read_text("utf-8")
    document = json.loads(text)
    tools = document["tools"]
    return tuple(
        Prompt(
            entry["id"],
            entry["topic"],
            entry["language"],
            entry["prompt"],
            tuple(tools[name] for name in entry.get("tools", ())),
        )
        for entry in document["prompts"]
    )
