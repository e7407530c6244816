"""Stack and facts become a plan: settings with reasons, a memory plan, findings. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from seatrial.engines.sglang.catalogue import Catalogue
from seatrial.engines.sglang.flag_checks import check_values
from seatrial.engines.sglang.memory.options import MemoryOptions
from seatrial.engines.sglang.memory.plan import plan_memory
from seatrial.engines.sglang.memory.result import MemoryPlan
from seatrial.errors import InputError
from seatrial.facts.host import HostFacts
from seatrial.facts.model import ModelFacts
from seatrial.findings import Finding, Level, by_weight
from seatrial.planning import policies
from seatrial.planning.conditions import Fact
from seatrial.planning.decide import Decision, Ruling, decide, supporters
from seatrial.planning.rules import ENGINE, Need, Rule, load_rules
from seatrial.planning.setting import EvidenceKind, Setting, SettingClass, Source, Value, text_of
from seatrial.planning.vocabulary import Facts, Request, fixed_facts
from seatrial.stack.model import Override, Stack

GRAVITY = tuple(SettingClass)
"""Classes, the gravest first."""


@dataclass(frozen=True, slots=True)
class Plan:
    """All that a runtime needs, and all that a person wants to know.

    Attributes:
        stack: what was asked for.
        version: of the engine.
        settings: flags and variables, each with its reason, the gravest class first.
        findings: what there is to say, the heaviest first.
        memory: what the engine will make of the memory; None where model or host are unknown.
        decision: what each rule said.
        model: facts about the checkpoint.
        host: facts about the machine.
    """

    stack: Stack
    version: str
    settings: tuple[Setting, ...]
    findings: tuple[Finding, ...]
    memory: MemoryPlan | None
    decision: Decision
    model: ModelFacts | None
    host: HostFacts | None

    def setting(self, name: str) -> Setting | None:
        """Find a setting by its canonical name."""
        return next((setting for setting in self.settings if setting.name == name), None)

    @property
    def digest(self) -> str:
        """Name what it starts (engine, settings, container) in twelve hexadecimal digits."""
        engine, container = self.stack.engine, self.stack.container
        parts = [engine.provider]
        parts += [f"{one.name}={text_of(one.value)}" for one in sorted(self.settings, key=lambda one: one.name)]
        parts += [repr(sorted(container.environment.items())), repr(container.extra)]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]

    @property
    def arguments(self) -> tuple[str, ...]:
        """The engine's command line, without the program."""
        return tuple(word for setting in self.settings for word in setting.arguments())

    @property
    def variables(self) -> Mapping[str, Value]:
        """Environment variables."""
        return {setting.name: setting.value for setting in self.settings if not setting.is_flag}


def make_plan(stack: Stack, *, model: ModelFacts | None, host: HostFacts | None, catalogue: Catalogue) -> Plan:
    """Decide every setting of a stack.

    Args:
        stack: what the user wants.
        model: None where nothing is known about the checkpoint: what depends on it is then said to be open.
        host: None where nothing is known about the machine.
        catalogue: the engine version's flags.
    """
    version = stack.engine.resolved_version or catalogue.version
    request = request_of(stack)
    given = {
        canonical(override.name, catalogue): value_of(override) for override in stack.settings if not override.omit
    }
    omitted = frozenset(canonical(override.name, catalogue) for override in stack.settings if override.omit)
    decision = decide_launch(request, given, model=model, host=host, version=version, omitted=omitted)
    overrides = {canonical(override.name, catalogue): override for override in stack.settings if not override.omit}
    settings = tuple(
        replace(_setting(name, value, decision, overrides.get(name)), off_word=_off_word(name, catalogue))
        for name, value in decision.values.items()
    )
    memory, memory_findings = memory_of(decision.values, model=model, host=host, version=version)
    findings = [
        *policies.about_stack(stack, version_known=stack.engine.resolved_version is not None),
        *policies.about_model(model, host, decision.values),
        *check_values(given, catalogue),
        *_about_overrides(decision, overrides),
        *_about_omitted(decision, omitted),
        *_cannot_tell(decision),
        *memory_findings,
    ]
    place = {rule.setting: index for index, rule in reversed([*enumerate(load_rules(ENGINE))])}
    ordered = sorted(
        settings,  # by class, then as the rules stand in their files; what no rule knows comes last
        key=lambda setting: (GRAVITY.index(setting.setting_class), place.get(setting.name, len(place))),
    )
    return Plan(stack, version, tuple(ordered), by_weight(findings), memory, decision, model, host)


def request_of(stack: Stack) -> Request:
    """Put a stack into the words of the rules."""
    return Request(
        model=stack.model.repo,
        revision=stack.model.revision,
        served_name=stack.model.served_name,
        context_length=stack.serve.context_length,
        tensor_parallel=stack.serve.tensor_parallel,
        port=stack.serve.port,
        api_key=stack.serve.api_key_file is not None,
        over_long_input=stack.policy.over_long_input,
        trust_remote_code=stack.model.trust_remote_code,
        debug=stack.debug,
        non_root=stack.container.non_root,
        container=stack.engine.environment is None,
        host=stack.serve.host,
        host_network=stack.container.extra.get("network_mode") == "host",
    )


def decide_launch(
    request: Request,
    given: Mapping[str, Value],
    *,
    model: ModelFacts | None,
    host: HostFacts | None,
    version: str,
    omitted: frozenset[str] = frozenset(),
) -> Decision:
    """Complete given settings by the engine's rules."""
    fixed = fixed_facts(request, model, host)
    return decide(
        given,
        load_rules(ENGINE),
        lambda values: Facts(fixed, values, model, given),
        version=version,
        omitted=omitted,
    )


