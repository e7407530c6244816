"""Reads the environment variables of an installed SGLang; a part of `scripts/sglang_flags.py`.

Most are declared in one class with type and default. Others are read where they are needed (`os.environ.get(…)`); those
are found in the package's source, so that a variable that works is never called unknown.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

VARIABLE_TYPES = {
    "EnvBool": "bool",
    "EnvBoolWithAlias": "bool",
    "EnvInt": "int",
    "EnvIntWithAlias": "int",
    "EnvFloat": "float",
    "EnvJSON": "json",
    "EnvTuple": "list",
}
"""Classes of SGLang's `environ.py`; all others hold text."""
READERS = {"get": "text", "getenv": "text", "setdefault": "text", "get_bool_env_var": "bool", "get_int_env_var": "int"}
NAME = re.compile(r"(?:SGLANG|SGL)_[A-Z0-9_]+\Z")
OTHER_PROGRAMS = ("multimodal_gen", "test", "eval", "benchmark")
"""Folders of the package that are no part of the language-model server."""


def variables() -> list[dict[str, Any]]:
    """Read every environment variable, sorted by name."""
    from sglang.srt import environ  # type: ignore[import-not-found]

    found = {entry["name"]: entry for entry in declared(environ)}
    source = Path(environ.__file__)
    for entry in (*deprecated(ast.parse(source.read_text(encoding="utf-8-sig"))), *read_elsewhere(source.parents[1])):
        found.setdefault(entry["name"], entry)
    return sorted(found.values(), key=lambda entry: str(entry["name"]))


def declared(environ: Any) -> Iterator[dict[str, Any]]:
    """Read the variables that SGLang declares, with their older names."""
    home = os.path.expanduser("~")  # noqa: PTH111 - text is replaced in text
    for name, field in vars(environ.Envs).items():
        kind = type(field).__name__
        if not kind.startswith("Env"):
            continue
        entry: dict[str, Any] = {"name": name, "type": VARIABLE_TYPES.get(kind, "text")}
        default = None if callable(field.default) else field.default
        if isinstance(default, tuple):
            default = list(default)
        if default not in (None, "", [], {}):
            entry["default"] = default.replace(home, "~") if isinstance(default, str) else default
        yield entry
        if older := getattr(field, "deprecated_name", None):
            yield {"name": older, "type": entry["type"], "deprecated": True, "instead": [name]}


def deprecated(tree: ast.Module) -> Iterator[dict[str, Any]]:
    """Read the names that `environ.py` warns of: calls and tables, as 0.5.16 and 0.5.23 have them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and named(node.func) in (
            "_print_deprecated_env",
            "_warn_deprecated_env_to_cli_flag",
        ):
            old, *rest = [text_of(argument) for argument in node.args]
            if old:
                yield gone(old, " ".join(filter(None, rest)))
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                name = text_of(key)
                if not name or not NAME.match(name):
                    continue
                if text := text_of(value):
                    yield gone(name, text)
                elif isinstance(value, ast.Call) and named(value.func) == "_DeprecatedEnv":
                    yield gone(name, " ".join(filter(None, (text_of(word.value) for word in value.keywords))))


def gone(name: str, told: str) -> dict[str, Any]:
    """Describe a variable that SGLang warns of; the first flag or variable that it names takes its place."""
    entry: dict[str, Any] = {"name": name, "type": "text", "deprecated": True}
    if instead := re.search(r"--[a-z0-9][a-z0-9-]*|(?:SGLANG|SGL)_[A-Z0-9_]+", told):
        entry["instead"] = [instead[0]]
    return entry


def read_elsewhere(package: Path) -> Iterator[dict[str, Any]]:
    """Find the variables that are read in the source and declared nowhere."""
    for file in sorted(package.rglob("*.py")):
        if file.relative_to(package).parts[0] in OTHER_PROGRAMS:
            continue
        text = file.read_text(encoding="utf-8-sig", errors="replace")
        if "SGL" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and node.args and named(node.func) in READERS:
                name, kind = text_of(node.args[0]), READERS[named(node.func)]
            elif isinstance(node, ast.Subscript) and named(node.value) == "environ":
                name, kind = text_of(node.slice), "text"
            elif isinstance(node, ast.Compare) and any(named(part) == "environ" for part in node.comparators):
                name, kind = text_of(node.left), "text"
            else:
                continue
            if name and NAME.match(name):
                yield {"name": name, "type": kind}


def named(node: ast.expr) -> str:
    """Name a function or attribute by its last part."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def text_of(node: ast.expr | None) -> str | None:
    """Give the text of a literal; adjacent literals are one already."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
