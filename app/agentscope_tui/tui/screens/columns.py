"""The column chooser: which columns the rows have, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from agentscope_widgets.key_bar import KeyBar
from agentscope_widgets.row_columns import Column
from agentscope_widgets.safe_text import safe_line

_LONGEST = 60


class ColumnsScreen(ModalScreen[list[Column] | None]):
    """Gives the columns to show, in order; None when it was left."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "choose", "show/hide", id="columns.toggle", tooltip="Show or hide the column"),
        Binding("K,shift+up", "shift(-1)", "earlier", id="columns.earlier", tooltip="Further to the left"),
        Binding("J,shift+down", "shift(1)", "later", id="columns.later", tooltip="Further to the right"),
        Binding("enter", "accept", "done", id="columns.accept", tooltip="Show these columns", priority=True),
        Binding("escape,q", "leave", "cancel", id="columns.leave", tooltip="Leave the columns as they were"),
    ]

    def __init__(self, available: Sequence[Column], shown: Sequence[Column]) -> None:
        super().__init__()
        keys = {column.key for column in shown}
        self._columns = [*shown, *(column for column in available if column.key not in keys)]
        self._shown = keys

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog"):
            yield OptionList(id="columns")
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#dialog").border_title = "Columns"
        self._draw(0)
        self._list.focus()

    @property
    def _list(self) -> OptionList:
        return self.query_one(OptionList)

    def action_choose(self) -> None:
        if (number := self._list.highlighted) is not None:
            self._shown ^= {self._columns[number].key}
            self._draw(number)

    def action_shift(self, step: int) -> None:
        number = self._list.highlighted
        if number is not None and 0 <= number + step < len(self._columns):
            columns = self._columns
            columns[number], columns[number + step] = columns[number + step], columns[number]
            self._draw(number + step)

    def action_accept(self) -> None:
        self.dismiss([column for column in self._columns if column.key in self._shown])

    def action_leave(self) -> None:
        self.dismiss(None)

    def on_option_list_option_selected(self) -> None:
        """A click."""
        self.action_choose()

    def _draw(self, number: int) -> None:
        self._list.clear_options()
        self._list.add_options(Option(self._line(column)) for column in self._columns)
        self._list.highlighted = number

    def _line(self, column: Column) -> Content:
        box = "[x]" if column.key in self._shown else "[ ]"
        return Content(f"{box} {safe_line(column.title, _LONGEST)}")
