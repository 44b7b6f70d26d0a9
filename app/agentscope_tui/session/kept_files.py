"""Keeping what the scratch folder holds as each model call is made, while the model answers.

Tools are at rest then, since the agent has no answer yet that could call one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from agentscope_tui.errors import UserError
from agentscope_tui.events import AgentNote, Event
from agentscope_tui.session.tasks import nothing_to_do
from agentscope_tui.store.folders import SessionFolder
from agentscope_tui.store.snapshots import Snapshot, Snapshots
from agentscope_tui.store.together import is_small, off_the_loop
from agentscope_tui.waiting import ended

log = logging.getLogger(__name__)


class KeptFiles:
    """The snapshots of a session that runs. What is not kept is said, once."""

    def __init__(
        self, folder: SessionFolder, publish: Callable[[Event], object], *, wanted: Callable[[int], bool]
    ) -> None:
        """`wanted` says whether the files are to be kept at a call: they are not where a replay is on."""
        self._files: Path = folder.files
        self._snapshots = Snapshots(folder.snapshots)
        self._publish = publish
        self._wanted = wanted
        self._told = self._closed = False
        self._taking: asyncio.Task[None] | None = None

    def keep(self, call: int) -> asyncio.Future[None]:
        """Keep the files as of this call: done when they are, or it is said why not. It is not to be
        cancelled: they follow each other also when nobody waits for one any more."""
        if not self._wanted(call):
            return nothing_to_do(call)
        self._taking = asyncio.create_task(self._take(call, after=self._taking), name="snapshot")
        return self._taking

    async def _take(self, call: int, *, after: asyncio.Task[None] | None) -> None:
        if after is not None:
            await ended(after)
        try:
            small = is_small(self._files)
            snapshot = await off_the_loop(self._snapshots.take, self._files, call, small=small)
        except UserError as error:
            self._tell(str(error))
        except OSError as error:
            log.warning("the files at call %d are not kept", call, exc_info=error)
            self._tell(f"{error.strerror or error}")
        except Exception as error:
            # A defect here must not take the model's answer from the agent.
            log.exception("the files at call %d are not kept", call)
            self._tell(f"{type(error).__name__}: {error} (see the log file)")
        else:
            self._tell_left_out(snapshot)

    def close(self) -> None:
        """Nothing is kept any more, and nothing is told."""
        self._closed = True
        self._snapshots.stop()

    def _tell_left_out(self, snapshot: Snapshot | None) -> None:
        if snapshot is not None and snapshot.left_out:
            self._tell(f"{snapshot.left_out} of them cannot be read")

    def _tell(self, reason: str) -> None:
        if not (self._told or self._closed):
            self._told = True
            text = f"{reason}. A fork at a call without them begins with the files of the row."
            self._publish(AgentNote(title="the files are not kept at each call", text=text))
