"""Who uses which commit of which model. Pure: what was found goes in, what must stay comes out.

Where it is not certain what somebody uses, it counts as used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from seatrial.store.layout import COMMIT, StoredModel, folder_name


class UseKind(StrEnum):
    """What refers to a model."""

    STACK = "stack file"
    FILE = "file"
    """A Compose file or an .env that names it."""
    CONTAINER = "container"
    CANDIDATE = "candidate"
    """A switch that did not end yet names it."""
    PROVEN = "last proven stack"
    PROCESS = "process"
    MODEL = "model"
    """Another model of the store whose names lead to this one's content."""


@dataclass(frozen=True, slots=True)
class Use:
    """One reference.

    Attributes:
        kind: what refers.
        who: its name, for people: the file, the container, the process.
        repo: the model; None where it can't be known: then it may be any.
        revision: branch, tag or commit; None where it is not said: then it may be any.
        detail: how it is known, or its state (`running`, `stopped`).
    """

    kind: UseKind
    who: str
    repo: str | None
    revision: str | None = None
    detail: str = ""

    def __str__(self) -> str:
        more = f" ({self.detail})" if self.detail else ""
        return f"{self.kind.value} {self.who}{more}"


@dataclass(frozen=True, slots=True)
class Known:
    """What was found out about uses.

    Attributes:
        uses: all that were found.
        unknown: what could not be looked at, a clause each: with any, nothing may be deleted.
        notes: what was not looked at and need not be.
    """

    uses: tuple[Use, ...] = ()
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __add__(self, other: Known) -> Known:
        return Known(self.uses + other.uses, self.unknown + other.unknown, self.notes + other.notes)


def used_commits(model: StoredModel, use: Use) -> frozenset[str]:
    """Say which commits of a stored model a use refers to."""
    stored = frozenset(one.commit for one in model.revisions)
    if use.repo is not None and use.repo.lower() != model.repo.lower():
        return frozenset()
    if use.repo is None or use.revision is None:
        return stored
    if use.revision in model.refs:
        return frozenset({model.refs[use.revision]}) & stored
    if COMMIT.fullmatch(use.revision):
        return frozenset({use.revision}) & stored
    begins = [commit for commit in stored if len(use.revision) > 6 and commit.startswith(use.revision)]
    return frozenset(begins) or stored  # a name that nothing here explains may mean any of them


def uses_of(model: StoredModel, uses: Iterable[Use]) -> Mapping[str, tuple[Use, ...]]:
    """Sort uses by the commits of a model that they refer to; a commit that nobody uses has none."""
    found: dict[str, list[Use]] = {one.commit: [] for one in model.revisions}
    for use in uses:
        for commit in used_commits(model, use):
            found[commit].append(use)
    return {commit: tuple(those) for commit, those in found.items()}


def refers_to_model(model: StoredModel, use: Use) -> bool:
    """Whether a use is about a model at all, also where nothing of it is complete."""
    return use.repo is None or use.repo.lower() == model.repo.lower()


@dataclass(frozen=True, slots=True)
class Mention:
    """A model's name in a text.

    Attributes:
        repo: which.
        revision: the commit that stands in its path, or None.
    """

    repo: str
    revision: str | None = None


def mentions(text: str, repos: Iterable[str]) -> tuple[Mention, ...]:
    """Find models in a text: `owner/name`, `owner/name@revision`, or a path in the store."""
    found: list[Mention] = []
    for repo in repos:
        name = re.escape(repo)
        folder = re.escape(folder_name(repo))
        for expression in (
            rf"(?<![\w./-]){name}(?:@([\w./-]+))?(?![\w/-]|\.\w)",
            rf"{folder}(?![\w-]|\.\w)(?:/snapshots/([0-9a-f]{{40}}))?",
        ):
            found += [Mention(repo, match[1]) for match in re.finditer(expression, text, re.IGNORECASE)]
    return tuple(dict.fromkeys(found))
