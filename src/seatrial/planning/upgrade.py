"""What another engine version would change: flags, defaults, rules. Only a plan: nothing is started. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from seatrial.engines.sglang.catalogue import Catalogue, Flag
from seatrial.findings import Finding
from seatrial.planning.plan import Plan
from seatrial.planning.setting import Value, same_value


@dataclass(frozen=True, slots=True)
class FlagChange:
    """One flag or variable that differs between two versions.

    Attributes:
        name: canonical in the version that has it.
        change: removed, added, deprecated, default, choices or renamed.
        before: what it was; None where it was not there.
        after: what it is; None where it is gone.
        used: the stack's plan sets it.
    """

    name: str
    change: str
    before: Any
    after: Any
    used: bool = False


@dataclass(frozen=True, slots=True)
class SettingChange:
    """One setting that the plan sets differently; None where it does not set it."""

    name: str
    before: Value | None
    after: Value | None
    why: str


@dataclass(frozen=True, slots=True)
class Upgrade:
    """What changes.

    Attributes:
        before: version that the stack has.
        after: version that was asked for.
        flags: flags and variables that differ, those that the stack uses first.
        settings: settings that rules would decide differently.
        findings: of the plan for the new version.
        new_findings: those of them that the old version's plan did not have.
    """

    before: str
    after: str
    flags: tuple[FlagChange, ...]
    settings: tuple[SettingChange, ...]
    findings: tuple[Finding, ...]
    new_findings: tuple[Finding, ...]


def compare_plans(old: Plan, new: Plan, old_flags: Catalogue, new_flags: Catalogue) -> Upgrade:
    """Compare a stack's plan with its plan for another version."""
    used = {setting.name for setting in old.settings} | {override.name for override in old.stack.settings}
    flags = catalogue_changes(old_flags, new_flags)
    marked = [FlagChange(c.name, c.change, c.before, c.after, used=c.name in used) for c in flags]
    had = {(finding.id, finding.setting) for finding in old.findings}
    return Upgrade(
        old.version,
        new.version,
        tuple(sorted(marked, key=lambda change: not change.used)),
        tuple(_setting_changes(old, new)),
        new.findings,
        tuple(finding for finding in new.findings if (finding.id, finding.setting) not in had),
    )


def catalogue_changes(old: Catalogue, new: Catalogue) -> list[FlagChange]:
    """List every flag and variable that differs between two versions, by name."""
    before, after = dict.fromkeys(old.names()), dict.fromkeys(new.names())
    changes: list[FlagChange] = []
    for name in sorted({*before, *after}):
        was, is_now = (old.find(name) if name in before else None), (new.find(name) if name in after else None)
        if was is None:
            alias = old.find(name)
            changes.append(FlagChange(name, "renamed" if alias else "added", alias.name if alias else None, name))
        elif is_now is None:
            alias = new.find(name)
            changes.append(FlagChange(name, "renamed" if alias else "removed", name, _instead(was, alias)))
        else:
            changes += _differences(name, was, is_now)
    return changes


def _instead(was: Any, alias: Any) -> Any:
    if alias is not None:
        return alias.name
    return ", ".join(was.instead) or None if isinstance(was, Flag) else None


def _differences(name: str, was: Any, is_now: Any) -> list[FlagChange]:
    changes = []
    if was.default != is_now.default:
        changes.append(FlagChange(name, "default", was.default, is_now.default))
    gone = [choice for choice in was.choices if choice not in is_now.choices] if is_now.choices else []
    if gone:
        changes.append(FlagChange(name, "choices", tuple(gone), None))
    if isinstance(was, Flag) and isinstance(is_now, Flag) and is_now.deprecated and not was.deprecated:
        changes.append(FlagChange(name, "deprecated", None, ", ".join(is_now.instead) or None))
    return changes


def _setting_changes(old: Plan, new: Plan) -> list[SettingChange]:
    before: Mapping[str, Value] = {setting.name: setting.value for setting in old.settings}
    after: Mapping[str, Value] = {setting.name: setting.value for setting in new.settings}
    changes = []
    for name in [*before, *(name for name in after if name not in before)]:
        if same_value(before.get(name), after.get(name)):
            continue
        shown = new.setting(name) or old.setting(name)
        changes.append(SettingChange(name, before.get(name), after.get(name), shown.why if shown else ""))
    return changes
