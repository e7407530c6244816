"""Holds a hand-written launch against the rules: what is missing, wrong, useless or dangerous. Pure.

The rules are asked twice: over the launch as it is, and over the launch as the rules would complete it. A setting is
missing where both say that it is due; what is due only because of another missing setting is not a second mistake.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from seatrial.engines.sglang.catalogue import Catalogue
from seatrial.engines.sglang.command_line import CommandLine
from seatrial.engines.sglang.flag_checks import check_command
from seatrial.engines.sglang.memory.result import MemoryPlan
from seatrial.facts.host import HostFacts
from seatrial.facts.model import ModelFacts
from seatrial.findings import Finding, Level, by_weight
from seatrial.launches.launch import Launch
from seatrial.planning import policies
from seatrial.planning.conditions import Fact, show
from seatrial.planning.container import about_container
from seatrial.planning.decide import Decision, Ruling, judge
from seatrial.planning.plan import (
    against_rule,
    cannot_tell,
    decide_launch,
    memory_of,
    request_of,
)
from seatrial.planning.rules import ENGINE, Need, Rule, load_rules
from seatrial.planning.setting import SettingClass, Value
from seatrial.planning.vocabulary import Facts, fixed_facts
from seatrial.stack.model import Stack

MISSING_LEVELS = {
    SettingClass.BOOT: Level.ERROR,
    SettingClass.CORRECTNESS: Level.ERROR,
    SettingClass.PERFORMANCE: Level.WARNING,
    SettingClass.POLICY: Level.NOTE,
}


@dataclass(frozen=True, slots=True)
class Lint:
    """What was found.

    Attributes:
        launch: what was read.
        version: of the engine, as far as it is known.
        given: the launch's own flags and variables by canonical name.
        findings: the heaviest first.
        memory: of the launch, completed by what is missing; None where model or host are unknown.
        decision: what each rule said of the completed launch.
    """

    launch: Launch
    version: str
    given: Mapping[str, Value]
    findings: tuple[Finding, ...]
    memory: MemoryPlan | None
    decision: Decision


def lint(
    launch: Launch,
    command: CommandLine,
    stack: Stack,
    *,
    model: ModelFacts | None,
    host: HostFacts | None,
    catalogue: Catalogue,
    version_known: bool,
) -> Lint:
    """Hold a launch against the rules.

    Args:
        launch: what was read.
        command: its words, understood by the catalogue.
        stack: the same launch as a stack (`adopt`), for what rules ask of a stack.
        model: None where nothing is known about the checkpoint.
        host: None where nothing is known about the machine.
        catalogue: the engine version's flags.
        version_known: whether the launch says which version it starts.
    """
    version = stack.engine.resolved_version or catalogue.version
    given = given_settings(launch, command)
    places = places_of(launch, command)
    request = request_of(stack)
    completed = decide_launch(request, given, model=model, host=host, version=version)
    fixed = fixed_facts(request, model, host)
    as_it_is = Facts(fixed, given, model, given)
    memory, memory_findings = memory_of(completed.values, model=model, host=host, version=version)
    variables = {name: variable.value for name, variable in launch.variables.items()}
    findings = [
        *check_command(command, variables, catalogue, where=lambda position: launch.words[position].where),
        *_missing(completed, judge(load_rules(ENGINE), as_it_is, version=version), given, as_it_is, launch.where),
        *_wrong(completed, given, places),
        *_useless(completed, given, places),
        *_decisions(stack, given, places),
        *policies.about_model(model, host, completed.values),
        *about_container(launch, given, version_known=version_known, has_key=stack.serve.api_key_file is not None),
        *memory_findings,
    ]
    if reported := policies.about_reports(stack.model.repo, where=places.get("--model-path")):
        findings.append(reported)
    return Lint(launch, version, given, by_weight(dict.fromkeys(findings)), memory, completed)


def given_settings(launch: Launch, command: CommandLine) -> dict[str, Value]:
    """Name everything that a launch sets: its flags, and its environment variables."""
    values: dict[str, Value] = {name: variable.value for name, variable in launch.variables.items() if variable.value}
    return {**values, **command.values}


def places_of(launch: Launch, command: CommandLine) -> dict[str, str]:
    """Name the file and line of everything that a launch sets."""
    places = {name: variable.where for name, variable in launch.variables.items()}
    return {
        **places,
        **{flag.name: launch.words[flag.position].where for flag in command.flags if flag.position < len(launch.words)},
    }


def _missing(
    completed: Decision,
    as_it_is: tuple[Ruling, ...],
    given: Mapping[str, Value],
    facts: Mapping[str, Fact],
    where: str,
) -> list[Finding]:
    """List the settings that are due and not there, each once, with everything that returns without it."""
    due: dict[str, list[Rule]] = {}
    open_: dict[str, Finding] = {}
    truths = {ruling.rule.id: ruling.truth for ruling in completed.rulings}
    for ruling in as_it_is:
        rule = ruling.rule
        if rule.setting in given or rule.served_by(given) or truths[rule.id] is False or ruling.truth is False:
            continue
        if rule.need not in (Need.REQUIRED, Need.OPTIONAL):
            continue
        if ruling.truth and truths[rule.id]:
            due.setdefault(rule.setting, []).append(rule)
        elif rule.need is Need.REQUIRED:
            open_.setdefault(rule.setting, cannot_tell(ruling, facts, level=Level.WARNING))
    findings = [_missing_setting(rules, facts, where) for rules in due.values()]
    return findings + [finding for name, finding in open_.items() if name not in due]


def _missing_setting(rules: list[Rule], facts: Mapping[str, Fact], where: str) -> Finding:
    first = rules[0]
    value = first.resolve(facts)
    shown = first.setting if value is True else f"{first.setting} {value}"
    if all(rule.need is Need.OPTIONAL for rule in rules):
        return Finding(
            Level.NOTE,
            "not-stated",
            f"{first.setting} is not stated. {first.reason(facts)}",
            first.without,
            first.setting,
            where,
        )
    level = min((MISSING_LEVELS[rule.setting_class] for rule in rules), key=tuple(Level).index)
    why = " ".join(dict.fromkeys(rule.reason(facts) for rule in rules))
    without = " ".join(dict.fromkeys(rule.without for rule in rules))
    return Finding(
        level,
        "missing-setting",
        f"{shown} is missing. {why}",
        f"Add it. What returns without it: {without}",
        first.setting,
        where,
    )


def _wrong(completed: Decision, given: Mapping[str, Value], places: Mapping[str, str]) -> list[Finding]:
    """List what is set to another value than is due."""
    findings: dict[str, Finding] = {}
    for ruling in completed.rulings:
        rule = ruling.rule
        if not ruling.truth or rule.setting not in given or rule.need in (Need.OWN, Need.DECISION):
            continue
        if not rule.accepts_value(given[rule.setting], completed.facts):
            where = places.get(rule.setting)
            findings.setdefault(rule.setting, against_rule(rule, given[rule.setting], completed.facts, where=where))
    return list(findings.values())


def _useless(completed: Decision, given: Mapping[str, Value], places: Mapping[str, str]) -> list[Finding]:
    """List what rules know about, and no rule asks for here."""
    findings = []
    for name in given:
        rulings = completed.rulings_on(name)
        needs = {ruling.rule.need for ruling in rulings}
        if not rulings or needs <= {Need.OWN, Need.DECISION} or any(ruling.truth is not False for ruling in rulings):
            continue
        rule = rulings[0].rule
        failed = next((clause for clause in rule.clauses(completed.facts) if clause.truth is False), None)
        if failed is None:
            continue
        findings.append(
            Finding(
                Level.NOTE,
                "not-due-here",
                f"no rule asks for {name} here: it is for {failed.fact} {failed.wanted}, and that is "
                f"{show(failed.value)}",
                "Keep it only for a reason of your own.",
                name,
                places.get(name),
            )
        )
    return findings


def _decisions(stack: Stack, given: Mapping[str, Value], places: Mapping[str, str]) -> list[Finding]:
    """Say what was decided about over-long input, and ask who decided it."""
    if given.get("--allow-auto-truncate"):
        return [
            policies.about_truncation(stack.policy.over_long_input_owner, where=places.get("--allow-auto-truncate"))
        ]
    return [
        Finding(
            Level.NOTE,
            "over-long-input-is-refused",
            "over-long input is refused with HTTP 400 and a sentence that says how long it was",
            "Clients that send long input (summaries) must shorten it themselves.",
            "--allow-auto-truncate",
        )
    ]
