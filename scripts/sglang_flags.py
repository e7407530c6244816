"""Reads the command line of an installed SGLang, by asking its own argument parser, and writes the catalogue's data.

Run it with the interpreter that has SGLang installed; it needs nothing of seatrial's:

    python scripts/sglang_flags.py > …/sglang/flags/0.5.16.json
    python scripts/sglang_flags.py --site FOLDER > …     a wheel of another version, unpacked into FOLDER

Parts of SGLang that only a GPU has (sgl_kernel, torchvision …) and that are missing are replaced by empty stand-ins
while its parser is made; the parser itself is SGLang's. What could not be read is named on stderr.
"""

from __future__ import annotations

import argparse
import importlib.abc
import importlib.machinery
import importlib.metadata
import json
import os
import sys
import types
import warnings
from pathlib import Path
from typing import Any

STAND_INS = ("sgl_kernel", "torchvision", "flashinfer", "deep_gemm", "triton_kernels", "decord", "cuda")
"""Packages that may be missing on a machine without a GPU, and that say nothing about flags."""


class AnyName(type):
    """A class whose every attribute is again such a class."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return AnyName(name, (Anything,), {})


class Anything(metaclass=AnyName):
    """Takes anything and does nothing."""

    def __init__(self, *_arguments: Any, **_keywords: Any) -> None:
        pass

    def __call__(self, *_arguments: Any, **_keywords: Any) -> Any:
        """Return itself."""
        return self


class StandIn(types.ModuleType):
    """A module whose every name is a class that takes anything."""

    __path__: list[str] = []  # noqa: RUF012 - a package has one
    __version__ = "99.0"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return AnyName(name, (Anything,), {})


class StandInFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds what nothing else finds, for the packages named in STAND_INS."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        """Find a package that may be missing."""
        del path, target
        if name.partition(".")[0] not in STAND_INS:
            return None
        print(f"stand-in for {name}", file=sys.stderr)
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        """Make the stand-in."""
        return StandIn(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Run nothing."""
        del module


def main() -> int:
    """Print the catalogue of the SGLang that this interpreter imports."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--site", type=Path, help="a folder with another version, unpacked")
    site = arguments.parse_args().site
    if os.environ.get("PYTHONHASHSEED") != "0":  # some choices come from sets: their order must be the same each time
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONHASHSEED": "0"})  # noqa: S606
    if site:
        sys.path.insert(0, str(site.absolute()))
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
    os.environ.setdefault("SGLANG_USE_CPU_ENGINE", "1")
    warnings.simplefilter("ignore")
    sys.meta_path.append(StandInFinder())
    stdout, sys.stdout = sys.stdout, sys.stderr  # imports may print
    document = {"engine": "sglang", "version": version(site), "flags": flags(), "variables": declared_and_read()}
    sys.stdout = stdout
    print(layout(document))
    return 0


def version(site: Path | None) -> str:
    """Say which version is read."""
    if site:
        (found,) = importlib.metadata.distributions(name="sglang", path=[str(site)])
        return found.version
    return importlib.metadata.version("sglang")


def flags() -> list[dict[str, Any]]:
    """Read every option of the parser, sorted by name."""
    from sglang.srt.server_args import ServerArgs  # type: ignore[import-not-found]

    parser = argparse.ArgumentParser(add_help=False)
    ServerArgs.add_cli_args(parser)
    actions = [action for action in parser._actions if long_names(action)]  # noqa: SLF001 - no public way to list them
    owners = {action.dest: long_names(action)[0] for action in reversed(actions) if not is_deprecated(action)}
    return sorted((flag(action, owners) for action in actions), key=lambda entry: str(entry["name"]))


def flag(action: argparse.Action, owners: dict[str, str]) -> dict[str, Any]:
    """Describe one option: what the parser knows of it, without its help text.

    Args:
        action: the parser's entry.
        owners: the option that each of the parser's fields belongs to; deprecated ones write into another's.
    """
    kind, names = type(action).__name__, long_names(action)
    entry: dict[str, Any] = {"name": names[0], "type": type_of(action)}
    positive = [name for name in names[1:] if not name.startswith("--no-")]
    if positive:
        entry["aliases"] = positive
    if kind == "BooleanOptionalAction":
        entry["negation"] = next(name for name in names if name.startswith("--no-"))
    if action.nargs in ("+", "*"):
        entry["many"] = True
    if action.nargs in ("?", "*"):
        entry["optional"] = True
    if action.choices is not None:
        entry["choices"] = [plain(choice) for choice in action.choices if choice is not None]
    if action.required:
        entry["required"] = True
    owner = owners.get(action.dest) if is_deprecated(action) else None
    default = plain(action.default)
    if default not in (None, argparse.SUPPRESS, []) and owner is None:
        entry["default"] = default
    if is_deprecated(action):
        entry["deprecated"] = True
        instead = [
            name for name in options_in(str(getattr(action, "new_flag", None) or action.help)) if name not in names
        ]
        if instead:
            entry["instead"] = instead
    if owner is not None:
        entry["sets"] = owner
        if hasattr(action, "const_value"):
            entry["sets_to"] = plain(action.const_value)
    if kind not in ("_StoreAction", "_StoreTrueAction"):
        entry["config_file"] = False  # SGLang's ConfigArgumentMerger refuses every other kind of action
    return entry


def is_deprecated(action: argparse.Action) -> bool:
    """Whether SGLang itself calls an option deprecated, by its action or at the beginning of its help."""
    told = (action.help or "").lower().lstrip("([")
    return type(action).__name__.startswith("Deprecated") or told.startswith("deprecated")


def long_names(action: argparse.Action) -> list[str]:
    """List an option's spellings that begin with two dashes."""
    return [name for name in action.option_strings if name.startswith("--")]


