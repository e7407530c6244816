"""Model files that lie flat in the hub folder: `hf download --local-dir` was pointed at it. Which model, and its place.

`--local-dir` writes plain files, and a second model overwrites the first one's `config.json`. Under
`.cache/huggingface/download/` it keeps the commit and the hash of each file, but not the repository's name.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from seatrial.errors import FetchError, InputError
from seatrial.facts.model_folder import read_json
from seatrial.store.fetching import Place, storage_error
from seatrial.store.hashing import OnBytes, can_check, digest_like
from seatrial.store.hub_source import HubModel
from seatrial.store.layout import COMMIT, ListedFile, StoredModel, folder_name
from seatrial.store.locks import model_lock
from seatrial.store.open_files import holders
from seatrial.store.sharing import Sharing

SUFFIXES = (".safetensors", ".json", ".jinja", ".txt", ".md", ".model", ".tiktoken", ".py", ".bin", ".gguf", ".merges")
RECORDS = Path(".cache/huggingface/download")
OWN = ("CACHEDIR.TAG", "version.txt", "version_diffusers_cache.txt", ".gitignore")
REPO = re.compile(r"(?<![\w./-])([A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(?![\w/-])")


@dataclass(frozen=True, slots=True)
class FlatFiles:
    """What lies flat in a hub folder.

    Attributes:
        hub: the folder.
        names: the files, relative to it.
        bytes: of them all.
        commits: commit -> names, where the download's own records say so.
        etags: name -> hash, likewise.
        candidates: repositories that they may belong to, the likeliest first, each with the reason.
    """

    hub: Path
    names: tuple[str, ...]
    bytes: int
    commits: Mapping[str, tuple[str, ...]]
    etags: Mapping[str, str]
    candidates: tuple[tuple[str, str], ...]

    @property
    def is_mixed(self) -> bool:
        """Whether files of several models lie over each other."""
        return len(self.commits) > 1


def find_flat_files(hub: Path, models: Iterable[StoredModel] = (), known: Iterable[str] = ()) -> FlatFiles | None:
    """Look for model files that lie flat in a hub folder; None where there are none.

    Args:
        hub: the folder.
        models: of the store: files of one that is in the store may be its.
        known: further repositories' names to look for.
    """
    if not hub.is_dir():
        return None
    names = [
        path.name
        for path in sorted(hub.iterdir())
        if path.is_file() and path.suffix in SUFFIXES and path.name not in OWN and not path.name.startswith(".")
    ]
    if not names:
        return None
    commits: dict[str, list[str]] = {}
    etags: dict[str, str] = {}
    for name in names:
        commit, etag = _record(hub / RECORDS / f"{name}.metadata")
        if commit:
            commits.setdefault(commit, []).append(name)
        if etag:
            etags[name] = etag
    return FlatFiles(
        hub,
        tuple(names),
        sum((hub / name).stat().st_size for name in names),
        {commit: tuple(found) for commit, found in commits.items()},
        etags,
        tuple(_candidates(hub, names, commits, etags, tuple(models), tuple(known))),
    )


def _record(path: Path) -> tuple[str | None, str | None]:
    """Read what `--local-dir` keeps about a file: commit, hash and time, a line each."""
    try:
        lines = path.read_text(encoding="utf-8").split()
    except (OSError, ValueError):
        return None, None
    commit = lines[0] if lines and COMMIT.fullmatch(lines[0]) else None
    return commit, lines[1] if len(lines) > 1 and can_check(lines[1]) else None


def _candidates(
    hub: Path,
    names: Sequence[str],
    commits: Mapping[str, Sequence[str]],
    etags: Mapping[str, str],
    models: Sequence[StoredModel],
    known: Sequence[str],
) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    weak = []
    for model in models:
        stored = {one.commit for one in model.revisions}
        blobs = {blob.name for blob in model.blobs}
        same = [name for name, etag in etags.items() if etag in blobs]
        if stored & set(commits):
            seen.add(model.repo)
            yield model.repo, "its commit is in the store, too"
        elif any(name.endswith(".safetensors") for name in same):
            seen.add(model.repo)
            yield model.repo, f"{len(same)} of the files have the same hash as files of it in the store"
        elif same:  # sisters share tokenizers and configs
            weak.append((model.repo, f"{len(same)} small files are the same as its in the store"))
    for repo, reason in [*_from_readme(hub, names), *_from_config(hub, names, known), *weak]:
        if repo not in seen:
            seen.add(repo)
            yield repo, reason


def _from_readme(hub: Path, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Look which repository the model card talks about most; what it was made from is named there, too."""
    if "README.md" not in names:
        return
    text = (hub / "README.md").read_text(encoding="utf-8", errors="replace")[:200_000]
    front = text.split("---")[1] if text.startswith("---") and text.count("---") > 1 else ""
    base = set(re.findall(r"base_model:\s*(?:-\s*)?['\"]?([\w.-]+/[\w.-]+)", front))
    listed = re.search(r"base_model:\s*\n((?:\s*-\s*.+\n)+)", front)
    base |= set(REPO.findall(listed[1])) if listed else set()
    commands = re.findall(
        r"(?:--model(?:-path)?|download|serve|from_pretrained\(|snapshot_download\(|model=|clone https://huggingface\.co/)"
        r"[\s=\"'(]*([A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)",
        text,
    )
    counts = Counter(name.rstrip(".") for name in commands if name not in base)
    for repo, count in counts.most_common(3):
        yield repo, f"its model card's commands name it {count} times"


