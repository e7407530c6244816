"""What stands against serving a checkpoint from the store, asked before anything is stopped."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkpoint_kit import plain_model, stored_as_hub_does
from hub_kit import commit_of
from seatrial.findings import Level
from seatrial.ledger.entry import Combination, Entry, Kind
from seatrial.store.readiness import about_model
from seatrial.store.standing import Status, standing

COMMIT = commit_of("a")
BROKEN = "QuantTrio/Qwen3.6-27B-AWQ"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    for repo in ("owner/name", BROKEN):
        stored_as_hub_does(tmp_path / "hub", repo, {COMMIT: plain_model()}, {"main": COMMIT})
    return tmp_path


def verdict(repo: str, said: str, *, revision: str | None = COMMIT, at: str = "2026-11-30", origin: str = "") -> Entry:
    combination = Combination(repo, "sglang", engine_version="0.5.16", revision=revision)
    kind = Kind.REPORTED if origin else Kind.VERDICT
    return Entry(kind, f"{at}T10:00:00+00:00", combination, said, note="a check", origin=origin)


@pytest.mark.parametrize("revision", [None, "main", COMMIT])
def test_a_whole_model_that_nobody_complains_about_has_no_findings(store: Path, revision: str | None) -> None:
    assert about_model(store, "owner/name", revision) == ()


@pytest.mark.parametrize(("repo", "revision"), [("owner/missing", None), ("owner/name", "v9")])
def test_what_is_not_in_the_store_is_said_with_the_command(store: Path, repo: str, revision: str | None) -> None:
    (found,) = about_model(store, repo, revision)
    assert (found.id, found.level) == ("model-not-in-store", Level.WARNING)
    assert f"seatrial models pull {repo}" in found.advice


def test_what_is_not_whole_is_an_error(store: Path) -> None:
    shard = store / "hub/models--owner--name/snapshots" / COMMIT / "model-00001-of-00002.safetensors"
    shard.resolve().write_bytes(shard.read_bytes()[:-4])
    (found,) = about_model(store, "owner/name", None)
    assert (found.id, found.level) == ("model-incomplete", Level.ERROR)
    assert "--repair" in found.advice


def test_a_report_warns_and_an_own_verdict_decides(store: Path) -> None:
    (found,) = about_model(store, BROKEN, None)
    assert found.id == "reported-broken"
    assert "sglang 0.5.16" in found.message
    assert about_model(store, BROKEN, None, [verdict(BROKEN, "proven")]) == ()
    assert [one.id for one in about_model(store, "owner/name", None, [verdict("owner/name", "refuted")])] == [
        "model-refuted"
    ]


def test_a_folder_in_the_container_is_not_looked_at(store: Path) -> None:
    assert about_model(store, "/models/own", None) == ()


@pytest.mark.parametrize(
    ("entries", "status"),
    [
        ([], Status.REPORTED_BROKEN),
        ([verdict(BROKEN, "proven")], Status.PROVEN),
        ([verdict(BROKEN, "refuted")], Status.REFUTED),
        ([verdict(BROKEN, "unproven")], Status.REPORTED_BROKEN),
        ([verdict(BROKEN, "proven", revision=commit_of("b"))], Status.REPORTED_BROKEN),
        ([verdict(BROKEN, "proven", revision="main")], Status.PROVEN),
        ([verdict(BROKEN, "proven", origin="team B")], Status.REPORTED_BROKEN),
        ([verdict(BROKEN, "proven", at="2026-10-01"), verdict(BROKEN, "refuted")], Status.REFUTED),
        ([verdict(BROKEN, "proven"), verdict(BROKEN, "unproven", at="2026-12-01")], Status.PROVEN),
        ([verdict("owner/name", "proven")], Status.REPORTED_BROKEN),
    ],
)
def test_the_newest_decision_about_this_commit_counts(entries: list[Entry], status: Status) -> None:
    assert standing(BROKEN, COMMIT, entries).status is status


def test_a_report_is_told_with_engine_and_date() -> None:
    known = standing("Qwen/Qwen3-30B-A3B-GPTQ-Int4", None, [])
    assert (known.status, known.engine, known.date) == (Status.REPORTED_BROKEN, "sglang 0.4.6.post2", "2025-05-15")
    assert not standing("Intel/Qwen3.6-27B-int4-AutoRound", None, []).is_known_broken
