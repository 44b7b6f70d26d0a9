"""A bar over the whole of something that has a beginning and an end: where one is, and what is where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.segment import Segment
from textual.events import MouseDown, MouseMove, MouseUp
from textual.message import Message

from .line_view import LineView
from .look import Tone
from .safe_text import safe_line
from .text_rows import Row

_HEAD = "●"
_BEFORE, _AFTER = "━", "─"
_NARROWEST = 10
_CROWDED = 3
"""Cells for each mark of the least weight, below which those are left out."""


@dataclass(frozen=True, slots=True)
class TimelineMark:
    """A glyph, one cell wide, at a position from 1. Of two in one cell the one of more weight is shown."""

    at: int
    glyph: str
    tone: Tone = "normal"
    weight: int = 0


class TimelineBar(LineView, can_focus=False):
    """One line: a text, the bar with playhead and marks, and a text. A click or a drag moves the playhead.

    Positions count from 1 to `total`.
    """

    DEFAULT_CSS = """
    TimelineBar {
        height: 1;
        overflow: hidden;
        padding: 0 1;
    }
    """

    class Sought(Message):
        """The user wants the playhead at this position."""

        def __init__(self, bar: TimelineBar, at: int) -> None:
            super().__init__()
            self.bar = bar
            self.at = at

        @property
        def control(self) -> TimelineBar:
            """The bar."""
            return self.bar

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._at = self._total = 1
        self._left = self._right = ""
        self._marks: Sequence[TimelineMark] = ()
        self._placed: tuple[object, dict[int, TimelineMark]] = (None, {})
        self._sought: int | None = None

    def show(self, at: int, total: int, left: str, right: str) -> None:
        """Show this position, with a text before and one after the bar."""
        shown = (at, max(1, total), safe_line(left, 40), safe_line(right, 60))
        if shown != (self._at, self._total, self._left, self._right):
            self._at, self._total, self._left, self._right = shown
            self.refresh()

    def show_marks(self, marks: Sequence[TimelineMark]) -> None:
        """Show these marks instead."""
        self._marks = marks
        self._placed = None, {}
        self.refresh()

    def shows_placeholder(self) -> bool:
        return False

    def row_at(self, y: int) -> Row:
        look, first, width = self.look, self._first, self._width
        marks, head = self._in_cells(width), self._cell(self._at, width)
        row = [Segment(self._left + " " * (first - cell_len(self._left)), look.strong)]
        for cell in range(width):
            mark = marks.get(cell)
            if cell == head:
                row.append(Segment(_HEAD, look.primary + look.strong))
            elif mark is not None:
                row.append(Segment(mark.glyph, look.tone(mark.tone)))
            else:
                row.append(Segment(*((_BEFORE, look.primary) if cell < head else (_AFTER, look.muted))))
        return [*row, Segment(f" {self._right}" if self._right else "", look.muted)]

    # Where things are

    @property
    def _first(self) -> int:
        """The first cell of the bar."""
        return cell_len(self._left) + 1 if self._left else 0

    @property
    def _width(self) -> int:
        """The cells of the bar."""
        after = cell_len(self._right) + 1 if self._right else 0
        return max(_NARROWEST, self.text_width - self._first - after)

    def _cell(self, at: int, width: int) -> int:
        """The cell of the bar for a position."""
        return (max(1, min(at, self._total)) - 1) * (width - 1) // max(1, self._total - 1)

    def _position(self, x: int) -> int:
        """The position for a cell of the view."""
        width = self._width
        cell = max(0, min(x - self._first, width - 1))
        return 1 + -(-cell * (self._total - 1) // max(1, width - 1))

    def _in_cells(self, width: int) -> dict[int, TimelineMark]:
        key = (width, self._total)
        if self._placed[0] == key:
            return self._placed[1]
        least = min((mark.weight for mark in self._marks), default=0)
        crowded = sum(mark.weight == least for mark in self._marks) * _CROWDED > width
        cells: dict[int, TimelineMark] = {}
        for mark in self._marks:
            if crowded and mark.weight == least:
                continue
            cell = self._cell(mark.at, width)
            if cell not in cells or mark.weight > cells[cell].weight:
                cells[cell] = mark
        self._placed = key, cells
        return cells

    # The mouse

    def on_mouse_down(self, event: MouseDown) -> None:
        if event.button == 1:
            self.capture_mouse()
            self._seek(event.x)

    def on_mouse_move(self, event: MouseMove) -> None:
        if self._sought is not None:
            self._seek(event.x)

    def on_mouse_up(self, event: MouseUp) -> None:
        self._sought = None
        self.release_mouse()

    def _seek(self, x: int) -> None:
        at = self._position(x - self.gutter.left)
        if at != self._sought:
            self._sought = at
            self.post_message(self.Sought(self, at))
