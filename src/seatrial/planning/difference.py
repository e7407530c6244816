"""How a plan differs from what somebody started. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from seatrial.planning.plan import Plan
from seatrial.planning.setting import Value, same_value


@dataclass(frozen=True, slots=True)
class Change:
    """One setting that differs; None where one of the two does not set it."""

    name: str
    there: Value | None
    planned: Value | None


def differences(plan: Plan, there: Mapping[str, Value], *, image: str | None = None) -> tuple[Change, ...]:
    """List what differs between a plan and a launch, flags first.

    Args:
        plan: what should be started.
        there: flags and variables of the launch by canonical name; variables that no plan sets are passed over.
        image: what the launch starts; None where it starts no image.
    """
    planned = {setting.name: setting.value for setting in plan.settings}
    names = [*planned, *(name for name in there if name not in planned and name.startswith("-"))]
    changes = [
        Change(name, there.get(name), planned.get(name))
        for name in names
        if not same_value(there.get(name), planned.get(name))
    ]
    if image is not None and image != plan.stack.engine.image:
        changes.insert(0, Change("image", image, plan.stack.engine.image))
    return tuple(changes)
