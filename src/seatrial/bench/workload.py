"""What a benchmark asks. Each prompt begins differently, so that no prefix cache answers for the engine."""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from seatrial.bench.prompts import PROMPTS, Prompt
from seatrial.bench.result import WorkloadFigures

Prompts = Callable[[random.Random, int, int | None], Prompt]
"""Makes prompt number n (from 0), with about so many tokens where a number is given."""


class WorkloadName(StrEnum):
    """The workloads that come with seatrial."""

    REVIEW = "review"
    CHAT = "chat"
    SUMMARIZE = "summarize"
    DECODE = "decode"


DESCRIPTIONS: Mapping[WorkloadName, str] = {
    WorkloadName.REVIEW: "merge requests with tools: a diff in, tool calls and their reasons out",
    WorkloadName.CHAT: "short questions of many kinds, prose and code out",
    WorkloadName.SUMMARIZE: "a long text in, a short summary out",
    WorkloadName.DECODE: "a short task in, as long an answer out as the budget allows",
}
OUTPUT_TOKENS: Mapping[WorkloadName, int] = {
    WorkloadName.REVIEW: 512,
    WorkloadName.CHAT: 256,
    WorkloadName.SUMMARIZE: 128,
    WorkloadName.DECODE: 1024,
}
"""`max_tokens` where nobody chooses; the model may stop earlier, and mostly does."""
INPUT_TOKENS = 3000
"""Of the text to summarize, where nobody chooses."""


class PrefixCache(StrEnum):
    """Whether prompts may begin alike."""

    AVOID = "avoid"
    ALLOW = "allow"


def fresh_nonce() -> str:
    """Make what stands first in the prompts of one run, and in no earlier one.

    Nine digits: tokenizers cut digits alike, so that prompts have as many tokens in one run as in another.
    """
    return f"{secrets.randbelow(10**9):09d}"


@dataclass(frozen=True, slots=True)
class Workload:
    """Requests without end.

    Attributes:
        name: review, chat, summarize, decode or jsonl.
        output_tokens: `max_tokens` of each request, unless a prompt brings its own.
        sampling: parameters added to each request.
        seed: the same seed asks the same questions in the same order.
        input_tokens: about so many tokens in, for `summarize`.
        prefix_cache: avoid puts the nonce and a number before everything else in each prompt.
        ignore_eos: asks the engine to write on to the budget. Only where somebody asks for it: real answers stop.
        nonce: of this run.
        rows: the prompts of a user's file; empty for the built-in ones.
    """

    name: str
    output_tokens: int
    sampling: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    input_tokens: int | None = None
    prefix_cache: PrefixCache = PrefixCache.AVOID
    ignore_eos: bool = False
    nonce: str = field(default_factory=fresh_nonce)
    rows: Sequence[Prompt] = field(default=(), repr=False)

    @property
    def description(self) -> str:
        """Say in a sentence what it asks."""
        if self.rows:
            return f"{len(self.rows)} prompts of a file"
        return DESCRIPTIONS[WorkloadName(self.name)]

    def figures(self) -> WorkloadFigures:
        """Return what is written down of it."""
        return WorkloadFigures(
            self.name,
            self.description,
            self.output_tokens,
            self.input_tokens,
            self.seed,
            self.nonce,
            self.prefix_cache.value,
            self.ignore_eos,
        )

    def notes(self, requests: int) -> tuple[str, ...]:
        """Say what must be known about figures of so many requests of this workload."""
        notes = []
        if self.ignore_eos:
            notes.append("ignore_eos was asked for: answers do not end by themselves, and their text means little")
        if self.prefix_cache is PrefixCache.ALLOW:
            notes.append("prompts may come from the prefix cache: that was asked for")
        if self.rows and requests > len(self.rows):
            notes.append(f"{requests} requests of {len(self.rows)} prompts: the file was gone through more than once")
        return tuple(notes)

    def requests(self) -> Iterator[dict[str, Any]]:
        """Yield request bodies without end, without `model`."""
        pick = random.Random(self.seed)  # noqa: S311 - reproducible, not secret
        number = 0
        while True:
            prompt = self._prompt(pick, number)
            if self.prefix_cache is PrefixCache.AVOID:
                prompt = prompt.marked(f"[{self.nonce} {number:06d}]")
            body: dict[str, Any] = {
                "messages": list(prompt.messages),
                "stream": True,
                "stream_options": {"include_usage": True},
                "max_tokens": prompt.output_tokens or self.output_tokens,
            }
            if prompt.tools:
                body["tools"] = list(prompt.tools)
            if self.ignore_eos:
                body["ignore_eos"] = True
            yield body | dict(self.sampling)
            number += 1

    def _prompt(self, pick: random.Random, number: int) -> Prompt:
        if self.rows:
            return self.rows[number % len(self.rows)]
        return PROMPTS[self.name](pick, number, self.input_tokens)


def builtin(
    name: WorkloadName | str = WorkloadName.CHAT,
    output_tokens: int | None = None,
    sampling: Mapping[str, Any] | None = None,
    *,
    seed: int = 0,
    input_tokens: int | None = None,
    prefix_cache: PrefixCache = PrefixCache.AVOID,
    ignore_eos: bool = False,
) -> Workload:
    """Make one of the workloads that come with seatrial."""
    chosen = WorkloadName(name)
    if chosen is WorkloadName.SUMMARIZE:
        input_tokens = input_tokens or INPUT_TOKENS
    return Workload(
        chosen.value,
        output_tokens or OUTPUT_TOKENS[chosen],
        sampling or {},
        seed,
        input_tokens,
        prefix_cache,
        ignore_eos,
    )
