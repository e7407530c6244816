"""`seatrial explain`: what one flag or variable does, its default, and why a plan has it or not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seatrial.cli.options import Json
from seatrial.cli.planning_inputs import EngineVersion, FactsFile, Gpus, Store

if TYPE_CHECKING:
    from rich.console import Console

    from seatrial.engines.sglang.catalogue import Catalogue
    from seatrial.planning.explain import Explanation, RuleView

ACCEPTING = {"ignore_unknown_options": True, "allow_extra_args": True}
"""A flag's name looks like an option of this program's own."""


def explain(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Argument(metavar="FLAG", help="E.g. --dtype, or SGLANG_MAMBA_CONV_DTYPE.", show_default=False)
    ] = None,
    stack: Annotated[
        Path | None,
        typer.Option(
            "--stack", metavar="FILE", help="Say what it means for this stack. Default: stack.yaml, if there."
        ),
    ] = None,
    facts: FactsFile = None,
    gpus: Gpus = None,
    store: Store = None,
    engine_version: EngineVersion = None,
    as_json: Json = False,
) -> None:
    """Explain a flag or environment variable of the engine.

    What it does, its default and choices in this version and how others differ, which rules know it, and, for a stack,
    whether they apply: each condition with what was found.
    """
    from seatrial.engines.sglang.catalogue import load
    from seatrial.errors import InputError
    from seatrial.planning.explain import explain as explained

    wanted = name or next(iter(context.args), None)
    if wanted is None:
        raise InputError("no flag is named", where="explain", advice="E.g.: seatrial explain --dtype.")
    wanted = wanted.partition("=")[0]
    plan = None
    file = stack or Path("stack.yaml")
    if stack is not None or file.is_file():
        from seatrial.cli.plan import make

        plan, _ = make(file, facts=facts, gpus=gpus, store=store, offline=True)
    catalogue = load(engine_version or (plan.version if plan else "0.5.16"))
    found = None
    for spelling in (wanted, f"--{wanted.lstrip('-').replace('_', '-')}", wanted.lstrip("-").upper().replace("-", "_")):
        found = found or explained(spelling, catalogue=catalogue, plan=plan)
        fitting = catalogue.starting_with(spelling) if spelling.startswith("--") else ()
        if found is None and len(fitting) == 1:
            found = explained(fitting[0], catalogue=catalogue, plan=plan)
    if found is None:
        nearest = catalogue.nearest(wanted if wanted.startswith("-") or wanted.isupper() else f"--{wanted}")
        advice = f"Did you mean {nearest}?" if nearest else "`seatrial explain --help` says how to ask."
        raise InputError(f"SGLang {catalogue.version} knows no such flag or variable", where=wanted, advice=advice)
    if as_json:
        from seatrial.cli.output import print_json

        print_json(_document(found, catalogue))
        return
    from seatrial.cli.output import console

    _print(console(), found, catalogue)


def _document(found: Explanation, catalogue: Catalogue) -> dict[str, Any]:
    from seatrial.engines.sglang.catalogue import help_texts
    from seatrial.planning.document import setting_document

    return {
        "name": found.name,
        "engine_version": catalogue.version,
        "does": help_texts().get(found.name, ""),
        "flag": found.entry,
        "versions": _other_versions(found.name),
        "rules": [
            {
                "id": view.rule.id,
                "value": view.rule.value,
                "class": view.rule.setting_class,
                "need": view.rule.need,
                "versions": view.rule.versions,
                "conditions": view.conditions,
                "applies": view.truth,
                "why": view.rule.why,
                "without": view.rule.without,
                "evidence": view.rule.evidence,
            }
            for view in found.rules
        ],
        "setting": setting_document(found.setting) if found.setting else None,
        "planned": found.planned,
    }


def _other_versions(name: str) -> dict[str, str]:
    """Say in a few words what each known version makes of a flag."""
    from seatrial.engines.sglang.catalogue import Flag, load, versions

    said = {}
    for version in versions():
        entry = load(version).find(name)
        if entry is None:
            said[version] = "not known"
        else:
            default = "no default" if entry.default is None else f"default {_shown(entry.default)}"
            said[version] = default + (", deprecated" if isinstance(entry, Flag) and entry.deprecated else "")
    return said


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _print(out: Console, found: Explanation, catalogue: Catalogue) -> None:
    from rich.text import Text

    from seatrial.engines.sglang.catalogue import Flag, help_texts

    out.print(Text.assemble((found.name, "bold"), f"  (SGLang {catalogue.version})"))
    entry = found.entry
    if (does := help_texts().get(found.name)) is not None:
        out.print(Text(f"  {does}"))
    if entry is None:
        out.print(Text("  an environment variable of a library that the engine uses"))
    elif isinstance(entry, Flag):
        if entry.aliases:
            out.print(Text(f"  also: {', '.join(entry.aliases)}"))
        takes = f"takes {_type(entry)}" if entry.takes_value else "takes no value"
        out.print(
            Text(f"  {takes}; default: {_shown(entry.default) if entry.default is not None else 'the engine decides'}")
        )
        if entry.deprecated:
            out.print(
                Text(f"  deprecated{', use ' + ' and '.join(entry.instead) if entry.instead else ''}", style="yellow")
            )
    else:
        out.print(Text(f"  environment variable of type {entry.type}; default: {_shown(entry.default)}"))
    if entry is not None and entry.choices:
        out.print(Text(f"  one of: {', '.join(map(str, entry.choices))}"))
    differing = _other_versions(found.name)
    if len(set(differing.values())) > 1:
        out.print(Text("  by version: " + "; ".join(f"{version}: {what}" for version, what in differing.items())))
    out.print()
    if not found.rules:
        out.print(Text("No rule knows it: a plan sets it only where the stack file does."))
    for view in found.rules:
        _print_rule(out, view, planned=found.planned)
    if found.planned:
        out.print()
        if found.setting is not None:
            from seatrial.cli.plan_output import shown

            out.print(Text.assemble("The plan has ", (shown(found.setting), "bold"), f": {found.setting.why}"))
        else:
            out.print(Text("The plan does not set it."))


def _type(entry: Any) -> str:
    names = {"int": "a whole number", "float": "a number", "size": "a whole number (256Ki is 262,144; 256k is 256,000)"}
    what = names.get(entry.type, "JSON" if entry.type == "json" else "text")
    return f"one or more of: {what}" if entry.many else what


def _print_rule(out: Console, view: RuleView, *, planned: bool) -> None:
    from rich.text import Text

    from seatrial.planning.conditions import show

    rule = view.rule
    answer = (
        {True: "applies", False: "does not apply", None: "can't be told"}[view.truth] if planned else "applies when"
    )
    value = "" if rule.value is True or isinstance(rule.value, dict) else f" {rule.value}"
    out.print(Text.assemble((f"rule {rule.id}", "bold"), f": {rule.setting}{value} [{rule.setting_class}] {answer}"))
    if not view.in_version:
        out.print(Text(f"  it is about versions {rule.versions}"))
    if planned:
        for clause in view.clauses:
            sign = {True: "yes", False: "no ", None: "?  "}[clause.truth]
            out.print(Text(f"  {sign} {clause.fact} {clause.wanted}: it is {show(clause.value)}"))
    else:
        for condition in view.conditions or ("always",):
            out.print(Text(f"  {condition}"))
    out.print(Text(f"  why: {rule.why}"))
    out.print(Text(f"  without it: {rule.without}", style="italic"))
    for source in rule.evidence:
        out.print(Text(f"  {source.kind.value}: {source.says}", style="dim"))
