"""Conditions of rules, over facts by name, with three answers: it holds, it does not, it can't be told. Pure.

A condition is data: a mapping from the names of facts to matchers, all of which must hold.

    host.gpus: {above: 1}
    host.peer_access: false
    model.dtype: [bfloat16, float32]
    any:
      - {…}
      - {…}
    not: {…}

A matcher is a plain value (equal), a list (one of), or a mapping of `at_least`, `at_most`, `above`, `below`,
`is_not` and `matches` (a regular expression). An unknown fact (None) makes the answer unknown, unless another
part decides.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Fact = str | int | float | bool | tuple[int, ...] | None
Truth = bool | None
"""None: it can't be told."""

COMPARISONS: Mapping[str, tuple[Callable[[Any, Any], bool], str]] = {
    "at_least": (operator.ge, "at least"),
    "at_most": (operator.le, "at most"),
    "above": (operator.gt, "above"),
    "below": (operator.lt, "below"),
}


@dataclass(frozen=True, slots=True)
class Clause:
    """One part of a condition, as it came out.

    Attributes:
        fact: the fact's name.
        value: what it is; None where nobody knows.
        wanted: what it must be, in words.
        truth: whether it is.
    """

    fact: str
    value: Fact
    wanted: str
    truth: Truth


def holds(condition: Mapping[str, Any], facts: Mapping[str, Fact]) -> Truth:
    """Say whether a condition holds. An empty one does."""
    return all_of(truth for truth in _parts(condition, facts))


def clauses(condition: Mapping[str, Any], facts: Mapping[str, Fact]) -> Iterator[Clause]:
    """List the parts of a condition that name a fact, each with what became of it; `any` and `not` unfold."""
    for name, wanted in condition.items():
        if name == "any":
            for inner in wanted:
                yield from clauses(inner, facts)
        elif name == "not":
            for clause in clauses(wanted, facts):
                truth = None if clause.truth is None else not clause.truth
                yield Clause(clause.fact, clause.value, f"not {clause.wanted}", truth)
        else:
            yield Clause(name, facts[name], in_words(wanted), matches(wanted, facts[name]))


def fact_names(condition: Mapping[str, Any]) -> Iterator[str]:
    """Name every fact that a condition asks for."""
    for name, wanted in condition.items():
        if name == "any":
            for inner in wanted:
                yield from fact_names(inner)
        elif name == "not":
            yield from fact_names(wanted)
        else:
            yield name


def matches(wanted: Any, value: Fact) -> Truth:
    """Say whether one value is what a matcher wants."""
    if value is None:
        return None
    if isinstance(wanted, Mapping):
        return all_of(_operator(name, operand, value) for name, operand in wanted.items())
    if isinstance(wanted, Sequence) and not isinstance(wanted, str):
        return any(_equal(value, choice) for choice in wanted)
    return _equal(value, wanted)


def in_words(wanted: Any) -> str:
    """Say what a matcher wants."""
    if isinstance(wanted, Mapping):
        return " and ".join(_operator_in_words(name, operand) for name, operand in wanted.items())
    if isinstance(wanted, Sequence) and not isinstance(wanted, str):
        return "one of " + ", ".join(map(str, wanted))
    return show(wanted)


def show(value: Any) -> str:
    """Write a fact for people."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "unknown"
    if isinstance(value, tuple | list):
        return ".".join(map(str, value))
    return str(value)


def all_of(truths: Iterable[Truth]) -> Truth:
    """Kleene's conjunction: one no decides, else one unknown leaves it unknown."""
    unknown = False
    for truth in truths:
        if truth is False:
            return False
        unknown = unknown or truth is None
    return None if unknown else True


def any_of(truths: Iterable[Truth]) -> Truth:
    """Kleene's disjunction: one yes decides, else one unknown leaves it unknown."""
    unknown = False
    for truth in truths:
        if truth:
            return True
        unknown = unknown or truth is None
    return None if unknown else False


def _parts(condition: Mapping[str, Any], facts: Mapping[str, Fact]) -> Iterator[Truth]:
    for name, wanted in condition.items():
        if name == "any":
            yield any_of(holds(inner, facts) for inner in wanted)
        elif name == "not":
            inner = holds(wanted, facts)
            yield None if inner is None else not inner
        else:
            yield matches(wanted, facts[name])


def _operator(name: str, operand: Any, value: Fact) -> bool:
    if name in COMPARISONS:
        operand = tuple(operand) if isinstance(operand, list) else operand
        return COMPARISONS[name][0](value, operand)
    if name == "is_not":
        choices = operand if isinstance(operand, list) else [operand]
        return not any(_equal(value, choice) for choice in choices)
    if name == "matches":
        return re.search(operand, str(value)) is not None
    raise ValueError(f"unknown operator {name}")


def _operator_in_words(name: str, operand: Any) -> str:
    if name in COMPARISONS:
        return f"{COMPARISONS[name][1]} {show(operand)}"
    if name == "is_not":
        return "not " + (" nor ".join(map(str, operand)) if isinstance(operand, list) else show(operand))
    return f"like {operand}"


def _equal(value: Fact, wanted: Any) -> bool:
    if isinstance(value, bool) or isinstance(wanted, bool):
        return value is wanted
    return bool(value == wanted)
