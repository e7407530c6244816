"""One self-contained HTML page a run: works offline, asks the network for nothing, reads well aloud and in print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from seatrial import __version__
from seatrial.bench.load import BenchResult
from seatrial.reports.transcript import Transcript
from seatrial.trials.metrics import tool_metrics
from seatrial.verdicts import CheckResult, Evidence, SuiteResult, TrialResult, Verdict

AROUND = 160
"""Characters of an answer that are shown before its broken part."""

SHOWN_OF_SPAN = 480
"""Characters of the broken part that are shown."""

LONGEST_TEXT = 6000
"""Characters of one answer that the page holds; all of it is in requests.jsonl."""


@dataclass(frozen=True, slots=True)
class ReportInput:
    """Everything that a page is made from.

    Attributes:
        title: what was on trial, e.g. the model's name.
        where: base URL or runtime.
        facts: short lines about the run: engine, sampling, start time.
        suite: the verdict, or None for a benchmark alone.
        bench: the benchmark, or None for a proof alone.
        transcripts: every exchange.
        remark: a sentence that stands above everything, e.g. what a demonstration shows.
        picture: SVG of the memory plan, made by `memory_svg`; empty without one.
    """

    title: str
    where: str
    facts: Mapping[str, str]
    suite: SuiteResult | None
    bench: BenchResult | None
    transcripts: Sequence[Transcript]
    remark: str = ""
    picture: str = ""


def render(report: ReportInput, *, now: datetime | None = None) -> str:
    """Return the page."""
    environment = Environment(
        loader=PackageLoader("seatrial.reports"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    by_id = {one.id: one for one in report.transcripts}

    def highlighted(evidence: Evidence) -> Markup:
        return highlight(evidence, by_id.get(evidence.exchange))

    environment.globals.update(highlighted=highlighted, longest_text=LONGEST_TEXT, counted=counted)
    environment.filters.update(milliseconds=milliseconds, percent=percent)
    page = environment.get_template("report.html.jinja")
    return page.render(
        report=report,
        refuted=_checks(report.suite, Verdict.REFUTED),
        unproven=_checks(report.suite, Verdict.UNPROVEN),
        tools=tool_metrics(report.suite.trials) if report.suite else None,
        fastest=max((level.output_token_throughput for level in report.bench.levels), default=0.0)
        if report.bench
        else 0.0,
        made=(now or datetime.now(UTC)).strftime("%Y-%m-%d %H:%M UTC"),
        version=__version__,
    )


def highlight(evidence: Evidence, transcript: Transcript | None) -> Markup:
    """Show the place in the answer: some text before it, and the degenerate span marked."""
    span = evidence.span
    text = _field_text(transcript, span.field) if transcript is not None and span is not None else None
    if text is None or span is None:
        return escape(evidence.quote)
    start, end = span.start, min(span.end, span.start + SHOWN_OF_SPAN)
    before = ("…" if start > AROUND else "") + text[max(0, start - AROUND) : start]
    after = "…" if span.end > end or end < len(text) else ""
    return Markup("{}<mark>{}</mark>{}").format(before, text[start:end], after)


def counted(number: int, noun: str) -> str:
    """Say how many there are of something."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def milliseconds(seconds: float) -> str:
    """Show a duration in milliseconds, or in seconds where that reads better."""
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def percent(share: float) -> str:
    """Show a share."""
    return f"{share:.0%}"


def _field_text(transcript: Transcript, field: str) -> str | None:
    # The same joining as `Answer.text_of`, so that positions agree.
    parts = [text.text for text in transcript.texts if text.field == field]
    return "\n".join(parts) if parts else None


def _checks(suite: SuiteResult | None, verdict: Verdict) -> list[tuple[TrialResult, CheckResult]]:
    return suite.checks_with(verdict) if suite else []
