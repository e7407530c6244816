"""Shows findings: the heaviest first, each with what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from seatrial.findings import Level

if TYPE_CHECKING:
    from seatrial.findings import Finding

STYLES = {Level.ERROR: "bold red", Level.WARNING: "yellow", Level.NOTE: "dim"}


def print_findings(out: Console, findings: Sequence[Finding], *, nothing: str = "nothing to say") -> None:
    """Print findings, or that there are none."""
    if not findings:
        out.print(Text(nothing, style="green"))
        return
    for finding in findings:
        place = f"{finding.where}: " if finding.where else ""
        head = Text.assemble((f"{finding.level.value:<8}", STYLES[finding.level]), (place, "dim"))
        if finding.setting:
            head.append(f"{finding.setting} ", style="bold")
        head.append(f"[{finding.id}]", style="dim")
        out.print(head)
        out.print(Text(f"         {finding.message}"), soft_wrap=False)
        if finding.advice:
            out.print(Text(f"         {finding.advice}", style="italic dim"))
    out.print()
    out.print(Text(summary(findings), style="dim"))


def summary(findings: Sequence[Finding]) -> str:
    """Count findings by level, in words."""
    counts = [(level, sum(finding.level is level for finding in findings)) for level in Level]
    words = [f"{count} {level.value}{'s' if count != 1 else ''}" for level, count in counts if count]
    return ", ".join(words) if words else "no findings"
