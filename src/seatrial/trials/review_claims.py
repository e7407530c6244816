"""What is claimed about finished reviews, and how the claims are decided. Pure."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from seatrial.endpoint.client import shorten
from seatrial.trials.review_cases import TURNS, Comment, Review, Workspace, invented
from seatrial.trials.statistics import SequentialTest, wilson_interval
from seatrial.verdicts import CheckResult, Evidence, Verdict

SHOWN = 4
"""Reviews that a sentence names."""


class Ending(StrEnum):
    """How a review ended."""

    DECISION = "a decision"
    WORDS = "words, without a decision"
    CUT = "an answer that was cut at the token budget"
    TURNS = f"no end within {TURNS} turns"


@dataclass(frozen=True, slots=True)
class FinishedReview:
    """What a reviewer did with one merge request.

    Attributes:
        review: what it was.
        ending: how it ended.
        comments: in the order in which they were posted.
        decisions: `approve` and `request_changes`, as they came.
        absent: paths that were to be read and that are not there.
        turns: requests that it took.
        exchange: id of the last one.
        turn_results: what `judge_exchange` found in its turns.
    """

    review: Review
    ending: Ending
    comments: tuple[Comment, ...] = ()
    decisions: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    turns: int = 0
    exchange: str = ""
    turn_results: tuple[CheckResult, ...] = ()

    @classmethod
    def of(cls, workspace: Workspace, ending: Ending, **more: Any) -> FinishedReview:
        """Take what a workspace holds."""
        done = tuple(workspace.comments), tuple(workspace.decisions), tuple(workspace.absent)
        return cls(workspace.review, ending, *done, **more)

    @property
    def finds_defect(self) -> bool:
        """Whether a comment stands where the defect is."""
        defect = self.review.defect
        return defect is not None and any(map(defect.is_named_by, self.comments))

    def place(self, comment: Comment | None = None) -> Evidence:
        """Point at a comment, or at the end of the review."""
        said = [f"{one.file}:{one.line}: {one.body}" for one in ((comment,) if comment else self.comments)]
        quote = " / ".join(said) or f"no comment; {', '.join(self.decisions) or self.ending}"
        exchange = (comment.exchange if comment else "") or self.exchange
        return Evidence(exchange, shorten(self.review.title, 160), shorten(quote, 240))


def defect_found(done: FinishedReview) -> CheckResult | None:
    """A comment names the file of the planted defect, and a line within its range (± LINE_TOLERANCE)."""
    defect = done.review.defect
    if defect is None:
        return None
    where = f"{defect.kind} at {defect.file}:{defect.first}"
    if done.finds_defect:
        return CheckResult("defect_found", Verdict.PROVEN, where)
    lines = ", ".join(f"{comment.file}:{comment.line}" for comment in done.comments[:SHOWN])
    seen = f"comments only at {lines}" if lines else "no comment"
    return CheckResult("defect_found", Verdict.REFUTED, f"{where}: {seen}", (done.place(),))


def defect_not_approved(done: FinishedReview) -> CheckResult | None:
    """A merge request with a defect is not approved."""
    defect = done.review.defect
    if defect is None:
        return None
    if "approve" not in done.decisions:
        return CheckResult("defect_not_approved", Verdict.PROVEN, "not approved")
    found = "although the comment names the defect" if done.finds_defect else "with its defect"
    detail = f"{defect.kind} in {defect.file}: approved {found}"
    return CheckResult("defect_not_approved", Verdict.REFUTED, detail, (done.place(),))


def clean_diff_approved(done: FinishedReview) -> CheckResult | None:
    """A merge request without a defect is approved, without a comment."""
    if done.review.defect is not None:
        return None
    check = "clean_diff_approved"
    if done.comments:
        first = done.comments[0]
        detail = f"a comment on a clean diff, at {first.file}:{first.line}"
        return CheckResult(check, Verdict.REFUTED, detail, (done.place(first),))
    if done.decisions == ("approve",):
        return CheckResult(check, Verdict.PROVEN, "approved without a comment")
    detail = f"a clean diff is not approved but ends with {', '.join(done.decisions) or done.ending}"
    return CheckResult(check, Verdict.REFUTED, detail, (done.place(),))


def nothing_invented(done: FinishedReview) -> CheckResult:
    """Every comment is on a file of the diff or the repository, and on a line that it has."""
    made_up = [(comment, why) for comment in done.comments if (why := invented(done.review, comment))]
    if not made_up:
        return CheckResult("nothing_invented", Verdict.PROVEN, "every file and line is there")
    detail = made_up[0][1]
    places = tuple(done.place(comment) for comment, _ in made_up)
    return CheckResult("nothing_invented", Verdict.REFUTED, detail, places)


def review_decided(done: FinishedReview) -> CheckResult:
    """The review ends by itself, with one decision."""
    if done.ending is Ending.DECISION and len(set(done.decisions)) == 1:
        return CheckResult("review_decided", Verdict.PROVEN, f"decided in {done.turns} turns")
    detail = "it both approves and asks for changes" if len(set(done.decisions)) > 1 else f"ends with {done.ending}"
    return CheckResult("review_decided", Verdict.REFUTED, detail, (done.place(),))


def held_in_all_turns(check: str, done: FinishedReview) -> CheckResult:
    """A claim of `judge_exchange` that a model may break now and then holds in every turn."""
    broken = [result for result in done.turn_results if result.check == check and result.verdict is Verdict.REFUTED]
    return broken[0] if broken else CheckResult(check, Verdict.PROVEN, "in every turn")


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim about reviews that holds at some rate.

    Attributes:
        check: its name.
        judge: judges one finished review; None where it does not apply.
        test: decides from how many reviews it holds for.
    """

    check: str
    judge: Callable[[FinishedReview], CheckResult | None]
    test: SequentialTest


