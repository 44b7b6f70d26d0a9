"""The output of one command, live: colours, progress bars, stderr marked, following the end."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import pairwise
from typing import ClassVar

from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.content import Content
from textual.reactive import reactive
from textual.strip import Strip

from .line_layout import LineLayout
from .output_buffer import OutputBuffer, OutputLine
from .output_heights import OutputHeights
from .safe_text import safe_line
from .searching_view import SearchingView
from .source_map import NOWHERE
from .text_rows import Row, wrap_runs
from .text_search import Passage
from .text_view import RowPlaces, TextPlace

_GUTTER = 2
"""Cells before the text: `!` for a line from stderr, `↪` for one that continues the line above."""


_LINES_A_PIECE = 500


class OutputView(SearchingView):
    """Shows an `OutputBuffer` and follows its end; `refresh_output` is called after writes to it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("w", "toggle_wrap", "Wrap", show=False, id="output.wrap", tooltip="Wrap long lines, or not"),
    ]

    wrap: reactive[bool] = reactive(True)
    """Whether a line wider than the view continues on the next row."""
    facts: reactive[str] = reactive("")
    """What there is to know beside the text, for a border: lines, the mark of stderr, no wrapping."""

    def __init__(self, *, placeholder: str = "", id: str | None = None, classes: str | None = None) -> None:
        super().__init__(placeholder=placeholder, id=id, classes=classes)
        self._buffer: OutputBuffer | None = None
        self._heights: OutputHeights | None = None
        self._version = -1
        self._width = 0
        self._seen_end = 0
        self._last_layout = LineLayout("", None)
        self._rows: LRUCache[int, list[Row]] = LRUCache(128)

    def show(self, buffer: OutputBuffer | None, title: str = "") -> None:
        """Show another buffer from its end, or none; `title` goes into the border.

        The buffer that is shown already is only refreshed, and stays where it is.
        """
        self.border_title = Content(safe_line(title)) if title else None
        if buffer is not None and buffer is self._buffer:
            self.refresh_output()
            return
        # A view with a selection would not follow.
        self.clear_selection()
        self._buffer = buffer
        self._seen_end = buffer.end if buffer else 0
        self.unseen = 0
        self.facts = ""
        self.following = True
        self._start_over()
        self.texts_replaced()

    def refresh_output(self) -> None:
        """Take in what was written to the buffer since the last time; nothing is done if that is nothing."""
        buffer, heights = self._buffer, self._heights
        if buffer is None or heights is None or buffer.version == self._version:
            return
        self._version = buffer.version
        before = len(heights)
        changed = heights.update()
        for number in range(changed, before):
            self._rows.discard(number)
        if self.following:
            self._seen_end = buffer.end
        self.unseen = max(0, buffer.end - self._seen_end)
        self.facts = self._known_facts(buffer)
        self._place(self.scroll_offset.y)
        self.texts_changed(changed, self.text_count)

    def text_position(self, x: int, y: int) -> tuple[int, int] | None:
        """What is at a cell of the view: the number of a line and the column in its plain text, the end of
        the row to the right of it. None: there is no line."""
        if (at := self._line_at(y)) is None:
            return None
        number, inside = at
        cell = max(0, x - _GUTTER) + (0 if self.wrap else self.scroll_offset.x)
        return number, self._layout(number).column_at(inside, cell)

    def view_cell(self, number: int, column: int) -> tuple[int, int] | None:
        """The cell (x, y) of the view where a column of the plain text of a line is, in sight or not; the
        text starts at x = 2. None: there is no such line."""
        if self._heights is None or not 0 <= number < len(self._heights):
            return None
        row, cell = self._layout(number).cell_of(column)
        x = _GUTTER + cell - (0 if self.wrap else self.scroll_offset.x)
        return x, self._heights.start(number) + row - self.scroll_offset.y

    # Its text: a text is a line

    @property
    def text_count(self) -> int:
        # A write that this view was not told of yet may have erased lines.
        lines = self._buffer.line_count if self._buffer else 0
        return min(lines, len(self._heights)) if self._heights else 0

    def text_at(self, number: int) -> str:
        return self._buffer.plain(number) if self._buffer and number < self._buffer.line_count else ""

    def passage(self, number: int) -> Passage:
        return (self._buffer.printed(number) if self._buffer else []) or [""]

    def row_places(self, line: int) -> RowPlaces | None:
        if (at := self._line_at(line - self.scroll_offset.y)) is None:
            return None
        number, inside = at
        columns = self._layout(number).columns(inside)
        if not self.wrap:
            columns = columns[self.scroll_offset.x : self.scroll_offset.x + self._room]
        # An empty line has a place too.
        return RowPlaces(number, [*([NOWHERE] * _GUTTER), *(columns or [0] * (not self.text_at(number)))])

    def place_at(self, x: int, line: int) -> TextPlace | None:
        at = self.text_position(x, line - self.scroll_offset.y)
        return TextPlace(*at) if at else None

    def cell_of(self, place: TextPlace) -> tuple[int, int] | None:
        at = self.view_cell(*place)
        return (at[0], at[1] + self.scroll_offset.y) if at else None

    def pieces(self, start: TextPlace, end: TextPlace) -> Iterable[str]:
        if self._buffer is None:
            return
        stops = [*range(start.text + _LINES_A_PIECE, end.text, _LINES_A_PIECE)]
        for one, other in pairwise([start, *(TextPlace(number, 0) for number in stops), end]):
            yield self._buffer.text_between(one, other)

    def source_line(self, place: TextPlace) -> tuple[TextPlace, TextPlace]:
        """The line around a place, however often the edge of the terminal broke it."""
        first = last = place.text
        if self._buffer is not None:
            while self._buffer.continues(first - 1):
                first -= 1
            while self._buffer.continues(last):
                last += 1
        return TextPlace(first, 0), TextPlace(last, len(self.text_at(last)))

    def reveal(self, place: TextPlace) -> None:
        if (at := self.cell_of(place)) is None:
            return
        (x, line), (left, top), height = at, self.scroll_offset, self.view_height
        if not top <= line < top + height:
            # What is just outside comes in by its own line, anything else to the middle.
            near = top - 1 <= line <= top + height
            target = (line if line < top else line - height + 1) if near else line - height // 2
            self.scroll_to(y=target, animate=False, force=True)
        if not self.wrap and not _GUTTER <= x < self.text_width:
            self.scroll_to(x=left + x - _GUTTER - self._room // 2, animate=False, force=True)

    def in_hand(self) -> tuple[TextPlace, TextPlace] | None:
        """All of it."""
        last = self.text_count - 1
        return (TextPlace(0, 0), TextPlace(last, len(self.text_at(last)))) if last >= 0 else None

    @property
    def scrolls_sideways(self) -> bool:
        return not self.wrap

    def shows_placeholder(self) -> bool:
        return self._heights is None or not len(self._heights)

    def row_at(self, y: int) -> Row:
        if (at := self._line_at(y)) is None or self._buffer is None:
            return []
        number, inside = at
        output = self._buffer.line(number)
        before = self._buffer.line(number - 1) if number and not inside else None
        continues = before is not None and before.goes_on and before.stream == output.stream
        gutter = ("!" if output.stream == "stderr" else " ") + ("↪" if continues else " ")
        return [Segment(gutter, self.look.warning), *self._row(number, output, inside)]

    def look_changed(self) -> None:
        self._rows.clear()

    def resized(self) -> None:
        if self.text_width != self._width:
            self._width = self.text_width
            self._start_over(keep=True)
        else:
            self._place(self.scroll_offset.y)

    def seen_all(self) -> None:
        super().seen_all()
        if self._buffer is not None:
            self._seen_end = self._buffer.end

    def watch_facts(self, facts: str) -> None:
        self.border_subtitle = Content(facts) if facts else None

    def watch_wrap(self, wrap: bool) -> None:
        self.styles.overflow_x = "hidden" if wrap else "auto"
        self._start_over(keep=True)

    def action_toggle_wrap(self) -> None:
        self.wrap = not self.wrap

    @property
    def _room(self) -> int:
        return max(1, self._width - _GUTTER)

    def _start_over(self, *, keep: bool = False) -> None:
        """Count all rows anew; with `keep` the line at the top stays there."""
        number, inside = (self._line_at(0) if keep else None) or (0, 0)
        self._rows.clear()
        self._version = -1
        self._heights = None
        if self._buffer is None or not self._width:
            self._place(0)
            return
        heights = self._heights = OutputHeights(self._buffer, self._room if self.wrap else None)
        self.refresh_output()
        if keep and not self.following and len(heights):
            self._place(heights.start(number) + min(inside, heights.height(number) - 1))

    def _line_at(self, y: int) -> tuple[int, int] | None:
        """The line on row `y` of the view, and the row inside it."""
        row = self.scroll_offset.y + y
        heights, buffer = self._heights, self._buffer
        if heights is None or buffer is None or not 0 <= row < heights.total:
            return None
        number, inside = heights.find(row)
        # A write that this view was not told of yet may have erased lines.
        return (number, inside) if number < buffer.line_count else None

    def _layout(self, number: int) -> LineLayout:
        text, width = self.text_at(number), self._room if self.wrap else None
        if not self._last_layout.is_of(text, width):
            self._last_layout = LineLayout(text, width)
        return self._last_layout

    def _row(self, number: int, output: OutputLine, inside: int) -> Row:
        rows = self._rows.get(number)
        if rows is None:
            width = self._room if self.wrap else sys.maxsize
            rows = self._rows[number] = wrap_runs(output.runs, width, words=False)
        row = rows[inside] if inside < len(rows) else []
        if self.wrap:
            return row
        left = self.scroll_offset.x
        return list(Strip(row).crop(left, left + self._room))

    def _place(self, top: int) -> None:
        heights = self._heights
        width = 0 if self.wrap or heights is None else heights.widest + _GUTTER
        self.place(top, heights.total if heights else 0, width)

    def _known_facts(self, buffer: OutputBuffer) -> str:
        count = buffer.newlines
        facts = [f"{count:,} line{'s' * (count != 1)}"]
        facts += ["! stderr"] if buffer.has_stderr else []
        facts += [] if self.wrap else ["no wrap"]
        return " · ".join(facts)
