"""A list of rows, as long as a dataset: only the rows in sight are ever read and drawn."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Protocol

from rich.cells import cell_len
from rich.segment import Segment
from textual.binding import BindingType
from textual.cache import LRUCache
from textual.events import MouseDown, MouseMove, MouseUp, Resize
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from .line_view import LineView
from .look import Tone
from .row_columns import Column, ColumnLayout, Span, header
from .row_keys import ROW_KEYS
from .row_line import row_line
from .safe_text import safe_line
from .text_rows import Row

INDEX = Column("index", "#", least=1, right=True, style="muted")
"""The first column, which is always there."""
_STEP = 2


@dataclass(frozen=True, slots=True)
class RowCells:
    """What one row shows: a text for each column's key; `tone` is its colour where a column has no own."""

    index: int
    texts: Mapping[str, str] = field(default_factory=dict)
    tone: Tone = "normal"
    marked: bool = False


class RowSource(Protocol):
    """Where rows come from. Positions count from 0 without gaps; `cells` must be quick (a few ms)."""

    def __len__(self) -> int: ...

    def cells(self, position: int) -> RowCells: ...


class RowList(LineView):
    """Rows with a cursor under a header that stays. Columns are sized and moved, rows are marked."""

    BINDINGS: ClassVar[list[BindingType]] = ROW_KEYS

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

    class MarksRequested(Message):
        """Mark the rows at these positions: `toggle`, `on` or `off`."""

        def __init__(self, positions: range, how: Literal["toggle", "on", "off"]) -> None:
            super().__init__()
            self.positions = positions
            self.how = how

    class SortRequested(Message):
        """Sort by the column with this key, the other way round, or no more."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    class ColumnsChanged(Message):
        """The user gave a column another width or place."""

        def __init__(self, columns: Sequence[Column]) -> None:
            super().__init__()
            self.columns = columns

    def __init__(
        self,
        *,
        placeholder: str = "",
        marks: bool = True,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        """Without `marks` no key marks rows."""
        super().__init__(placeholder=placeholder, id=id, classes=classes)
        self._marks = marks
        self._source: RowSource | None = None
        self._layout = ColumnLayout((INDEX,))
        self._chosen = INDEX.key
        self._arrows: Mapping[str, str] = {}
        self._sought: re.Pattern[str] | None = None
        self._cells: LRUCache[int, RowCells] = LRUCache(512)
        self._strips: LRUCache[int, Strip] = LRUCache(512)
        self._width = 0
        self._drawn_with: tuple[object, ...] = ()
        self._spans: list[Span] = []
        self._anchor: int | None = None
        self._dragged: Span | None = None
        self._was_dragged = False

    # What is shown

    def set_source(self, source: RowSource, columns: Sequence[Column]) -> None:
        """Show the rows of `source` from the first, in these columns after the index."""
        self._source = source
        self._layout = ColumnLayout((INDEX, *columns))
        self.virtual_size = Size(0, 0)
        self.scroll_to(y=0, animate=False, force=True)
        self.rearranged(0)

    def set_columns(self, columns: Sequence[Column]) -> None:
        """Show other columns after the index."""
        self._layout = ColumnLayout((INDEX, *columns))
        self._forget()
        if self._chosen not in [column.key for column in self._layout.columns]:
            self._chosen = INDEX.key
        self.source_grew()

    def set_order(self, key: str, *, descending: bool) -> None:
        """Say in the header that the rows are sorted by a column; by none, if the key is empty."""
        self._arrows = {key: "▼" if descending else "▲"}
        self.refresh()

    def set_sought(self, pattern: re.Pattern[str] | None) -> None:
        """Highlight what matches in the rows."""
        self._sought = pattern
        self._draw_anew()

    def source_grew(self) -> None:
        """The source has more rows than before; those that were there are the same."""
        before, count = self.row_count, len(self._source or ())
        self.virtual_size = Size(0, count + 1 if count else 0)
        if count and self._source is not None:
            # The last index is the longest, when rows are numbered in order.
            last = max(self._row(0).index, self._row(count - 1).index)
            if self._layout.grow(INDEX, len(str(last))):
                self._draw_anew()
        if count and not before:
            self.post_message(self.RowHighlighted(self, self.cursor))
        self.refresh()

    def rearranged(self, cursor: int) -> None:
        """The source has other rows, or in another order; the chosen one is at `cursor` now."""
        self._forget()
        self._anchor = None
        old, before = self.cursor, self.row_count
        self.source_grew()
        self.cursor = cursor
        if self.cursor == old and before and self.row_count:
            self._show_cursor()
            self.post_message(self.RowHighlighted(self, self.cursor))

    def refresh_row(self, position: int) -> None:
        """The cells of one row changed."""
        self._cells.discard(position)
        self._strips.discard(position)
        self.refresh_lines(position + 1)

    def refresh_rows(self) -> None:
        """The cells of many rows changed."""
        self._forget()
        self.refresh()

    @property
    def row_count(self) -> int:
        """How many rows there are to scroll through."""
        return max(0, self.virtual_size.height - 1)

    @property
    def columns(self) -> Sequence[Column]:
        """The columns after the index, in order."""
        return self._layout.columns[1:]

    # Drawing

    def render_lines(self, crop: Region) -> list[Strip]:
        drawn_with = (self.text_width, self.look, self.rich_style)
        if drawn_with != self._drawn_with:
            self._draw_anew()
            self._drawn_with = drawn_with
        # Rows that were not read before may make columns wider, which is to be known before any is drawn.
        top = self.scroll_offset.y
        for position in range(top, min(self.row_count, top + max(0, self.view_height - 1))):
            self._row(position)
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        position = self.scroll_offset.y + y - 1
        if y == 0 or position >= self.row_count or not self._spans:
            return super().render_line(y)
        if position == self.cursor:
            return self._strip(position)
        strip = self._strips.get(position)
        if strip is None:
            strip = self._strips[position] = self._strip(position)
        return strip

    def _strip(self, position: int) -> Strip:
        cells = self._row(position)
        texts = {column.key: text for column, text in self._texts(cells, self._width)}
        look = self.look
        row = row_line(texts, self._spans, self._width, look, look.tone(cells.tone), self._sought)
        row.insert(0, Segment("*" if cells.marked else " ", look.accent))
        # How wide the cells are is known: to measure them all again would take longer than to draw them.
        over = look.cursor if position == self.cursor else None
        return Strip([Segment(text, self._base + style + over) for text, style, _ in row], self._width)

    def look_changed(self) -> None:
        self._draw_anew()

    def _draw_anew(self) -> None:
        """Columns or colours are other ones."""
        self._strips.clear()
        self._width = self.text_width
        self._spans = self._layout.spans(self._width)
        self.refresh()

    def _forget(self) -> None:
        """What was read of the rows is of no use any more."""
        self._cells.clear()
        self._draw_anew()

    def row_at(self, y: int) -> Row:
        return self._header() if y == 0 else []

    def _header(self) -> Row:
        look = self.look
        return [
            Segment(text, look.heading if column is not None and column.key == self._chosen else look.header)
            for text, column in header(self._spans, self._arrows)
        ]

    def _texts(self, cells: RowCells, width: int) -> list[tuple[Column, str]]:
        return self._layout.texts({INDEX.key: str(cells.index), **cells.texts}, width)

    def _row(self, position: int) -> RowCells:
        cells = self._cells.get(position)
        if cells is None:
            assert self._source is not None
            cells = self._cells[position] = self._source.cells(position)
            grown = [
                self._layout.grow(column, cell_len(safe_line(text, column.most)))
                for column, text in self._texts(cells, self._width)
            ]
            if any(grown):
                self._draw_anew()
        return cells

    # The cursor

    def validate_cursor(self, cursor: int) -> int:
        return max(0, min(cursor, self.row_count - 1))

    def watch_cursor(self, old: int, cursor: int) -> None:
        self.refresh_lines(old + 1)
        self.refresh_lines(cursor + 1)
        self._show_cursor()
        if self.row_count:
            self.post_message(self.RowHighlighted(self, cursor))

    def _show_cursor(self) -> None:
        # The header takes a line of the view.
        self.show_line(self.cursor, self.view_height - 1)

    def action_open(self) -> None:
        if self.row_count:
            self.post_message(self.RowOpened(self, self.cursor))

    def action_move(self, rows: int) -> None:
        self.cursor += rows

    def action_move_page(self, pages: int) -> None:
        self.cursor += pages * max(1, self.view_height - 2)

    def action_move_to_end(self, last: bool) -> None:
        self.cursor = self.row_count - 1 if last else 0

    # Marks

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self._marks or not action.startswith("mark")

    def action_mark(self) -> None:
        self._mark(range(self.cursor, self.cursor + 1), "toggle")
        self.cursor += 1

    def action_mark_move(self, rows: int) -> None:
        first = self.cursor
        self.cursor += rows
        self._mark(range(min(first, self.cursor), max(first, self.cursor) + 1), "on")

    def action_mark_range(self) -> None:
        anchor = self.cursor if self._anchor is None else self._anchor
        self._mark(range(min(anchor, self.cursor), max(anchor, self.cursor) + 1), "on")

    def action_mark_all(self, on: bool) -> None:
        self._mark(range(self.row_count), "on" if on else "off")
        self._anchor = None

    def _mark(self, positions: range, how: Literal["toggle", "on", "off"]) -> None:
        if self.row_count:
            self._anchor = positions[0] if how == "toggle" else self.cursor
            self.post_message(self.MarksRequested(positions, how))

    # Columns

    def action_choose_column(self, step: int) -> None:
        keys = [column.key for column in self._layout.shown(self.text_width)]
        number = keys.index(self._chosen) if self._chosen in keys else 0
        self._choose(keys[max(0, min(number + step, len(keys) - 1))])

    def action_resize_column(self, steps: int) -> None:
        for span in self._spans:
            if span.column.key == self._chosen:
                self._resize(self._chosen, span.width + steps * _STEP)

    def action_shift_column(self, step: int) -> None:
        if self._layout.move(self._chosen, step):
            self._choose(self._chosen)
            self.post_message(self.ColumnsChanged(self.columns))

    def action_sort(self) -> None:
        self.post_message(self.SortRequested(self._chosen))

    def _choose(self, key: str) -> None:
        self._chosen = key
        self._layout.bring_into_sight(key, self.text_width)
        self._draw_anew()

    def _resize(self, key: str, width: int) -> None:
        if key != INDEX.key:
            self._layout.resize(key, width)
            self._draw_anew()
            self.post_message(self.ColumnsChanged(self.columns))

    def on_resize(self, event: Resize) -> None:
        self._layout.first = 1
        self._layout.bring_into_sight(self._chosen, self.text_width)
        self._forget()

    # The mouse

    def clicked(self, x: int, y: int) -> None:
        if self._was_dragged:
            self._was_dragged = False
        elif y == 0:
            for span in self._spans:
                if span.x <= x < span.end:
                    self._choose(span.column.key)
                    self.action_sort()
        elif (position := self.scroll_offset.y + y - 1) < self.row_count:
            self.cursor = position
            if x == 0:
                self._mark(range(position, position + 1), "toggle")
            else:
                self.action_open()

    def on_mouse_down(self, event: MouseDown) -> None:
        at = event.get_content_offset(self)
        self._was_dragged = False
        if at is not None and at.y == 0:
            # The gap after a column is its border, which the mouse may miss by a cell.
            self._dragged = next((span for span in self._spans[1:] if span.end == at.x), None)
            if self._dragged is not None:
                self.capture_mouse()

    def on_mouse_move(self, event: MouseMove) -> None:
        if self._dragged is not None:
            self._was_dragged = True
            self._resize(self._dragged.column.key, event.x - self.gutter.left - self._dragged.x)

    def on_mouse_up(self, event: MouseUp) -> None:
        if self._dragged is not None:
            self._dragged = None
            self.release_mouse()
