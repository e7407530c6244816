"""Reads and writes facts as YAML: `host:` and, where wanted, `model:`. What is left out of a file is unknown."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seatrial.errors import InputError
from seatrial.facts.host import HostFacts
from seatrial.facts.model import ModelFacts
from seatrial.text_files import read_text
from seatrial.yaml_text import read_yaml
from seatrial.yaml_writing import block


@dataclass(frozen=True, slots=True)
class FactsFile:
    """What a file of facts holds."""

    host: HostFacts | None = None
    model: ModelFacts | None = None


def read_facts(path: Path) -> FactsFile:
    """Read a file of facts.

    Raises:
        InputError: it can't be read, or something in it is wrong.
    """
    return parse_facts(read_text(path, "facts file"), where=str(path))


def parse_facts(text: str, *, where: str) -> FactsFile:
    """Read facts from their text.

    Raises:
        InputError: with every mistake on a line of its own.
    """
    from pydantic import TypeAdapter, ValidationError  # noqa: PLC0415 - 40 ms that most verbs don't need

    from seatrial.validation import as_input_error, joined, unknown_keys  # noqa: PLC0415 - likewise

    document = read_yaml(text, where=where)
    if not isinstance(document.value, dict) or not document.value.keys() <= {"host", "model"}:
        raise InputError(
            "a facts file holds `host:` and, if wanted, `model:`",
            where=document.place(),
            advice="`seatrial facts > facts.yaml` writes one.",
        )
    if unknown := unknown_keys(document, FactsFile):
        raise joined(unknown)
    try:
        return TypeAdapter(FactsFile).validate_python(document.value)
    except ValidationError as error:
        raise as_input_error(error, document, FactsFile) from None


def write_facts(facts: FactsFile) -> str:
    """Write facts as YAML that `parse_facts` reads back as the same; what is unknown is left out."""
    lines: list[str] = []
    for name in ("host", "model"):
        value = getattr(facts, name)
        if value is not None:
            plain = _plain(value)
            lines += [f"{name}:", *block(plain, 1)] if plain else [f"{name}: {{}}"]
    return "\n".join([*lines, ""])


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: _plain(getattr(value, field.name))
            for field in dataclasses.fields(value)
            if not _is_default(value, field)
        }
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return str(value.value) if hasattr(value, "value") else value


def _is_default(value: Any, field: dataclasses.Field[Any]) -> bool:
    held = getattr(value, field.name)
    if field.default is not dataclasses.MISSING:
        return bool(held == field.default)
    return field.default_factory is not dataclasses.MISSING and bool(held == field.default_factory())
