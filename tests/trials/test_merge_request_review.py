from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from seatrial.endpoint.address import Endpoint
from seatrial.endpoint.client import Client, Limits
from seatrial.testkit import LEGAL, FakeServer, Fault, Script
from seatrial.testkit.reviewer import Flaw, Reviewer, wrong_line
from seatrial.testkit.script import Seen
from seatrial.testkit.tokens import count_prompt
from seatrial.trials.interface import Settings
from seatrial.trials.merge_request_review import MergeRequestReview
from seatrial.trials.review_cases import (
    LINE_TOLERANCE,
    TOOLS,
    TURNS,
    Comment,
    Review,
    Workspace,
    all_reviews,
    parse_diff,
)
from seatrial.trials.review_claims import (
    CLAIMS,
    CLEAN,
    CONDUCT,
    DEFECTS,
    Ending,
    FinishedReview,
    clean_diff_approved,
    decide,
    defect_found,
    defect_not_approved,
    nothing_invented,
    review_decided,
)
from seatrial.trials.runner import run_suite
from seatrial.trials.statistics import SequentialTest
from seatrial.trials.suites import Suite, SuiteName
from seatrial.verdicts import CheckResult, TrialResult, Verdict

WITH_DEFECT = next(review for review in all_reviews() if review.defect is not None)
WITHOUT = next(review for review in all_reviews() if review.defect is None)
assert WITH_DEFECT.defect is not None
DEFECT = WITH_DEFECT.defect
HIT = Comment(DEFECT.file, DEFECT.first)

PROVEN, REFUTED, UNPROVEN = Verdict.PROVEN, Verdict.REFUTED, Verdict.UNPROVEN


# --- the data


@pytest.mark.parametrize("review", all_reviews(), ids=lambda review: review.id)
def test_each_data_file_agrees_with_itself(review: Review) -> None:
    assert review.diff
    for path, hunks in review.diff.items():
        text = review.files[path].splitlines()
        for hunk in hunks:
            shown = [(line.number, line.text) for line in hunk.lines if line.number is not None]
            assert shown == [(number, text[number - 1]) for number, _ in shown]
    assert sum(len(hunk.lines) for hunks in review.diff.values() for hunk in hunks) <= 60
    assert count_prompt({"messages": review.messages(), "tools": list(TOOLS)}) < 2_000
    if review.defect is not None:
        lines = {line.number for hunk in review.diff[review.defect.file] for line in hunk.lines if line.sign != "-"}
        assert set(range(review.defect.first, review.defect.last + 1)) <= lines
        assert wrong_line(review) in lines


def test_there_are_defects_of_many_kinds_and_clean_diffs_between_them() -> None:
    reviews = all_reviews()
    defects = [review.defect for review in reviews if review.defect is not None]
    assert len(defects) == DEFECTS.budget
    assert len({defect.kind for defect in defects}) == len(defects)
    assert len(reviews) - len(defects) == CLEAN.budget
    assert len(reviews) == CONDUCT.budget
    assert len({review.language for review in reviews}) >= 9
    assert [review.defect is None for review in reviews[:6]].count(True) == 2


def test_the_prompt_shows_the_numbers_of_the_new_version() -> None:
    prompt = WITH_DEFECT.prompt
    assert f"File: {DEFECT.file}" in prompt
    assert f"{DEFECT.first:>5} + " in prompt
    assert "      - " in prompt


@pytest.mark.parametrize(
    "diff",
    [
        "+++ b/x\n@@ -1,2 +1,2 @@\n a\n",
        "+++ b/x\n@@ -1 +1 @@\nx a\n",
        "+++ b/x\n@@ -1,1 +1,2 @@\n-a\n-b\n+c\n+d\n",
    ],
)
def test_a_diff_that_contradicts_itself_is_told(diff: str) -> None:
    with pytest.raises(ValueError, match="@@"):
        parse_diff(diff)


def test_a_diff_is_read_with_its_line_numbers() -> None:
    (hunk,) = parse_diff("--- a/x\n+++ b/x\n@@ -3,2 +3,2 @@ here\n one\n-two\n+zwei\n")["x"]
    assert [(line.sign, line.text, line.number) for line in hunk.lines] == [
        (" ", "one", 3),
        ("-", "two", None),
        ("+", "zwei", 4),
    ]


# --- the tools


