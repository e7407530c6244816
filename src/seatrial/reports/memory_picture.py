"""A stacked bar of each GPU's memory as one SVG: it stands alone, needs no script and no network."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from seatrial.engines.sglang.memory.segments import Segment, segments

if TYPE_CHECKING:
    from seatrial.engines.sglang.memory.result import MemoryPlan

COLOURS = {
    "driver": "#9aa0a6",
    "others": "#5f6368",
    "context": "#c4c7cb",
    "weights": "#3b6fb6",
    "states": "#8e5bb5",
    "kv": "#3f9b59",
    "table": "#2f9aa8",
    "graphs": "#d9a441",
    "activations": "#ecc97f",
    "free": "#f1f3f4",
    "missing": "#c5352b",
}
WIDTH = 720
BAR = 26
ROW = 58
LEGEND_ROW = 20
COLUMNS = 3
MARGIN = 8


def memory_svg(plan: MemoryPlan) -> str:
    """Draw a plan's GPUs, one bar each, with a legend; an empty text where nothing is known.

    Every bar has a title with its parts and sizes: what a mouse or a screen reader gets.
    """
    rows = [(f"GPU {gpu.index} {gpu.name}".strip(), gpu.total_gib or 0.0, segments(gpu)) for gpu in plan.gpus]
    rows = [row for row in rows if row[2]]
    if not rows:
        return ""
    largest = max(sum(part.gib for part in parts) for _, _, parts in rows)
    drawn = [_row(label, total, parts, number, largest) for number, (label, total, parts) in enumerate(rows)]
    keys: dict[str, Segment] = {}
    for _, _, parts in rows:
        for part in parts:
            keys.setdefault(part.key, part)
    top = len(rows) * ROW + MARGIN
    legend = "".join(_key(part, number, top) for number, part in enumerate(keys.values()))
    height = top + -(-len(keys) // COLUMNS) * LEGEND_ROW + MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="100%" role="img" '
        f'aria-label="Memory of each GPU" font-family="system-ui, sans-serif" font-size="12">'
        f"{''.join(drawn)}{legend}</svg>"
    )


def _row(label: str, total: float, parts: tuple[Segment, ...], number: int, largest: float) -> str:
    y = number * ROW + MARGIN
    scale = (WIDTH - 2 * MARGIN) / largest
    x = float(MARGIN)
    boxes = []
    for part in parts:
        width = part.gib * scale
        title = f"{part.name}: {part.gib:.2f} GiB"
        boxes.append(
            f'<rect x="{x:.2f}" y="{y + 16}" width="{width:.2f}" height="{BAR}" fill="{COLOURS[part.key]}" '
            f'stroke="#ffffff" stroke-width="0.5"><title>{escape(title)}</title></rect>'
        )
        x += width
    said = ", ".join(f"{part.name} {part.gib:.1f}" for part in parts)
    return (
        f"<g><title>{escape(said)}</title>"
        f'<text x="{MARGIN}" y="{y + 10}" fill="currentColor">{escape(label)}, {total:.1f} GiB</text>'
        f"{''.join(boxes)}</g>"
    )


def _key(part: Segment, number: int, top: int) -> str:
    column, row = number % COLUMNS, number // COLUMNS
    x = MARGIN + column * (WIDTH - 2 * MARGIN) // COLUMNS
    y = top + row * LEGEND_ROW
    return (
        f'<rect x="{x}" y="{y}" width="12" height="12" fill="{COLOURS[part.key]}" stroke="#9aa0a6" stroke-width="0.5"/>'
        f'<text x="{x + 18}" y="{y + 10}" fill="currentColor">{escape(part.name)} {part.gib:.2f} GiB</text>'
    )
