"""Rules as data: when a condition holds, this setting is due, for this reason. From the engine's `rules/*.yaml`.

`rule_schema()` is the JSON Schema of such a file; the tests hold every rule against it, and against the vocabulary.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Any

from seatrial.engines.sglang.flag_checks import old_values
from seatrial.engines.versions import in_range
from seatrial.planning.conditions import Clause, Fact, Truth, clauses, holds, show
from seatrial.planning.setting import EvidenceKind, SettingClass, Source, Value, same_value
from seatrial.planning.vocabulary import VOCABULARY
from seatrial.yaml_text import read_yaml

ENGINE = "sglang"
"""The engine that plans are made for."""

ANY = "any"


class Need(StrEnum):
    """What a rule asks of a launch that seatrial did not write."""

    REQUIRED = "required"
    """A plan sets it; where a hand-written launch lacks it, lint says what returns."""
    OPTIONAL = "optional"
    """A plan leaves it out, for it changes nothing; lint notes whether it is there."""
    OWN = "own"
    """A plan sets it for seatrial's own sake or by its own layout; other launches may do otherwise."""
    DECISION = "decision"
    """Somebody has to decide it: a plan sets it only on the stack's word, lint asks for an owner."""
    FORBIDS_OTHERS = "forbids-others"
    """Nothing is set, but another value than this one is an error."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Attributes:
        id: its name, in kebab-case.
        setting: canonical flag or environment variable.
        value: the value itself, `{from: fact}`, or `{lookup: fact, in: {…}}`.
        setting_class: what is at stake.
        need: what it asks of a launch.
        when: the condition, as in `conditions.py`.
        versions: engine versions that it is true for, e.g. `>=0.5.12,<0.5.23`; empty for all.
        why: why it is there; `{fact.name}` is filled in.
        without: what returns when it is taken away.
        evidence: where that is known from.
        accepts: other values that serve as well; `any` for every value.
        instead: other settings that serve as well, each a mapping from names to values.
        special: other sentences for `why` under a further condition; the first that holds is taken.
        topic: name of the file that it stands in, without its number.
    """

    id: str
    setting: str
    value: Any
    setting_class: SettingClass
    need: Need
    when: Mapping[str, Any]
    versions: str
    why: str
    without: str
    evidence: tuple[Source, ...]
    accepts: tuple[Value, ...] | str = ()
    instead: tuple[Mapping[str, Value], ...] = ()
    special: tuple[tuple[Mapping[str, Any], str], ...] = ()
    topic: str = ""

    def applies(self, facts: Mapping[str, Fact], version: str) -> Truth:
        """Say whether it is true here; unknown where a fact is missing."""
        if not in_range(version, self.versions):
            return False
        truth = holds(self.when, facts)
        if truth and self.resolve(facts) is None:
            return None if self._source_is_unknown(facts) else False
        return truth

    def clauses(self, facts: Mapping[str, Fact]) -> Iterator[Clause]:
        """List the parts of its condition, each with what became of it."""
        return clauses(self.when, facts)

    def resolve(self, facts: Mapping[str, Fact]) -> Value | None:
        """Find the value that it would set; None where its source is unknown or its table has no row."""
        if not isinstance(self.value, Mapping):
            return _value(self.value)
        found = facts[self.value["from"] if "from" in self.value else self.value["lookup"]]
        if found is None or "from" in self.value:
            return found
        key = str(found).lower() if isinstance(found, bool) else found
        return self.value["in"].get(key)  # type: ignore[no-any-return]  # the schema says text

    def accepts_value(self, value: Value, facts: Mapping[str, Fact]) -> bool:
        """Whether a value does what the rule is for."""
        if self.accepts == ANY:
            return True
        wanted = self.resolve(facts)
        value = old_values().get(self.setting, {}).get(str(value), value)  # a name of yesterday means the same
        return (wanted is not None and same_value(wanted, value)) or any(
            same_value(choice, value) for choice in self.accepts
        )

    def served_by(self, values: Mapping[str, Value]) -> str | None:
        """Name the other setting that does what this rule is for, if one is there."""
        for alternative in self.instead:
            if all(name in values and same_value(values[name], value) for name, value in alternative.items()):
                return next(iter(alternative))
        return None

    def reason(self, facts: Mapping[str, Fact]) -> str:
        """Say why, for these facts."""
        text = next((why for when, why in self.special if holds(when, facts)), self.why)
        for name in _names_in(text):
            text = text.replace(f"{{{name}}}", show(facts[name]))
        return text

    def _source_is_unknown(self, facts: Mapping[str, Fact]) -> bool:
        return facts[self.value["from"] if "from" in self.value else self.value["lookup"]] is None


