"""Shows a plan: settings by class with their reasons, the memory plan, findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from seatrial.planning.setting import SettingClass, text_of

if TYPE_CHECKING:
    from seatrial.engines.sglang.memory.result import MemoryPlan
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
    for index, sign in enumerate(text):
        if sign in ".:;" and text[index + 1 : index + 2] == " " and index > 20:
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
    out.print(Text("memory", style="bold"), Text("(what the engine will make of it; checked at every boot)", style="dim"))
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in memory_rows(memory):
        table.add_row(name, value)
    out.print(table)
    if memory.failure is not None:
        out.print(Text(f"  the engine would end with: {memory.failure.message}", style="bold red"))
