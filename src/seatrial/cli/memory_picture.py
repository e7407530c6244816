"""A stacked bar of each GPU's memory, for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.text import Text

from seatrial.engines.sglang.memory.segments import Segment, segments

if TYPE_CHECKING:
    from seatrial.engines.sglang.memory.result import MemoryPlan

STYLES = {
    "driver": ("▒", "bright_black"),
    "others": ("▓", "bright_black"),
    "context": ("▒", "white"),
    "weights": ("█", "blue"),
    "states": ("█", "magenta"),
    "kv": ("█", "green"),
    "table": ("█", "cyan"),
    "graphs": ("▓", "yellow"),
    "activations": ("▒", "yellow"),
    "free": ("░", "bright_black"),
    "missing": ("!", "red"),
}
"""Mark and colour of each part: the marks alone tell them apart where there is no colour."""
LEAST_WIDTH = 20
MOST_WIDTH = 100


class MemoryPicture:
    """One bar a GPU, and one legend for all; GPUs that look the same share a bar."""

    def __init__(self, plan: MemoryPlan) -> None:
        self._rows = _rows(plan)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(LEAST_WIDTH, min(MOST_WIDTH, options.max_width))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = max(LEAST_WIDTH, min(MOST_WIDTH, options.max_width))
        for label, total, parts in self._rows:
            yield Text(f"{label}, {total:.1f} GiB")
            yield _bar(parts, width)
            yield _legend(parts)


def _rows(plan: MemoryPlan) -> list[tuple[str, float, tuple[Segment, ...]]]:
    rows: list[tuple[str, float, tuple[Segment, ...]]] = []
    for gpu in plan.gpus:
        parts = segments(gpu)
        if not parts:
            continue
        if rows and rows[-1][2] == parts:
            label = rows[-1][0].split(" ", 2)
            rows[-1] = (f"GPUs {label[1].split('-')[0]}-{gpu.index} {gpu.name}", rows[-1][1], parts)
        else:
            rows.append((f"GPU {gpu.index} {gpu.name}", gpu.total_gib or 0, parts))
    return rows


def _bar(parts: Sequence[Segment], width: int) -> Text:
    text = Text()
    for part, cells in zip(parts, shares([part.gib for part in parts], width), strict=True):
        mark, style = STYLES[part.key]
        text.append(mark * cells, style=style)
    return text


def _legend(parts: Sequence[Segment]) -> Text:
    text = Text()
    for number, part in enumerate(parts):
        mark, style = STYLES[part.key]
        text.append("  " if number else "")
        text.append(mark, style=style)
        text.append(f" {part.name} {part.gib:.1f}")
    return text


def shares(sizes: Sequence[float], cells: int) -> list[int]:
    """Deal out cells by size: every part that is there gets one at least, and all add up where there are enough.

    Args:
        sizes: of the parts, none negative.
        cells: to deal out.
    """
    total = sum(sizes)
    if total <= 0 or not sizes:
        return [0] * len(sizes)
    exact = [size / total * cells for size in sizes]
    dealt = [max(1, int(share)) if size > 0 else 0 for share, size in zip(exact, sizes, strict=True)]
    order = sorted(range(len(sizes)), key=lambda index: exact[index] - dealt[index])
    while sum(dealt) < cells:
        dealt[order[-1]] += 1
        order.insert(0, order.pop())
    while sum(dealt) > cells and max(dealt) > 1:
        dealt[max(range(len(dealt)), key=lambda index: dealt[index])] -= 1
    return dealt
