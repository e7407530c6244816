"""Models that can be planned offline: their `config.json`, by repository, each with where it is known from.

One JSON file a model, named `owner--name.json`:
{"repo", "sources": [...], "notes": [...], "base": repository whose config it changes (optional), "config": {...}}.
Keys are those of the checkpoint's `config.json`; what memory and planning don't need is left out. Nothing is guessed
silently: what was inferred stands in `notes`, and the plan's figures get a wider spread for it.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

from seatrial.facts.model import ModelFacts
from seatrial.facts.model_config import read_model

_MOST_BASES = 4


def known_model(repo: str) -> ModelFacts | None:
    """Take the facts of a known model; None where it is not known.

    Args:
        repo: `owner/name`, as the Hub spells it; capitals don't matter.
    """
    name = _names().get(repo.strip().lower())
    if name is None:
        return None
    own = _file(name)
    return read_model(
        _config(own, _MOST_BASES),
        source=str(own["repo"]),
        repo=str(own["repo"]),
        sources=tuple(own["sources"]),
        notes=tuple(own["notes"]),
    )


def known_repos() -> tuple[str, ...]:
    """List every known repository."""
    return tuple(sorted(name.replace("--", "/", 1) for name in _names().values()))


def _config(own: dict[str, Any], depth: int) -> dict[str, Any]:
    base = own.get("base")
    if base is None or depth == 0:
        return dict(own["config"])
    name = _names()[str(base).lower()]
    return {**_config(_file(name), depth - 1), **own["config"]}


@cache
def _names() -> dict[str, str]:
    """Every known repository in small letters -> the name of its file."""
    files = (entry.name for entry in resources.files(__name__).iterdir() if entry.name.endswith(".json"))
    return {name.removesuffix(".json").replace("--", "/", 1).lower(): name.removesuffix(".json") for name in files}


def _file(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(resources.files(__name__).joinpath(f"{name}.json").read_text(encoding="utf-8"))
    return loaded
