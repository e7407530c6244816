"""Explains one flag or variable: what it does, its default, which rules know it, whether they apply. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from seatrial.engines.sglang.catalogue import Catalogue, Flag, Variable
from seatrial.engines.versions import in_range
from seatrial.planning.conditions import Clause, Fact, Truth, in_words
from seatrial.planning.rules import ENGINE, Rule, load_rules
from seatrial.planning.setting import Setting, Value

if TYPE_CHECKING:
    from seatrial.planning.plan import Plan


@dataclass(frozen=True, slots=True)
class RuleView:
    """One rule about the setting.

    Attributes:
        rule: the rule.
        in_version: whether it is about this engine version at all.
        conditions: its condition in words, a part a line.
        truth: whether it applies to the plan; None where it can't be told, or where there is no plan.
        clauses: what became of each part, where there is a plan.
        value: what it sets, if it applies.
    """

    rule: Rule
    in_version: bool
    conditions: tuple[str, ...]
    truth: Truth
    clauses: tuple[Clause, ...]
    value: Value | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything about one flag or variable.

    Attributes:
        entry: what the catalogue says; None for a variable that is not the engine's own (HF_HOME).
        name: canonical.
        rules: what is known about it.
        setting: as the plan has it; None where the plan does not set it, or where there is none.
        planned: whether there is a plan.
    """

    entry: Flag | Variable | None
    name: str
    rules: tuple[RuleView, ...]
    setting: Setting | None
    planned: bool


def explain(name: str, *, catalogue: Catalogue, plan: Plan | None = None) -> Explanation | None:
    """Explain a flag or variable; None where neither the engine nor a rule knows it."""
    entry = catalogue.find(name)
    canonical = entry.name if entry else name
    rules = [rule for rule in load_rules(ENGINE) if rule.setting == canonical]
    if entry is None and not rules:
        return None
    facts = plan.decision.facts if plan else None
    version = plan.version if plan else catalogue.version
    return Explanation(
        entry,
        canonical,
        tuple(_view(rule, facts, version) for rule in rules),
        plan.setting(canonical) if plan else None,
        plan is not None,
    )


def _view(rule: Rule, facts: Mapping[str, Fact] | None, version: str) -> RuleView:
    in_version = in_range(version, rule.versions)
    if facts is None:
        return RuleView(rule, in_version, conditions_in_words(rule), None, (), None)
    truth = rule.applies(facts, version)
    return RuleView(
        rule,
        in_version,
        conditions_in_words(rule),
        truth,
        tuple(rule.clauses(facts)),
        rule.resolve(facts) if truth else None,
    )


def conditions_in_words(rule: Rule) -> tuple[str, ...]:
    """Write a rule's condition as one line a part."""
    return tuple(_words(rule.when))


def _words(condition: Mapping[str, object]) -> list[str]:
    lines: list[str] = []
    for name, wanted in condition.items():
        if name == "any" and isinstance(wanted, list):
            lines.append("any of: " + "; or ".join(", ".join(_words(inner)) for inner in wanted))
        elif name == "not" and isinstance(wanted, Mapping):
            lines.append("not: " + ", ".join(_words(wanted)))
        else:
            lines.append(f"{name}: {in_words(wanted)}")
    return lines
