"""What does the server do with more input than it can take? A clear refusal is right; silence is not.

Sources: SGLang 0.5.16 with `--allow-auto-truncate` drops the end of the input and answers HTTP 200 with nothing
(measured: `prompt_tokens` 4090 of 12,289 sent, `completion_tokens` 0, `finish_reason` "length").
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from seatrial.endpoint.answer import Answer
from seatrial.endpoint.exchange import Exchange
from seatrial.trials.interface import Asker, Case, Findings, evidence, failed
from seatrial.verdicts import CheckResult, Verdict

WORDS = (
    *("anchor", "basin", "cable", "derrick", "engine", "ferry", "gauge", "harbour", "island", "jetty"),
    *("keel", "lantern", "mooring", "net", "oar", "pilot", "quay", "rudder", "sail", "tide"),
    *("umbrella", "vessel", "wharf", "yard", "zenith", "beacon", "cargo", "deck", "estuary", "fleet"),
)

OVER = 1.25
"""The input is this much longer than the limit: well past any rounding of the estimate."""

COUNTED = 0.9
"""A server whose own count is below this share of what was sent has cut it; the estimate is better than 5%."""

CALIBRATION_WORDS = (100, 200)
FIRST_SIZE_TOKENS, LAST_SIZE_TOKENS = 8_192, 131_072
"""Where the server does not tell its context length: sizes tried, doubling."""


@dataclass(frozen=True, slots=True)
class Sent:
    """An over-long request: how many tokens were sent, by the calibrated estimate."""

    exchange: Exchange
    tokens: int


@dataclass(frozen=True, slots=True)
class OverLongInput:
    """Finds the context length, sends more, and looks at what comes back."""

    name: str = "over_long_input"
    title: str = "Over-long input is refused, not silently cut"
    planned_requests: int = 3

    async def run(self, asker: Asker) -> Findings:
        """Calibrate tokens a word, then send an input past the limit."""
        small, large = [await asker.ask(filler(f"calibrate-{count}", count)) for count in CALIBRATION_WORDS]
        for exchange in (small, large):
            if exchange.failure is not None:
                return Findings((failed("over_long_input", exchange, exchange.failure),))
        rate = tokens_per_word(small, large)
        if rate is None:
            detail = "the server does not count prompt tokens (usage), so a cut can't be seen"
            return Findings((CheckResult("over_long_input", Verdict.UNPROVEN, detail, (evidence(small),)),))
        limit = asker.settings.context_tokens or await declared_context(asker)
        sizes = [int(limit * OVER)] if limit else doubling()
        for size in sizes:
            exchange = await asker.ask(filler(f"tokens-{size}", int(size / rate)))
            check = judge(Sent(exchange, size), limit)
            if limit or check.verdict is not Verdict.PROVEN or exchange.failure is not None:
                note = f"declared context: {limit} tokens" if limit else "the server does not tell its context length"
                return Findings((check,), (note,), {"declared_context_tokens": limit, "sent_tokens": size})
        detail = f"no limit was met up to about {sizes[-1]} tokens; name it with --context"
        return Findings((CheckResult("over_long_input", Verdict.UNPROVEN, detail),))


def judge(sent: Sent, limit: int | None) -> CheckResult:
    """Say what the server did with one over-long request."""
    exchange, name = sent.exchange, "over_long_input"
    if exchange.failure is not None:
        failure = exchange.failure
        if failure.status is not None and 400 <= failure.status < 500 and not failure.is_infrastructure:
            detail = f"about {sent.tokens} tokens are refused with HTTP {failure.status}: {failure.message}"
            return CheckResult(name, Verdict.PROVEN, detail)
        return failed(name, exchange, failure)
    answer = exchange.answer
    assert answer is not None
    counted = answer.usage.prompt_tokens if answer.usage else None
    if is_empty_by_length(answer):
        detail = (
            f"silently truncated: about {sent.tokens} tokens sent, HTTP 200, prompt_tokens {counted}, an empty answer "
            "with finish_reason 'length'. On SGLang: remove --allow-auto-truncate"
        )
        return CheckResult(name, Verdict.REFUTED, detail, (evidence(exchange),))
    if counted is None:
        return CheckResult(name, Verdict.UNPROVEN, "the answer has no prompt_tokens", (evidence(exchange),))
    if counted < sent.tokens * COUNTED:
        detail = f"silently truncated: about {sent.tokens} tokens sent, HTTP 200, but prompt_tokens says {counted}"
        return CheckResult(name, Verdict.REFUTED, detail, (evidence(exchange, answer.content or ""),))
    beyond = f", beyond the declared {limit}" if limit and counted > limit else ""
    return CheckResult(name, Verdict.PROVEN, f"about {sent.tokens} tokens are taken whole{beyond}")


def is_empty_by_length(answer: Answer) -> bool:
    """Tell the mark of an input cut to the brim: nothing answered, because there was no room left."""
    completed = answer.usage.completion_tokens if answer.usage else None
    return answer.is_empty and (answer.finish_reason == "length" or completed == 0)


def filler(identity: str, words: int) -> Case:
    """Make a request of that many words, never the same run of words twice, with a short answer."""
    pick = random.Random(words)  # noqa: S311 - a fixed text, not a secret
    text = " ".join(pick.choice(WORDS) for _ in range(words))
    content = f"Here is a list of words.\n{text}\nReply with the first word only."
    return Case(identity, {"messages": [{"role": "user", "content": content}], "max_tokens": 8})


def tokens_per_word(small: Exchange, large: Exchange) -> float | None:
    """Estimate the server's tokens a word from two sizes, so that the template's own tokens cancel out."""
    counts = [
        exchange.answer.usage.prompt_tokens if exchange.answer and exchange.answer.usage else None
        for exchange in (small, large)
    ]
    if counts[0] is None or counts[1] is None or counts[1] <= counts[0]:
        return None
    return (counts[1] - counts[0]) / (CALIBRATION_WORDS[1] - CALIBRATION_WORDS[0])


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
    sizes: Iterable[int] = (FIRST_SIZE_TOKENS << step for step in range(20))
    return [size for size in sizes if size <= LAST_SIZE_TOKENS]
