"""Where references are looked for: stack files, Compose files, switches under way, proven stacks, ledgers, containers.

Reads only. The folders that are looked into: those that are named, the current one, the store's own and those beside
it (the layout of the deployment notes), those of Compose projects that Docker knows, and of stacks that the store
remembers.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from seatrial.errors import InputError, SeatrialError
from seatrial.store.containers import Container, find_containers
from seatrial.store.known_stacks import known_stacks
from seatrial.store.layout import COMMIT, StoredModel, hub_folder, read_store
from seatrial.store.open_files import inode, process_uses
from seatrial.store.references import Known, Mention, Use, UseKind, mentions

CERTAIN_NAMES = ("stack.yaml", "stack.yml", "compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml")
"""Where one of these can't be read, nobody knows what it refers to."""
PATTERNS = ("*.yaml", "*.yml", ".env", "*.env")
LARGEST_BYTES = 1 << 20
MOST_FOLDERS = 200
STATE_FOLDER = ".seatrial"
REVISION_FLAG = re.compile(r"--revision[=\s]+['\"]?([^\s'\"]+)")
COMMON_FOLDERS = ("/", "/home", "/root", "/etc", "/usr", "/var", "/tmp", "/opt", "/srv", "/mnt")  # noqa: S108 - not written to
"""Folders of everybody: what lies beside a store there has nothing to do with it."""


def find_uses(store: Path, *, stacks: Sequence[Path] = (), containers: bool = True) -> Known:
    """Look everywhere.

    Args:
        store: the store.
        stacks: stack files, or folders of them, that are not found by themselves.
        containers: ask Docker and Podman.
    """
    models = read_store(store)
    stacks = (*stacks, *known_stacks(store))
    asked = find_containers() if containers else ((), ())
    found, unknown = asked
    folders = search_folders(store, stacks, found)
    known = Known((), unknown)
    known += file_uses(folders, models, hub_folder(store), stacks)
    known += Known(tuple(_container_uses(found, models, hub_folder(store))))
    files = {key: model.repo for model in models for path in _all_files(model) if (key := inode(path)) is not None}
    return known + process_uses((model.repo for model in models), files)


def search_folders(store: Path, stacks: Sequence[Path], containers: Iterable[Container] = ()) -> tuple[Path, ...]:
    """List the folders in which stack files may lie."""
    hub = hub_folder(store).absolute()
    home = hub.parent
    folders = [path if path.is_dir() else path.absolute().parent for path in stacks]
    folders += [Path.cwd(), home]
    folders += [one.folder for one in containers if one.folder is not None]
    if str(home.parent) not in COMMON_FOLDERS:
        folders.append(home.parent)
        with contextlib.suppress(OSError):
            folders += sorted(path for path in home.parent.iterdir() if path.is_dir() and path != home)[:MOST_FOLDERS]
    return tuple(dict.fromkeys(folder.resolve() for folder in folders if folder.is_dir()))


def file_uses(folders: Iterable[Path], models: Sequence[StoredModel], hub: Path, stacks: Sequence[Path] = ()) -> Known:
    """Read the stack files, Compose files and kept states of some folders."""
    known = Known()
    seen: set[Path] = set()
    for folder in folders:
        paths = [path for pattern in PATTERNS for path in sorted(folder.glob(pattern))]
        for path in [*(stack for stack in stacks if stack.is_file()), *paths]:
            real = path.resolve()
            if real in seen or (path.name.startswith(".") and path.name != ".env"):
                continue
            seen.add(real)
            known += _file(path, models, hub)
        known += _kept(folder, models, hub)
    return known


def _file(path: Path, models: Sequence[StoredModel], hub: Path) -> Known:
    if not path.is_file():
        return Known()
    try:
        if path.stat().st_size > LARGEST_BYTES:
            return Known((), (f"{path} is too large to be read",)) if path.name in CERTAIN_NAMES else Known()
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        if path.name not in CERTAIN_NAMES:
            return Known()
        return Known((), (f"{path} can't be read ({(error.strerror or str(error)).lower()})",))
    return Known(tuple(text_uses(text, path, UseKind.STACK, models, hub, str(path))), ()) + (
        _ledger(path, text, models) if path.suffix in (".yaml", ".yml") else Known()
    )


def text_uses(
    text: str, path: Path, kind: UseKind, models: Sequence[StoredModel], hub: Path, who: str
) -> Iterator[Use]:
    """Find what a file refers to: as a stack file where it is one, else by the names in it.

    Args:
        text: the file's.
        path: where it lies, or would lie: a stack's store is relative to it.
        kind: what it is where it is a stack file.
        models: of the store.
        hub: of the store.
        who: its name for people.
    """
    repos = [model.repo for model in models]
    stack = _stack(text, path) if path.suffix in (".yaml", ".yml") else None
    if stack is not None:
        if not same_store(path.absolute().parent / stack.store, hub):
            return
        found = _named(stack.model.repo, repos)
        for one in found:
            yield Use(kind, who, one.repo, one.revision or stack.model.revision or "main")
        rest = mentions("\n".join(_strings(stack.model_dump(exclude={"model"}))), repos)
        own = {one.repo for one in found}
        yield from (Use(kind, who, one.repo, one.revision) for one in rest if one.repo not in own)
        return
    kind = UseKind.FILE if kind is UseKind.STACK else kind
    values, is_certain = _values(text, path)
    revisions = _asked_revisions(values) if is_certain else [None]
    for one in mentions(values, repos):
        yield from (Use(kind, who, one.repo, revision) for revision in ([one.revision] if one.revision else revisions))


