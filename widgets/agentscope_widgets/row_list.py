"""A list of rows, as long as a dataset: only the rows in sight are ever read and drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

from rich.cells import cell_len
from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from .line_view import LineView
from .look import Tone
from .safe_text import safe_line
from .text_rows import Row, fit

_CALLS_FROM = 44
"""Cells of width from which calls have a column of their own; below it they stand behind the state: `#3`."""


@dataclass(frozen=True, slots=True)
class RowCells:
    """What one row shows; text may be anything. `glyph` and `state` tell the state, `tone` its colour."""

    index: int
    glyph: str = ""
    state: str = ""
    calls: str = ""
    reward: str = ""
    prompt: str = ""
    tone: Tone = "normal"


class RowSource(Protocol):
    """Where rows come from. Positions count from 0 without gaps; `cells` must be quick (a few ms)."""

    def __len__(self) -> int: ...

    def cells(self, position: int) -> RowCells: ...


@dataclass(slots=True)
class _Columns:
    """Widths in cells: they only grow, so that nothing jumps while scrolling."""

    index: int = 1
    state: int = 5
    calls: int = 5
    reward: int = 4

    def grow(self, cells: RowCells, state: str) -> bool:
        old = (self.index, self.state, self.calls, self.reward)
        self.index = max(self.index, len(str(cells.index)))
        self.state = max(self.state, min(14, cell_len(state)))
        self.calls = max(self.calls, min(8, len(cells.calls)))
        self.reward = max(self.reward, min(8, len(cells.reward)))
        return old != (self.index, self.state, self.calls, self.reward)


class RowList(LineView):
    """Rows with a cursor. The header stays; the prompt gets the room that the other columns leave."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Open", id="rows.open", tooltip="Open the row"),
        Binding("up", "move(-1)", "Up", show=False, id="rows.up", tooltip="Previous row"),
        Binding("down", "move(1)", "Down", show=False, id="rows.down", tooltip="Next row"),
        Binding("pageup", "move_page(-1)", "Page up", show=False, id="rows.page_up", tooltip="A page up"),
        Binding(
            "pagedown", "move_page(1)", "Page down", show=False, id="rows.page_down", tooltip="A page down"
        ),
        Binding("home", "move_to_end(False)", "First", show=False, id="rows.first", tooltip="First row"),
        Binding("end", "move_to_end(True)", "Last", show=False, id="rows.last", tooltip="Last row"),
    ]

    cursor: reactive[int] = reactive(0)
    """Position of the chosen row."""

    class RowMessage(Message):
        """What happened to the row at `position`."""

        def __init__(self, row_list: RowList, position: int) -> None:
            super().__init__()
            self.row_list = row_list
            self.position = position

        @property
        def control(self) -> RowList:
            """The list."""
            return self.row_list

    class RowHighlighted(RowMessage):
        """The cursor is on another row."""

    class RowOpened(RowMessage):
        """The user opened a row, by key or click."""

    def __init__(self, *, placeholder: str = "", id: str | None = None, classes: str | None = None) -> None:
        super().__init__(placeholder=placeholder, id=id, classes=classes)
        self._source: RowSource | None = None
        self._columns = _Columns()
        self._cells: LRUCache[int, RowCells] = LRUCache(512)

    def set_source(self, source: RowSource) -> None:
        """Show the rows of `source` from the first."""
        self._source = source
        self._columns = _Columns()
        self._cells.clear()
        self.virtual_size = Size(0, 0)
        self.scroll_to(y=0, animate=False, force=True)
        self.cursor = 0
        self.source_grew()

    def source_grew(self) -> None:
        """The source has more rows than before."""
        before, count = self.row_count, len(self._source or ())
        self.virtual_size = Size(0, count + 1 if count else 0)
        if count and self._source is not None:
            # The last index is the longest, when rows are numbered in order.
            self._columns.index = max(self._columns.index, len(str(self._row(0).index + count - 1)))
        if count and not before:
            self.post_message(self.RowHighlighted(self, self.cursor))
        self.refresh()

    def refresh_row(self, position: int) -> None:
        """The cells of one row changed."""
        self._cells.discard(position)
        self.refresh_lines(position + 1)

    @property
    def row_count(self) -> int:
        """How many rows there are to scroll through."""
        return max(0, self.virtual_size.height - 1)

    def render_lines(self, crop: Region) -> list[Strip]:
        rows = [self._row(position) for position in self._positions_in_sight()]
        grew = [self._columns.grow(cells, self._state(cells)) for cells in rows]
        if any(grew):
            self.refresh()
        return super().render_lines(crop)

    def row_at(self, y: int) -> Row:
        if y == 0:
            return self._header()
        position = self.scroll_offset.y + y - 1
        if position >= self.row_count:
            return []
        look, columns = self.look, self._columns
        cells = self._row(position)
        tone = look.tone(cells.tone)
        state = fit(self._state(cells), columns.state)
        row = [
            Segment(f" {cells.index:>{columns.index}} ", look.muted),
            Segment(state, tone),
            Segment(self._calls(cells.calls), look.muted),
            Segment(" " + _right(cells.reward, self._reward_width) + " ", tone),
        ]
        room = max(0, self.text_width - sum(cell_len(segment.text) for segment in row))
        row.append(Segment(fit(safe_line(cells.prompt, room + 1), room), look.normal))
        if position == self.cursor:
            return [Segment(text, (style or look.normal) + look.cursor) for text, style, _ in row]
        return row

    def validate_cursor(self, cursor: int) -> int:
        return max(0, min(cursor, self.row_count - 1))

    def watch_cursor(self, old: int, cursor: int) -> None:
        self.refresh_lines(old + 1)
        self.refresh_lines(cursor + 1)
        top, height = self.scroll_offset.y, max(1, self.view_height - 1)
        if cursor < top:
            self.scroll_to(y=cursor, animate=False, force=True)
        elif cursor >= top + height:
            self.scroll_to(y=cursor - height + 1, animate=False, force=True)
        if self.row_count:
            self.post_message(self.RowHighlighted(self, cursor))

    def line_clicked(self, y: int) -> None:
        position = self.scroll_offset.y + y - 1
        if y > 0 and position < self.row_count:
            self.cursor = position
            self.action_open()

    def action_open(self) -> None:
        if self.row_count:
            self.post_message(self.RowOpened(self, self.cursor))

    def action_move(self, rows: int) -> None:
        self.cursor += rows

    def action_move_page(self, pages: int) -> None:
        self.cursor += pages * max(1, self.view_height - 2)

    def action_move_to_end(self, last: bool) -> None:
        self.cursor = self.row_count - 1 if last else 0

    def _row(self, position: int) -> RowCells:
        cells = self._cells.get(position)
        if cells is None:
            assert self._source is not None
            cells = self._cells[position] = self._source.cells(position)
        return cells

    def _positions_in_sight(self) -> range:
        top = self.scroll_offset.y
        return range(top, min(self.row_count, top + max(0, self.view_height - 1)))

    @property
    def _is_wide(self) -> bool:
        return self.text_width >= _CALLS_FROM

    @property
    def _reward_width(self) -> int:
        return max(self._columns.reward, len("reward") if self._is_wide else 0)

    def _state(self, cells: RowCells) -> str:
        calls = f" #{cells.calls}" if cells.calls and not self._is_wide else ""
        return safe_line(f"{cells.glyph} {cells.state}{calls}".strip(), 40)

    def _calls(self, calls: str) -> str:
        return " " + _right(calls, self._columns.calls) if self._is_wide else ""

    def _header(self) -> Row:
        columns = self._columns
        left = f" {'#':>{columns.index}} {'state':<{columns.state}}{self._calls('calls')}"
        # The word is wider than most rewards; it leans into the room that `state` leaves.
        end = len(left) + 1 + self._reward_width
        text = fit(left.rstrip(), end - len("reward")) + "reward prompt"
        return [Segment(fit(text, self.text_width), self.look.header)]


def _right(text: str, width: int) -> str:
    shown = fit(safe_line(text, 40), width)
    return shown.rstrip().rjust(width) if shown.isascii() else shown
