"""A session that was put together for a row, with what belongs to it: its folder and its recording."""

from __future__ import annotations

import asyncio

from agentscope_tui.bus import EventBus
from agentscope_tui.datasets.task import Task
from agentscope_tui.session.kept_files import KeptFiles
from agentscope_tui.session.replaying import Replay
from agentscope_tui.session.session import Session
from agentscope_tui.store.folders import SessionFolder
from agentscope_tui.store.past import PastSession
from agentscope_tui.store.recorder import Recorder
from agentscope_tui.store.reopen import read_session


class OpenSession:
    """A session that was put together, with what belongs to it."""

    def __init__(
        self,
        task: Task,
        folder: SessionFolder,
        session: Session,
        recorder: Recorder,
        kept_files: KeptFiles,
        replay: Replay | None = None,
    ) -> None:
        """`replay` is what the runner of a session that goes on from another one is brought to first."""
        self.task = task
        self.folder = folder
        self.session = session
        self.recorder = recorder
        self._kept_files = kept_files
        self._replay = replay
        self._replaying: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def bus(self) -> EventBus:
        return self.session.bus

    async def start(self) -> None:
        """Start the runner and the first turn: the row's prompt, or the replay of what was recorded.

        Raises:
            UserError: the tools are badly declared, or the runner did not come up.
        """
        await self.session.start()
        if self._replay is not None:
            self._replaying = asyncio.create_task(self._replay.run(self.session), name="replay")
        else:
            self.session.send(self.task.prompt)

    def past(self) -> PastSession:
        """What is recorded of it by now; all that has happened, after `recorder.flush`. For a thread.

        Raises:
            UserError: nothing is.
        """
        return read_session(self.folder.path)

    async def aclose(self, reason: str = "") -> None:
        """End the session; returns when nothing of it runs and all of it is recorded."""
        await self.session.end(reason)
        if self._replaying is not None:
            await asyncio.wait([self._replaying])
        self._kept_files.close()
        await self.recorder.aclose()
        self._closed = True

    def dissolve(self) -> None:
        """Take it apart once it is closed; nothing of it may be used any more.

        Its parts refer to each other in circles: many sessions would keep the garbage collector busy.
        """
        # Whoever was cancelled as it was being closed leaves it to its own tasks, which go on.
        if self._closed:
            for part in (self.bus, self.session, self.recorder, self):
                vars(part).clear()
