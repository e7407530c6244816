"""The stack file's JSON Schema, for editors."""

from __future__ import annotations

from typing import Any

from seatrial.stack.model import Stack


def stack_schema() -> dict[str, Any]:
    """Make the JSON Schema (draft 2020-12) of a stack file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "seatrial stack file",
        **Stack.model_json_schema(),
    }
