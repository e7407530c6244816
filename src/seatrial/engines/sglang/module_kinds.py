"""Which part of a model a module is, by its name in the checkpoint. The patterns are data: `module_kinds.yaml`."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache, lru_cache
from importlib import resources

from seatrial.yaml_text import read_yaml


class ModuleKind(StrEnum):
    """Which part of a model a module is."""

    LINEAR_ATTENTION_GATES = "linear attention gates"
    """`in_proj_a`, `in_proj_b`, `in_proj_ba`: decay and write strength of the recurrent state."""
    LINEAR_ATTENTION_INPUT = "linear attention in"
    LINEAR_ATTENTION_OUTPUT = "linear attention out"
    ATTENTION = "attention"
    ROUTER = "router gate"
    SHARED_EXPERT_GATE = "shared expert gate"
    SHARED_EXPERT = "shared expert"
    EXPERTS = "routed experts"
    FEED_FORWARD = "feed-forward"
    LM_HEAD = "lm_head"
    EMBEDDINGS = "embeddings"
    VISION = "vision tower"
    DRAFT = "draft layers (MTP)"
    SMALL = "norms and other small tensors"
    OTHER = "other"


def kind_of(module: str) -> ModuleKind:
    """Say which part of a model a module is."""
    return _kind_of_shape(re.sub(r"(?<=\.)\d+(?=\.|$)", "N", module))


@lru_cache(maxsize=4096)
def _kind_of_shape(module: str) -> ModuleKind:
    return next((kind for kind, pattern in _patterns() if pattern.search(module)), ModuleKind.OTHER)


@cache
def _patterns() -> tuple[tuple[ModuleKind, re.Pattern[str]], ...]:
    text = resources.files(__package__).joinpath("module_kinds.yaml").read_text(encoding="utf-8")
    return tuple(
        (ModuleKind(row["kind"]), re.compile("|".join(row["patterns"])))
        for row in read_yaml(text, where="module_kinds.yaml").value
    )
