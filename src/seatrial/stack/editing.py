"""Changes single values in a stack file's text; comments, order and everything else stay as they are. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import yaml

from seatrial.errors import InputError
from seatrial.yaml_text import read_yaml
from seatrial.yaml_writing import scalar


def set_value(text: str, path: Sequence[str], value: Any, *, where: str) -> str:
    """Set one scalar of a mapping, or put the key in where it is not there; None takes the key out.

    Args:
        text: a valid stack file.
        path: keys from the root; all but the last must be mappings that are there, or will be made.
        value: text, number or boolean; None removes the line.
        where: the file's name.

    Raises:
        InputError: the text is no YAML, or something that is no mapping is in the way.
    """
    read_yaml(text, where=where)
    node: yaml.Node | None = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    for depth, key in enumerate(path):
        if not isinstance(node, yaml.MappingNode):
            raise InputError(f"{'.'.join(path[:depth])} is no mapping", where=where)
        found = next(((name, held) for name, held in node.value if name.value == key), None)
        if found is None:
            return text if value is None else _insert(text, node, path[depth:], value, where=where)
        name, held = found
        if depth == len(path) - 1:
            return _replace(text, node, name, held, value, where=where)
        node = held
    return text


def _replace(text: str, parent: yaml.MappingNode, name: yaml.Node, held: yaml.Node, value: Any, *, where: str) -> str:
    if value is None:
        if parent.flow_style:
            raise InputError(
                "a key of an inline mapping can't be taken out", where=where, advice="Write it over lines."
            )
        lines = text.splitlines(keepends=True)
        del lines[name.start_mark.line : held.end_mark.line + (held.end_mark.column > 0)]
        return "".join(lines)
    if not isinstance(held, yaml.ScalarNode):
        raise InputError("there is more than one value", where=f"{where}:{held.start_mark.line + 1}")
    if held.start_mark.index == held.end_mark.index:  # `key:` alone
        at = name.end_mark.index + 1
        return f"{text[:at]} {scalar(value)}{text[at:]}"
    return text[: held.start_mark.index] + scalar(value) + text[held.end_mark.index :]


def _insert(text: str, parent: yaml.MappingNode, path: Sequence[str], value: Any, *, where: str) -> str:
    """Put a key in, right before the mapping's first one, so that no comment after the last is torn off."""
    if parent.flow_style:
        raise InputError("a key can't be put into an inline mapping", where=where, advice="Write it over lines.")
    first = parent.value[0][0].start_mark
    indent = " " * first.column
    lines = [f"{indent}{'  ' * depth}{key}:\n" for depth, key in enumerate(path[:-1])]
    lines.append(f"{indent}{'  ' * (len(path) - 1)}{path[-1]}: {scalar(value)}\n")
    begin = first.index - first.column
    return text[:begin] + "".join(lines) + text[begin:]
