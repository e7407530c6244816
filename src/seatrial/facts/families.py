"""What is known about the chat templates of whole families: for checkpoints whose own template nobody has looked at."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources

from seatrial.facts.model import ChatTemplateFacts
from seatrial.yaml_text import read_yaml


def family_template(model_type: str) -> ChatTemplateFacts | None:
    """Say what the templates of a family know; None for a family whose checkpoints differ, or that is not known."""
    return _families().get(model_type)


@cache
def _families() -> Mapping[str, ChatTemplateFacts]:
    text = (resources.files("seatrial.facts") / "families.yaml").read_text(encoding="utf-8")
    return {
        name: ChatTemplateFacts(
            tools=row["tools"],
            tool_call_style=row["tool_call_style"],
            reasoning=row["reasoning"],
            reasoning_style=row.get("reasoning_style"),
            thinking_toggle=row.get("thinking_toggle"),
        )
        for row in read_yaml(text, where="families.yaml").value
        for name in row["types"]
    }
