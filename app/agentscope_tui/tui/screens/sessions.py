"""The recorded sessions of a row, of the dataset or all, each fork under what it was forked from."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.screen import ModalScreen

from agentscope_tui.datasets.query import Order
from agentscope_tui.errors import UserError
from agentscope_tui.session.tally import Tally
from agentscope_tui.store.housekeeping import delete_session, rename_session
from agentscope_tui.store.index_database import Version
from agentscope_tui.store.run_index import Wanted
from agentscope_tui.store.session_row import SessionRow
from agentscope_tui.tui.present.sessions import COLUMNS, SORTED_BY
from agentscope_tui.tui.screens.confirm import Choice, ConfirmScreen
from agentscope_tui.tui.session_rows import SessionRows
from agentscope_tui.tui.workspace import Workspace
from agentscope_widgets.key_bar import KeyBar
from agentscope_widgets.prompt_line import PromptLine
from agentscope_widgets.row_list import RowList
from agentscope_widgets.safe_text import safe_line

_LOOK_SECONDS = 1.0
"""Between two looks at what is new on disk."""
_TELLS = 300
"""Sessions to be read of which it is told how many are."""


@dataclass(frozen=True)
class SessionChosen:
    """What the user opened."""

    session_id: str
    folder: Path


class SessionsScreen(ModalScreen[SessionChosen | None]):
    """Gives the session to open; None when it was left."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "back", id="sessions.leave", tooltip="Close the search, or this list"),
        Binding(
            "s", "scope", "whose", id="sessions.scope", tooltip="Sessions of this row, of the dataset, or all"
        ),
        Binding("/", "search", "search", id="sessions.search", tooltip="Search prompt, name, id and change"),
        Binding("r", "rename", "rename", id="sessions.rename", tooltip="Give the session a name"),
        Binding(
            "d", "delete", "delete", id="sessions.delete", tooltip="Delete the session, or all marked ones"
        ),
        Binding(
            "D",
            "compare",
            "compare",
            id="sessions.compare",
            tooltip="Compare the two marked sessions, or a fork with what it was forked from",
        ),
        Binding(
            "=",
            "rollouts",
            "rollouts",
            id="sessions.rollouts",
            tooltip="All sessions of its row side by side, with what their rewards come to",
        ),
    ]

    def __init__(self, workspace: Workspace, row: int | None) -> None:
        """`row` is the index of the row whose sessions are shown at first; None: those of the dataset."""
        super().__init__()
        self._workspace = workspace
        self._row = row
        self._scopes = ("dataset", "all") if row is None else ("row", "dataset", "all")
        self._scope = self._scopes[0]
        self._words: tuple[str, ...] = ()
        self._rows = SessionRows(self._live)
        self._renamed: SessionRow | None = None
        self._known = False
        self._reading = (0, 0)
        self._list = RowList(id="sessions")
        self._prompt = PromptLine()
        # Held, because what is read may come in when the screen is about to close.
        self._pane = Container(self._list, self._prompt, id="sessions-pane", classes="pane")

    def compose(self) -> ComposeResult:
        yield self._pane
        yield KeyBar()

    def on_mount(self) -> None:
        self._list.set_source(self._rows, COLUMNS)
        self._list.focus()
        self._tell()
        self._follow()
        self.set_interval(0.5, self._redraw_live)

    @property
    def chosen(self) -> SessionRow | None:
        """The session under the cursor; None: there is none."""
        return self._rows.branches[self._list.cursor].row if len(self._rows) else None

    # What is shown

    @work(group="follow")
    async def _follow(self) -> None:
        """Show the sessions as they are in the index, then as they are on disk, while this is open."""
        kept = self._workspace.kept
        await self._show()
        shown: Version = ()
        while True:
            try:
                found = await kept.sync(self._read, thorough=not shown)
            except UserError as error:
                self._complain(error)
                return
            self._known = True
            if found != shown:
                shown = found
                await self._show()
            self._tell()
            await asyncio.sleep(_LOOK_SECONDS)

    def _read(self, done: int, total: int) -> None:
        """In the thread that reads."""
        self._reading = (done, total)

    @work(group="show", exclusive=True)
    async def _show_soon(self) -> None:
        await self._show()

    async def _show(self) -> None:
        """Take over what the index has; the cursor stays with its session."""
        rows = await self._workspace.kept.find(self._wanted())
        before = self.chosen
        self._rows.show(rows)
        self._rearranged(before)

    def _rearranged(self, before: SessionRow | None) -> None:
        place = self._rows.place(before.id) if before is not None else None
        cursor = self._list.cursor if place is None else place
        self._list.rearranged(max(0, min(cursor, len(self._rows) - 1)))
        self._tell()

    def _wanted(self) -> Wanted:
        dataset = self._workspace.dataset
        of_these = (str(dataset.path.absolute()), dataset.identity())
        return Wanted(
            words=self._words,
            rows_of=None if self._scope == "all" else of_these,
            row=self._row if self._scope == "row" else None,
        )

    def _live(self) -> Mapping[str, Tally]:
        return {row.session_id: row.state for row in self._workspace.shown() if row.session is not None}

    def _redraw_live(self) -> None:
        """What runs here changes by itself."""
        if any(branch.row.id in self._live() for branch in self._rows.branches):
            self._list.refresh_rows()
        self._tell()

    def _tell(self) -> None:
        """Say what is shown, how many there are, and what is to be waited for."""
        whose = {"row": f"row {self._row}", "dataset": self._workspace.dataset.path.name, "all": "all"}
        self._pane.border_title = Content(f"Sessions · {safe_line(whose[self._scope], 60)}")
        done, total = self._reading
        count = len(self._rows)
        parts = [f"{count:,} session{'' if count == 1 else 's'}"]
        if self._words:
            parts.append(f"with {' '.join(self._words)}")
        if self._rows.marked:
            parts.append(f"{len(self._rows.marked)} marked")
        if total >= _TELLS and done < total:
            parts.append(f"reading {done:,} of {total:,}")
        self._pane.border_subtitle = Content(safe_line(" · ".join(parts)))
        nothing = "no session is like that" if self._words else "no session yet"
        others = "" if self._scope == "all" else "\ns shows those of other rows too"
        self._list.placeholder = nothing + others if self._known else "reading the sessions …"
        self.refresh_bindings()

    def _complain(self, error: UserError) -> None:
        self.notify(str(error), severity="error", markup=False)

    # The list

    @on(RowList.RowOpened)
    async def _opened(self) -> None:
        if (row := self.chosen) is not None:
            self._close(SessionChosen(row.id, await self._workspace.kept.folder(row)))

    @on(RowList.MarksRequested)
    def _marks_requested(self, event: RowList.MarksRequested) -> None:
        self._rows.mark(event.positions, event.how)
        self._list.refresh_rows()
        self._tell()

    @on(RowList.SortRequested)
    def _sort_requested(self, event: RowList.SortRequested) -> None:
        if event.key not in SORTED_BY:
            return
        order, before = self._rows.order, self.chosen
        if order is None or order.by != event.key:
            order = Order(event.key)
        else:
            order = None if order.descending else Order(event.key, descending=True)
        self._rows.sort(order)
        self._list.set_order(order.by if order else "", descending=bool(order and order.descending))
        self._rearranged(before)

    # Keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "rename":
                return self.chosen is not None
            case "rollouts":
                return self.chosen is not None and self.chosen.row is not None
            case "delete":
                return bool(self._rows.marked) or self.chosen is not None
            case "compare":
                return self._compared() is not None
            case _:
                return True

    def action_leave(self) -> None:
        """What was searched goes first."""
        if self._words:
            self._search("")
        else:
            self._close(None)

    def _close(self, chosen: SessionChosen | None) -> None:
        """Leave; what still looks at the disk must not find a screen without its list."""
        for group in ("follow", "show"):
            self.workers.cancel_group(self, group)
        self.dismiss(chosen)

    def action_scope(self) -> None:
        place = self._scopes.index(self._scope)
        self._scope = self._scopes[(place + 1) % len(self._scopes)]
        self._show_soon()

    def action_search(self) -> None:
        self._prompt.open(self._list, "search", "/", " ".join(self._words))

    def action_rename(self) -> None:
        if (row := self.chosen) is not None:
            self._renamed = row
            self._prompt.open(self._list, "rename", "name", row.name)

    @work(group="ask")
    async def action_delete(self) -> None:
        """Delete what is marked, else what is under the cursor, once the user agrees."""
        rows = list(self._rows.marked.values()) or ([self.chosen] if self.chosen is not None else [])
        if len(rows) == 1:
            question = f"Delete the session {rows[0].name or rows[0].id} with all its files?"
        else:
            question = f"Delete these {len(rows)} sessions with all their files?"
        choices = (Choice("y", "yes", "delete"),)
        if await self.app.push_screen_wait(ConfirmScreen(safe_line(question, 300), choices)) != "yes":
            return
        for row in rows:
            try:
                await asyncio.to_thread(delete_session, await self._workspace.kept.folder(row))
            except UserError as error:
                self._complain(error)
            else:
                self._rows.marked.pop(row.id, None)
        await self._workspace.kept.sync()
        await self._show()

    @work(group="ask")
    async def action_compare(self) -> None:
        """Compare two sessions side by side."""
        from agentscope_tui.tui.screens.compare import show_compared

        if (two := self._compared()) is not None:
            await show_compared(self, self._workspace, two)

    @work(group="ask")
    async def action_rollouts(self) -> None:
        """The sessions of the chosen one's row side by side, and the one that is opened there."""
        from agentscope_tui.tui.screens.rollouts import RolloutsScreen

        if (row := self.chosen) is None or row.row is None:
            return
        of_row = Wanted(rows_of=(row.dataset, row.identity), row=row.row)
        sessions = await self._workspace.kept.find(of_row)
        opened = await self.app.push_screen_wait(RolloutsScreen(self._workspace, sessions))
        if opened is not None:
            self._close(SessionChosen(opened.id, await self._workspace.kept.folder(opened)))

    def _compared(self) -> tuple[str, str] | None:
        """The ids of the two to compare, the older one first."""
        if len(self._rows.marked) == 2:
            older, newer = sorted(self._rows.marked.values(), key=lambda row: row.created)
            return older.id, newer.id
        row = self.chosen
        return (row.parent, row.id) if row is not None and row.parent and not self._rows.marked else None

    # The prompt line

    def _search(self, text: str) -> None:
        self._words = tuple(text.split())
        self._show_soon()

    @on(PromptLine.Changed)
    def _answer_changed(self, event: PromptLine.Changed) -> None:
        if event.question == "search":
            self._search(event.value)

    @on(PromptLine.Cancelled)
    def _cancelled(self, event: PromptLine.Cancelled) -> None:
        if event.question == "search":
            self._search("")

    @on(PromptLine.Submitted)
    async def _answered(self, event: PromptLine.Submitted) -> None:
        if event.question == "rename" and self._renamed is not None:
            folder = await self._workspace.kept.folder(self._renamed)
            try:
                await asyncio.to_thread(rename_session, folder, event.value)
            except UserError as error:
                event.prompt.note = str(error)
                return
            await self._workspace.kept.sync(thorough=True)
            await self._show()
        event.prompt.close()
