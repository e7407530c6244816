from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from seatrial.bench.metrics import FORMULAS, Offered, summarise
from seatrial.bench.result import BenchResult, LoadFigures
from seatrial.bench.workload import builtin
from seatrial.reports.html import ReportInput, highlight, milliseconds, render
from seatrial.reports.transcript import Text, Transcript, read_transcripts
from seatrial.verdicts import CheckResult, Evidence, Span, SuiteResult, TrialResult, Verdict

EVIL = '<script>alert(1)</script><img src="https://evil.example/x">&'


class Tags(HTMLParser):
    """Collects tags and addresses of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in {"src", "href", "action", "data"}]


def suite(*, complete: bool = True) -> SuiteResult:
    place = Evidence("r0001", EVIL, EVIL, Span("content", 5, 30))
    checks = (
        CheckResult("no_loops", Verdict.REFUTED, f"it loops {EVIL}", (place,)),
        CheckResult("asked", Verdict.UNPROVEN, "no answer within 1 s", infrastructure=True),
        CheckResult("sound", Verdict.PROVEN, "all well"),
    )
    return SuiteResult("quick", (TrialResult("repetition", "Loops?", checks, (EVIL,), requests=1),), complete)


def page(**parts: object) -> str:
    transcript = Transcript("r0001", "repetition/x", EVIL, (Text("content", f"well {EVIL * 3}"),), "stop", 0.5, 12)
    given = {"title": EVIL, "where": "http://127.0.0.1:1/v1", "facts": {"engine": EVIL}, "transcripts": [transcript]}
    return render(ReportInput(**(given | {"suite": suite(), "bench": None} | parts)))  # type: ignore[arg-type]


def test_what_a_model_says_can_not_become_part_of_the_page() -> None:
    tags = Tags()
    tags.feed(page())
    assert tags.tags.count("script") == 1
    assert "img" not in tags.tags


def test_the_page_asks_the_network_for_nothing() -> None:
    text = page()
    tags = Tags()
    tags.feed(text)
    assert all(address.startswith("#") for address in tags.addresses)
    style = "".join(re.findall(r"<style>(.*?)</style>", text, re.DOTALL))
    assert "url(" not in style
    assert "@import" not in style


def test_every_link_leads_to_a_place_on_the_page() -> None:
    text = page()
    tags = Tags()
    tags.feed(text)
    assert tags.addresses
    for address in tags.addresses:
        assert f'id="{address[1:]}"' in text


def test_an_interrupted_run_says_so() -> None:
    assert "interrupted before its end" in page(suite=suite(complete=False))
    assert "interrupted before its end" not in page()


def test_a_benchmark_alone_makes_a_page_also_when_nothing_was_completed() -> None:
    level = summarise([], Offered("4 at once", 4))
    load = LoadFigures("closed", None, 1)
    bench = BenchResult((level,), 64, {}, FORMULAS, builtin("chat").figures(), load, began_at=0.0, void=level.void)
    text = page(suite=None, bench=bench)
    assert "no request was completed" in text
    for formula in FORMULAS.values():
        assert formula.split("→")[0].strip()[:12] in text


def test_the_marked_part_is_the_degenerate_span() -> None:
    transcript = Transcript("r1", "x", "", (Text("content", "fine. " + "la " * 400),), "length", 1.0, 9)
    shown = str(highlight(Evidence("r1", span=Span("content", 6, 1206)), transcript))
    assert shown.startswith("fine. <mark>la la ")
    assert shown.endswith("</mark>…")


def test_without_its_transcript_the_quote_is_shown() -> None:
    assert str(highlight(Evidence("r9", quote="a < b", span=Span("content", 0, 3)), None)) == "a &lt; b"


@pytest.mark.parametrize(("seconds", "shown"), [(0.0123, "12.3 ms"), (1.5, "1.50 s")])
def test_durations_read_well(seconds: float, shown: str) -> None:
    assert milliseconds(seconds) == shown


def test_a_line_that_was_cut_by_a_kill_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "requests.jsonl"
    whole = '{"id": "r1", "label": "a/b", "request": {}, "timing": {"total": 1.0}, "answer": null, "failure": null}\n'
    file.write_text(whole + whole[:40])
    assert [one.id for one in read_transcripts(file)] == ["r1"]
    assert list(read_transcripts(tmp_path / "absent")) == []
