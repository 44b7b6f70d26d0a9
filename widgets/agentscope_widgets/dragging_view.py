"""Selecting in a view of text with the mouse: a drag, two clicks for a word, three for a line."""

from __future__ import annotations

from textual.events import MouseDown, MouseMove, MouseUp
from textual.geometry import Offset
from textual.timer import Timer

from .caret import word_around
from .selecting_view import SelectingView, Span
from .source_map import NOWHERE
from .text_view import TextPlace

_SCROLLS_A_SECOND = 20


class DraggingView(SelectingView):
    """A drag beyond the edge scrolls; a click without one drops the selection."""

    def __init__(self, *, placeholder: str = "", id: str | None = None, classes: str | None = None) -> None:
        super().__init__(placeholder=placeholder, id=id, classes=classes)
        self._pressed: Span | None = None
        self._dragged = False
        self._pointer = Offset(0, 0)
        self._scrolling: Timer | None = None

    def on_mouse_down(self, event: MouseDown) -> None:
        at = event.get_content_offset(self)
        self._dragged = False
        if event.button == 1 and at is not None and at.x < self.text_width:
            self._pressed = self._span_at(at.x, self.scroll_offset.y + at.y)
            self._pointer = at
            if self._pressed is not None:
                self.capture_mouse()

    def on_mouse_move(self, event: MouseMove) -> None:
        at = event.get_content_offset_capture(self)
        if self._pressed is None or (at == self._pointer and not self._dragged):
            return
        self._pointer = at
        if not self._dragged:
            self._dragged = True
            self._scrolling = self.set_interval(1 / _SCROLLS_A_SECOND, self._drag)
        self._drag(scroll=False)

    def on_mouse_up(self, event: MouseUp) -> None:
        self._pressed = None
        self.release_mouse()
        if self._scrolling is not None:
            self._scrolling.stop()
            self._scrolling = None

    def clicked(self, x: int, y: int) -> None:
        if self._dragged:
            return
        self.clear_selection()
        super().clicked(x, y)

    def clicked_again(self, x: int, y: int, times: int) -> None:
        """Two clicks take a word, three the line; a title stands for all below it."""
        place = None if self._dragged else self.place_at(x, self.scroll_offset.y + y)
        if place is not None:
            self.select(*(word_around(self, place) if times == 2 else self.source_line(place)))

    def _drag(self, *, scroll: bool = True) -> None:
        """Select up to the pointer; while it is above or below the view the text moves towards it."""
        x, y = self._pointer
        below = y - (self.view_height - 1)
        if scroll and (y < 0 or below > 0):
            self.scroll_lines(y if y < 0 else below)
        line = self.scroll_offset.y + max(0, min(y, self.view_height - 1))
        span = self._span_at(x, min(line, self.virtual_size.height - 1))
        if self._pressed is not None and span is not None:
            self.select_from(self._pressed, span)

    def _span_at(self, x: int, line: int) -> Span | None:
        """The character at a cell; right of the row it is nothing, behind the last one."""
        row = self.row_places(line)
        stops = row.stops if row else []
        if row is not None and stops and all(offset == NOWHERE for offset in row.offsets[max(0, x) :]):
            end = self.after(TextPlace(row.text, stops[-1][1]))
            return end, end
        place = self.place_at(max(0, x), line)
        return None if place is None else (place, self.after(place))