# By Ville's inequality the bounds α and β hold whenever the test is read, so it may be read after any review.
DEFECTS = SequentialTest(p0=0.15, p1=0.60, alpha=0.05, beta=0.05, budget=10, at_least=3)
"""Misses. A good reviewer misses one defect in seven, also by a line too far off; one that misses most is none.

4 of 4, 6 of 7 or 8 of 10 found prove; 3 of the first 4, 4 of 7 or 5 of 10 missed refute."""
CONDUCT = SequentialTest(p0=0.05, p1=0.45, alpha=0.05, beta=0.05, budget=14, at_least=3)
"""Inventions, and reviews without an end: rarer in good models, and worse.

6 of 6 or 10 of 11 right prove; 2 of the first 4, 3 of 9 or 4 of 14 wrong refute."""
CLEAN = SequentialTest(p0=0.10, p1=0.75, alpha=0.15, beta=0.15, budget=4, at_least=2)
"""False alarms. There are only four clean diffs, so the bounds are wide.

2 of 2 or 3 of 4 approved prove; 2 of the first 3 not approved refute."""

TALLIED = ("calls_differ", "no_arguments_in_content")
"""Of the checks on turns, those that a good model breaks once in a while: it says its summary twice."""

CUT_IN_CALL = frozenset({"arguments_parse", "finish_reason_agrees"})
"""Checks that a call can't pass when our own token budget ended it."""

CLAIMS = (
    Claim("defect_found", defect_found, DEFECTS),
    Claim("defect_not_approved", defect_not_approved, DEFECTS),
    Claim("clean_diff_approved", clean_diff_approved, CLEAN),
    Claim("nothing_invented", nothing_invented, CONDUCT),
    Claim("review_decided", review_decided, CONDUCT),
    *(Claim(check, functools.partial(held_in_all_turns, check), CONDUCT) for check in TALLIED),
)


def decide(claim: Claim, finished: Sequence[FinishedReview]) -> CheckResult:
    """Decide one claim from all reviews to which it applies."""
    results = [(done, result) for done in finished if (result := claim.judge(done)) is not None]
    broken = [(done, result) for done, result in results if result.verdict is Verdict.REFUTED]
    if not results:
        return CheckResult(claim.check, Verdict.UNPROVEN, "no review of this kind was made")
    verdict = claim.test.verdict(len(results) - len(broken), len(broken)) or Verdict.UNPROVEN
    low, high = wilson_interval(len(broken), len(results))
    detail = f"fails in {len(broken)} of {len(results)} reviews, 95% interval {low:.0%} to {high:.0%}"
    if broken:
        detail += ": " + "; ".join(f"{done.review.id}: {result.detail}" for done, result in broken[:SHOWN])
    if verdict is Verdict.UNPROVEN:
        detail += "; these are too few to decide"
    return CheckResult(claim.check, verdict, detail, tuple(place for _, result in broken for place in result.evidence))
