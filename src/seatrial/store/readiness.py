"""Whether a checkpoint can be served from the store, asked before anything is stopped. Reads no weight, asks no Hub."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from seatrial.findings import Finding, Level, by_weight
from seatrial.ledger.entry import Entry
from seatrial.store.layout import COMMIT, find_model
from seatrial.store.standing import Standing, Status, standing
from seatrial.store.verify import verify


def about_model(store: Path, repo: str, revision: str | None, entries: Iterable[Entry] = ()) -> tuple[Finding, ...]:
    """Say what stands against serving a checkpoint from the store.

    Args:
        store: the store (HF_HOME, or its hub folder).
        repo: `owner/name`; a folder inside the container is not looked at.
        revision: branch, tag or commit; without one, what `main` points to.
        entries: of the ledger: a verdict of one's own outranks what others report.

    Returns:
        Findings, the heaviest first: `model-not-in-store`, `model-incomplete` (an error), `model-refuted`,
        `reported-broken` and `reported-mixed`. None where it is whole and nothing is said about it.
    """
    if repo.startswith(("/", ".", "~")):
        return ()
    found = find_model(store, repo)
    stored = found.find(revision) if found is not None else None
    findings = list(_reported(repo, standing(repo, stored.commit if stored else _commit(revision), entries)))
    if found is None or stored is None:
        at = f" at {revision}" if revision else ""
        findings.append(
            Finding(
                Level.WARNING,
                "model-not-in-store",
                f"{repo}{at} is not in the store ({store}): the engine downloads it while it starts",
                f"seatrial models pull {repo}{f'@{revision}' if revision else ''}",
            )
        )
        return by_weight(findings)
    wrong = [
        finding
        for finding in verify(found, commits=frozenset({stored.commit}), hashes=False).findings
        if finding.level is Level.ERROR and (finding.where or "").startswith(stored.commit[:12])
    ]
    if wrong:
        more = f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        findings.append(
            Finding(
                Level.ERROR,
                "model-incomplete",
                f"{repo} in the store is not whole: {wrong[0].message}{more}",
                f"seatrial models verify {repo} --repair",
                where=str(stored.folder),
            )
        )
    return by_weight(findings)


def _commit(revision: str | None) -> str | None:
    return revision if revision and COMMIT.fullmatch(revision) else None


def _reported(repo: str, known: Standing) -> Iterable[Finding]:
    on = f" on {known.engine}" if known.engine else ""
    when = f" ({known.date})" if known.date else ""
    if known.status is Status.REFUTED:
        yield Finding(
            Level.WARNING,
            "model-refuted",
            f"{repo} was refuted here{on}{when}: {known.why}",
            "To try it all the same, give the reason: --anyway --why.",
        )
        return
    if known.status is Status.PROVEN or known.reported is None or known.reported.verdict == "clean":
        return
    word = "is reported broken" if known.reported.verdict == "broken" else "has doubtful reports"
    sources = "; ".join(known.reported.sources)
    yield Finding(
        Level.WARNING,
        f"reported-{known.reported.verdict}",
        f"{repo} {word}{on}{when}: {known.reported.symptom} ({sources})",
        "Prove it before anyone relies on it.",
    )
