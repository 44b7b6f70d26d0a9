"""The open dataset and its sessions: what the screen asks, and where each session's state is kept.

Knows no widget; the screen draws from it, and the bridge keeps the states up to date.
"""

from __future__ import annotations

import asyncio
import contextlib

from agentscope_tui.bus import Subscription
from agentscope_tui.datasets.dataset import Dataset
from agentscope_tui.datasets.task import RowError, Task
from agentscope_tui.errors import UserError
from agentscope_tui.events import Steer
from agentscope_tui.session.launch import Launcher
from agentscope_tui.session.open_session import OpenSession
from agentscope_tui.session.session import Session
from agentscope_tui.session.state import SessionState
from agentscope_tui.session.views import CallView
from agentscope_tui.tui.recorded_output import RecordedOutput
from agentscope_widgets.output_buffer import OutputBuffer

CLOSE_SECONDS = 2.0
"""How long quitting waits for all sessions to end in order."""
MOST_OUTPUTS = 8
"""Outputs of a session that are held in memory, in part; the others are taken in again when looked at."""


class RowSession:
    """One row's session on screen: its state, the draft of its composer, and outputs that were looked at."""

    def __init__(self, opened: OpenSession) -> None:
        self.opened = opened
        self.state = SessionState()
        self.draft = ""
        self._subscription: Subscription = opened.bus.subscription()
        self._outputs: dict[str, RecordedOutput] = {}

    @property
    def session(self) -> Session:
        return self.opened.session

    @property
    def index(self) -> int:
        return self.opened.task.index

    @property
    def active(self) -> bool:
        """Whether a turn runs (held at the gate or not)."""
        return self.session.status in ("starting", "running", "interrupting")

    def pump(self) -> tuple[bool, list[str]]:
        """Fold the events that are new; whether there were any, and texts that came back undelivered."""
        events = self._subscription.drain()
        returned: list[str] = []
        for event in events:
            self.state.apply(event)
            if isinstance(event, Steer) and event.status == "returned":
                returned.append(event.text)
        if self.session.settings.undelivered_steers == "send":
            returned.clear()
        return bool(events), returned

    def output_of(self, call: CallView) -> OutputBuffer:
        """The call's output as a buffer, with what has come so far; see `has_more_output`."""
        output = self._outputs.pop(call.call_id, None)
        if output is None:
            output = RecordedOutput(call, self.opened.folder.outputs)
        self._outputs[call.call_id] = output
        if len(self._outputs) > MOST_OUTPUTS:
            del self._outputs[next(iter(self._outputs))]
        output.take_in()
        return output.buffer

    def has_more_output(self, call: CallView) -> bool:
        """Whether `output_of` did not take in everything yet: a lot of it is taken in a little at a time."""
        output = self._outputs.get(call.call_id)
        return output is not None and output.is_behind


class Workspace:
    """All rows of the dataset and the sessions that were opened on them."""

    def __init__(self, launcher: Launcher, dataset: Dataset) -> None:
        self.launcher = launcher
        self.dataset = dataset
        self.sessions: dict[int, RowSession] = {}
        self.problems: dict[int, str] = {}
        """Why a row's session could not be opened, by index."""

    async def open(self, task: Task, *, restart: bool = False) -> RowSession:
        """A new session on a row; one that was there before is ended first.

        `restart` brings a new runner to where that one was.

        Raises:
            UserError: it could not be opened, and `problems` holds that as well; or it could not be started.
        """
        before = self.sessions.pop(task.index, None)
        if before is not None:
            await before.opened.aclose("run again")
        self.problems.pop(task.index, None)
        try:
            restarted = before.opened if before is not None and restart else None
            opened = await self.launcher.open(task, restarted=restarted)
        except UserError as error:
            self.problems[task.index] = str(error)
            raise
        row = self.sessions[task.index] = RowSession(opened)
        await opened.start()
        return row

    def row(self, index: int) -> Task | RowError:
        return self.dataset.row(index)

    def active(self) -> list[RowSession]:
        """The sessions in which a turn runs."""
        return [row for row in self.sessions.values() if row.active]

    async def aclose(self) -> None:
        """End every session, within a bounded time."""
        closing = [asyncio.create_task(row.opened.aclose("quit")) for row in self.sessions.values()]
        if closing:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.gather(*closing, return_exceptions=True), CLOSE_SECONDS)
        await self.launcher.aclose()
