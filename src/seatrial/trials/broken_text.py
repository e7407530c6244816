"""Looks for broken text in an exchange, and points at it. Pure."""

from __future__ import annotations

from seatrial.degeneration import Degeneration, scan_answer
from seatrial.endpoint.client import shorten
from seatrial.endpoint.exchange import Exchange
from seatrial.verdicts import Evidence, Span

QUOTE_BEFORE, QUOTE_AFTER = 40, 200
"""Characters of the answer that a quote shows before and after the onset."""


def degenerations(exchange: Exchange) -> tuple[Degeneration, ...]:
    """Find broken text in all fields of an answer, the values of tool arguments included."""
    answer = exchange.answer
    if answer is None:
        return ()
    return scan_answer(
        content=answer.content,
        reasoning=answer.reasoning,
        tool_arguments=[call.arguments for call in answer.tool_calls],
        finish_reason=answer.finish_reason,
        prompt=exchange.prompt,
    )


def place(exchange: Exchange, broken: Degeneration) -> Evidence:
    """Point at the broken text in an answer."""
    text = exchange.answer.text_of(broken.field) if exchange.answer else ""
    quote = text[max(0, broken.onset - QUOTE_BEFORE) : broken.onset + QUOTE_AFTER]
    span = Span(broken.field, broken.onset, broken.end)
    return Evidence(exchange.id, shorten(exchange.prompt, 160), shorten(quote, 240), span)
