"""What does the server do with more input than it can take? A clear refusal is right; silence is not.

Found out in three ways: the server's own count of what was sent (`/tokenize`, else a calibrated estimate) against
`usage.prompt_tokens`; code words at the beginning, the middle and the end; and the answer itself.

Source of the worst case: SGLang 0.5.16 with `--allow-auto-truncate` drops the end of the input and answers HTTP 200
with nothing (measured: `prompt_tokens` 4090 of 12,289 sent, `completion_tokens` 0, `finish_reason` "length").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from seatrial.endpoint.answer import Answer
from seatrial.endpoint.exchange import Exchange
from seatrial.trials.declared import streamed as in_stream
from seatrial.trials.interface import Asker, Case, Findings, OverLongPolicy, evidence, failed
from seatrial.trials.limits import Search, find_limit
from seatrial.trials.tokens import CALIBRATION_WORDS, MOST_WORDS, Ruler, calibrate, count_tokens, filler
from seatrial.verdicts import CheckResult, Verdict

OVER = 1.25
"""The input is this much longer than the declared limit: well past any rounding of the estimate."""

COUNTED = 0.9
"""A server whose own count is below this share of what was sent has cut it; the estimate is better than 5%."""

FIRST_SIZE_TOKENS, LAST_SIZE_TOKENS = 8_192, 131_072
"""Where the server does not tell its context length: sizes tried, doubling."""

CODE_WORDS = {"head": "HEAD-7421", "middle": "MIDDLE-5038", "tail": "TAIL-9316"}


class Reaction(StrEnum):
    """What a server did with an input."""

    REFUSED = "refused"
    TAKEN = "taken whole"
    CUT = "cut"
    EMPTY = "cut, and answered with nothing"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Sent:
    """One over-long request.

    Attributes:
        exchange: the request and what came of it.
        tokens: how many were sent.
        counted_by_server: whether that is the server's own count, or a calibrated estimate.
    """

    exchange: Exchange
    tokens: int
    counted_by_server: bool

    @property
    def amount(self) -> str:
        """Say how much was sent, and how well that is known."""
        return f"{self.tokens} tokens" if self.counted_by_server else f"about {self.tokens} tokens (estimated)"


@dataclass(frozen=True, slots=True)
class OverLongInput:
    """Sends more than the context holds, and finds the effective limit.

    Attributes:
        search_tokens: most tokens of input that the search for the effective limit may cost; 0 for no search.
        search_seconds: most time that it may take, as far as the server's pace so far tells.
    """

    search_tokens: int = 0
    search_seconds: float = 45
    name: str = "over_long_input"
    title: str = "Over-long input is handled as it should be, not silently"

    @property
    def planned_requests(self) -> int:
        """Two to calibrate, one too long, the same streamed, and the search."""
        return 4 + (3 if self.search_tokens else 0)

    async def run(self, asker: Asker) -> Findings:
        """Calibrate, send an input past the limit, and search."""
        ruler = await calibrate(asker)
        if isinstance(ruler, Exchange):
            assert ruler.failure is not None
            return Findings((failed(self.name, ruler, ruler.failure),))
        if ruler is None:
            detail = "the server does not count prompt tokens (usage), so a cut can't be seen"
            return Findings((CheckResult(self.name, Verdict.UNPROVEN, detail),))
        declared = asker.settings.context_tokens or await declared_context(asker)
        if declared and declared * OVER > ruler.tokens_for(MOST_WORDS):
            detail = f"a context of {declared} tokens is more than is ever sent ({MOST_WORDS} words)"
            return Findings((CheckResult(self.name, Verdict.UNPROVEN, detail),))
        sizes = [int(declared * OVER)] if declared else doubling()
        taken = ruler.tokens_for(CALIBRATION_WORDS[-1])
        for size in sizes:
            sent = await send(asker, ruler, size)
            reaction = reaction_to(sent)
            if declared or reaction is not Reaction.TAKEN:
                break
            taken = sent.tokens
        policy = asker.settings.over_long_input
        checks = [judge(self.name, sent, policy, declared)]
        if reaction is Reaction.TAKEN and not declared:
            detail = f"no limit was met up to {sent.amount}; name it with --context"
            checks = [CheckResult(self.name, Verdict.UNPROVEN, detail)]
        elif reaction is not Reaction.UNKNOWN:
            streamed = await send(asker, ruler, size, streamed=True)
            checks.append(judge(f"{self.name}_streamed", streamed, policy, declared))
        notes = [f"declared context: {declared} tokens" if declared else "the server does not tell its context length"]
        figures: dict[str, float | str | None] = {
            "declared_context_tokens": declared,
            "sent_tokens": sent.tokens,
            "reaction": reaction.value,
        }
        if reaction is Reaction.REFUSED and self.search_tokens:
            found = await find_limit(
                asker, ruler, Search(taken, sent.tokens, self.search_tokens, self.search_seconds), sent.exchange
            )
            notes.append(found.describe(declared))
            figures |= {"accepted_input_tokens": found.accepted, "refused_input_tokens": found.refused}
        return Findings(tuple(checks), tuple(notes), figures)


async def send(asker: Asker, ruler: Ruler, tokens: int, *, streamed: bool = False) -> Sent:
    """Send an input of about so many tokens, with a code word at its beginning, middle and end."""
    words = ruler.words_for(tokens)
    request = marked_request(words)
    counted = await count_tokens(asker, request)
    case = Case(f"tokens-{tokens}-streamed", in_stream(request)) if streamed else Case(f"tokens-{tokens}", request)
    exchange = await asker.ask(case)
    return Sent(exchange, counted or ruler.tokens_for(words), counted is not None)


def marked_request(words: int) -> dict[str, Any]:
    """Make a request of so many words whose three code words the answer must repeat."""
    half = max(1, words // 2)
    content = (
        f"The first code word is {CODE_WORDS['head']}.\n{filler(half)}\n"
        f"The second code word is {CODE_WORDS['middle']}.\n{filler(half, 1)}\n"
        f"The third code word is {CODE_WORDS['tail']}. Reply with all three code words and nothing else."
    )
    return {"messages": [{"role": "user", "content": content}], "max_tokens": 48}


def reaction_to(sent: Sent) -> Reaction:
    """Say what the server did, as far as its status, its count and its answer show."""
    failure = sent.exchange.failure
    if failure is not None:
        refused = not failure.is_infrastructure or failure.status == 413
        return Reaction.REFUSED if refused else Reaction.UNKNOWN
    answer = sent.exchange.answer
    assert answer is not None
    if is_empty_by_length(answer):
        return Reaction.EMPTY
    counted = answer.usage.prompt_tokens if answer.usage else None
    if counted is not None:
        return Reaction.CUT if counted < sent.tokens * COUNTED else Reaction.TAKEN
    return Reaction.TAKEN if not lost_parts(answer) else Reaction.UNKNOWN


def judge(name: str, sent: Sent, policy: OverLongPolicy, declared: int | None) -> CheckResult:
    """Compare what the server did with what the policy wants."""
    exchange, reaction = sent.exchange, reaction_to(sent)
    failure, answer = exchange.failure, exchange.answer
    counted = answer.usage.prompt_tokens if answer and answer.usage else None
    if reaction is Reaction.REFUSED:
        assert failure is not None
        detail = f"{sent.amount} are refused with HTTP {failure.status}: {failure.message}"
        if policy is OverLongPolicy.TRUNCATE:
            detail += " (the policy is to truncate)"
            return CheckResult(name, Verdict.REFUTED, detail, (evidence(exchange),))
        return CheckResult(name, Verdict.PROVEN, detail)
    if reaction is Reaction.EMPTY:
        detail = (
            f"silently truncated: {sent.amount} sent, HTTP 200, prompt_tokens {counted}, and an empty answer. "
            "On SGLang: remove --allow-auto-truncate"
        )
        return CheckResult(name, Verdict.REFUTED, detail, (evidence(exchange),))
    if reaction is Reaction.CUT:
        assert answer is not None
        lost = lost_parts(answer)
        missing = f"; the answer knows no code word of its {' and '.join(lost)}" if 0 < len(lost) < 3 else ""
        detail = f"{sent.amount} sent, HTTP 200, but prompt_tokens says {counted}{missing}"
        if policy is OverLongPolicy.TRUNCATE:
            return CheckResult(name, Verdict.PROVEN, f"truncated, as the policy wants: {detail}")
        quote = answer.content or ""
        return CheckResult(name, Verdict.REFUTED, f"silently truncated: {detail}", (evidence(exchange, quote),))
    if reaction is Reaction.TAKEN:
        beyond = f", beyond the declared {declared}" if declared else ""
        return CheckResult(name, Verdict.PROVEN, f"{sent.amount} are taken whole{beyond}")
    if failure is not None:
        return failed(name, exchange, failure)
    detail = "the answer has no prompt_tokens, and lacks code words of the input"
    return CheckResult(name, Verdict.UNPROVEN, detail, (evidence(exchange, answer.content or "" if answer else ""),))


def lost_parts(answer: Answer) -> Sequence[str]:
    """List the parts of the input whose code words the answer does not repeat."""
    content = answer.content or ""
    return [part for part, word in CODE_WORDS.items() if not re.search(re.escape(word), content, re.IGNORECASE)]


def is_empty_by_length(answer: Answer) -> bool:
    """Tell the mark of an input cut to the brim: nothing answered, because there was no room left."""
    completed = answer.usage.completion_tokens if answer.usage else None
    return answer.is_empty and (answer.finish_reason == "length" or completed == 0)


async def declared_context(asker: Asker) -> int | None:
    """Ask the server for its context length: SGLang and vLLM in `/v1/models`, llama.cpp there too, under `meta`."""
    return context_in(await asker.get_json("/models"), asker.endpoint.model)


def context_in(models: Any, model: str) -> int | None:
    """Find the context length of a model in the answer to `GET /v1/models`."""
    entries = models.get("data") if isinstance(models, dict) else None
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and entry.get("id") == model:
            meta = entry.get("meta")
            in_meta = meta.get("n_ctx") if isinstance(meta, dict) else None
            for value in (entry.get("max_model_len"), entry.get("context_length"), in_meta):
                if isinstance(value, int) and value > 0:
                    return value
    return None


def doubling() -> list[int]:
    """List the sizes to try where no limit is known."""
    return [size for step in range(20) if (size := FIRST_SIZE_TOKENS << step) <= LAST_SIZE_TOKENS]