def test_read_file_gives_the_file_or_says_which_there_are() -> None:
    workspace = Workspace(WITH_DEFECT)
    assert workspace.execute("read_file", {"path": DEFECT.file}) == WITH_DEFECT.files[DEFECT.file]
    assert workspace.execute("read_file", {"path": f"./{DEFECT.file}"}) == WITH_DEFECT.files[DEFECT.file]
    told = workspace.execute("read_file", {"path": "absent.py"})
    assert told.startswith("error: there is no file 'absent.py'")
    assert DEFECT.file in told
    assert workspace.absent == ["absent.py"]


def test_what_can_not_be_posted_is_told_and_counts_all_the_same() -> None:
    workspace = Workspace(WITH_DEFECT)
    posted = {"file": f"b/{DEFECT.file}", "line": DEFECT.first, "body": "x", "severity": "major"}
    assert workspace.execute("post_comment", posted) == f"Posted on {DEFECT.file}, line {DEFECT.first}."
    assert workspace.execute("post_comment", {**posted, "line": 9_999}).startswith("error: ")
    assert workspace.execute("post_comment", {**posted, "file": "made/up.py"}).startswith("error: there is no file")
    assert workspace.execute("merge", {}) == "error: there is no tool 'merge'"
    assert len(workspace.comments) == 3
    assert workspace.decisions == []


# --- the claims, alone


def done(review: Review, *comments: Comment, decisions: tuple[str, ...] = (), ending: Ending | None = None) -> Any:
    ending = ending or (Ending.DECISION if decisions else Ending.WORDS)
    return FinishedReview(review, ending, comments, decisions)


@pytest.mark.parametrize(
    ("comment", "verdict"),
    [
        (HIT, PROVEN),
        (Comment(DEFECT.file, DEFECT.last + LINE_TOLERANCE), PROVEN),
        (Comment(DEFECT.file, DEFECT.first - LINE_TOLERANCE), PROVEN),
        (Comment(DEFECT.file, DEFECT.last + LINE_TOLERANCE + 1), REFUTED),
        (Comment(DEFECT.file, DEFECT.first - LINE_TOLERANCE - 1), REFUTED),
        (Comment("library/api.py", DEFECT.first), REFUTED),
    ],
)
def test_a_comment_counts_in_the_right_file_and_near_the_line(comment: Comment, verdict: Verdict) -> None:
    result = defect_found(done(WITH_DEFECT, comment))
    assert result is not None
    assert result.verdict is verdict
    if verdict is REFUTED:
        assert f"{comment.file}:{comment.line}" in result.detail


def test_one_right_comment_among_others_is_enough() -> None:
    result = defect_found(done(WITH_DEFECT, Comment("library/api.py", 12), HIT))
    assert result is not None
    assert result.verdict is PROVEN


def test_a_clean_diff_has_no_defect_to_find() -> None:
    assert defect_found(done(WITHOUT)) is None
    assert defect_not_approved(done(WITHOUT)) is None
    assert clean_diff_approved(done(WITH_DEFECT)) is None


@pytest.mark.parametrize(
    ("review", "verdict"),
    [
        (done(WITHOUT, decisions=("approve",)), PROVEN),
        (done(WITHOUT, decisions=("request_changes",)), REFUTED),
        (done(WITHOUT), REFUTED),
        (done(WITHOUT, Comment(next(iter(WITHOUT.diff)), 5), decisions=("approve",)), REFUTED),
    ],
)
def test_a_clean_diff_is_approved_without_a_comment(review: FinishedReview, verdict: Verdict) -> None:
    result = clean_diff_approved(review)
    assert result is not None
    assert result.verdict is verdict


def test_a_defect_is_not_approved_even_when_it_was_found() -> None:
    result = defect_not_approved(done(WITH_DEFECT, HIT, decisions=("approve",)))
    assert result is not None
    assert result.verdict is REFUTED
    assert "although" in result.detail


@pytest.mark.parametrize(
    ("comment", "verdict"),
    [
        (HIT, PROVEN),
        (Comment("library/catalogue.py", 1), PROVEN),  # not in a hunk, but the repository has it
        (Comment("library/catalogue.py", 4_711), REFUTED),
        (Comment("library/catalogue.py", 0), REFUTED),
        (Comment("library/database.py", 3), REFUTED),
    ],
)
def test_files_and_lines_that_are_not_there_are_invented(comment: Comment, verdict: Verdict) -> None:
    assert nothing_invented(done(WITH_DEFECT, comment)).verdict is verdict


