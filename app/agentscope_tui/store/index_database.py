"""The database of the run index: made where there is none, made anew where it is damaged or of an older
version, and in memory where it cannot be kept. Any thread may use it, several processes may have it open."""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

log = logging.getLogger(__name__)

Version: TypeAlias = tuple[int, ...]

_WAIT_SECONDS = 5.0
"""For another process that writes."""
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


class _NewerVersion(Exception):
    """The database belongs to a newer agentscope, which may run beside this one."""


class IndexDatabase:
    """A connection that is replaced when the database is of no use."""

    def __init__(self, file: Path, schema: str, version: int) -> None:
        """`schema` are the statements that make the tables of this `version`, from 1."""
        self._file = file
        self._schema = schema
        self._version = version
        self._lock = threading.Lock()
        self._replaced = 0
        self._closed = False
        self._db = self._opened()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._db.close()

    @property
    def version(self) -> Version:
        """Another value after each change by this or by another process."""
        with self._lock:
            (others,) = self._db.execute("PRAGMA data_version").fetchone()
            return (self._replaced, others, self._db.total_changes)

    def read(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """The rows that a query gives.

        Raises:
            sqlite3.DatabaseError: the database is of no use any more, see `replace`.
        """
        with self._lock:
            return self._db.execute(query, values).fetchall()

    def write(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        """Do a statement for each of the rows of values, all of them or none.

        Raises:
            sqlite3.DatabaseError: the database is of no use any more, see `replace`.
        """
        with self._lock, self._db:
            self._db.executemany(statement, rows)

    def replace(self, error: sqlite3.DatabaseError) -> None:
        """Go on with an empty database after this error: a new file for a damaged one, else in memory.

        Raises:
            sqlite3.DatabaseError: the same, if the database was closed.
        """
        if self._closed:
            raise error
        log.warning("the run index %s is made anew: %s", self._file, error)
        with self._lock:
            self._db.close()
            self._replaced += 1
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED:
                self._delete()
                self._db = self._opened()
            else:
                self._db = self._in_memory()

    def _opened(self) -> sqlite3.Connection:
        try:
            return self._on_disk()
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode & 0xFF in _DAMAGED:
                self._delete()
                with contextlib.suppress(OSError, sqlite3.DatabaseError):
                    return self._on_disk()
            log.warning("the run index %s is kept in memory: %s", self._file, error)
        except (OSError, _NewerVersion) as error:
            log.warning("the run index %s is kept in memory: %s", self._file, error)
        return self._in_memory()

    def _on_disk(self) -> sqlite3.Connection:
        # SQLite would make it as the umask says; what it puts beside it has the mode of this file.
        os.close(os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        db = sqlite3.connect(self._file, timeout=_WAIT_SECONDS, check_same_thread=False)
        try:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            self._make_tables(db)
        except BaseException:
            db.close()
            raise
        return db

    def _in_memory(self) -> sqlite3.Connection:
        db = sqlite3.connect(":memory:", check_same_thread=False)
        self._make_tables(db)
        return db

    def _make_tables(self, db: sqlite3.Connection) -> None:
        with db:
            # Alone: another process may be at the same.
            db.execute("BEGIN IMMEDIATE")
            (version,) = db.execute("PRAGMA user_version").fetchone()
            if version > self._version:
                raise _NewerVersion(f"it is of version {version}")
            if version < self._version:
                for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                    db.execute(f'DROP TABLE "{table}"')
                for statement in filter(None, map(str.strip, self._schema.split(";"))):
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {self._version}")
        db.create_function("folded", 1, _folded, deterministic=True)

    def _delete(self) -> None:
        for name in ("-wal", "-shm", ""):
            with contextlib.suppress(OSError):
                self._file.with_name(self._file.name + name).unlink(missing_ok=True)


def _folded(text: object) -> str:
    """A text in which case does not count."""
    return str(text).casefold()