@cache
def load_rules(engine: str) -> tuple[Rule, ...]:
    """Load the rules of an engine, files and rules in their order.

    Raises:
        InputError: a file of the package is broken.
    """
    folder = resources.files(f"seatrial.engines.{engine}") / "rules"
    rules: list[Rule] = []
    for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if file.name.endswith(".yaml"):
            rows = read_yaml(file.read_text(encoding="utf-8"), where=file.name).value
            rules += [_rule(row, topic=file.name.removesuffix(".yaml").partition("-")[2]) for row in rows]
    return tuple(rules)


def _rule(row: Mapping[str, Any], topic: str) -> Rule:
    return Rule(
        id=row["id"],
        setting=row["set"],
        value=row["value"],
        setting_class=SettingClass(row["class"]),
        need=Need(row["need"]),
        when=row["when"],
        versions=row.get("versions", ""),
        why=row["why"],
        without=row["without"],
        evidence=tuple(
            Source(EvidenceKind(kind), says) for evidence in row["evidence"] for kind, says in evidence.items()
        ),
        accepts=ANY if row.get("accepts") == ANY else tuple(row.get("accepts", ())),
        instead=tuple(row.get("instead", ())),
        special=tuple((special["when"], special["why"]) for special in row.get("why_when", ())),
        topic=topic,
    )


def _value(value: Any) -> Value:
    return tuple(value) if isinstance(value, list) else value


def _names_in(text: str) -> list[str]:
    return re.findall(r"\{([a-z_.]+)\}", text)


def rule_schema() -> dict[str, Any]:
    """Make the JSON Schema of a file of rules."""
    words = {"type": "string", "minLength": 3}
    scalar = {"type": ["string", "number", "boolean"]}
    fact = {"enum": sorted(VOCABULARY)}
    condition = {"$ref": "#/$defs/condition"}
    matcher = {
        "anyOf": [
            scalar,
            {"type": "array", "items": scalar, "minItems": 1},
            {
                "type": "object",
                "minProperties": 1,
                "additionalProperties": False,
                "properties": {
                    **{name: {"type": ["number", "array"]} for name in ("at_least", "at_most", "above", "below")},
                    "is_not": {"anyOf": [scalar, {"type": "array", "items": scalar}]},
                    "matches": {"type": "string", "format": "regex"},
                },
            },
        ]
    }
    rule = {
        "type": "object",
        "additionalProperties": False,
        "required": ["id", "set", "value", "class", "need", "when", "why", "without", "evidence"],
        "properties": {
            "id": {"type": "string", "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$"},
            "set": {"type": "string", "pattern": "^(--[a-z0-9-]+|[A-Z][A-Z0-9_]*)$"},
            "value": {
                "anyOf": [
                    scalar,
                    {
                        "type": "object",
                        "additionalProperties": False,
                        "required": ["from"],
                        "properties": {"from": fact},
                    },
                    {
                        "type": "object",
                        "additionalProperties": False,
                        "required": ["lookup", "in"],
                        "properties": {"lookup": fact, "in": {"type": "object", "additionalProperties": scalar}},
                    },
                ]
            },
            "class": {"enum": [*SettingClass]},
            "need": {"enum": [*Need]},
            "versions": {"type": "string"},
            "when": condition,
            "accepts": {"anyOf": [{"const": ANY}, {"type": "array", "items": scalar}]},
            "instead": {
                "type": "array",
                "items": {"type": "object", "minProperties": 1, "additionalProperties": scalar},
            },
            "why": words,
            "why_when": {
                "type": "array",
                "items": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["when", "why"],
                    "properties": {"when": condition, "why": words},
                },
            },
            "without": words,
            "evidence": {
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "minProperties": 1,
                    "maxProperties": 1,
                    "additionalProperties": False,
                    "properties": {kind.value: words for kind in EvidenceKind},
                },
            },
        },
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Rules of an engine's settings",
        "type": "array",
        "items": rule,
        "$defs": {
            "condition": {
                "type": "object",
                "additionalProperties": False,
                "patternProperties": {r"^given\.": matcher},
                "properties": {
                    **dict.fromkeys(sorted(VOCABULARY), matcher),
                    "any": {"type": "array", "items": condition, "minItems": 2},
                    "not": condition,
                },
            }
        },
    }
