"""The output of one command, live: colours, progress bars, stderr marked, following the end."""

from __future__ import annotations

import sys
from typing import ClassVar

from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.content import Content
from textual.reactive import reactive
from textual.strip import Strip

from .line_layout import LineLayout
from .line_view import ScrollingView
from .output_buffer import OutputBuffer, OutputLine
from .output_heights import OutputHeights
from .safe_text import safe_line
from .text_rows import Row, wrap_runs

_GUTTER = 2
"""Cells before the text: `!` for a line from stderr, `↪` for one that continues the line above."""


class OutputView(ScrollingView):
    """Shows an `OutputBuffer` and follows its end; `refresh_output` is called after writes to it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("w", "toggle_wrap", "Wrap", show=False, id="output.wrap", tooltip="Wrap long lines, or not"),
        Binding("left", "scroll_sideways(-8)", "Left", show=False, id="output.left", tooltip="Scroll left"),
        Binding(
            "right", "scroll_sideways(8)", "Right", show=False, id="output.right", tooltip="Scroll right"
        ),
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
        self._rows: LRUCache[int, list[Row]] = LRUCache(128)

    def show(self, buffer: OutputBuffer | None, title: str = "") -> None:
        """Show another buffer from its end, or none; `title` goes into the border.

        The buffer that is shown already is only refreshed, and stays where it is.
        """
        self.border_title = Content(safe_line(title)) if title else None
        if buffer is not None and buffer is self._buffer:
            self.refresh_output()
            return
        self._buffer = buffer
        self._seen_end = buffer.end if buffer else 0
        self.unseen = 0
        self.facts = ""
        self.following = True
        self._start_over()

    def refresh_output(self) -> None:
        """Take in what was written to the buffer since the last time; nothing is done if that is nothing."""
        buffer, heights = self._buffer, self._heights
        if buffer is None or heights is None or buffer.version == self._version:
            return
        self._version = buffer.version
        before = len(heights)
        for number in range(heights.update(), before):
            self._rows.discard(number)
        if self.following:
            self._seen_end = buffer.end
        self.unseen = max(0, buffer.end - self._seen_end)
        self.facts = self._known_facts(buffer)
        self._place(self.scroll_offset.y)

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

    def action_scroll_sideways(self, cells: int) -> None:
        self.scroll_to(x=self.scroll_offset.x + cells, animate=False, force=True)

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
        text = self._buffer.plain(number) if self._buffer else ""
        return LineLayout(text, self._room if self.wrap else None)

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
