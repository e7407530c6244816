"""The metrics of tool calling, as the field defines them: counted in each trial, summed up over a suite. Pure.

Definitions: schema accuracy as the Kimi vendor verifier (K2VV): valid calls / replies that finish with tool_calls;
trigger precision, recall and F1 on whether a call was due; argument match as BFCL's comparison of values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from seatrial.endpoint.exchange import Exchange
from seatrial.trials.statistics import wilson_interval
from seatrial.trials.tool_cases import ToolCase
from seatrial.verdicts import CheckResult, TrialResult, Verdict

PREFIX = "tools_"
"""The names of these counts in a trial's figures begin with it."""

VALID_CALL = frozenset({"call_names_known", "call_ids_unique", "arguments_parse", "arguments_match_schema"})


@dataclass(slots=True)
class ToolTally:
    """Counts over the answers of a trial."""

    answers: int = 0
    terminated: int = 0
    replies_with_calls: int = 0
    valid_replies_with_calls: int = 0
    due: int = 0
    due_called: int = 0
    not_due: int = 0
    not_due_called: int = 0
    calls_compared: int = 0
    calls_as_expected: int = 0
    pairs: int = 0
    pairs_agreeing: int = 0
    reasonings: int = 0
    reasonings_clean: int = 0

    def add(self, case: ToolCase, exchange: Exchange, found: Sequence[CheckResult]) -> None:
        """Count one answer; a request without one counts nowhere."""
        answer = exchange.answer
        if exchange.failure is not None or answer is None:
            return
        refuted = {result.check for result in found if result.verdict is Verdict.REFUTED}
        made = {result.check for result in found}
        self.answers += 1
        self.terminated += exchange.stopped is None and answer.finish_reason in {"stop", "tool_calls"}
        if answer.tool_calls:
            self.replies_with_calls += 1
            self.valid_replies_with_calls += not refuted & VALID_CALL
        if case.expected:
            self.due += 1
            self.due_called += bool(answer.tool_calls)
        else:
            self.not_due += 1
            self.not_due_called += bool(answer.tool_calls)
        if "arguments_as_expected" in made:
            self.calls_compared += 1
            self.calls_as_expected += not refuted & {"arguments_as_expected", "argument_contains"}
        if (answer.reasoning or "").strip():
            self.reasonings += 1
            self.reasonings_clean += not refuted & {"not_degenerate", "reasoning_kept_apart", "no_markup_in_reasoning"}

    def add_pair(self, *, agrees: bool) -> None:
        """Count a whole and a streamed answer to the same case."""
        self.pairs += 1
        self.pairs_agreeing += agrees

    def figures(self) -> dict[str, float | str | None]:
        """Give the counts to the trial's record."""
        return {PREFIX + name: count for name, count in asdict(self).items()}


@dataclass(frozen=True, slots=True)
class Rate:
    """A share with its 95% Wilson interval, and how it is defined."""

    name: str
    hits: int
    total: int
    low_95: float
    high_95: float
    formula: str

    @property
    def value(self) -> float | None:
        """The share; None where there was nothing to count."""
        return self.hits / self.total if self.total else None


@dataclass(frozen=True, slots=True)
class ToolMetrics:
    """The metrics of a suite; `trigger_f1` is None where no call was due or made."""

    rates: tuple[Rate, ...]
    trigger_f1: float | None


def tool_metrics(trials: Iterable[TrialResult]) -> ToolMetrics | None:
    """Sum up the counts of all trials; None where no trial counted any."""
    total = ToolTally()
    for trial in trials:
        for name in asdict(total):
            count = trial.figures.get(PREFIX + name)
            if isinstance(count, int | float):
                setattr(total, name, getattr(total, name) + int(count))
    if not total.answers:
        return None
    called = total.due_called + total.not_due_called
    rows = (
        (
            "schema_accuracy",
            total.valid_replies_with_calls,
            total.replies_with_calls,
            "valid / replies with tool calls",
        ),
        ("trigger_precision", total.due_called, called, "due and called / called"),
        ("trigger_recall", total.due_called, total.due, "due and called / due"),
        ("irrelevance", total.not_due - total.not_due_called, total.not_due, "not due and not called / not due"),
        (
            "argument_match",
            total.calls_as_expected,
            total.calls_compared,
            "replies with the expected values / compared",
        ),
        ("stream_parity", total.pairs_agreeing, total.pairs, "pairs whose calls agree / pairs whole and streamed"),
        ("termination", total.terminated, total.answers, "answers that end by themselves / answers"),
        ("reasoning_clean", total.reasonings_clean, total.reasonings, "clean / answers with reasoning"),
    )
    rates = tuple(Rate(name, hits, all_, *wilson_interval(hits, all_), formula) for name, hits, all_, formula in rows)
    missed = called + total.due
    return ToolMetrics(rates, 2 * total.due_called / missed if missed else None)
