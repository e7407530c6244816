"""Thinking switched on and off, as Qwen3-like templates do it (`chat_template_kwargs.enable_thinking`), with a tool.

A server may know no such switch: it then turns the request down or ignores it, which a note says and no check refutes.
"""

from __future__ import annotations

from dataclasses import dataclass

from seatrial.endpoint.exchange import Exchange
from seatrial.trials.attempts import ask_up_to_three
from seatrial.trials.interface import Asker, Case, Findings, evidence, failed
from seatrial.trials.responses import judge_exchange, merge
from seatrial.trials.tool_cases import tool_groups
from seatrial.verdicts import CheckResult, Verdict


@dataclass(frozen=True, slots=True)
class Thinking:
    """Asks for one tool call with thinking on and with thinking off."""

    name: str = "thinking"
    title: str = "Tool calls are right with thinking on and off"
    planned_requests: int = 2

    async def run(self, asker: Asker) -> Findings:
        """Ask in both modes."""
        (case,) = tool_groups()["tool_call"].cases
        results: list[tuple[str, CheckResult]] = []
        notes: list[str] = []
        for thinks in (True, False):
            mode = "on" if thinks else "off"
            request = {**case.request(streamed=True), "chat_template_kwargs": {"enable_thinking": thinks}}

            def judge(exchange: Exchange, *, thinks: bool = thinks) -> list[CheckResult]:
                if exchange.failure is not None:
                    return [failed("answers", exchange, exchange.failure)]
                off = [] if thinks else [thinking_is_off(exchange)]
                return [*judge_exchange(exchange, case.expected), *off]

            tried = await ask_up_to_three(asker, Case(mode, request), judge)
            failure = tried.exchanges[0].failure
            if failure is not None and not failure.is_infrastructure:
                notes.append(f"the server takes no chat_template_kwargs: {failure.message}")
            else:
                results += [(mode, result) for result in tried.results]
        return Findings(tuple(merge(results, several=True)), tuple(notes))


def thinking_is_off(exchange: Exchange) -> CheckResult:
    """Hold that no reasoning comes when it is switched off."""
    reasoning = (exchange.answer.reasoning or "").strip() if exchange.answer else ""
    if reasoning:
        detail = f"enable_thinking is false, and {len(reasoning)} characters of reasoning come"
        return CheckResult("thinking_is_off", Verdict.REFUTED, detail, (evidence(exchange, reasoning),))
    return CheckResult("thinking_is_off", Verdict.PROVEN, "no reasoning when it is switched off")
