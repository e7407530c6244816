"""The ledger keeps what was written, takes nothing back, and is safe with several writers."""

from __future__ import annotations

import multiprocessing
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.errors import InputError, StorageError
from seatrial.ledger.database import FILE_NAME, MIGRATIONS, Ledger
from seatrial.ledger.entry import Combination, Entry, Kind

HERE = Combination(model="owner/name", engine="sglang", engine_version="0.5.16")


def entry(note: str = "", **more: object) -> Entry:
    return Entry(Kind.VERDICT, "2031-01-01T00:00:00Z", HERE, "proven", note=note, **more)  # type: ignore[arg-type]


def test_an_entry_comes_back_as_it_was_written_and_has_a_number(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    written = ledger.append(entry("naïve \u2028 note", figures={"loop_rate": 0.25, "names": ["a"]}))
    assert written.id == 1
    assert ledger.entries() == [written]
    assert Ledger(tmp_path).entry(1) == written


def test_the_newest_is_first_and_filters_hold(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.append_all([entry("1"), entry("2", stack="review"), entry("3")])
    assert [found.note for found in ledger.entries()] == ["3", "2", "1"]
    assert [found.note for found in ledger.entries(stack="review")] == ["2"]
    assert [found.note for found in ledger.entries(limit=1)] == ["3"]
    assert ledger.entries(model="owner/other") == []
    assert ledger.entry(99) is None
    assert ledger.entry(10**30) is None


@pytest.mark.parametrize("statement", ["UPDATE entries SET verdict = 'proven'", "DELETE FROM entries"])
def test_nothing_that_was_written_can_be_changed_or_removed(tmp_path: Path, statement: str) -> None:
    Ledger(tmp_path).append(entry())
    with sqlite3.connect(tmp_path / FILE_NAME) as database, pytest.raises(sqlite3.IntegrityError, match="append-only"):
        database.execute(statement)


def test_all_entries_of_a_batch_are_written_or_none(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    wrong = Entry(Kind.VERDICT, "t", HERE, "maybe")
    with pytest.raises(StorageError):
        ledger.append_all([entry(), wrong])
    assert ledger.entries() == []


def _write(folder: Path, count: int) -> None:
    ledger = Ledger(folder)
    for number in range(count):
        ledger.append(entry(f"{number}"))


def test_several_writers_that_begin_at_once_lose_nothing(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write, args=(tmp_path, 40)) for _ in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert all(writer.exitcode == 0 for writer in writers)
    assert len(Ledger(tmp_path).entries()) == 120


def test_a_ledger_of_a_newer_seatrial_is_left_alone(tmp_path: Path) -> None:
    Ledger(tmp_path).close()
    with sqlite3.connect(tmp_path / FILE_NAME) as database:
        database.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    with pytest.raises(InputError, match="newer seatrial"):
        Ledger(tmp_path)


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / FILE_NAME) as database:
        database.execute("CREATE TABLE theirs (a)")
    with pytest.raises(InputError, match="no ledger"):
        Ledger(tmp_path)


def test_a_file_that_is_no_database_gets_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"not a database at all, but long enough to be read as one" * 20)
    with pytest.raises(InputError, match="no ledger"):
        Ledger(tmp_path)


def test_the_last_promotion_of_a_stack_is_found(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    assert ledger.last_promoted("review") is None
    for note in ("old", "new"):
        ledger.append(Entry(Kind.PROMOTION, "t", HERE, stack="review", note=note))
    ledger.append(Entry(Kind.PROMOTION, "t", HERE, stack="other", note="theirs"))
    found = ledger.last_promoted("review")
    assert found is not None
    assert found.note == "new"


TEXT = st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@given(TEXT, TEXT, TEXT, st.none() | st.integers(0, 99))
def test_two_combinations_have_the_same_digest_only_if_they_are_the_same(
    revision: str | None, dtype: str | None, gpu: str | None, count: int | None
) -> None:
    other = Combination(
        "owner/name", "sglang", revision, engine_version="0.5.16", dtype=dtype, gpu=gpu, gpu_count=count
    )
    assert (other.digest() == HERE.digest()) is (other == HERE)