def _asked_revisions(values: str) -> list[str | None]:
    """Find what `--revision` says in a file that is no stack file; `main` without one, as engines take it."""
    found = REVISION_FLAG.findall(values)
    return [None if "$" in revision else revision for revision in found] or ["main"]


def _named(name: str, repos: Sequence[str]) -> tuple[Mention, ...]:
    exact = [Mention(repo) for repo in repos if repo.lower() == name.lower()]
    return tuple(exact) or mentions(name, repos)


def _stack(text: str, path: Path) -> Any:
    """Read a stack file; None where it is another file or has mistakes."""
    from seatrial.stack.reading import parse_stack  # noqa: PLC0415 - pydantic takes 100 ms

    if "model" not in text or "repo" not in text:
        return None
    try:
        return parse_stack(text, where=str(path))
    except (InputError, RecursionError):
        return None


def _values(text: str, path: Path) -> tuple[str, bool]:
    """Take the values of a YAML file, without its comments; the whole text of any other.

    Returns:
        The text, and whether it is certain how it says a revision: not in a file that is no YAML, and not in a stack
        file with mistakes or of another version of seatrial.
    """
    import yaml  # noqa: PLC0415 - 20 ms

    if path.suffix not in (".yaml", ".yml"):
        return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#")), True
    try:
        documents = list(yaml.safe_load_all(text))
    except (yaml.YAMLError, RecursionError, ValueError):
        return text, False
    looks_like_stack = any(
        isinstance(one, dict) and isinstance(one.get("model"), dict) and "repo" in one["model"] for one in documents
    )
    return "\n".join(_strings(documents)), not looks_like_stack


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _strings(key)
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)


def _kept(folder: Path, models: Sequence[StoredModel], hub: Path) -> Known:
    """Read what a stack's folder keeps: the last proven stack, and both sides of a switch that did not end."""
    state = folder / STATE_FOLDER
    if not state.is_dir():
        return Known()
    wanted: list[tuple[Path, UseKind]] = [(state / "proven.json", UseKind.PROVEN)]
    unknown = []
    try:
        journal = json.loads((state / "journal.json").read_text(encoding="utf-8"))
        switch = state / "switches" / str(journal["id"])
        wanted += [(switch / "candidate.json", UseKind.CANDIDATE), (switch / "before.json", UseKind.PROVEN)]
    except FileNotFoundError:
        pass
    except (OSError, ValueError, KeyError, TypeError) as error:
        unknown.append(f"the journal of a switch in {state} can't be read ({type(error).__name__})")
    uses: list[Use] = []
    for path, kind in wanted:
        try:
            files = json.loads(path.read_text(encoding="utf-8"))["files"]
            for name, text in files.items():
                uses += text_uses(str(text), folder / str(name), kind, models, hub, str(path))
        except FileNotFoundError:
            continue
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            unknown.append(f"{path} can't be read ({type(error).__name__})")
    return Known(tuple(dict.fromkeys(uses)), tuple(unknown))


def _ledger(path: Path, text: str, models: Sequence[StoredModel]) -> Known:
    """Ask the ledger of a stack file for the last promoted combination: it names the commit."""
    from seatrial.ledger.database import FILE_NAME, Ledger  # noqa: PLC0415 - only where there is a stack

    stack = _stack(text, path)
    if stack is None:
        return Known()
    folder = path.absolute().parent / stack.ledger
    if not (folder / FILE_NAME).is_file():
        return Known()
    try:
        ledger = Ledger(folder)
        try:
            entry = ledger.last_promoted(stack.name)
        finally:
            ledger.close()
    except SeatrialError as error:
        return Known((), (f"the ledger of {path} can't be read ({error.problem})",))
    if entry is None:
        return Known()
    who = f"of {stack.name}, promoted {entry.at[:10]}"
    found = _named(entry.combination.model, [model.repo for model in models])
    return Known(tuple(Use(UseKind.PROVEN, who, one.repo, entry.combination.revision or "main") for one in found))


def _container_uses(containers: Iterable[Container], models: Sequence[StoredModel], hub: Path) -> Iterator[Use]:
    repos = [model.repo for model in models]
    for one in containers:
        inside = [source for source in one.sources if _lies_in(source, hub)]
        if not inside and not any(_contains(source, hub) for source in one.sources):
            continue
        found = mentions("\n".join([one.text, *map(str, inside)]), repos)
        # A branch may have pointed elsewhere when the container was started: only a commit is certain.
        asked = _asked_revisions("\n".join(one.words))
        revision = next((word for word in asked if word and COMMIT.fullmatch(word)), None)
        for mention in found:
            yield Use(UseKind.CONTAINER, one.name, mention.repo, mention.revision or revision, one.state)
        if not found and inside:
            yield Use(
                UseKind.CONTAINER, one.name, None, None, f"{one.state}; it mounts the store and names no model of it"
            )


def _lies_in(path: Path, hub: Path) -> bool:
    """Whether a folder is the store (HF_HOME or its hub folder) or lies in it."""
    real = path.resolve()
    return any(real == root or root in real.parents for root in (hub.resolve(), _home(hub)))


def _contains(path: Path, hub: Path) -> bool:
    real = path.resolve()
    return real in hub.resolve().parents


def _home(hub: Path) -> Path:
    """HF_HOME of a hub folder; the hub folder itself where it is not called so."""
    return hub.resolve().parent if hub.name == "hub" else hub.resolve()


def same_store(store: Path, hub: Path) -> bool:
    """Whether a stack's store is this one."""
    other = hub_folder(store)
    try:
        return other.samefile(hub)
    except OSError:
        return other.resolve() == hub.resolve()


def _all_files(model: StoredModel) -> Iterator[Path]:
    yield from model.blobs
    for revision in model.revisions:
        yield from (file.path for file in revision.files)
