from __future__ import annotations

from dataclasses import replace

from seatrial.endpoint.address import Endpoint
from seatrial.endpoint.client import Client, Limits
from seatrial.testkit import FakeServer, Fault, Script
from seatrial.testkit.answer_sheet import AnswerSheet
from seatrial.trials.interface import Settings
from seatrial.trials.runner import Progress, SuiteRun, run_suite, watch_for_loops
from seatrial.trials.suites import SuiteName, suite
from seatrial.verdicts import Verdict

PERFECT = Script(answer=AnswerSheet())
QUICK = suite(SuiteName.QUICK)


async def test_progress_only_grows_and_ends_where_it_said() -> None:
    seen: list[Progress] = []
    async with FakeServer(PERFECT) as server, Client(Endpoint(server.base_url, PERFECT.model)) as client:
        await run_suite(QUICK, client, Settings(answer_tokens=300), seen.append)
        asked = len(server.chats)
    assert [one.asked for one in seen] == sorted(one.asked for one in seen)
    assert all(0 <= one.asked <= one.planned for one in seen)
    assert seen[-1].asked == seen[-1].planned == asked


async def test_a_dead_server_is_asked_once_and_everything_else_is_unproven() -> None:
    script = replace(PERFECT, faults=frozenset({Fault.DEAD_BEHIND_HEALTH}))
    async with FakeServer(script) as server, Client(Endpoint(server.base_url, script.model)) as client:
        result = await run_suite(QUICK, client, Settings())
        assert len(server.chats) == 1
    assert result.verdict is Verdict.UNPROVEN
    assert all(trial.checks[0].detail.startswith("not asked") for trial in result.trials[1:])


async def test_a_server_that_goes_away_is_left_after_three_failures() -> None:
    script = replace(PERFECT, faults=frozenset({Fault.NEVER_ANSWERS}), when=lambda seen: seen.number > 4)
    endpoint = Endpoint("", script.model)
    async with FakeServer(script) as server:
        limits = Limits(request=0.3, silence=0.3)
        async with Client(replace(endpoint, base_url=server.base_url), limits) as client:
            result = await run_suite(QUICK, client, Settings())
        assert len(server.chats) < 10
    assert result.verdict is Verdict.UNPROVEN


async def test_what_an_interrupted_suite_found_can_be_read_at_any_time() -> None:
    async with FakeServer(PERFECT) as server, Client(Endpoint(server.base_url, PERFECT.model)) as client:
        run = SuiteRun(QUICK, client, Settings(answer_tokens=300))
        for trial in QUICK.trials[:2]:
            await run.make(trial)
        result = run.result(complete=False)
    assert [trial.was_made for trial in result.trials[:3]] == [True, True, False]
    assert result.verdict is Verdict.UNPROVEN
    assert len(result.trials) == len(QUICK.trials)


def test_a_stream_is_stopped_at_its_loop_and_a_sound_one_is_not() -> None:
    from seatrial.endpoint.answer import Delta

    watch = watch_for_loops("Tell me something.")
    pieces = [watch(Delta("content", "the same words ")) for _ in range(60)]
    assert pieces[10] is None
    assert pieces[-1] is not None
    watch = watch_for_loops("Tell me something.")
    assert all(watch(Delta("content", f"sentence {n * n} is about {n**3} ships. ")) is None for n in range(40))