@pytest.mark.parametrize(
    ("review", "verdict", "words"),
    [
        (done(WITHOUT, decisions=("approve",)), PROVEN, "decided"),
        (done(WITHOUT, decisions=("approve", "request_changes")), REFUTED, "both"),
        (done(WITHOUT), REFUTED, "without a decision"),
        (done(WITHOUT, ending=Ending.TURNS), REFUTED, f"{TURNS} turns"),
        (done(WITHOUT, ending=Ending.CUT), REFUTED, "cut"),
    ],
)
def test_a_review_ends_with_one_decision(review: FinishedReview, verdict: Verdict, words: str) -> None:
    result = review_decided(review)
    assert result.verdict is verdict
    assert words in result.detail


# --- the rule


@pytest.mark.parametrize(
    ("test", "held", "broken", "verdict"),
    [
        (DEFECTS, 4, 0, PROVEN),
        (DEFECTS, 6, 1, PROVEN),
        (DEFECTS, 8, 2, PROVEN),
        (DEFECTS, 7, 3, UNPROVEN),
        (DEFECTS, 5, 5, REFUTED),
        (DEFECTS, 3, 4, REFUTED),
        (DEFECTS, 1, 3, REFUTED),
        (DEFECTS, 0, 3, REFUTED),
        (DEFECTS, 0, 2, None),
        (DEFECTS, 3, 1, None),
        (CONDUCT, 6, 0, PROVEN),
        (CONDUCT, 10, 1, PROVEN),
        (CONDUCT, 12, 2, UNPROVEN),
        (CONDUCT, 10, 4, REFUTED),
        (CONDUCT, 6, 3, REFUTED),
        (CONDUCT, 2, 2, REFUTED),
        (CONDUCT, 5, 1, None),
        (CLEAN, 2, 0, PROVEN),
        (CLEAN, 3, 1, PROVEN),
        (CLEAN, 2, 2, UNPROVEN),
        (CLEAN, 1, 2, REFUTED),
        (CLEAN, 0, 1, None),
    ],
)
def test_the_rule_decides_as_the_docs_say(
    test: SequentialTest, held: int, broken: int, verdict: Verdict | None
) -> None:
    assert test.verdict(held, broken) is verdict


def test_a_decided_claim_says_the_rate_and_names_the_reviews_that_fail() -> None:
    reviews = [review for review in all_reviews() if review.defect is not None]
    finished = [done(review) for review in reviews[:3]]
    result = decide(CLAIMS[0], finished)
    assert result.verdict is REFUTED
    assert "3 of 3 reviews, 95% interval 44% to 100%" in result.detail
    assert reviews[0].id in result.detail
    assert decide(CLAIMS[0], []).verdict is UNPROVEN


# --- against a server


async def on_trial(
    reviewer: Reviewer | None = None,
    *faults: Fault,
    reviews: int = 6,
    settings: Settings | None = None,
    when: Callable[[Seen], bool] = lambda _seen: True,
    **more: Any,
) -> tuple[TrialResult, FakeServer]:
    script = Script(answer=reviewer or Reviewer(), faults=frozenset(faults), when=when, **more)
    limits = Limits(connect=2, request=1.5, silence=1.5)
    async with FakeServer(script) as server, Client(Endpoint(server.base_url, script.model), limits) as client:
        suite = Suite(SuiteName.STANDARD, (MergeRequestReview(reviews),))
        result = await run_suite(suite, client, settings or Settings())
    return result.trials[0], server


def named(result: TrialResult, verdict: Verdict) -> dict[str, CheckResult]:
    return {check.check: check for check in result.checks if check.verdict is verdict}


async def test_a_perfect_reviewer_is_proven() -> None:
    result, server = await on_trial()
    assert result.verdict is PROVEN
    assert {claim.check for claim in CLAIMS} | {"not_degenerate", "arguments_match_schema"} <= set(
        named(result, PROVEN)
    )
    assert result.figures["reviews"] == 6
    assert result.figures["defects_found"] == result.figures["reviews_with_defect"] == 4
    assert result.requests == len(server.chats) == result.figures["turns"]
    assert {bool(seen.body.get("stream")) for seen in server.chats} == {True, False}


async def test_all_reviews_can_be_made() -> None:
    result, _ = await on_trial(reviews=100)
    assert result.verdict is PROVEN
    assert result.figures["reviews"] == len(all_reviews())


async def test_none_proves_nothing() -> None:
    result, server = await on_trial(reviews=0)
    assert (result.verdict, result.checks, server.chats) == (UNPROVEN, (), [])