def memory_of(
    values: Mapping[str, Value], *, model: ModelFacts | None, host: HostFacts | None, version: str
) -> tuple[MemoryPlan | None, tuple[Finding, ...]]:
    """Plan the memory of a launch, where model and host are known."""
    if model is None or host is None or not host.gpus:
        return None, ()
    try:
        memory = plan_memory(model, host, MemoryOptions.from_settings(values), version=version)
    except InputError:
        return None, ()  # the flag's wrong value is a finding of the catalogue's already
    return memory, memory.findings


def canonical(name: str, catalogue: Catalogue) -> str:
    """Spell a flag as its engine does; a name that the engine does not know stays as it is."""
    found = catalogue.find(name)
    return found.name if found else name


def value_of(override: Override) -> Value:
    """Turn a value of the stack file into what a command line holds."""
    value = override.value
    if isinstance(value, dict) or value is None:
        return json.dumps(value)
    if isinstance(value, list):
        return tuple(item if isinstance(item, str | int | float) else json.dumps(item) for item in value)
    return value


def _off_word(name: str, catalogue: Catalogue) -> str:
    flag = catalogue.flag(name)
    return (flag.negation or "") if flag else ""


def _setting(name: str, value: Value, decision: Decision, override: Override | None) -> Setting:
    rulings = decision.rulings_on(name)
    rules = supporters(rulings, value)
    setting_class = min((rule.setting_class for rule in rules), key=GRAVITY.index, default=SettingClass.POLICY)
    evidence = tuple(source for rule in rules for source in rule.evidence)
    why = " ".join(dict.fromkeys(rule.reason(decision.facts) for rule in rules))
    without = " ".join(dict.fromkeys(rule.without for rule in rules))
    if override is None:
        return Setting(name, value, setting_class, why, without, evidence, tuple(rule.id for rule in rules))
    ruled = next((ruling for ruling in rulings if ruling.truth and ruling.rule.need is not Need.OPTIONAL), None)
    return Setting(
        name,
        value,
        ruled.rule.setting_class if ruled else setting_class,
        override.why,
        without,
        (Source(EvidenceKind.STACK, f"settings: {name}"), *evidence),
        tuple(rule.id for rule in rules),
        overrides=ruled.value if ruled and ruled.rule not in rules else None,
    )


def _about_overrides(decision: Decision, overrides: Mapping[str, Override]) -> list[Finding]:
    """Say where the stack decides against a rule."""
    findings = []
    for name in overrides:
        value = decision.values[name]
        for ruling in decision.rulings_on(name):
            if ruling.truth and not ruling.rule.accepts_value(value, decision.facts):
                findings.append(against_rule(ruling.rule, value, decision.facts))
                break
    return findings


def against_rule(rule: Rule, value: Value, facts: Mapping[str, Fact], *, where: str | None = None) -> Finding:
    """Say that a value is not what a rule asks for, and what follows from it."""
    grave = rule.setting_class in (SettingClass.BOOT, SettingClass.CORRECTNESS)
    return Finding(
        Level.ERROR if grave else Level.WARNING,
        "against-rule",
        f"{rule.setting} is {value}, and {rule.resolve(facts)} is due here: {rule.reason(facts)}",
        f"Set it to {rule.resolve(facts)}. Otherwise: {rule.without}",
        rule.setting,
        where,
    )


def _about_omitted(decision: Decision, omitted: frozenset[str]) -> list[Finding]:
    return [
        Finding(
            Level.WARNING,
            "rule-omitted",
            f"{ruling.rule.setting} is left out, and {ruling.value} is due here: {ruling.rule.reason(decision.facts)}",
            f"What returns without it: {ruling.rule.without}",
            ruling.rule.setting,
        )
        for ruling in decision.rulings
        if ruling.truth and ruling.rule.setting in omitted and ruling.rule.need is Need.REQUIRED
    ]


def _cannot_tell(decision: Decision) -> list[Finding]:
    """Say which settings may be due, and what must be known to tell."""
    findings: dict[str, Finding] = {}
    for ruling in decision.rulings:
        name = ruling.rule.setting
        if ruling.truth is None and ruling.rule.need is Need.REQUIRED and name not in decision.values:
            findings.setdefault(name, cannot_tell(ruling, decision.facts))
    return list(findings.values())


def cannot_tell(ruling: Ruling, facts: Mapping[str, Fact], *, level: Level = Level.NOTE) -> Finding:
    """Say that a rule may apply, and which unknown facts would decide."""
    unknown = unknown_facts(ruling.rule, facts)
    return Finding(
        level,
        "cannot-tell",
        f"whether {ruling.rule.setting} is due can't be told: {_and(unknown)} unknown",
        f"{advice_for(unknown)} If it is due and missing: {ruling.rule.without}",
        ruling.rule.setting,
    )


def unknown_facts(rule: Rule, facts: Mapping[str, Fact]) -> list[str]:
    """Name the unknown facts that a rule depends on."""
    names = [clause.fact for clause in rule.clauses(facts) if clause.value is None]
    if isinstance(rule.value, Mapping):
        source = rule.value["from"] if "from" in rule.value else rule.value["lookup"]
        names += [source] if facts[source] is None else []
    return list(dict.fromkeys(names))


def advice_for(unknown: Sequence[str]) -> str:
    """Say how the unknown becomes known."""
    if any(name.startswith("host.") or name == "stack.tensor_parallel" for name in unknown):
        return "Give the host's facts (--facts FILE, or --gpus '2x RTX 4090')."
    return "Give the model's facts (--facts FILE, or a folder with its config.json)."


def _and(names: Sequence[str]) -> str:
    if len(names) < 2:
        return f"{''.join(names)} is"
    return f"{', '.join(names[:-1])} and {names[-1]} are"
