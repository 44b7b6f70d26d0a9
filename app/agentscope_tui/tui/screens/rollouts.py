"""All sessions of one row side by side: their rewards in numbers, and the calls of each as a strip."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from agentscope_tui.errors import UserError
from agentscope_tui.session.comparing import state_of
from agentscope_tui.session.rollouts import statistics_of, strips_of
from agentscope_tui.session.state import SessionState
from agentscope_tui.session.totals import Totals, totals_of
from agentscope_tui.store.session_row import SessionRow
from agentscope_tui.tui.present.rollouts import (
    COLUMNS,
    LEGEND,
    rollout_cells,
    statistics_lines,
    strip_text,
)
from agentscope_tui.tui.screens.compare import show_compared
from agentscope_tui.tui.workspace import Workspace
from agentscope_widgets.key_bar import KeyBar
from agentscope_widgets.row_list import RowCells, RowList
from agentscope_widgets.safe_text import safe_line

MOST_SESSIONS = 200
"""Sessions of a row that are read: the newest."""


@dataclass(frozen=True)
class _Rollout:
    """One session of the row, as it is by now."""

    row: SessionRow
    totals: Totals
    strip: str


class Rollouts:
    """The list's source: the best first, those without a reward last."""

    def __init__(self) -> None:
        self.rollouts: Sequence[_Rollout] = ()
        self.marked: dict[str, None] = {}

    def __len__(self) -> int:
        return len(self.rollouts)

    def cells(self, position: int) -> RowCells:
        """What the list shows there."""
        one = self.rollouts[position]
        marked = one.row.id in self.marked
        return rollout_cells(position, one.totals, one.row.name, one.strip, marked=marked)

    def mark(self, positions: Sequence[int], how: str) -> None:
        """Mark the sessions at these positions: `toggle`, `on` or `off`."""
        for position in positions:
            session = self.rollouts[position].row.id
            was_marked = session in self.marked
            self.marked.pop(session, None)
            if how == "on" or (how == "toggle" and not was_marked):
                self.marked[session] = None


class RolloutsScreen(ModalScreen[SessionRow | None]):
    """Gives the session to open; None when it was left."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "back", id="rollouts.leave", tooltip="Back to the sessions"),
        Binding(
            "D",
            "compare",
            "compare",
            id="rollouts.compare",
            tooltip="Compare the two marked sessions, or the best with the one under the cursor",
        ),
        Binding("ctrl+l", "read", "read again", id="rollouts.again", tooltip="Show them as they are now"),
    ]

    def __init__(self, workspace: Workspace, sessions: Sequence[SessionRow]) -> None:
        """`sessions` are those of one row, the newest first."""
        super().__init__()
        self._workspace = workspace
        self._sessions = sessions[:MOST_SESSIONS]
        self._left_out = len(sessions) - len(self._sessions)
        self._source = Rollouts()

    def compose(self) -> ComposeResult:
        with Container(id="rollouts-pane", classes="pane"):
            yield Static(id="facts")
            yield RowList(id="rollouts", placeholder="reading the sessions …")
        yield KeyBar()

    def on_mount(self) -> None:
        row = self._sessions[0].row if self._sessions else None
        self.query_one("#rollouts-pane").border_title = Content(f"Rollouts · row {row}")
        self.query_one("#rollouts-pane").border_subtitle = Content(LEGEND)
        self._list.set_source(self._source, COLUMNS)
        self._list.focus()
        self.action_read()

    @property
    def _list(self) -> RowList:
        return self.query_one(RowList)

    @property
    def _chosen(self) -> _Rollout | None:
        """The session under the cursor; None: there is none."""
        return self._source.rollouts[self._list.cursor] if len(self._source) else None

    # What is shown

    @work(group="read", exclusive=True)
    async def action_read(self) -> None:
        """Read the sessions as they are by now, and show them."""
        read: list[tuple[SessionRow, SessionState]] = []
        problems: list[str] = []
        for done, row in enumerate(self._sessions, start=1):
            try:
                past = await self._workspace.past_of(row.id)
            except UserError as error:
                problems.append(str(error))
                continue
            read.append((row, await asyncio.to_thread(state_of, past.events)))
            self._list.placeholder = f"reading the sessions: {done} of {len(self._sessions)}"
        if problems:
            self.notify("\n".join(problems[:3]), severity="warning", markup=False)
        strips = await asyncio.to_thread(strips_of, [state for _, state in read])
        found = [
            _Rollout(row, totals_of(state), strip_text(strip, strips.common))
            for (row, state), strip in zip(read, strips.strips, strict=True)
        ]
        # The best first; of those as good the older: an id begins with its time.
        found.sort(key=lambda one: (one.totals.reward is None, -(one.totals.reward or 0), one.row.id))
        self._show(found)

    def _show(self, found: Sequence[_Rollout]) -> None:
        """Have these sessions; the cursor stays with its own."""
        before = self._chosen
        self._source.rollouts = found
        ids = [one.row.id for one in found]
        place = ids.index(before.row.id) if before is not None and before.row.id in ids else 0
        self._list.placeholder = "no session of this row can be read"
        self._list.rearranged(place)
        lines = statistics_lines(
            statistics_of([one.totals.reward for one in found]), [one.row.name or one.row.id for one in found]
        )
        if self._left_out:
            lines.append(f"{self._left_out:,} older sessions are left out")
        shown = [Content.styled(safe_line(line), "bold" if at == 0 else "") for at, line in enumerate(lines)]
        self.query_one("#facts", Static).update(Content("\n").join(shown))
        self.refresh_bindings()

    # The list

    @on(RowList.RowOpened)
    def _opened(self) -> None:
        if (one := self._chosen) is not None:
            self._close(one.row)

    @on(RowList.RowHighlighted)
    def _highlighted(self) -> None:
        self.refresh_bindings()

    @on(RowList.MarksRequested)
    def _marks_requested(self, event: RowList.MarksRequested) -> None:
        self._source.mark(event.positions, event.how)
        self._list.refresh_rows()
        self.refresh_bindings()

    # Keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self._compared() is not None if action == "compare" else True

    def action_leave(self) -> None:
        self._close(None)

    def _close(self, chosen: SessionRow | None) -> None:
        """Leave; what still reads must not find a screen without its list."""
        self.workers.cancel_group(self, "read")
        self.dismiss(chosen)

    @work(group="ask")
    async def action_compare(self) -> None:
        """Two of them side by side."""
        if (two := self._compared()) is not None:
            await show_compared(self, self._workspace, two)

    def _compared(self) -> tuple[str, str] | None:
        """The ids of the two to compare."""
        marked = list(self._source.marked)
        if len(marked) == 2:
            return marked[0], marked[1]
        if marked or self._chosen is None or self._list.cursor == 0:
            return None
        return self._source.rollouts[0].row.id, self._chosen.row.id
