"""The acts that go on from a past session in a new one: fork it at a call, or take it up where it ended."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Callable
from typing import TypeVar

from textual import work

from agentscope_tui.datasets.task import Task
from agentscope_tui.errors import UserError
from agentscope_tui.session.forking import Fork
from agentscope_tui.session.state import SessionState
from agentscope_tui.session.views import Entry
from agentscope_tui.store.past import PastSession
from agentscope_tui.store.reopen import recover
from agentscope_tui.tui.fork_choices import place_of
from agentscope_tui.tui.screens.player import PlayerControls
from agentscope_tui.tui.shown_row import ShownRow
from agentscope_tui.tui.workspace import Workspace

T = TypeVar("T")


class GoingOn(PlayerControls):
    """A screen that shows a session from which another can part."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._opening: set[int] = set()
        """The rows whose session is being opened."""

    @abstractmethod
    def start(self, task: Task, fork: Fork | None = None) -> object:
        """Start the session of a row that is `_opening`, and show it."""

    def entry_under_cursor(self) -> Entry | None:
        """The transcript entry that the user has chosen, if one is."""
        return None

    def chosen_tool_call(self) -> str | None:
        """The tool call that the user has chosen among the tool calls; None: the user is not there."""
        return None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        current = self.current
        match action:
            case "fork":
                return current is not None and current.state.call > 0
            case "restart" if current is not None and current.session is None:
                return self.index is not None
            case _:
                return super().check_action(action, parameters)

    @work(group="ask")
    async def action_fork(self) -> None:
        """Ask what is to be different from the chosen entry on, and go on with that."""
        from agentscope_tui.tui.screens.fork import ForkScreen

        current, index = self.current, self.index
        if current is None:
            return
        if index is None:
            self.notify(
                f"This is of another dataset: agentscope open {current.session_id}, and fork it there.",
                severity="warning",
                markup=False,
            )
            return
        entry = self._chosen_entry(current.state)
        await current.written()
        past = await self._read(current.past)
        place = None if past is None else await self._read(lambda: place_of(past, entry))
        if past is None or place is None:
            return
        launcher = self._workspace.launcher
        fork = await self.app.push_screen_wait(
            ForkScreen(past, place, model=launcher.model_name, check_model=launcher.check_model)
        )
        if fork is not None:
            self._go_on_elsewhere(fork, index)

    @work(group="ask")
    async def action_restart(self) -> None:
        """Take it up where it ended: a runner that died, or a recording."""
        current, index = self.current, self.index
        if current is None or index is None:
            return
        past = await self._read(lambda: _ended(current))
        if past is not None:
            self._go_on_elsewhere(Fork(past), index)

    def _chosen_entry(self, state: SessionState) -> Entry | None:
        """What the user looks at, in the transcript or among the tool calls."""
        call_id = self.chosen_tool_call()
        of_call = (entry for entry in state.entries if call_id and entry.call_id == call_id)
        return next(of_call, None) or self.entry_under_cursor()

    @work(group="fork")
    async def go_on(self, fork: Fork, index: int) -> None:
        """Start the session of the row with this index that goes on from another one, and show it."""
        if index not in self._opening:
            self._opening.add(index)
            try:
                self.start(await self._workspace.task_of(fork.past, index), fork)
            except UserError as error:
                self._opening.discard(index)
                self.notify(str(error), severity="error", markup=False)

    def _go_on_elsewhere(self, fork: Fork, index: int) -> None:
        """As `go_on`; says so where the recording's own settings do not count."""
        file = self._workspace.launcher.untrusted
        if file is not None:
            self.notify(
                f"Your settings count for {', '.join(file.keys)}, not the recording's: it may be a "
                "stranger's. `agentscope resume` asks whether you trust it.",
                severity="warning",
                timeout=15,
                markup=False,
            )
        self.go_on(fork, index)

    async def _read(self, read: Callable[[], T]) -> T | None:
        """What a thread reads; None after the user was told why it cannot be read."""
        try:
            return await asyncio.to_thread(read)
        except UserError as error:
            self.notify(str(error), severity="error", markup=False)
            return None


def _ended(row: ShownRow) -> PastSession:
    """A session that runs nowhere any more.

    Raises:
        SessionInUse: another process runs it.
    """
    if row.session is None and row.folder is not None:
        return recover(row.folder.path)
    return row.past()
