"""Writes the golden plans: `python tests/planning/golden.py`. Read the difference before you commit it."""

from __future__ import annotations

import sys
import textwrap
from itertools import product
from pathlib import Path

FOLDER = Path(__file__).parent / "golden"
MODELS = {"35b": "QuantTrio/Qwen3.6-35B-A3B-AWQ", "27b": "cyankiwi/Qwen3.6-27B-AWQ-INT4"}
HOSTS = {
    "2x4090": "2x RTX 4090",
    "1xh100": "1x H100",
    "1xh200": "1x H200",
    "4x3090": "4x RTX 3090",
    "1xpro6000": "1x RTX PRO 6000",
}
CASES = {f"{model}-{host}": (MODELS[model], HOSTS[host]) for model, host in product(MODELS, HOSTS)}


def golden(model_name: str, spec: str) -> str:
    """Write a plan as text: every setting with its class and reason, the memory plan's figures, every finding."""
    from seatrial.cli.plan_output import memory_rows, shown
    from seatrial.engines.sglang.catalogue import load
    from seatrial.facts.example_hosts import host_from_spec
    from seatrial.facts.known_models import known_model
    from seatrial.planning.initial import initial_stack
    from seatrial.planning.plan import make_plan

    model, host = known_model(model_name), host_from_spec(spec)
    stack = initial_stack("review", model_name, model=model, host=host)
    plan = make_plan(stack, model=model, host=host, catalogue=load("0.5.16"))
    lines = [f"{model_name} on {spec}, SGLang {plan.version}", ""]
    for setting in plan.settings:
        lines.append(f"{setting.setting_class.value:<12}{shown(setting)}")
        lines += textwrap.wrap(setting.why, 110, initial_indent=" " * 14, subsequent_indent=" " * 14)
    lines += ["", "memory"]
    lines += [f"  {name:<20} {value}" for name, value in memory_rows(plan.memory)] if plan.memory else ["  unknown"]
    lines += ["", "findings"]
    for finding in plan.findings:
        lines.append(f"  {finding.level.value} {finding.id} {finding.setting or ''}".rstrip())
        lines += textwrap.wrap(finding.message, 110, initial_indent=" " * 4, subsequent_indent=" " * 4)
        lines += textwrap.wrap(finding.advice, 110, initial_indent=" " * 4, subsequent_indent=" " * 4)
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2] / "src"))
    FOLDER.mkdir(exist_ok=True)
    for name, case in CASES.items():
        (FOLDER / f"{name}.txt").write_text(golden(*case), encoding="utf-8")
