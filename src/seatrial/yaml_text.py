"""Reads YAML (1.2, as Docker Compose does) into plain values, and remembers the line of every key and item.

PyYAML parses; its own values are YAML 1.1 (`on` a boolean, `22:22` a number in base sixty), so scalars are read here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from seatrial.errors import InputError

Path = tuple[str | int, ...]
"""The way to a value: keys and positions from the root."""

INTEGER = re.compile(r"[-+]?[0-9]+\Z")
OCTAL = re.compile(r"0o[0-7]+\Z")
HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+\Z")
FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
INFINITE = re.compile(r"[-+]?\.(inf|Inf|INF)\Z|\.(nan|NaN|NAN)\Z")
WORDS = {"": None, "~": None, "true": True, "false": False} | {
    word: value
    for name, value in (("null", None), ("true", True), ("false", False))
    for word in (name, name.title(), name.upper())
}
MOST_VALUES = 200_000
"""A document that unfolds to more (aliases of aliases) is no configuration."""
MOST_DIGITS = 300
"""A longer number is text: Python itself refuses to read one of more than 4,300 digits."""
DEEPEST = 100
KNOWN_TAGS = frozenset({"str", "int", "float", "bool", "null", "timestamp", "merge", "value"})
"""What PyYAML says of plain scalars; what they are is decided here."""


@dataclass(frozen=True, slots=True)
class YamlText:
    """A document: its value, and where each part of it stands.

    Attributes:
        value: dictionaries with text keys, lists, text, numbers, booleans and None.
        where: the file's name.
        lines: line of each key and list item by its path, counted from 1.
    """

    value: Any
    where: str
    lines: dict[Path, int]

    def place(self, path: Sequence[str | int] = ()) -> str:
        """Name the file and the line of a path, or of the nearest part above it that is in the text."""
        path = tuple(path)
        while path and path not in self.lines:
            path = path[:-1]
        return f"{self.where}:{self.lines.get(path, 1)}"


def read_yaml(text: str, *, where: str) -> YamlText:
    """Read one document; an empty text is None.

    Raises:
        InputError: it is no YAML, has a key twice, an unknown tag, or unfolds without end.
    """
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        root = yaml.compose(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        last = text.count("\n") + (not text.endswith("\n"))  # the parser may point behind the end
        line = f":{min(mark.line + 1, last)}" if mark else ""
        raise InputError(
            f"this is no valid YAML ({error.problem})",
            where=f"{where}{line}",
            advice="Check indentation, quotes and colons there and on the line above.",
        ) from None
    except (yaml.YAMLError, RecursionError, UnicodeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"this is no valid YAML ({reason})", where=where) from None
    reader = _Reader(where)
    value = None if root is None else reader.value(root, ())
    return YamlText(value, where, reader.lines)


class _Reader:
    """Turns the parser's nodes into values."""

    def __init__(self, where: str) -> None:
        self.lines: dict[Path, int] = {}
        self._where = where
        self._count = 0

    def value(self, node: yaml.Node, path: Path) -> Any:
        """Make the value of one node, and note the lines below it."""
        self.lines.setdefault(path, node.start_mark.line + 1)
        self._count += 1
        if self._count > MOST_VALUES or len(path) > DEEPEST:
            self._fail("it unfolds to more than a configuration can hold", node, "Is an alias inside itself?")
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]
        assert isinstance(node, yaml.ScalarNode)
        return self._scalar(node)

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key, value in self._merged(node):
            if key in made:
                continue  # what stands in the mapping itself goes before what is merged into it
            self.lines[(*path, key)] = value[0]
            made[key] = self.value(value[1], (*path, key))
        return made

    def _merged(self, node: yaml.MappingNode) -> Iterator[tuple[str, tuple[int, yaml.Node]]]:
        merged: list[yaml.MappingNode] = []
        seen: set[str] = set()
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self._fail("a key must be plain text", key_node, "")
            key = key_node.value
            if key == "<<" and not key_node.style:
                merged += value_node.value if isinstance(value_node, yaml.SequenceNode) else [value_node]
                continue
            if key in seen:
                self._fail(f"the key {key!r} stands here a second time", key_node, "Keep one of the two.")
            seen.add(key)
            yield key, (key_node.start_mark.line + 1, value_node)
        for other in merged:
            if not isinstance(other, yaml.MappingNode):
                self._fail("only a mapping can be merged with <<", other, "")
            self._count += 1
            if self._count > MOST_VALUES or other is node:
                self._fail("it unfolds to more than a configuration can hold", node, "Is an alias inside itself?")
            yield from self._merged(other)

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        text: str = node.value
        tag = node.tag or ""
        if node.style:
            return text
        if tag and tag.removeprefix("tag:yaml.org,2002:") not in KNOWN_TAGS:
            self._fail(f"the tag {tag} is unknown", node, "Remove it.")
        return plain(text)

    def _fail(self, problem: str, node: yaml.Node, advice: str) -> None:
        raise InputError(problem, where=f"{self._where}:{node.start_mark.line + 1}", advice=advice or None)


def plain(text: str) -> Any:
    """Resolve a plain scalar by the core schema of YAML 1.2."""
    if text in WORDS:
        return WORDS[text]
    if len(text) > MOST_DIGITS:
        return text
    if INTEGER.match(text):
        return int(text)
    if OCTAL.match(text) or HEXADECIMAL.match(text):
        return int(text, 0)
    if FLOAT.match(text):
        return float(text)
    if INFINITE.match(text):
        return float(text.lower().replace(".", ""))
    return text
