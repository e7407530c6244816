"""Reads a checkpoint's folder: `config.json` and what stands beside it. Edge of the pure readers; loads no weight."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from seatrial.errors import InputError
from seatrial.facts.chat_template import pick_template
from seatrial.facts.model import ModelFacts, TensorFacts
from seatrial.facts.model_config import read_model
from seatrial.facts.safetensors_headers import read_header

INDEX = "model.safetensors.index.json"
LARGEST_JSON_BYTES = 64 * 1024 * 1024


def read_model_folder(folder: Path, *, repo: str | None = None, revision: str | None = None) -> ModelFacts:
    """Read a folder that holds a checkpoint, e.g. a snapshot of the Hub's cache.

    Args:
        folder: holds `config.json`; weights may be missing, then their sizes are counted from the config.
        repo: `owner/name`, where known.
        revision: the commit, where known.

    Raises:
        InputError: there is no `config.json`, or a file is not what it should be.
    """
    config = read_json(folder / "config.json")
    if config is None:
        raise InputError(
            "there is no `config.json`", where=str(folder), advice="Name the folder that holds the model's files."
        )
    tensors, notes = _tensors(folder)
    return read_model(
        config,
        source=str(folder),
        repo=repo,
        revision=revision,
        tensors=tensors,
        chat_template=_template(folder),
        generation_config=read_json(folder / "generation_config.json"),
        modelopt_config=read_json(folder / "hf_quant_config.json"),
        notes=notes,
    )


def read_json(path: Path) -> Mapping[str, object] | None:
    """Read one JSON object; None where the file is missing.

    Raises:
        InputError: the file can't be read or holds no JSON object.
    """
    try:
        if path.stat().st_size > LARGEST_JSON_BYTES:
            raise InputError("the file is too large to be a config", where=str(path))
        loaded = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise InputError(f"can't be read: {problem.strerror or problem}", where=str(path)) from problem
    except ValueError as problem:
        raise InputError(f"no JSON: {problem}", where=str(path)) from problem
    if not isinstance(loaded, dict):
        raise InputError("no JSON object", where=str(path))
    return loaded


def _tensors(folder: Path) -> tuple[Mapping[str, TensorFacts], tuple[str, ...]]:
    """Read every shard's header; where a shard is missing nothing is taken, for sizes would be too small."""
    index = read_json(folder / INDEX)
    listed = index.get("weight_map") if index else None
    if isinstance(listed, dict):
        names = sorted({str(file) for file in listed.values()})
    else:
        names = sorted(path.name for path in folder.glob("*.safetensors"))
    if any("/" in name or name.startswith("..") for name in names):
        raise InputError("the index names a file outside of the folder", where=str(folder / INDEX))
    missing = [name for name in names if not (folder / name).exists()]
    if missing:
        return {}, (f"{len(missing)} of {len(names)} weight files are missing: sizes are counted from the config",)
    tensors: dict[str, TensorFacts] = {}
    for name in names:
        tensors.update(read_header(folder / name))
    return tensors, ()


def _template(folder: Path) -> str | None:
    """Find the chat template: its own file goes before the one in `tokenizer_config.json`."""
    for name in ("chat_template.jinja", "chat_template.json"):
        path = folder / name
        if not path.is_file():
            continue
        if name.endswith(".json"):
            return pick_template((read_json(path) or {}).get("chat_template"))
        try:
            return path.read_text(encoding="utf-8")
        except (OSError, ValueError) as problem:
            raise InputError(f"can't be read: {problem}", where=str(path)) from problem
    tokenizer = read_json(folder / "tokenizer_config.json")
    return pick_template(tokenizer.get("chat_template")) if tokenizer else None
