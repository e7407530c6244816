"""A reviewer that knows the answers to the merge requests of `seatrial.trials.merge_request_review`, and bad ones.

Script(answer=Reviewer())                               # in front of the default model
Script(answer=Reviewer(flaw=Flaw.MISSES_DEFECTS))
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from seatrial.testkit.good_model import GoodModel, thinking_wanted
from seatrial.testkit.reply import Answer, Call, Reply
from seatrial.testkit.tokens import text_of
from seatrial.trials.review_cases import LINE_TOLERANCE, Review, all_reviews


class Flaw(StrEnum):
    """What a bad reviewer does; everything else it does right."""

    MISSES_DEFECTS = "misses_defects"
    """It asks for changes and does not say where."""
    WRONG_LINE = "wrong_line"
    """Its comment stands on another line of the diff."""
    WRONG_FILE = "wrong_file"
    """Its comment stands in another file of the repository, where there is one, or on another line."""
    INVENTS_FILE = "invents_file"
    """Beside the right comment it posts one on a file that is not there."""
    INVENTS_LINE = "invents_line"
    """Beside the right comment it posts one on a line that is not there."""
    APPROVES_EVERYTHING = "approves_everything"
    """It posts the right comment, and approves all the same."""
    RUBBER_STAMP = "rubber_stamp"
    """It approves, and posts nothing."""
    FALSE_ALARM = "false_alarm"
    """It finds a defect in a clean diff."""
    NEVER_DECIDES = "never_decides"
    """It goes on reading files."""
    ONLY_TALKS = "only_talks"
    """It writes its review as prose."""
    REPEATS_COMMENT = "repeats_comment"
    """It posts each comment twice."""
    REPEATS_SUMMARY = "repeats_summary"
    """It also writes its summary as content."""


@dataclass(frozen=True, slots=True)
class Reviewer:
    """A model for `Script.answer`: reviews merge requests by their data files, turn by turn.

    It reads a file, then posts its comment, then decides; a decision that was answered gets a last word, because
    agents go on until there is no call.

    Attributes:
        otherwise: answers what is no review.
        flaw: what it does wrong, or None.
        only: ids of the reviews that the flaw applies to; None for all.
    """

    otherwise: Answer = field(default_factory=GoodModel)
    flaw: Flaw | None = None
    only: frozenset[str] | None = None

    def __call__(self, request: Mapping[str, Any]) -> Reply:
        """Answer one request."""
        review = review_of(request)
        if review is None or not request.get("tools"):
            return self.otherwise(request)
        flaw = self.flaw if self.only is None or review.id in self.only else None
        thought = "I compare each changed line with what stands around it." if thinking_wanted(request) else None
        made = [name for name in _calls_so_far(request) if name]
        return self._next(review, flaw, made, thought)

    def _next(self, review: Review, flaw: Flaw | None, made: list[str], thought: str | None) -> Reply:
        if flaw is Flaw.ONLY_TALKS:
            return Reply(_summary(review), thought)
        if {"approve", "request_changes"} & set(made):
            return Reply("That was my review.", thought)
        if "read_file" not in made or flaw is Flaw.NEVER_DECIDES:
            paths = list(review.files)
            return Reply("", thought, (_call("read_file", path=paths[made.count("read_file") % len(paths)]),))
        comments = tuple(_comments(review, flaw))
        if comments and "post_comment" not in made:
            return Reply("", thought, comments)
        rejects = review.defect is not None or flaw is Flaw.FALSE_ALARM
        if flaw in {Flaw.APPROVES_EVERYTHING, Flaw.RUBBER_STAMP}:
            rejects = False
        content = _summary(review) if flaw is Flaw.REPEATS_SUMMARY else ""
        name = "request_changes" if rejects else "approve"
        return Reply(content, thought, (_call(name, summary=_summary(review)),))


def review_of(request: Mapping[str, Any]) -> Review | None:
    """Find the merge request that a conversation is about."""
    said = "\n".join(text_of(message) for message in request.get("messages", ()) if message.get("role") == "user")
    return next((review for review in all_reviews() if review.prompt in said), None)


def wrong_line(review: Review) -> int:
    """Return a line of the diff, in the file of the defect, that is too far from it to count."""
    assert review.defect is not None
    first, last = review.defect.first - LINE_TOLERANCE, review.defect.last + LINE_TOLERANCE
    numbers = [line.number for hunk in review.diff[review.defect.file] for line in hunk.lines if line.number]
    return next(number for number in numbers if not first <= number <= last)


def _comments(review: Review, flaw: Flaw | None) -> Iterator[Call]:
    defect = review.defect
    if defect is None:
        if flaw is Flaw.FALSE_ALARM:
            yield _comment(*_first_line(review), "This fails for an empty input.")
        return
    if flaw in {Flaw.MISSES_DEFECTS, Flaw.RUBBER_STAMP}:
        return
    file, line = defect.file, defect.first
    if flaw is Flaw.WRONG_LINE:
        line = wrong_line(review)
    elif flaw is Flaw.WRONG_FILE:
        other = next((path for path in review.files if path != file), None)
        file, line = (other, 1) if other else (file, wrong_line(review))
    yield _comment(file, line, defect.comment)
    if flaw is Flaw.INVENTS_FILE:
        yield _comment("src/helpers/legacy_utils.py", 12, "The same mistake is made in this helper.")
    elif flaw is Flaw.INVENTS_LINE:
        yield _comment(file, 4711, "The same mistake is made once more here.")
    elif flaw is Flaw.REPEATS_COMMENT:
        yield _comment(file, line, defect.comment)


def _first_line(review: Review) -> tuple[str, int]:
    path, hunks = next(iter(review.diff.items()))
    return path, next(line.number for line in hunks[0].lines if line.number)


def _summary(review: Review) -> str:
    return review.defect.why if review.defect else "The change does what its description says."


def _comment(file: str, line: int, body: str) -> Call:
    return _call("post_comment", file=file, line=line, body=body, severity="critical")


def _call(name: str, **arguments: Any) -> Call:
    return Call(name, json.dumps(arguments, ensure_ascii=False))


def _calls_so_far(request: Mapping[str, Any]) -> Iterator[str]:
    for message in request.get("messages", ()):
        for call in message.get("tool_calls") or ():
            yield str(call.get("function", {}).get("name"))
