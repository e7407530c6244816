"""The ledger on disk: one SQLite file, append-only, safe with several writers. Ordered migrations, never edited."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from seatrial.errors import InputError, StorageError
from seatrial.ledger.entry import COMBINATION_FIELDS, Combination, Entry, Kind

FILE_NAME = "ledger.sqlite3"
APPLICATION_ID = 0x5EA7A1
BUSY_SECONDS = 30.0
"""How long a writer waits for another one; each write is one small row."""

MIGRATIONS: Sequence[str] = (
    """
    CREATE TABLE entries (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        kind TEXT NOT NULL,
        at TEXT NOT NULL,
        digest TEXT NOT NULL,
        model TEXT NOT NULL,
        combination TEXT NOT NULL CHECK (json_valid(combination)),
        verdict TEXT CHECK (verdict IN ('proven', 'refuted', 'unproven')),
        stack TEXT NOT NULL,
        plan TEXT NOT NULL,
        run TEXT NOT NULL,
        figures TEXT NOT NULL CHECK (json_valid(figures)),
        note TEXT NOT NULL,
        origin TEXT NOT NULL
    );
    CREATE INDEX entries_by_model ON entries (model, id);
    CREATE INDEX entries_by_digest ON entries (digest, id);
    CREATE INDEX entries_by_stack ON entries (stack, kind, id);
    CREATE TRIGGER entries_stay BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
    CREATE TRIGGER entries_remain BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
    """,
)
"""Each brings the file one version further; a released one is never changed."""

COLUMNS = "id, kind, at, combination, verdict, stack, plan, run, figures, note, origin"


class Ledger:
    """One ledger. Opening it creates the file, or brings an older one up to date."""

    def __init__(self, folder: Path) -> None:
        """Open the ledger of a folder.

        Raises:
            StorageError: the folder or the file can't be written.
            InputError: the file is no ledger, or one of a newer seatrial.
        """
        self.path = folder / FILE_NAME
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
            self._prepare()
        except OSError as error:
            raise StorageError(f"the ledger can't be written ({error.strerror})", where=str(folder)) from None
        except sqlite3.DatabaseError as error:
            raise self._failure(error) from None

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def append(self, entry: Entry) -> Entry:
        """Write an entry; return it with its number.

        Raises:
            StorageError: the disk is full, or the file may not be written.
        """
        return self.append_all([entry])[0]

    def append_all(self, entries: Iterable[Entry]) -> list[Entry]:
        """Write several entries, all of them or none.

        Raises:
            StorageError: the disk is full, or the file may not be written.
        """
        written = []
        try:
            with self._writing() as database:
                for entry in entries:
                    cursor = database.execute(
                        "INSERT INTO entries (kind, at, digest, model, combination, verdict, stack, plan, run, "
                        "figures, note, origin) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        _row(entry),
                    )
                    written.append(replace(entry, id=cursor.lastrowid))
        except sqlite3.DatabaseError as error:
            raise self._failure(error) from None
        return written

    def entries(
        self,
        *,
        model: str | None = None,
        stack: str | None = None,
        kind: Kind | None = None,
        digest: str | None = None,
        limit: int | None = None,
    ) -> list[Entry]:
        """List entries, the newest first."""
        wanted = {"model": model, "stack": stack, "kind": kind.value if kind else None, "digest": digest}
        given = {name: value for name, value in wanted.items() if value is not None}
        where = f" WHERE {' AND '.join(f'{name} = :{name}' for name in given)}" if given else ""
        bound = f" LIMIT {int(limit)}" if limit is not None else ""
        query = f"SELECT {COLUMNS} FROM entries{where} ORDER BY id DESC{bound}"  # noqa: S608 - names are our own
        try:
            return [_entry(row) for row in self._database.execute(query, given)]
        except sqlite3.DatabaseError as error:
            raise self._failure(error) from None

    def entry(self, number: int) -> Entry | None:
        """Find one entry by its number."""
        query = f"SELECT {COLUMNS} FROM entries WHERE id = ?"  # noqa: S608 - names are our own
        try:
            row = self._database.execute(query, (number,)).fetchone()
        except (sqlite3.DatabaseError, OverflowError):
            return None
        return _entry(row) if row else None

    def last_promoted(self, stack: str) -> Entry | None:
        """Find what a stack returns to."""
        found = self.entries(stack=stack, kind=Kind.PROMOTION, limit=1)
        return found[0] if found else None

    def _prepare(self) -> None:
        database = self._database
        (application,) = database.execute("PRAGMA application_id").fetchone()
        (version,) = database.execute("PRAGMA user_version").fetchone()
        (tables,) = database.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables and application != APPLICATION_ID:
            raise InputError("this is no ledger of seatrial's", where=str(self.path), advice="Move it away.")
        if version > len(MIGRATIONS):
            raise InputError(
                f"this ledger is of version {version}, and this seatrial knows {len(MIGRATIONS)}",
                where=str(self.path),
                advice="Use the newer seatrial that wrote it.",
            )
        if version == len(MIGRATIONS):
            return
        database.execute("PRAGMA journal_mode = WAL")
        with self._writing():
            (version,) = database.execute("PRAGMA user_version").fetchone()  # another process may have been faster
            for number, script in enumerate(MIGRATIONS[version:], version + 1):
                for statement in _statements(script):
                    database.execute(statement)
                database.execute(f"PRAGMA user_version = {number}")
            database.execute(f"PRAGMA application_id = {APPLICATION_ID}")

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Hold the write lock for one transaction: all of it is kept, or nothing."""
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield self._database
        except BaseException:
            self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")

    def _failure(self, error: sqlite3.DatabaseError) -> StorageError | InputError:
        text = str(error)
        if "not a database" in text or "malformed" in text:
            return InputError(
                f"this is no ledger ({text})", where=str(self.path), advice="Move it away; a new one is begun."
            )
        advice = (
            "Free some space." if "full" in text else "Check its permissions, and whether another program holds it."
        )
        return StorageError(f"the ledger can't be used ({text})", where=str(self.path), advice=advice)


def _statements(script: str) -> Iterator[str]:
    """Split a script into its statements; a trigger's body holds semicolons of its own."""
    statement = ""
    for line in script.splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _row(entry: Entry) -> tuple[Any, ...]:
    combination = entry.combination
    return (
        entry.kind.value,
        entry.at,
        combination.digest(),
        combination.model,
        json.dumps(asdict(combination), ensure_ascii=False, sort_keys=True),
        entry.verdict,
        entry.stack,
        entry.plan,
        entry.run,
        json.dumps(dict(entry.figures), ensure_ascii=False, sort_keys=True),
        entry.note,
        entry.origin,
    )


def _entry(row: Sequence[Any]) -> Entry:
    number, kind, at, combination, verdict, stack, plan, run, figures, note, origin = row
    known = {name: value for name, value in json.loads(combination).items() if name in COMBINATION_FIELDS}
    return Entry(
        Kind(kind), at, Combination(**known), verdict, stack, plan, run, json.loads(figures), note, origin, number
    )
