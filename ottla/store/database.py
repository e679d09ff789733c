"""The tree's nodes in one SQLite file, which one process at a time has open.

The only module that knows SQL. It is used from one thread.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

from ottla.store.port import Entry, StoreError, StoreUnavailable
from ottla.store.tree import Change, Changed, parent_of

_OURS = 0x4F74746C  # "Ottl", the application's mark in the file's header

# Each step takes a file from the version that is its index to the next one.
MIGRATIONS = [
    """
    CREATE TABLE node (
        path TEXT PRIMARY KEY,
        parent TEXT NOT NULL,
        data BLOB NOT NULL,
        version INTEGER NOT NULL,
        czxid INTEGER NOT NULL,
        mzxid INTEGER NOT NULL,
        owner INTEGER NOT NULL,
        created_below INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX node_by_parent ON node (parent);
    CREATE INDEX node_by_owner ON node (owner) WHERE owner != 0;
    CREATE TABLE last_change (zxid INTEGER NOT NULL);
    INSERT INTO node VALUES ('/', '', x'', 0, 0, 0, 0, 0);
    INSERT INTO last_change VALUES (0);
    """,
]

_REASONS = {
    sqlite3.SQLITE_BUSY: "another process has it open; stop that one, or name another file",
    sqlite3.SQLITE_NOTADB: "this is no metadata store, nor any SQLite file; name another file",
    sqlite3.SQLITE_CORRUPT: "the metadata store is damaged; restore it from a copy",
}


T = TypeVar("T")


class CannotOpen(StoreError):
    """The file cannot be used as a metadata store; what to do about it is in the message."""


class Request:
    """What one caller wants, and then what came of it: a result, or why there is none."""

    __slots__ = ("outcome", "work", "writes")

    def __init__(self, work: Callable[[Database, Changed], object], *, writes: bool) -> None:
        self.work = work
        self.writes = writes
        self.outcome: object = None

    def run(self, database: Database, changed: Changed) -> None:
        try:
            self.outcome = self.work(database, changed)
        except StoreError as refusal:
            self.outcome = refusal


class Database:
    """An open file. Those that own ephemeral nodes ended with the process that had it before."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.commits = 0
        self._zxid = 0
        self._broken: sqlite3.Error | None = None
        try:
            # Without isolation level: transactions are ours alone to begin and end.
            self._connection = sqlite3.connect(
                path, timeout=0, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise CannotOpen(f"{path}: {error}") from error
        self._execute = self._connection.execute
        try:
            self._prepare()
        except sqlite3.Error as error:
            self._connection.close()
            reason = _REASONS.get(_code(error) & 0xFF, str(error))
            raise CannotOpen(f"{path}: {reason}") from error
        except CannotOpen:
            self._connection.close()
            raise

    def run(self, requests: Sequence[Request]) -> Changed:
        """All in one transaction, though each succeeds or fails by itself; returns what changed."""
        changed = Changed()
        try:
            if any(request.writes for request in requests):
                self._begin()
            for request in requests:
                request.run(self, changed)
            if self._connection.in_transaction:
                self._commit()
        except sqlite3.Error as error:
            self._undo(error)
            for request in requests:  # those that read, too: they have seen what is undone now
                request.outcome = self._unavailable(error)
            return Changed()
        return changed

    def change(self, work: Callable[[Change], T], session_id: int, changed: Changed) -> T:
        """One change to the tree, which leaves nothing behind if it is refused half-way."""
        change = Change(self, self._zxid + 1, session_id, Changed())
        self._execute("SAVEPOINT change")
        try:
            result = work(change)
        except StoreError:
            self._execute("ROLLBACK TO change")
            self._execute("RELEASE change")
            raise
        self._execute("RELEASE change")
        self._zxid = change.zxid
        changed.add(change.changed)
        return result

    def setting(self, name: str) -> object:
        """What SQLite says of itself."""
        (value,) = self._execute(f"PRAGMA {name}").fetchone()
        return value

    def close(self) -> None:
        self._connection.close()

    def find(self, path: str) -> Entry | None:
        sql = "SELECT path, data, version, czxid, mzxid, owner FROM node WHERE path = ?"
        row = self._execute(sql, (path,)).fetchone()
        return None if row is None else Entry(*row)

    def names(self, path: str) -> list[str]:
        start = len(path.rstrip("/")) + 1
        rows = self._execute("SELECT path FROM node WHERE parent = ? ORDER BY path", (path,))
        return [child[start:] for (child,) in rows]

    def has_children(self, path: str) -> bool:
        sql = "SELECT 1 FROM node WHERE parent = ? LIMIT 1"
        return self._execute(sql, (path,)).fetchone() is not None

    def created_below(self, path: str) -> int:
        return self._number("SELECT created_below FROM node WHERE path = ?", path)

    def add(self, entry: Entry) -> None:
        parent = parent_of(entry.path)
        self._execute(
            "INSERT INTO node VALUES (?, ?, ?, ?, ?, ?, ?, 0)",
            (
                entry.path,
                parent,
                entry.data,
                entry.version,
                entry.czxid,
                entry.mzxid,
                entry.owner,
            ),
        )
        sql = "UPDATE node SET created_below = created_below + 1 WHERE path = ?"
        self._execute(sql, (parent,))

    def replace(self, entry: Entry) -> None:
        self._execute(
            "UPDATE node SET data = ?, version = ?, mzxid = ? WHERE path = ?",
            (entry.data, entry.version, entry.mzxid, entry.path),
        )

    def remove(self, path: str) -> None:
        self._execute("DELETE FROM node WHERE path = ?", (path,))

    def owned_by(self, session_id: int) -> list[str]:
        # The index is of ephemeral nodes alone, and SQLite wants to be told that these are.
        sql = "SELECT path FROM node WHERE owner = ? AND owner != 0 ORDER BY path"
        return [path for (path,) in self._execute(sql, (session_id,))]

    def _prepare(self) -> None:
        self._execute("PRAGMA locking_mode = EXCLUSIVE")
        version = self._known_version()  # before anything is written: the file may be another's
        self._execute("PRAGMA journal_mode = WAL")
        # If what is done here should not last, it is done again; so nobody waits for the disk.
        self._execute("PRAGMA synchronous = NORMAL")
        self._execute("BEGIN IMMEDIATE")
        if version < len(MIGRATIONS):
            self._migrate(version)
        self._execute("DELETE FROM node WHERE owner != 0")
        self._execute("COMMIT")
        self._execute("PRAGMA synchronous = FULL")

    def _known_version(self) -> int:
        version = self._number("PRAGMA user_version")
        if self._number("PRAGMA application_id") != _OURS:
            if version or self._number("SELECT count(*) FROM sqlite_master"):
                raise CannotOpen(f"{self.path}: the SQLite file of another program; name another")
        elif version > len(MIGRATIONS):
            raise CannotOpen(
                f"{self.path}: written by a later release of Ottla, in version {version} where "
                f"this one knows {len(MIGRATIONS)}; use that release, or name another file"
            )
        return version

    def _migrate(self, version: int) -> None:
        for script in MIGRATIONS[version:]:
            # Not executescript, which would commit what is under way.
            for statement in script.split(";"):
                self._execute(statement)
        self._execute(f"PRAGMA application_id = {_OURS}")
        self._execute(f"PRAGMA user_version = {len(MIGRATIONS)}")

    def _begin(self) -> None:
        if self._broken is not None:
            raise self._broken
        self._execute("BEGIN IMMEDIATE")
        self._zxid = self._number("SELECT zxid FROM last_change")

    def _commit(self) -> None:
        self._execute("UPDATE last_change SET zxid = ?1 WHERE zxid != ?1", (self._zxid,))
        self._execute("COMMIT")
        self.commits += 1

    def _undo(self, error: sqlite3.Error) -> None:
        with suppress(sqlite3.Error):  # SQLite has often done so by itself
            self._execute("ROLLBACK")
        if _code(error) == sqlite3.SQLITE_IOERR_FSYNC:
            # Nobody knows what is on the disk now, and to try again would seem to succeed.
            self._broken = error

    def _unavailable(self, error: sqlite3.Error) -> StoreUnavailable:
        """Each its own, for it is raised to its own caller."""
        unavailable = StoreUnavailable(f"{self.path}: {error}")
        unavailable.__cause__ = error
        return unavailable

    def _number(self, sql: str, *parameters: str) -> int:
        (number,) = self._execute(sql, parameters).fetchone()
        assert isinstance(number, int)
        return number


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0)  # errors of the Python module itself have none
