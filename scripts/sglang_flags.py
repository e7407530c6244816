"""Reads the command line of an installed SGLang, by asking its own argument parser, and writes the catalogue's data.

Run it with the interpreter that has SGLang installed; it needs nothing of seatrial's:

    python scripts/sglang_flags.py > src/seatrial/engines/sglang/flags/0.5.16.json
    python scripts/sglang_flags.py --site FOLDER > …   another version, unpacked into FOLDER (pip install --no-deps --target)

Parts of SGLang that only a GPU has (sgl_kernel, torchvision …) and that are missing are replaced by empty stand-ins while
its parser is made; the parser itself is SGLang's. Each stand-in is named on stderr. What an option does is not read: the
catalogue's help is in our own words.
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
        return self


class StandIn(types.ModuleType):
    """A module whose every name is a class that takes anything."""

    __path__: list[str] = []  # noqa: RUF012 - a package has one

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return AnyName(name, (Anything,), {})


class StandInFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds what nothing else finds, for the packages named in STAND_INS."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        del path, target
        if name.partition(".")[0] not in STAND_INS:
            return None
        print(f"stand-in for {name}", file=sys.stderr)
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return StandIn(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        del module


def main() -> int:
    """Print the catalogue of the SGLang that this interpreter imports."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--site", type=Path, help="a folder with another version, unpacked")
    site = arguments.parse_args().site
    stdout, sys.stdout = sys.stdout, sys.stderr  # imports may print
    prepare(site)
    from sglang_variables import variables  # type: ignore[import-not-found]  # noqa: PLC0415 - after the finder

    document = {"engine": "sglang", "version": version(site), "flags": flags(parser()), "variables": variables()}
    sys.stdout = stdout
    print(layout(document))
    return 0


def prepare(site: Path | None) -> None:
    """Make SGLang importable: another version first on the path, stand-ins last."""
    if site:
        sys.path.insert(0, str(site.absolute()))
    for name in [name for name in os.environ if name.startswith(("SGLANG_", "SGL_"))]:
        del os.environ[name]  # what is set here must not look like a default
    os.environ.update(CUDA_VISIBLE_DEVICES="", SGLANG_USE_CPU_ENGINE="1")
    warnings.simplefilter("ignore")
    sys.meta_path.append(StandInFinder())


def parser() -> argparse.ArgumentParser:
    """Make SGLang's own parser, as its launcher does."""
    from sglang.srt.server_args import ServerArgs  # type: ignore[import-not-found]  # noqa: PLC0415 - after the finder

    made = argparse.ArgumentParser(prog="sglang serve")
    ServerArgs.add_cli_args(made)
    return made


def version(site: Path | None) -> str:
    """Say which version is read."""
    if site:
        (found,) = importlib.metadata.distributions(name="sglang", path=[str(site)])
        return found.version
    return importlib.metadata.version("sglang")


def flags(made: argparse.ArgumentParser) -> list[dict[str, Any]]:
    """Read every option of the parser, sorted by name."""
    actions = [action for action in made._actions if action.dest != "help"]  # noqa: SLF001 - argparse lists them nowhere else
    owners = {action.dest: long_names(action)[0] for action in reversed(actions) if not is_deprecated(action)}
    return sorted((flag(action, owners) for action in actions), key=lambda entry: str(entry["name"]))


def flag(action: argparse.Action, owners: dict[str, str]) -> dict[str, Any]:
    """Describe one option: what the parser knows of it, without its help text."""
    names = long_names(action)
    entry: dict[str, Any] = {"name": names[0], "type": type_of(action)}
    positive = [name for name in action.option_strings if name not in (names[0], f"--no-{names[0][2:]}")]
    if positive:
        entry["aliases"] = positive
    if type(action).__name__ == "BooleanOptionalAction":
        entry["negation"] = f"--no-{names[0][2:]}"
    if action.nargs in ("+", "*", "?"):
        entry["nargs"] = action.nargs
    if action.choices is not None:
        entry["choices"] = [plain(choice) for choice in action.choices if choice is not None]
    if getattr(action.type, "__name__", "") == "parse_cuda_graph_config_arg":
        entry["keys"] = keys_of_graph_config()
    if action.required:
        entry["required"] = True
    default = plain(action.default)
    if default not in (None, argparse.SUPPRESS, []) and not (is_deprecated(action) and owners.get(action.dest)):
        entry["default"] = default
    if action.help == argparse.SUPPRESS:
        entry["hidden"] = True
    if is_deprecated(action):
        entry["deprecated"] = True
        entry.update(successor(action, owners))
    if type(action).__name__ not in ("_StoreAction", "_StoreTrueAction"):
        entry["config_file"] = False  # ConfigArgumentMerger refuses every other kind of action
    return entry


def successor(action: argparse.Action, owners: dict[str, str]) -> dict[str, Any]:
    """Say what takes a deprecated option's place, and which option it sets today."""
    found: dict[str, Any] = {}
    told = getattr(action, "new_flag", None) or action.help or ""
    instead = [name for name in options_in(told) if name.partition("=")[0] not in action.option_strings]
    if instead:
        found["instead"] = instead
    owner = owners.get(action.dest)
    if owner:
        found["sets"] = owner
        if hasattr(action, "const_value"):
            found["sets_to"] = plain(action.const_value)
    return found


def is_deprecated(action: argparse.Action) -> bool:
    """Whether SGLang itself calls an option deprecated, by its action or in its help."""
    told = (action.help or "").lower().lstrip("([")
    return type(action).__name__.startswith("Deprecated") or told.startswith("deprecated")


def long_names(action: argparse.Action) -> list[str]:
    """List an option's spellings that begin with two dashes."""
    return [name for name in action.option_strings if name.startswith("--")]


def options_in(text: str) -> list[str]:
    """Name the first option of a text, with its value; `--x-{a,b}=c` are two."""
    for word in text.replace(" {", " ").split():
        name = word.strip("`'\".,;():")
        if not name.startswith("--"):
            continue
        stem, brace, rest = name.partition("{")
        parts, _, tail = rest.partition("}")
        return [f"{stem}{part}{tail}" for part in parts.split(",")] if brace else [name]
    return []


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


def keys_of_graph_config() -> dict[str, list[str]]:
    """Name what --cuda-graph-config may hold: the keys of each phase."""
    from sglang.srt.model_executor import cuda_graph_config  # type: ignore[import-not-found]  # noqa: PLC0415 - installed

    return {str(phase): list(map(str, keys)) for phase, keys in cuda_graph_config.ALLOWED_KEYS_PER_PHASE.items()}


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
