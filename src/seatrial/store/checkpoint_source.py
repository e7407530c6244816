"""Reads what `inspect` needs: of a folder, of a commit in the store, or of the Hub by range requests alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from seatrial.errors import InputError
from seatrial.facts.model_folder import read_model_folder
from seatrial.findings import Finding, Level
from seatrial.store.checkpoint_findings import Checkpoint
from seatrial.store.hub_source import asking, look_up
from seatrial.store.scale_values import ScaleReading, read_scales
from seatrial.store.shards import check_shards


def local_checkpoint(
    folder: Path,
    *,
    repo: str | None = None,
    revision: str | None = None,
    values: bool = True,
    on_file: Callable[[int, int, str], None] = lambda _done, _all, _name: None,
) -> Checkpoint:
    """Read a folder.

    Args:
        folder: holds config.json.
        repo: `owner/name`, where known.
        revision: the commit, where known.
        values: look into the scales, too.
        on_file: told of progress: files done, files in all, the next one's name.

    Raises:
        InputError: it holds no checkpoint.
    """
    if not (folder / "config.json").is_file():
        raise InputError(
            "there is no `config.json`", where=str(folder), advice="Name the folder that holds the model's files."
        )
    names = frozenset(
        path.relative_to(folder).as_posix() for path in (*folder.glob("*"), *folder.glob("*/*")) if path.is_file()
    )
    problems: list[Finding] = [finding for finding in check_shards(folder, names) if finding.id != "no-weights"]
    facts = read_model_folder(folder, repo=repo, revision=revision)
    readings: list[ScaleReading] = []
    shards = sorted(name for name in names if name.endswith(".safetensors"))
    for number, name in enumerate(shards if values else ()):
        on_file(number, len(shards), name)
        try:
            readings += read_scales(folder / name)
        except InputError:
            continue  # the shards' own check says what is wrong with it
    return Checkpoint(facts, names, tuple(readings) if values else None, tuple(problems))


def remote_checkpoint(repo: str, revision: str | None = None) -> Checkpoint:
    """Ask the Hub: listings, small files, and the headers of the weight files by range requests.

    Raises:
        FetchError: it can't be reached, or does not have it, or not for this account.
    """
    from seatrial.facts.hub import hub_model_facts  # noqa: PLC0415 - the Hub's client takes a while to import

    found = look_up(repo, revision)
    with asking(repo, revision):
        facts = hub_model_facts(repo, revision=found.commit)
    problems: tuple[Finding, ...] = ()
    if not facts.tensor_dtypes and facts.notes:
        problems = (Finding(Level.WARNING, "headers-unread", facts.notes[0], "What is quantized is not known."),)
    return Checkpoint(facts, frozenset(file.name for file in found.files), None, problems)
