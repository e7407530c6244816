"""The rules are data: they keep to their schema, know their facts, and each can be seen to apply and not to apply."""

from __future__ import annotations

from importlib import resources

import jsonschema
import pytest

from seatrial.planning.conditions import fact_names
from seatrial.planning.rules import Need, Rule, load_rules, rule_schema
from seatrial.planning.vocabulary import VOCABULARY
from seatrial.yaml_text import read_yaml

RULES = load_rules("sglang")
FOLDER = resources.files("seatrial.engines.sglang") / "rules"


@pytest.mark.parametrize("name", sorted(file.name for file in FOLDER.iterdir() if file.name.endswith(".yaml")))
def test_a_file_of_rules_keeps_to_the_schema(name: str) -> None:
    rows = read_yaml((FOLDER / name).read_text(encoding="utf-8"), where=name).value
    jsonschema.Draft202012Validator(rule_schema()).validate(rows)


def test_a_rule_with_an_unknown_fact_does_not_keep_to_the_schema() -> None:
    row = {
        "id": "x", "set": "--x", "value": 1, "class": "boot", "need": "required", "when": {"host.moon": True},
        "why": "because", "without": "nothing", "evidence": [{"seed": "notes"}],
    }  # fmt: skip
    assert not jsonschema.Draft202012Validator(rule_schema()).is_valid([row])
    assert jsonschema.Draft202012Validator(rule_schema()).is_valid([{**row, "when": {"host.gpus": 1}}])


def test_every_rule_has_a_name_of_its_own() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_asks_only_for_facts_of_the_vocabulary(rule: Rule) -> None:
    names = {name for name in fact_names(rule.when) if not name.startswith("given.")}
    assert names <= set(VOCABULARY)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_says_why_what_returns_and_where_it_is_known_from(rule: Rule) -> None:
    assert rule.why.rstrip().endswith((".", '"'))
    assert rule.without.rstrip().endswith((".", '"'))
    assert all(len(source.says) > 5 for source in rule.evidence)


SEED_TABLE = {
    "--dtype", "SGLANG_MAMBA_CONV_DTYPE", "--mamba-full-memory-ratio", "--mem-fraction-static", "--allow-auto-truncate",
    "--disable-custom-all-reduce", "--cuda-graph-backend-prefill", "--reasoning-parser", "--tool-call-parser",
    "--context-length", "--tp-size", "--log-level", "--log-requests", "--log-requests-level",
}  # fmt: skip


def test_every_row_of_the_deployment_notes_is_a_rule() -> None:
    assert {rule.setting for rule in RULES} >= SEED_TABLE
    for name in SEED_TABLE:
        kinds = {source.kind.value for rule in RULES if rule.setting == name for source in rule.evidence}
        assert "seed" in kinds or name == "--tp-size"


def test_no_two_rules_that_set_something_can_ask_for_different_values_of_one_setting() -> None:
    values: dict[str, set[str]] = {}
    for rule in RULES:
        if rule.need in (Need.REQUIRED, Need.OWN, Need.DECISION) and not isinstance(rule.value, dict):
            values.setdefault(rule.setting, set()).add(str(rule.value))
    assert all(len(found) == 1 for found in values.values())