async def test_the_model_gets_the_results_of_its_calls() -> None:
    _, server = await on_trial(reviews=1)
    first, second, third = (seen.body["messages"] for seen in server.chats[:3])
    assert [message["role"] for message in first] == ["system", "user"]
    assert [message["role"] for message in second[2:]] == ["assistant", "tool"]
    assert second[-1]["content"] == WITH_DEFECT.files[DEFECT.file]
    assert second[-1]["tool_call_id"] == second[-2]["tool_calls"][0]["id"]
    assert third[: len(second)] == second
    assert third[-1]["content"] == f"Posted on {DEFECT.file}, line {DEFECT.first}."
    assert json.loads(third[-2]["tool_calls"][0]["function"]["arguments"])["line"] == DEFECT.first


@pytest.mark.parametrize(
    ("flaw", "checks"),
    [
        (Flaw.MISSES_DEFECTS, {"defect_found"}),
        (Flaw.WRONG_LINE, {"defect_found"}),
        (Flaw.WRONG_FILE, {"defect_found"}),
        (Flaw.INVENTS_FILE, {"nothing_invented"}),
        (Flaw.INVENTS_LINE, {"nothing_invented"}),
        (Flaw.APPROVES_EVERYTHING, {"defect_not_approved"}),
        (Flaw.RUBBER_STAMP, {"defect_found", "defect_not_approved"}),
        (Flaw.FALSE_ALARM, {"clean_diff_approved"}),
        (Flaw.NEVER_DECIDES, {"review_decided"}),
        (Flaw.ONLY_TALKS, {"review_decided"}),
        (Flaw.REPEATS_COMMENT, {"calls_differ"}),
        (Flaw.REPEATS_SUMMARY, {"no_arguments_in_content"}),
    ],
)
async def test_each_bad_reviewer_is_refuted_by_the_check_that_is_meant_for_it(flaw: Flaw, checks: set[str]) -> None:
    result, _ = await on_trial(Reviewer(flaw=flaw))
    assert result.verdict is REFUTED
    refuted = named(result, REFUTED)
    assert set(refuted) == checks
    assert all(check.evidence for check in refuted.values())


async def test_what_is_known_to_be_refuted_costs_no_further_review() -> None:
    result, _ = await on_trial(Reviewer(flaw=Flaw.MISSES_DEFECTS), reviews=100)
    assert result.figures["reviews"] == 4


@pytest.mark.parametrize(
    ("flaw", "only"),
    [
        (Flaw.MISSES_DEFECTS, {1}),
        (Flaw.RUBBER_STAMP, {0, 7}),
        (Flaw.INVENTS_FILE, {3}),
        (Flaw.NEVER_DECIDES, {4}),
        (Flaw.REPEATS_SUMMARY, {0}),
        (Flaw.FALSE_ALARM, {2}),
    ],
)
async def test_a_good_reviewer_may_be_wrong_once_in_a_while(flaw: Flaw, only: set[int]) -> None:
    wrong = frozenset(all_reviews()[number].id for number in only)
    result, _ = await on_trial(Reviewer(flaw=flaw, only=wrong))
    assert result.verdict is PROVEN
    reviews = result.figures["reviews"]
    assert isinstance(reviews, int)
    assert reviews > 6, "more reviews make up for it"


@pytest.mark.parametrize(
    ("fault", "checks"),
    [
        (Fault.CALL_IN_CONTENT, {"no_markup_in_content"}),
        (Fault.CALL_IN_REASONING, {"no_markup_in_reasoning", "answer_present"}),
        (Fault.BROKEN_ARGUMENTS, {"arguments_parse"}),
        (Fault.ARGUMENTS_LOST_IN_STREAM, {"arguments_parse"}),
        (Fault.ARGUMENTS_AS_OBJECT, {"stream_rebuilds"}),
        (Fault.WRONG_ARGUMENT_TYPES, {"arguments_match_schema"}),
        (Fault.MISSING_ARGUMENTS, {"arguments_match_schema"}),
        (Fault.UNKNOWN_TOOL, {"call_names_known"}),
        (Fault.MISSING_CALL_IDS, {"call_ids_unique"}),
        (Fault.DUPLICATE_CALL_IDS, {"call_ids_unique"}),
        (Fault.WRONG_FINISH_REASON, {"finish_reason_agrees"}),
        (Fault.THINK_TAGS_IN_CONTENT, {"reasoning_kept_apart"}),
        (Fault.EMPTY_ANSWER, {"answer_present"}),
        (Fault.IGNORE_TOOLS, {"review_decided"}),
        (Fault.WRONG_ARGUMENT_VALUES, {"nothing_invented"}),
        (Fault.LOOP_ARGUMENTS, {"not_degenerate"}),
        (Fault.LOOP_CONTENT, {"not_degenerate"}),
        (Fault.LOOP_REASONING, {"not_degenerate"}),
        (Fault.TOKEN_SALAD, {"not_degenerate"}),
    ],
)
async def test_each_fault_of_the_server_is_refuted_at_once(fault: Fault, checks: set[str]) -> None:
    result, _ = await on_trial(None, fault)
    assert result.verdict is REFUTED
    assert set(named(result, REFUTED)) == checks
    assert result.requests <= 10


