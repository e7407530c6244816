"""The prompts of the built-in workloads. Pure: the same seed and number give the same prompt."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from seatrial.testkit.prose import prose, sentences
from seatrial.testkit.tokens import tokenize
from seatrial.trials.prompts import loop_pool
from seatrial.trials.review_cases import TOOLS, all_reviews

CHAT_TOPICS = frozenset({"fact", "prose", "reasoning", "code", "structure"})
SENTENCES = 4000
"""Different sentences that long texts are made of."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One question: its conversation, the tools offered with it, and a budget of its own where it has one."""

    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]] = ()
    output_tokens: int | None = None

    def marked(self, mark: str) -> Prompt:
        """Put a mark before everything else that it says."""
        first, *rest = self.messages
        content = first.get("content")
        if isinstance(content, list):  # parts: text and pictures
            marked: Any = [{"type": "text", "text": mark}, *content]
        else:
            marked = f"{mark} {content or ''}"
        return replace(self, messages=({**first, "content": marked}, *rest))


def _ask(text: str) -> Prompt:
    return Prompt(({"role": "user", "content": text},))


def review(pick: random.Random, _number: int, _tokens: int | None) -> Prompt:
    """Ask for the review of a merge request, with the reviewer's tools."""
    return Prompt(pick.choice(all_reviews()).messages(), TOOLS)


def chat(pick: random.Random, _number: int, _tokens: int | None) -> Prompt:
    """Ask one of many short questions, each about something else."""
    return _ask(pick.choice(_questions()))


def summarize(pick: random.Random, _number: int, tokens: int | None) -> Prompt:
    """Ask for a summary of a text of about so many tokens."""
    pool, parts, left = _sentences(), [], tokens or 1000
    while left > 0:
        sentence, size = pool[pick.randrange(len(pool))]
        parts.append(sentence)
        left -= size
    return _ask("Summarize the following report in three sentences.\n\n" + " ".join(parts))


def decode(pick: random.Random, _number: int, _tokens: int | None) -> Prompt:
    """Ask for a long answer to a short task."""
    heroes = prose(6, pick.randrange(10**9)).rstrip(".")
    return _ask(f"Write a long and detailed story, with at least ten chapters, that begins like this: {heroes}.")


@functools.cache
def _questions() -> tuple[str, ...]:
    return tuple(prompt.text for prompt in loop_pool() if prompt.topic in CHAT_TOPICS)


@functools.cache
def _sentences() -> tuple[tuple[str, int], ...]:
    made = itertools.islice(sentences("benchmark"), SENTENCES)
    return tuple((sentence, len(tokenize(sentence))) for sentence in made)


PROMPTS: Mapping[str, Callable[[random.Random, int, int | None], Prompt]] = {
    "review": review,
    "chat": chat,
    "summarize": summarize,
    "decode": decode,
}