def options_in(text: str) -> list[str]:
    """List the options that a text names first; `--x-{a,b}` are two."""
    for word in text.split():
        name = word.strip("`'\".,;():").partition("=")[0]
        if not name.startswith("--"):
            continue
        stem, brace, rest = name.partition("{")
        return [f"{stem}{part}" for part in rest.rstrip("}").split(",")] if brace else [name]
    return []


def declared_and_read() -> list[dict[str, Any]]:
    """Read every environment variable: those that SGLang declares, and those that its source reads elsewhere."""
    sys.path.insert(0, str(Path(__file__).parent))
    from sglang_variables import variables

    home = os.path.expanduser("~")  # noqa: PTH111 - text is replaced in text
    found = variables()
    for entry in found:
        if isinstance(entry.get("default"), str):
            entry["default"] = entry["default"].replace(home, "~")
    return found


def type_of(action: argparse.Action) -> str:
    """Name the type of an option's value: bool, int, float, size, json or text."""
    if action.nargs == 0 or type(action).__name__ == "BooleanOptionalAction":
        return "bool"
    name = getattr(action.type, "__name__", str(action.type))
    if name in ("int", "float"):
        return name
    if name == "human_readable_int":
        return "size"
    if "json" in name.lower() or name in ("loads", "parse_cuda_graph_config_arg"):
        return "json"
    return "text"


def plain(value: Any) -> Any:
    """Write a default or a choice as JSON holds it; what has no such form becomes its text."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in (sorted(value, key=str) if isinstance(value, set | frozenset) else value)]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return str(getattr(value, "value", value))


def layout(document: dict[str, Any]) -> str:
    """Write one flag or variable a line, so that two versions can be compared."""
    parts = [f'  "engine": {json.dumps(document["engine"])}', f'  "version": {json.dumps(document["version"])}']
    for key in ("flags", "variables"):
        rows = ",\n".join(f"    {json.dumps(row, ensure_ascii=False)}" for row in document[key])
        parts.append(f'  "{key}": [\n{rows}\n  ]')
    return "{\n" + ",\n".join(parts) + "\n}"


if __name__ == "__main__":
    sys.exit(main())
