"""The stacked bar of each GPU's memory: parts that add up, in the terminal and as SVG."""

from __future__ import annotations

import io
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from engines.sglang.memory.boots import h200, rtx4090, shape
from seatrial.cli.memory_picture import STYLES, MemoryPicture, shares
from seatrial.engines.sglang.memory.options import MemoryOptions
from seatrial.engines.sglang.memory.plan import plan_memory
from seatrial.engines.sglang.memory.result import MemoryPlan
from seatrial.engines.sglang.memory.segments import segments
from seatrial.facts.host import HostFacts
from seatrial.reports.memory_picture import COLOURS, memory_svg


def plan(name: str = "vlm35-awq", host: HostFacts | None = None, **options: object) -> MemoryPlan:
    return plan_memory(shape(name), host or rtx4090(), MemoryOptions(tensor_parallel=2, **options))  # type: ignore[arg-type]


def printed(found: MemoryPlan, width: int) -> str:
    out = io.StringIO()
    Console(file=out, width=width, color_system=None).print(MemoryPicture(found))
    return out.getvalue()


@pytest.mark.parametrize("name", ["vlm35-awq", "qwen3-8b", "dslite", "gptoss"])
def test_the_parts_of_a_gpu_add_up_to_all_of_it(name: str) -> None:
    for gpu in plan(name).gpus:
        parts = segments(gpu)
        there = [part.gib for part in parts if part.key != "missing"]
        missing = [part.gib for part in parts if part.key == "missing"]
        assert sum(there) - sum(missing) == pytest.approx(gpu.total_gib)
        assert all(part.gib > 0 for part in parts)
        assert {part.key for part in parts} <= STYLES.keys() & COLOURS.keys()


def test_what_does_not_fit_is_shown_as_missing() -> None:
    parts = segments(plan("qwen3-8b", mem_fraction_static=0.98).gpus[0])
    assert parts[-1].key == "missing"


def test_gpus_that_look_the_same_share_a_bar_in_the_terminal() -> None:
    text = printed(plan(), 100)
    assert text.count("GiB") == text.count("GPUs 0-1") == 1
    assert "weights" in text
    assert "KV cache" in text
    assert "state slots" in text


@given(st.integers(20, 200))
def test_no_line_of_the_picture_is_wider_than_the_terminal(width: int) -> None:
    assert max(map(len, printed(plan(), width).splitlines())) <= width


@given(st.lists(st.floats(0, 100), min_size=1, max_size=12), st.integers(12, 100))
def test_cells_add_up_and_every_part_has_one(sizes: list[float], cells: int) -> None:
    dealt = shares(sizes, cells)
    if sum(sizes) == 0:
        assert not any(dealt)
        return
    assert sum(dealt) == cells
    assert all((count > 0) == (size > 0) for count, size in zip(dealt, sizes, strict=True))


def test_the_svg_is_well_formed_and_says_every_part_in_words() -> None:
    found = plan(host=h200(count=2))
    tree = ET.fromstring(memory_svg(found))
    titles = [element.text or "" for element in tree.iter("{http://www.w3.org/2000/svg}title")]
    for part in segments(found.gpus[0]):
        assert any(part.name in title for title in titles)
    assert len([title for title in titles if "weights" in title and "," in title]) == 2


def test_a_name_with_signs_of_markup_is_written_as_text() -> None:
    from dataclasses import replace

    found = plan()
    odd = replace(found, gpus=(replace(found.gpus[0], name="<b>&card"),))
    ET.fromstring(memory_svg(odd))
    assert "<b>" not in memory_svg(odd)


def test_nothing_is_drawn_of_what_is_not_known() -> None:
    unknown = plan_memory(shape("qwen3-8b"), HostFacts(gpus=None), MemoryOptions())
    assert memory_svg(unknown) == ""
    assert printed(unknown, 80) == ""