def _from_config(hub: Path, names: Sequence[str], known: Sequence[str]) -> Iterator[tuple[str, str]]:
    if "config.json" not in names:
        return
    try:
        config = read_json(hub / "config.json") or {}
    except InputError:
        return
    own = config.get("_name_or_path")
    if isinstance(own, str) and REPO.fullmatch(own):
        yield own, "its config.json gives it as _name_or_path (which may be what it was made from)"
    yield from ((repo, "its config.json is that of this model") for repo in known)


def place_flat_files(
    flat: FlatFiles, hub_model: HubModel | None, repo: str, on_bytes: OnBytes = lambda _more: None
) -> tuple[str, ...]:
    """Move flat files to where they belong in the store; return the names that were moved.

    A file is moved only where its content has the hash that the repository's commit says; others stay.

    Args:
        flat: what was found.
        hub_model: the repository as the Hub lists it, where the Hub could be asked: its hashes decide.
        repo: the repository.
        on_bytes: told of progress.

    Raises:
        FetchError: neither the Hub nor the download's records say which commit they are of.
        InputError: a process has one of them open.
        StorageError: the store can't be written.
    """
    if hub_model is not None:
        commit = hub_model.commit
        listed = {file.name: file for file in hub_model.files}
    elif len(flat.commits) == 1:
        commit = next(iter(flat.commits))
        listed = {
            name: ListedFile(name, (flat.hub / name).stat().st_size, flat.etags[name])
            for name in flat.commits[commit]
            if name in flat.etags
        }
    else:
        raise FetchError(
            "nothing says which commit these files are of",
            where=str(flat.hub),
            advice="Where the Hub can be reached, name the repository: --as owner/name.",
        )
    held = holders(flat.hub / name for name in flat.names)
    if held:
        raise InputError(f"process {held[0].name} has one of them open", where=str(flat.hub), advice="End it first.")
    place = Place(repo, commit, flat.hub / folder_name(repo), Sharing.of(flat.hub))
    moved = []
    try:
        with model_lock(place.folder, place.sharing, alone=False):
            for name in flat.names:
                file = listed.get(name)
                path = flat.hub / name
                if file is None or path.stat().st_size != file.bytes:
                    continue
                if digest_like(path, file.etag, on_bytes) == file.etag:
                    _move(path, place, file)
                    moved.append(name)
    except OSError as error:
        raise storage_error(error, flat.hub) from None
    return tuple(moved)


def _move(path: Path, place: Place, file: ListedFile) -> None:
    blob, link = place.blob(file), place.link(file)
    place.sharing.make_folder(blob.parent)
    place.sharing.make_folder(link.parent)
    if blob.exists():
        path.unlink()
    else:
        path.rename(blob)
    place.sharing.share(blob)
    if not link.is_symlink():
        link.symlink_to(os.path.relpath(blob, link.parent))
    record = path.parent / RECORDS / f"{file.name}.metadata"
    record.unlink(missing_ok=True)
    record.with_suffix(".lock").unlink(missing_ok=True)
