"""The whole row as JSON, beside the rows or, in a narrow terminal, over them: it follows the cursor."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from textual import work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Offset, Region
from textual.widget import Widget

from agentscope_tui.datasets.dataset import Dataset
from agentscope_tui.datasets.raw import RawRow
from agentscope_tui.datasets.task import RowError
from agentscope_tui.tui.outside import copy_text
from agentscope_tui.tui.present.row_json import row_json
from agentscope_widgets.blocks import Block
from agentscope_widgets.detail_view import DetailView
from agentscope_widgets.prompt_line import PromptLine
from agentscope_widgets.row_list import RowList

_NARROWEST = 40
"""Cells beside the rows below which the panel lies over them too."""


class RowPanel(Vertical):
    """Lies over the panes that are not the rows'. The keys stay with the rows while those are in sight."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,v,q", "close", "close", id="row.close", tooltip="Back to the rows"),
        Binding("y", "copy", "copy", id="row.copy", tooltip="Copy the row as JSON"),
        Binding("right", "move(1)", "next row", id="row.next", tooltip="The next row"),
        Binding("left", "move(-1)", "previous", id="row.previous", tooltip="The row before"),
    ]

    def __init__(self, rows_pane: Widget, state: Path) -> None:
        """`rows_pane` has the list that is followed; what is copied is also kept in the folder `state`."""
        super().__init__(id="row-panel", classes="pane")
        self._rows_pane = rows_pane
        self._state = state
        self._row: RawRow | RowError | None = None
        self._shown: tuple[Dataset, int] | None = None

    @classmethod
    def of(cls, rows_pane: Widget) -> RowPanel | None:
        """The panel that is open on the screen of this pane."""
        panels = [panel for panel in rows_pane.screen.query(cls) if panel.is_running]
        return panels[0] if panels else None

    @staticmethod
    async def copy(app: App[Any], row: RawRow | RowError, state: Path) -> None:
        """Copy a row."""
        await copy_text(app, row_json(row), state)

    def compose(self) -> ComposeResult:
        yield DetailView(id="row-detail")
        yield PromptLine()

    def on_mount(self) -> None:
        self.place()
        self._draw()
        if self._covers:
            self.screen.set_focus(self.query_one(DetailView))
        self.watch(self.screen, "focused", self._focus_moved, init=False)

    def show(self, dataset: Dataset, position: int) -> None:
        """Show the row at this position."""
        self._shown = dataset, position
        if self.is_mounted:
            self._draw()

    def place(self) -> None:
        """Lie beside the rows, or over them where there is no room."""
        panes, rows = self.screen.query_one("#panes").region, self._rows_pane.region
        beside = Region.from_corners(rows.right, panes.y, panes.right, panes.bottom)
        region = panes if self._covers else beside
        self.styles.offset = Offset(region.x, region.y)
        self.styles.width, self.styles.height = region.width, region.height

    def close(self) -> None:
        """Back to the rows."""
        if self.has_focus_within:
            self.screen.set_focus(self._rows_pane.query_one(RowList))
        self.remove()

    def action_close(self) -> None:
        self.close()

    def action_move(self, rows: int) -> None:
        self._rows_pane.query_one(RowList).cursor += rows

    @work(group="copy")
    async def action_copy(self) -> None:
        if self._row is not None:
            await self.copy(self.app, self._row, self._state)

    @property
    def _covers(self) -> bool:
        room = self.screen.query_one("#panes").region.right - self._rows_pane.region.right
        return not self._rows_pane.region or room < _NARROWEST

    def _draw(self) -> None:
        if self._shown is None:
            return
        dataset, position = self._shown
        self._row = row = dataset.raw_at(position)
        where = f"row {dataset.offset + position} · line {row.line}"
        if isinstance(row, RowError):
            block = Block(key="row", title=f"✗ {where}", body=str(row), tone="error")
        else:
            block = Block(
                key="row", title=where, body=row_json(row), format="json", margin=(f"{row.size:,} B",)
            )
        self.border_title = Content(f"Row {dataset.offset + position}")
        self.query_one(DetailView).show([block])

    def _focus_moved(self, focused: Widget | None) -> None:
        """Whoever goes to another pane wants to see it."""
        if focused is None or not self.is_attached:
            return
        if not {self, self._rows_pane} & set(focused.ancestors_with_self):
            self.remove()
