"""The standard suite against a server that answers perfectly, and against each of its faults, one at a time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from seatrial.endpoint.address import Endpoint
from seatrial.endpoint.client import Client, Limits
from seatrial.testkit import LEGAL, Details, FakeServer, Fault, Pace, Script
from seatrial.testkit.answer_sheet import AnswerSheet
from seatrial.trials.interface import OverLongPolicy, Settings
from seatrial.trials.runner import run_suite
from seatrial.trials.suites import SuiteName, suite
from seatrial.verdicts import SuiteResult, Verdict

LIMITS = Limits(request=1.5, silence=1.5, answer_bytes=1 << 20)

PERFECT = Script(
    answer=AnswerSheet(),
    details=Details(lag_seconds=60, token_lag_seconds=2, companion_seconds=0.05, huge_bytes=4 << 20),
)


async def prove(*faults: Fault, settings: Settings | None = None, script: Script = PERFECT) -> SuiteResult:
    async with (
        FakeServer(replace(script, faults=frozenset(faults))) as server,
        Client(Endpoint(server.base_url, script.model), LIMITS) as client,
    ):
        return await run_suite(suite(SuiteName.STANDARD), client, settings or Settings(answer_tokens=400))


def names(result: SuiteResult, verdict: Verdict) -> set[str]:
    """The checks of that verdict; what faults do to reviews has tests of its own."""
    return {check.check for trial, check in result.checks_with(verdict) if trial.trial != "merge_request_review"}


async def test_a_perfect_server_is_proven() -> None:
    result = await prove()
    assert result.verdict is Verdict.PROVEN, names(result, Verdict.REFUTED) | names(result, Verdict.UNPROVEN)


@pytest.mark.parametrize("oddity", sorted(LEGAL))
async def test_what_is_odd_but_legal_is_proven(oddity: Fault) -> None:
    result = await prove(oddity)
    assert result.verdict is Verdict.PROVEN, names(result, Verdict.REFUTED)


NO_RIGHT_CALL = {"arguments_as_expected", "argument_contains"}
NO_ANSWER = {"answer_present", "is_right", "call_made", "answer_says", "needle_found"}

REFUTED = {
    # broken text
    Fault.LOOP_CONTENT: {"not_degenerate", "no_loops", "call_made", "content_matches_format"},
    Fault.LOOP_REASONING: {
        *("not_degenerate", "no_loops", "is_right", "answer_says", "needle_found", "thinking_is_off")
    },
    Fault.LOOP_ARGUMENTS: {"not_degenerate", "no_loops"},
    Fault.TOKEN_SALAD: {
        *("not_degenerate", "no_loops", "is_right", "call_made", "answer_says", "needle_found"),
        "content_matches_format",
    },
    # answers
    Fault.EMPTY_ANSWER: NO_ANSWER | {"answers"},
    Fault.WRONG_ANSWER: {"is_right", "answer_says", "content_matches_format", "needle_found"},
    Fault.THINK_TAGS_IN_CONTENT: {"reasoning_kept_apart", "content_matches_format"},
    Fault.UNCLOSED_THINK_TAG: {"reasoning_kept_apart", "content_matches_format"},
    Fault.CROSS_TALK: {"no_cross_talk", "as_alone_at_once"},
    # over-long input
    Fault.TRUNCATE_TO_NOTHING: {"over_long_input", "over_long_input_streamed"},
    Fault.TRUNCATE_HEAD: {"over_long_input", "over_long_input_streamed"},
    Fault.TRUNCATE_TAIL: {"over_long_input", "over_long_input_streamed"},
    Fault.TRUNCATE_MIDDLE: {"over_long_input", "over_long_input_streamed"},
    # calls
    Fault.IGNORE_TOOLS: {"call_made"},
    Fault.CALL_IN_CONTENT: {"call_made", "no_markup_in_content"},
    Fault.CALL_IN_REASONING: {"call_made", "no_markup_in_reasoning", "answer_present", "thinking_is_off"},
    Fault.WRONG_ARGUMENT_TYPES: {"arguments_match_schema", "calls_differ"} | NO_RIGHT_CALL,
    Fault.WRONG_ARGUMENT_VALUES: {"arguments_match_schema", "calls_differ"} | NO_RIGHT_CALL,
    Fault.MISSING_ARGUMENTS: {"arguments_match_schema"} | NO_RIGHT_CALL,
    Fault.BROKEN_ARGUMENTS: {"arguments_parse", "arguments_as_expected"},
    Fault.ARGUMENTS_AS_OBJECT: {"answer_well_formed", "stream_rebuilds"},
    Fault.UNKNOWN_TOOL: {"call_names_known", "arguments_as_expected"},
    Fault.DROP_SECOND_CALL: {"arguments_as_expected"},
    Fault.DUPLICATE_CALL_IDS: {"call_ids_unique"},
    Fault.MISSING_CALL_IDS: {"call_ids_unique"},
    Fault.CALL_NOT_DUE: {"call_withheld", "arguments_as_expected", "answer_says"},
    Fault.CALL_DESPITE_NONE: {"call_withheld"},
    Fault.IGNORE_REQUIRED: {"call_made"},
    Fault.IGNORE_NAMED: {"call_names_known", "arguments_as_expected"},
    Fault.REJECT_TOOL_CHOICE: {"request_accepted"},
    Fault.ARGUMENTS_LOST_IN_STREAM: {"arguments_parse", "arguments_as_expected"},
    Fault.ARGUMENTS_AT_WRONG_INDEX: {
        *("call_names_known", "call_ids_unique", "arguments_parse", "arguments_as_expected", "stream_rebuilds")
    },
    Fault.INDEX_MISSING_IN_STREAM: {"stream_rebuilds", "arguments_parse", "arguments_as_expected"},
    # around the answer
    Fault.WRONG_FINISH_REASON: {"finish_reason_agrees"},
    Fault.MISSING_FINISH_REASON: {"finish_reason_agrees"},
    Fault.WRONG_USAGE: {"usage_adds_up"},
    Fault.OTHER_MODEL: {"served_model"},
    Fault.STREAM_IGNORED: {"stream_rebuilds"},
    Fault.MISSING_DONE: {"stream_is_closed"},
    Fault.DIES_AT_REQUEST: {"server_survives"},
}


@pytest.mark.parametrize("fault", REFUTED)
async def test_each_fault_is_refuted_by_exactly_the_checks_that_are_meant_for_it(fault: Fault) -> None:
    result = await prove(fault)
    assert result.verdict is Verdict.REFUTED
    assert names(result, Verdict.REFUTED) == REFUTED[fault]


UNPROVEN = {
    Fault.MISSING_USAGE,
    *(Fault.LAG, Fault.SLOW_TOKENS, Fault.NEVER_ANSWERS, Fault.NEVER_ENDS),
    *(Fault.DIES_MID_STREAM, Fault.INVALID_JSON_BODY, Fault.INVALID_JSON_CHUNK, Fault.ERROR_EVENT),
    *(Fault.HTML_EVERYWHERE, Fault.STATUS_500, Fault.STATUS_503, Fault.STATUS_429, Fault.DEAD_BEHIND_HEALTH),
    *(Fault.REDIRECT, Fault.HUGE_BODY),
}


@pytest.mark.parametrize("fault", sorted(UNPROVEN))
async def test_what_could_not_be_checked_is_unproven(fault: Fault) -> None:
    result = await prove(fault)
    assert result.verdict is Verdict.UNPROVEN
    assert not names(result, Verdict.REFUTED)
    infrastructure = [check.infrastructure for _, check in result.checks_with(Verdict.UNPROVEN)]
    assert all(infrastructure) is (fault is not Fault.MISSING_USAGE)


def test_every_fault_has_its_place_in_these_tests() -> None:
    assert set(REFUTED) | UNPROVEN | LEGAL | {Fault.WRONG_AFTER_CACHE_HIT} == set(Fault)


async def test_garbage_on_a_reused_prefix_is_refuted() -> None:
    result = await prove(Fault.WRONG_AFTER_CACHE_HIT)
    assert "not_degenerate" in names(result, Verdict.REFUTED)


async def test_only_under_load_is_refuted_by_the_trial_under_load() -> None:
    script = replace(PERFECT, when=lambda seen: seen.in_flight >= 6, pace=Pace(0.05, 2_000))
    result = await prove(Fault.BROKEN_ARGUMENTS, script=script)
    refuted = {trial.trial for trial, _ in result.checks_with(Verdict.REFUTED)}
    assert refuted == {"together"}


async def test_one_bad_answer_of_the_model_is_asked_again_and_two_of_three_decide() -> None:
    once = iter([True])
    script = replace(PERFECT, when=lambda seen: "Oslo" in str(seen.body) and next(once, False))
    result = await prove(Fault.WRONG_ARGUMENT_VALUES, script=script)
    assert result.verdict is Verdict.PROVEN
    (trial,) = [trial for trial in result.trials if trial.trial == "tool_choice"]
    assert any("2 of 3 attempts" in check.detail for check in trial.checks)


async def test_one_bad_answer_of_the_server_is_enough() -> None:
    once = iter([True])
    script = replace(PERFECT, when=lambda seen: "Oslo" in str(seen.body) and next(once, False))
    result = await prove(Fault.BROKEN_ARGUMENTS, script=script)
    assert "arguments_parse" in names(result, Verdict.REFUTED)


async def test_with_the_policy_to_truncate_a_cut_is_right_and_a_refusal_is_not() -> None:
    settings = Settings(answer_tokens=400, over_long_input=OverLongPolicy.TRUNCATE)
    assert (await prove(Fault.TRUNCATE_HEAD, settings=settings)).verdict is Verdict.PROVEN
    both = {"over_long_input", "over_long_input_streamed"}
    assert names(await prove(settings=settings), Verdict.REFUTED) == both
    assert names(await prove(Fault.TRUNCATE_TO_NOTHING, settings=settings), Verdict.REFUTED) == both


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault.IGNORE_TOOLS, "the model never made the call"),
        (Fault.CALL_IN_CONTENT, "parser lost it"),
        (Fault.CALL_IN_REASONING, "parser lost it"),
    ],
)
async def test_a_lost_call_is_laid_to_the_model_or_to_the_parser(fault: Fault, words: str) -> None:
    result = await prove(fault)
    (trial,) = [trial for trial in result.trials if trial.trial == "tool_call"]
    assert any(words in note for note in trial.notes)


async def test_the_effective_limit_is_found_where_it_is_not_the_declared_one() -> None:
    script = replace(PERFECT, context_length=6_000)
    result = await prove(script=script, settings=Settings(answer_tokens=400, context_tokens=8_000))
    (trial,) = [trial for trial in result.trials if trial.trial == "over_long_input"]
    accepted, refused = trial.figures["accepted_input_tokens"], trial.figures["refused_input_tokens"]
    assert isinstance(accepted, int)
    assert isinstance(refused, int)
    assert 5_700 < accepted < 6_000 < refused < 6_200
    assert any("the declared 8000 can't be reached" in note for note in trial.notes)
    (long,) = [trial for trial in result.trials if trial.trial == "long_context"]
    assert long.verdict is Verdict.PROVEN
    assert any("7200 tokens are refused" in note for note in long.notes)


async def test_a_cut_in_the_streamed_form_alone_is_refuted() -> None:
    script = replace(PERFECT, when=lambda seen: bool(seen.body.get("stream")) and "HEAD-7421" in str(seen.body))
    result = await prove(Fault.TRUNCATE_TO_NOTHING, script=script)
    assert names(result, Verdict.REFUTED) == {"over_long_input_streamed"}


async def test_a_context_beyond_all_bounds_is_not_tried() -> None:
    result = await prove(settings=Settings(answer_tokens=400, context_tokens=99_999_999_999))
    assert result.verdict is Verdict.UNPROVEN
    assert names(result, Verdict.UNPROVEN) == {"over_long_input"}


async def test_failing_fast_asks_nothing_after_the_first_refuted_trial() -> None:
    settings = Settings(answer_tokens=400, fail_fast=True)
    result = await prove(Fault.WRONG_ANSWER, settings=settings)
    assert result.verdict is Verdict.REFUTED
    made = [trial.trial for trial in result.trials if trial.was_made]
    assert made == ["liveness", "plain_answer"]
    assert "--fail-fast" in result.trials[-1].checks[0].detail


async def test_an_early_abort_saves_the_tokens_of_a_loop() -> None:
    tokens = {}
    for early in (True, False):
        result = await prove(
            Fault.LOOP_REASONING, settings=Settings(answer_tokens=400, early_abort=early, fail_fast=True)
        )
        assert result.verdict is Verdict.REFUTED
        tokens[early] = sum(trial.output_tokens for trial in result.trials)
    assert tokens[True] < tokens[False]
