"""Shows a plan: settings by class with their reasons, the memory plan, findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from seatrial.planning.setting import SettingClass, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seatrial.engines.sglang.memory.advice import Trade
    from seatrial.engines.sglang.memory.compare import Difference
    from seatrial.engines.sglang.memory.result import MemoryPlan
    from seatrial.planning.difference import Change
    from seatrial.planning.plan import Plan
    from seatrial.planning.setting import Setting

MEANINGS = {
    SettingClass.BOOT: "without these it does not start, or nobody reaches it",
    SettingClass.CORRECTNESS: "without these answers are wrong, or it dies at a request",
    SettingClass.PERFORMANCE: "without these the same answers cost more",
    SettingClass.POLICY: "somebody decided these",
}
COLOURS = {
    SettingClass.BOOT: "red",
    SettingClass.CORRECTNESS: "magenta",
    SettingClass.PERFORMANCE: "cyan",
    SettingClass.POLICY: "blue",
}


def print_plan(out: Console, plan: Plan, *, all_reasons: bool) -> None:
    """Print who it is for, the settings, and what the memory becomes."""
    out.print(Text.assemble((plan.stack.name, "bold"), f": {plan.stack.model.repo} on SGLang {plan.version}"))
    out.print(Text(_host_line(plan), style="dim"))
    for setting_class in SettingClass:
        settings = [setting for setting in plan.settings if setting.setting_class is setting_class]
        if settings:
            out.print()
            head = Text(setting_class.value, style=f"bold {COLOURS[setting_class]}")
            out.print(head, Text(f"({MEANINGS[setting_class]})", style="dim"))
            _print_settings(out, settings, all_reasons=all_reasons)


def _host_line(plan: Plan) -> str:
    host = plan.host
    if host is None:
        return "for a machine that nothing is known about"
    if not host.gpus:
        return f"for {host.source}: {'no GPU' if host.gpus is not None else 'its GPUs are unknown'}"
    names = [gpu.name for gpu in host.gpus]
    counts = [f"{names.count(name)} x {name}" for name in dict.fromkeys(names)]
    return f"for {', '.join(counts)} ({host.source})"


def _print_settings(out: Console, settings: list[Setting], *, all_reasons: bool) -> None:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for setting in settings:
        table.add_row(Text(shown(setting), style="bold"), _reason(setting, whole=all_reasons))
    out.print(table)


def shown(setting: Setting) -> str:
    """Write a setting as one types it."""
    if not setting.is_flag:
        return f"{setting.name}={text_of(setting.value)}"
    if setting.value is True:
        return setting.name
    return f"{setting.name} {text_of(setting.value)}"


def _reason(setting: Setting, *, whole: bool) -> Text:
    if not whole:
        return Text(first_sentence(setting.why))
    text = Text(setting.why)
    if setting.overrides is not None:
        text.append(f"\nInstead of {text_of(setting.overrides)}.", style="yellow")
    if setting.without:
        text.append(f"\nWithout it: {setting.without}", style="italic")
    for source in setting.evidence:
        text.append(f"\n{source.kind.value}: {source.says}", style="dim")
    return text


def first_sentence(text: str) -> str:
    """Cut a text after its first sentence; a dot inside a word or number ends none."""
    depth = 0
    for index, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if sign in ".:;" and text[index + 1 : index + 2] == " " and index > 20 and not depth:
            return text[: index + (sign == ".")]
    return text


def memory_rows(memory: MemoryPlan) -> list[tuple[str, str]]:
    """Name the figures that people ask for first."""
    rows: list[tuple[str, str]] = []
    if memory.mem_fraction_static is not None:
        rows.append(("mem-fraction-static", f"{memory.mem_fraction_static:.3f}"))
    if memory.weights_gib is not None:
        rows.append(("weights", f"{memory.weights_gib:.2f} GiB on each GPU"))
    if memory.mamba_slots is not None:
        each = f", {memory.slots_per_request} for each request" if memory.slots_per_request else ""
        rows.append(("state slots", f"{memory.mamba_slots}{each}"))
    if memory.kv_cache_tokens is not None:
        rows.append(("KV cache", f"{memory.kv_cache_tokens:,} tokens"))
    if memory.max_running_requests is not None:
        rows.append(("requests at once", f"{memory.max_running_requests:,}"))
    if memory.effective_input_tokens is not None:
        declared = f" (declared: {memory.context_length:,})" if memory.context_length else ""
        rows.append(("longest input", f"{memory.effective_input_tokens:,} tokens{declared}"))
    return rows


def print_memory(out: Console, memory: MemoryPlan) -> None:
    """Print what the engine will make of the memory."""
    out.print()
    out.print(
        Text("memory", style="bold"), Text("(what the engine will make of it; checked at every boot)", style="dim")
    )
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in memory_rows(memory):
        table.add_row(name, value)
    out.print(table)
    if memory.gpus:
        from seatrial.cli.memory_picture import MemoryPicture

        out.print(MemoryPicture(memory))
    if memory.failure is not None:
        out.print(Text(f"  the engine would end with: {memory.failure.message}", style="bold red"))


def print_advice(out: Console, trades: Sequence[Trade]) -> None:
    """Print what reaches a goal, and what each way costs."""
    out.print()
    if not trades:
        out.print(Text("nothing can be said about the goal: weights or GPUs are unknown"))
        return
    reached = any(trade.reaches for trade in trades)
    out.print(
        Text("goal", style="bold"),
        Text("(each row is planned)" if reached else "(nothing reaches it; these come closest)"),
    )
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 2), header_style="dim")
    for name in ("", "change", "KV tokens", "at once", "longest input", "left GiB", "costs"):
        table.add_column(name, justify="left" if name in ("", "change", "costs") else "right", overflow="fold")
    for trade in trades:
        mark = Text("yes", style="green") if trade.reaches else Text("no", style="dim")
        left = "–" if trade.free_gib is None else f"{trade.free_gib:.1f}{' !' if trade.thin else ''}"
        table.add_row(
            mark,
            Text(trade.flags or "as it is"),
            _count(trade.kv_cache_tokens),
            _count(trade.max_running_requests),
            _count(trade.effective_input_tokens),
            left,
            Text(trade.failure or trade.costs),
        )
    out.print(table)


def print_differences(out: Console, differences: Sequence[Difference]) -> None:
    """Print planned beside actual."""
    out.print()
    out.print(Text("against the log", style="bold"))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 2), header_style="dim")
    for name in ("figure", "planned", "actual", "off by"):
        table.add_column(name, justify="left" if name == "figure" else "right")
    for item in differences:
        off = "–" if item.share is None else f"{item.share:+.2%}"
        table.add_row(
            item.figure, _number(item.planned), _number(item.actual), Text(off, style="red" if item.finding else "")
        )
    out.print(table)


def print_changes(out: Console, changes: Sequence[Change]) -> None:
    """Print how the plan differs from what is there."""
    out.print()
    out.print(Text("against what is there", style="bold"))
    if not changes:
        out.print(Text("  no difference"))
    for change in changes:
        before = "not set" if change.there is None else text_of(change.there)
        after = "not set" if change.planned is None else text_of(change.planned)
        out.print(Text.assemble("  ", (change.name, "bold"), f": {before} → {after}"))


def _count(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.2f}"
