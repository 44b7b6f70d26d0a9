"""The run index: one row a session, in SQLite beside the recordings, made from them at any time.

Nothing is lost with it: what the user says of a session is in the session's folder.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from agentscope_tui.datasets.expression import Expression
from agentscope_tui.errors import UserError
from agentscope_tui.folders import sessions_dir
from agentscope_tui.store.index_database import IndexDatabase, Version
from agentscope_tui.store.lock import is_locked
from agentscope_tui.store.session_row import COLUMNS, SessionRow, row_of, values_of
from agentscope_tui.store.summary import Summary

log = logging.getLogger(__name__)

VERSION = 2
"""Of the table below and of `Summary`: raise it with either."""
_TABLE = f"""
CREATE TABLE sessions ({", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())},
    is_final INTEGER, file_size INTEGER, file_time INTEGER, meta_time INTEGER, summary BLOB,
    PRIMARY KEY (id));
CREATE INDEX of_rows ON sessions (dataset, row);
CREATE INDEX of_data ON sessions (identity, row);
"""
_SELECT = f"SELECT {', '.join(COLUMNS)}"
_BATCH = 100
"""Sessions that are read between two commits."""


@dataclass(frozen=True)
class Wanted:
    """Which sessions: those for which all that is given is true. Texts are parts, whatever the case.

    `words` are looked for in id, name, prompt and change. `rows_of` is the path of a dataset and its
    identity, of which either is enough. `since` is in seconds, as `time.time()` gives them.
    """

    words: Sequence[str] = ()
    dataset: str = ""
    rows_of: tuple[str, str] | None = None
    row: int | None = None
    model: str = ""
    agent: str = ""
    state: str = ""
    since: float | None = None
    where: Expression | None = None


class RowSessions(NamedTuple):
    """The sessions of one row of a dataset: how many there are, and the newest."""

    total: int
    newest: SessionRow


class _Place(NamedTuple):
    """The files of a session as they were when it was read. `is_final`: no process will write them."""

    is_final: bool
    file_size: int
    file_time: int
    meta_time: int


class RunIndex:
    """All sessions of a state folder. Any thread may ask, also while another one brings it up to date."""

    def __init__(self, state: Path) -> None:
        self._sessions = sessions_dir(state)
        self._db = IndexDatabase(state / "sessions.db", _TABLE, VERSION)
        self._syncing = threading.Lock()

    def close(self) -> None:
        """Let go of the database, once a sync that is under way has ended."""
        with self._syncing:
            self._db.close()

    def folder(self, row: SessionRow) -> Path:
        """Where the session is."""
        return self._sessions / row.id

    # Keeping it true

    def sync(
        self,
        stop: threading.Event | None = None,
        on_progress: Callable[[int, int], None] = lambda done, total: None,
        *,
        thorough: bool = True,
    ) -> Version:
        """Read what is new in the recordings, newest first; gives another value when anything was.

        `on_progress` is called with how many sessions were read, and how many are to be. Returns early once
        `stop` is set; what was read by then is kept. Without `thorough` nothing is looked for in sessions
        that were over: that one of them was renamed or cut.

        Raises:
            UserError: the folder of sessions cannot be read.
        """
        stop = stop or threading.Event()
        with self._syncing:
            try:
                self._sync(stop, on_progress, thorough)
                return self._db.version
            except sqlite3.DatabaseError as error:
                self._db.replace(error)
                self._sync(stop, on_progress, True)
                return self._db.version

    def _sync(self, stop: threading.Event, on_progress: Callable[[int, int], None], thorough: bool) -> None:
        known = {
            str(name): _Place(bool(is_final), *place)
            for name, is_final, *place in self._db.read(
                "SELECT id, is_final, file_size, file_time, meta_time FROM sessions"
            )
        }
        names = self._names()
        gone = known.keys() - names
        changed: list[str] = []
        for name in sorted(names, reverse=True):
            before = known.get(name)
            if before is not None and before.is_final and not thorough:
                continue
            place = self._place(name)
            if place is None:
                gone |= known.keys() & {name}
            elif place != before:
                changed.append(name)
        if gone:
            self._db.write("DELETE FROM sessions WHERE id = ?", [(name,) for name in gone])
        on_progress(0, len(changed))
        for start in range(0, len(changed), _BATCH):
            batch = changed[start : start + _BATCH]
            rows = [self._read(name, known.get(name), stop) for name in batch if not stop.is_set()]
            marks = ", ".join("?" * (len(COLUMNS) + 5))
            self._db.write(f"INSERT OR REPLACE INTO sessions VALUES ({marks})", filter(None, rows))
            if stop.is_set():
                return
            on_progress(start + len(batch), len(changed))

    def _names(self) -> set[str]:
        try:
            names = os.listdir(self._sessions)
        except FileNotFoundError:
            return set()
        except OSError as error:
            raise UserError(f"cannot read {self._sessions}: {error.strerror or error}") from error
        # A name that is no text is none of ours.
        return {name for name in names if name.isprintable()}

    def _place(self, name: str) -> _Place | None:
        """The files as they are now, taken to be final; None: there is no recording."""
        folder = os.path.join(self._sessions, name)
        try:
            events = os.stat(os.path.join(folder, "events.jsonl"))
        except OSError:
            return None
        try:
            meta_time = os.stat(os.path.join(folder, "meta.json")).st_mtime_ns
        except OSError:
            meta_time = 0
        return _Place(True, events.st_size, events.st_mtime_ns, meta_time)

    def _read(self, name: str, before: _Place | None, stop: threading.Event) -> Sequence[object] | None:
        """What is to be kept of a session; None: all is as it was."""
        folder = self._sessions / name
        # First: what is written while it is read, or by a process that ends meanwhile, is read the next time.
        is_live = is_locked(folder)
        place = self._place(name)
        if place is None:
            return None
        place = place._replace(is_final=not is_live)
        if place == before:
            return None
        summary = self._kept(name) if before and before.file_size <= place.file_size else Summary()
        try:
            summary.read_on(folder / "events.jsonl", stop)
        except OSError as error:
            log.warning("the recording in %s cannot be read: %s", folder, error)
        if stop.is_set():
            place = place._replace(is_final=False, file_size=summary.read)
        return [*values_of(folder, summary, is_live=is_live), *place, summary.to_json()]

    def _kept(self, name: str) -> Summary:
        found = self._db.read("SELECT summary FROM sessions WHERE id = ?", (name,))
        try:
            return Summary.from_json(found[0][0]) if found else Summary()
        except ValueError:
            return Summary()

    # Asking

    def find(self, wanted: Wanted, limit: int | None = None) -> list[SessionRow]:
        """The sessions that are wanted, newest first, as of the last sync."""
        condition, values = _condition(wanted)
        where = wanted.where
        values.append(-1 if limit is None or where is not None else limit)
        query = f"{_SELECT} FROM sessions WHERE {condition} ORDER BY created DESC, id DESC LIMIT ?"
        rows = map(row_of, self._ask(query, values))
        return list(islice(rows if where is None else filter(where.matches, rows), limit))

    def of_rows(self, dataset: str, identity: str) -> dict[int, RowSessions]:
        """The sessions of a dataset's rows, by the row's index: of the same file, or of the same content."""
        condition, values = _condition(Wanted(rows_of=(dataset, identity)))
        # Beside a max(), SQLite takes the other columns from the row that has it.
        found = self._ask(
            f"{_SELECT}, count(*), max(created) FROM sessions "
            f"WHERE {condition} AND row IS NOT NULL GROUP BY row",
            values,
        )
        sessions = [RowSessions(values[-2], row_of(values)) for values in found]
        return {one.newest.row: one for one in sessions if one.newest.row is not None}

    def _ask(self, query: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        try:
            return self._db.read(query, values)
        except sqlite3.DatabaseError as error:
            self._db.replace(error)
            self.sync()
            return self._db.read(query, values)


def _condition(wanted: Wanted) -> tuple[str, list[object]]:
    """What SQL says for it, but for the expression, and the values for its question marks."""
    conditions: list[tuple[str, Sequence[object]]] = [("TRUE", ())]
    for word in wanted.words:
        text = "folded(id || char(10) || name || char(10) || prompt || char(10) || change)"
        conditions.append((f"instr({text}, ?)", (word.casefold(),)))
    for column in ("dataset", "model", "agent"):
        if part := getattr(wanted, column):
            conditions.append((f"instr(folded({column}), ?)", (part.casefold(),)))
    if wanted.rows_of is not None:
        path, identity = wanted.rows_of
        # A path that is not absolute may have been another file.
        is_same = "(dataset = ? AND dataset LIKE '/%') OR (identity = ? AND identity != '')"
        conditions.append((f"({is_same})", (path, identity)))
    if wanted.row is not None:
        conditions.append(("row = ?", (wanted.row,)))
    if wanted.state:
        conditions.append(("? IN (status, state, outcome)", (wanted.state,)))
    if wanted.since is not None:
        conditions.append(("created >= ?", (wanted.since,)))
    return (
        " AND ".join(condition for condition, _ in conditions),
        [value for _, values in conditions for value in values],
    )
