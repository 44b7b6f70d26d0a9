"""The open dataset and its sessions: what the screen asks, and where each session's state is kept.

Knows no widget; the screen draws from it, and the bridge keeps the states up to date.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from agentscope_tui.bus import Subscription
from agentscope_tui.datasets.dataset import Dataset
from agentscope_tui.datasets.task import RowError, Task
from agentscope_tui.errors import UserError
from agentscope_tui.events import Steer
from agentscope_tui.folders import sessions_dir
from agentscope_tui.session.forking import Fork
from agentscope_tui.session.launch import Launcher
from agentscope_tui.session.meta import task_of
from agentscope_tui.session.open_session import OpenSession
from agentscope_tui.session.session import Session
from agentscope_tui.store.find import find_session
from agentscope_tui.store.folders import read_meta
from agentscope_tui.store.past import PastSession
from agentscope_tui.store.reopen import as_it_stands
from agentscope_tui.store.tape import Progress
from agentscope_tui.tui.batches import Batches, RowRollouts
from agentscope_tui.tui.kept_sessions import KeptSessions
from agentscope_tui.tui.recorded_session import RecordedRow
from agentscope_tui.tui.recordings import Recordings
from agentscope_tui.tui.shown_row import News, ShownRow

CLOSE_SECONDS = 2.0
"""How long quitting waits for all sessions to end in order."""


MOST_RECORDINGS = 8
"""Recordings that were looked at and are held in memory, each where its playhead is."""


class RowSession(ShownRow):
    """A row's session that runs in this process, with the draft of its composer."""

    index: int

    def __init__(self, opened: OpenSession) -> None:
        super().__init__(opened.task.index, opened.folder)
        self.opened = opened
        self._subscription: Subscription = opened.bus.subscription()

    @property
    def session_id(self) -> str:
        return self.opened.bus.session_id

    @property
    def session(self) -> Session:
        return self.opened.session

    @property
    def active(self) -> bool:
        return self.session.status in ("starting", "running", "interrupting")

    def now(self) -> datetime:
        return self.opened.bus.now()

    def pump(self) -> News:
        """Fold the events that are new."""
        events = self._subscription.drain()
        returned: list[str] = []
        for event in events:
            self.state.apply(event)
            if isinstance(event, Steer) and event.status == "returned":
                returned.append(event.text)
        if self.session.settings.undelivered_steers == "send":
            returned.clear()
        return News(bool(events), returned)

    async def written(self) -> None:
        await self.opened.recorder.flush()

    def past(self) -> PastSession:
        return self.opened.past()


