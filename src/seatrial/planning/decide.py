"""Applies rules until nothing changes: what is given stays, what is missing is set with its reasons. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from seatrial.errors import Defect
from seatrial.planning.conditions import Fact, Truth
from seatrial.planning.rules import Need, Rule
from seatrial.planning.setting import Value, same_value

SETTING_NEEDS = frozenset({Need.REQUIRED, Need.OWN, Need.DECISION})
"""Needs whose rules set something in a plan."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """What one rule says here.

    Attributes:
        rule: the rule.
        truth: whether it applies; None where it can't be told.
        value: what it would set, if it applies.
    """

    rule: Rule
    truth: Truth
    value: Value | None


@dataclass(frozen=True, slots=True)
class Decision:
    """All values, given and decided, and what each rule said in the end."""

    values: Mapping[str, Value]
    rulings: tuple[Ruling, ...]
    facts: Mapping[str, Fact]

    def rulings_on(self, setting: str) -> tuple[Ruling, ...]:
        """List what was said about one setting."""
        return tuple(ruling for ruling in self.rulings if ruling.rule.setting == setting)


def decide(
    given: Mapping[str, Value],
    rules: Sequence[Rule],
    facts_of: Callable[[Mapping[str, Value]], Mapping[str, Fact]],
    *,
    version: str,
    omitted: frozenset[str] = frozenset(),
) -> Decision:
    """Complete what is given by the rules.

    A decided value can make another rule true (float16 computation asks for a float16 state), so the rules are applied
    again until nothing changes. The first rule that applies to a setting decides it.

    Args:
        given: flags and variables that stay as they are.
        rules: in the order in which they decide.
        facts_of: names the facts, for the values so far.
        version: of the engine.
        omitted: settings that no rule may set.
    """
    values = dict(given)
    for _ in range(len(rules) + 2):
        facts = facts_of(values)
        rulings = judge(rules, facts, version=version)
        decided = dict(given)
        for ruling in rulings:
            name = ruling.rule.setting
            if name in decided or name in omitted or ruling.rule.need not in SETTING_NEEDS:
                continue
            if ruling.truth and ruling.rule.served_by(given) is None:
                assert ruling.value is not None
                decided[name] = ruling.value
        if decided == values:
            return Decision(values, rulings, facts)
        values = decided
    raise Defect(
        "the rules do not come to rest", where="engines/*/rules", advice="Two of them ask for what the other forbids."
    )


def judge(rules: Sequence[Rule], facts: Mapping[str, Fact], *, version: str) -> tuple[Ruling, ...]:
    """Let every rule say whether it applies."""
    return tuple(
        Ruling(rule, truth, rule.resolve(facts) if truth else None)
        for rule in rules
        for truth in (rule.applies(facts, version),)
    )


def supporters(rulings: Sequence[Ruling], value: Value) -> tuple[Rule, ...]:
    """List the rules that apply and ask for this very value."""
    return tuple(ruling.rule for ruling in rulings if ruling.truth and same_value(ruling.value, value))