@pytest.mark.parametrize("oddity", sorted(LEGAL))
async def test_what_is_odd_but_legal_is_proven_all_the_same(oddity: Fault) -> None:
    result, _ = await on_trial(None, oddity)
    assert result.verdict is PROVEN


async def test_a_loop_in_a_late_turn_is_found_in_a_whole_answer_too() -> None:
    late = all_reviews()[1].prompt

    def when(seen: Seen) -> bool:
        messages = seen.body["messages"]
        return messages[1]["content"] == late and len(messages) > 4

    result, server = await on_trial(None, Fault.LOOP_CONTENT, when=when)
    assert set(named(result, REFUTED)) == {"not_degenerate"}
    assert "2 of 2 attempts" in named(result, REFUTED)["not_degenerate"].detail
    assert not server.chats[-1].body.get("stream")


async def test_one_broken_text_that_does_not_come_again_refutes_nothing() -> None:
    result, _ = await on_trial(None, Fault.LOOP_REASONING, when=lambda seen: seen.number == 2)
    assert result.verdict is PROVEN
    assert "once" in named(result, PROVEN)["not_degenerate"].detail


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault.DIES_MID_STREAM, "broke off"),
        (Fault.NEVER_ANSWERS, "no answer within"),
        (Fault.NEVER_ENDS, "did not end"),
        (Fault.INVALID_JSON_CHUNK, "not JSON"),
        (Fault.ERROR_EVENT, "CUDA error"),
        (Fault.STATUS_503, "HTTP 503"),
        (Fault.HTML_EVERYWHERE, "not JSON"),
    ],
)
async def test_a_server_that_can_not_be_asked_is_unproven_and_soon_left(fault: Fault, words: str) -> None:
    began = time.monotonic()
    result, _ = await on_trial(None, fault)
    assert time.monotonic() - began < 10
    assert result.verdict is UNPROVEN
    missing = named(result, UNPROVEN)["review_made"]
    assert missing.infrastructure
    assert words in missing.detail


async def test_one_request_without_an_answer_does_not_end_the_trial() -> None:
    result, _ = await on_trial(None, Fault.DIES_MID_STREAM, when=lambda seen: seen.number == 2)
    assert result.verdict is PROVEN
    assert any("broke off" in note for note in result.notes)


async def test_a_loop_that_can_not_be_asked_for_again_is_unproven() -> None:
    def when(seen: Seen) -> bool:
        if len(server.chats) == 1:
            return True
        server.script = replace(server.script, faults=frozenset({Fault.DIES_MID_STREAM}))
        return True

    server = FakeServer(Script(answer=Reviewer(), faults=frozenset({Fault.LOOP_REASONING}), when=when))
    async with server, Client(Endpoint(server.base_url, "fake-model")) as client:
        made = await run_suite(Suite(SuiteName.STANDARD, (MergeRequestReview(),)), client, Settings())
    (result,) = made.trials
    assert result.verdict is UNPROVEN
    assert "asked again" in named(result, UNPROVEN)["not_degenerate"].detail


@pytest.mark.parametrize("answer_tokens", [6, 16, 20])
async def test_what_our_own_budget_cut_is_not_held_against_the_server(answer_tokens: int) -> None:
    result, _ = await on_trial(settings=Settings(answer_tokens=answer_tokens))
    assert result.verdict is UNPROVEN
    assert named(result, REFUTED) == {}
    assert any("--max-tokens" in check.detail for check in result.checks)


async def test_a_context_that_is_too_small_for_a_review_is_unproven_with_the_reason() -> None:
    result, _ = await on_trial(context_length=2_400)
    assert result.verdict is UNPROVEN
    assert "does not fit" in named(result, UNPROVEN)["request_accepted"].detail


def test_the_reviewer_leaves_what_is_no_review_to_the_other_model() -> None:
    reply = Reviewer()({"messages": [{"role": "user", "content": "What is 2+2?"}]})
    assert "4" in reply.content
    assert reply.tool_calls == ()