class Workspace:
    """All rows of the dataset and the sessions that were opened on them."""

    def __init__(self, launcher: Launcher, dataset: Dataset, recordings: Recordings | None = None) -> None:
        """`recordings` are the rows that were recorded before, which opening them does not run."""
        self.launcher = launcher
        self.dataset = dataset
        self._recorded = recordings
        self.kept = KeptSessions(launcher.state)
        self.batches = Batches(launcher)
        self.sessions: dict[int, RowSession] = {}
        """Those that run in this process, by index."""
        self.aside: dict[str, RowSession] = {}
        """Those that run on beside a fork of theirs, by id."""
        self.recordings: dict[str, RecordedRow] = {}
        """Those that were looked at, by id; the newest last."""
        self._leaving = threading.Event()
        self.rewards: dict[int, float] = {}
        """Those that an opened file tells of its rows, by index; see `read_rewards`."""
        self.problems: dict[int, str] = {}
        """Why a row's session could not be opened, by index."""

    async def open(self, task: Task, *, fork: Fork | None = None) -> RowSession:
        """A new session on a row; one that was there before is ended first.

        A `fork` leaves the session before as it is, running or not; see `aside`.

        Raises:
            UserError: it could not be opened, and `problems` holds that as well; or it could not be started.
        """
        before = self.sessions.get(task.index)
        if before is not None and fork is None:
            await self._end(before)
        self.problems.pop(task.index, None)
        try:
            opened = await self.launcher.open(task, fork=fork)
        except UserError as error:
            if fork is None:
                self.problems[task.index] = str(error)
            raise
        if before is not None and fork is not None:
            await self._put_aside(before)
        row = self.sessions[task.index] = RowSession(opened)
        await opened.start()
        return row

    def bring_back(self, session_id: str) -> RowSession | None:
        """Make a session that was put aside its row's again; None: it is none of those."""
        row = self.aside.pop(session_id, None)
        if row is not None:
            if (other := self.sessions.get(row.index)) is not None:
                self.aside[other.session_id] = other
            self.sessions[row.index] = row
        return row

    def live(self, session_id: str) -> RowSession | None:
        """Make a session that runs in this process its row's, wherever it was; None: it is none of those.

        One of a run is looked at and acted on as any other; the run waits for its end, and closes it.
        """
        for row in self.sessions.values():
            if row.session_id == session_id:
                return row
        if (opened := self.batches.opened.get(session_id)) is not None and session_id not in self.aside:
            self.aside[session_id] = RowSession(opened)
        return self.bring_back(session_id)

    def rollouts_of(self, index: int) -> RowRollouts | None:
        """What the run that is shown makes of a row; None: nothing, or a session that is newer, or the very
        one, was looked at on its own."""
        found, shown = self.batches.rollouts_of(index), self.on_row(index)
        if found is None or shown is None or shown.session_id < found.newest:
            return found
        return found if found.total > 1 and shown.session_id == found.newest else None

    async def _put_aside(self, row: RowSession) -> None:
        """Let it go on beside the one that takes its place, if it can."""
        if row.session.status in ("ended", "failed"):
            await self._end(row)
        else:
            self.aside[row.session_id] = row

    async def _end(self, row: RowSession) -> None:
        self.sessions.pop(row.index, None)
        await row.opened.aclose("run again")

    def on_row(self, index: int) -> ShownRow | None:
        """What there is to show of a row: the session that runs, else the recording looked at last."""
        of_row = (row for row in reversed(self.recordings.values()) if row.index == index)
        return self.sessions.get(index) or next(of_row, None)

    def shown(self) -> Iterator[ShownRow]:
        """All sessions and recordings that may be on screen."""
        yield from self._running()
        yield from self.recordings.values()

    async def read_rewards(self) -> set[int]:
        """Read what an opened file tells of its rows; gives these.

        Raises:
            UserError: it cannot be read.
        """
        if self._recorded is not None:
            self.rewards = await asyncio.to_thread(self._recorded.rewards, self._leaving)
        return set(self.rewards)

    def is_recording(self, index: int) -> bool:
        """Whether opening a row shows what was recorded, and runs nothing."""
        return self._recorded is not None and index in self._recorded

    async def open_recorded(self, index: int, stop: threading.Event, progress: Progress) -> RecordedRow:
        """The recording that a row is; see `is_recording`.

        Raises:
            UserError: it cannot be read.
            Stopped: `stop` was set.
        """
        assert self._recorded is not None
        return self._keep(await asyncio.to_thread(self._recorded.open, index, stop, progress))

    async def open_recording(self, folder: Path, stop: threading.Event, progress: Progress) -> RecordedRow:
        """The recording in a session's folder, at its end. Its `index` is None if it is of other rows.

        Raises:
            UserError: it cannot be read.
            Stopped: `stop` was set.
        """
        meta = await asyncio.to_thread(read_meta, folder)
        of_these = bool(meta) and meta.get("dataset_identity") == self.dataset.identity()
        index = meta.get("row") if of_these else None
        return self._keep(await asyncio.to_thread(RecordedRow.of_folder, folder, index, stop, progress))

    async def past_of(self, session_id: str) -> PastSession:
        """All of a session by now, whether it is one of these or only recorded.

        Raises:
            UserError: there is no such session, or it cannot be read.
        """
        shown = next((row for row in self.shown() if row.session_id == session_id), None)
        sessions = sessions_dir(self.launcher.state)
        return await asyncio.to_thread(
            shown.past if shown else lambda: as_it_stands(find_session(session_id, sessions))
        )

    def _running(self) -> Iterator[RowSession]:
        yield from self.sessions.values()
        yield from self.aside.values()

    def _keep(self, row: RecordedRow) -> RecordedRow:
        known = self.recordings.pop(row.session_id, None)
        if known is not None:
            known.stop()
        self.recordings[row.session_id] = row
        if len(self.recordings) > MOST_RECORDINGS:
            self.recordings.pop(next(iter(self.recordings))).stop()
        row.follow()
        return row

    async def task_of(self, past: PastSession, index: int) -> Task:
        """The task of a session that goes on as that of the row with this index.

        Raises:
            UserError: nothing says what was asked in it.
        """
        return replace(await asyncio.to_thread(task_of, past, self.dataset), index=index)

    def row(self, index: int) -> Task | RowError:
        return self.dataset.row(index)

    def active(self) -> list[RowSession]:
        """The sessions in which a turn runs."""
        return [row for row in self._running() if row.active]

    async def aclose(self) -> None:
        """End every session, within a bounded time."""
        self._leaving.set()
        await self.batches.aclose()
        closing = [asyncio.create_task(row.opened.aclose("quit")) for row in self._running()]
        if closing:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.gather(*closing, return_exceptions=True), CLOSE_SECONDS)
        await self.kept.aclose()
        for row in self.recordings.values():
            await row.aclose()
        await self.launcher.aclose()
