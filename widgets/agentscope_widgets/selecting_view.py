"""Selecting in a view of text with keys, and asking for what is selected.

A selection holds places of the source: it stays on its text whatever arrives, wraps anew or scrolls.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from typing import ClassVar

from textual import work
from textual.binding import Binding, BindingType

from .caret import by_character, by_rows, by_word, edge, nearest, row_edge
from .copying import CopyRequested, OpenRequested, TextRequest
from .text_view import Mark, RowPlaces, TextPlace, TextView

Span = tuple[TextPlace, TextPlace]
"""The text from one place up to another."""

_SLICE = 0.005
"""Seconds of gathering text before keys have their turn."""


class SelectingView(TextView):
    """Shift and the arrows select, or a caret: it comes with a key, and the keys that scroll move it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "copy", "Copy", False, id="text.copy", tooltip="Copy the selection, or what is chosen"),
        Binding("o", "open", "Open", False, id="text.open", tooltip="Open it in $PAGER or $EDITOR"),
        Binding("enter", "accept", "copy", id="text.accept", tooltip="Copy the selection and leave it"),
        Binding("escape", "leave", "clear", id="text.leave", tooltip="Drop the selection, then the search"),
        Binding(
            "V", "select", "Select", False, id="text.select", tooltip="Select with keys: begin, set the mark"
        ),
        Binding("ctrl+a", "select_all", "All", False, id="text.all", tooltip="Select all"),
        Binding(
            "left", "sideways(-1)", "Left", False, id="view.left", tooltip="Scroll left, or move the caret"
        ),
        Binding(
            "right", "sideways(1)", "Right", False, id="view.right", tooltip="Scroll right, or move the caret"
        ),
        *(
            Binding(key, f"caret('{act}')", act, False, id=f"text.{act}", tooltip=tooltip)
            for key, act, tooltip in (
                ("ctrl+left", "word_left", "While selecting: a word back"),
                ("ctrl+right", "word_right", "While selecting: a word on"),
                ("circumflex_accent", "line_start", "While selecting: the start of the line"),
                ("dollar_sign", "line_end", "While selecting: the end of the line"),
            )
        ),
        *(
            Binding(f"shift+{key}", f"extend('{act}')", act, False, id=f"text.select_{act}", tooltip=tooltip)
            for key, act, tooltip in (
                ("left", "left", "Select to the left"),
                ("right", "right", "Select to the right"),
                ("up", "up", "Select up"),
                ("down", "down", "Select down"),
                ("pageup", "page_up", "Select a page up"),
                ("pagedown", "page_down", "Select a page down"),
                ("home", "line_start", "Select to the start of the line"),
                ("end", "line_end", "Select to the end of the line"),
            )
        ),
    ]

    def __init__(self, *, placeholder: str = "", id: str | None = None, classes: str | None = None) -> None:
        super().__init__(placeholder=placeholder, id=id, classes=classes)
        self._anchor: Span | None = None
        self._caret: Span | None = None
        self._by_keys = False
        self._column: int | None = None

    # What is selected

    @property
    def selection(self) -> Span | None:
        """Where the selection starts and ends; None if there is none."""
        if self._anchor is None or self._caret is None:
            return None
        start, end = min(self._anchor[0], self._caret[0]), max(self._anchor[1], self._caret[1])
        return (start, end) if start < end else None

    @property
    def selecting(self) -> bool:
        """Whether the keys move a caret."""
        return self._by_keys

    def select(self, start: TextPlace, end: TextPlace) -> None:
        """Select the text from one place up to another."""
        self.select_from((start, end), (start, end))

    def select_from(self, anchor: Span, caret: Span) -> None:
        """Select from one piece of text to another, both included, whichever comes first."""
        self.hold_still()
        self._by_keys = False
        self._anchor, self._caret = anchor, caret
        self.selection_changed()

    def clear_selection(self) -> None:
        """Nothing is selected any more."""
        if self._anchor or self._caret or self._by_keys:
            self._anchor = self._caret = None
            self._by_keys = False
            self.following = self.FOLLOWS and self.scroll_offset.y >= self.max_scroll_y
            self.selection_changed()

    @property
    def places(self) -> list[TextPlace]:
        """The places that the selection and the caret hold."""
        return [*(self._anchor or ()), *(self._caret or ())]

    def replace_places(self, places: Iterable[TextPlace]) -> None:
        """Each of `places` is another now, in the same order, because texts came before it."""
        moved = iter(places)
        if self._anchor:
            self._anchor = next(moved), next(moved)
        if self._caret:
            self._caret = next(moved), next(moved)

    def validate_following(self, following: bool) -> bool:
        """While something is selected the view stays where it is."""
        return following and self._caret is None

    def has_marks(self) -> bool:
        return self._caret is not None or super().has_marks()

    def marks(self, row: RowPlaces) -> Iterable[Mark]:
        yield from super().marks(row)
        if selection := self.selection:
            yield Mark(*selection, self.look.selection)
        if self._by_keys and self._caret:
            number, offset = self._caret[0]
            yield Mark(self._caret[0], TextPlace(number, offset + 1), self.look.caret)

    def notes(self) -> list[str]:
        return [*(["selecting"] if self._by_keys else []), *super().notes()]

    # Asking for it

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "accept" | "caret":
                return self._by_keys
            case "leave":
                return self._by_keys or self.selection is not None
            case "sideways":
                return self._by_keys or self.scrolls_sideways
            case _:
                return super().check_action(action, parameters)

    @property
    def scrolls_sideways(self) -> bool:
        """Whether the keys to the left and the right scroll."""
        return False

    def action_copy(self) -> None:
        self._ask(CopyRequested)

    def action_accept(self) -> None:
        self._ask(CopyRequested)

    def action_open(self) -> None:
        self._ask(OpenRequested)

    def action_leave(self) -> None:
        self.clear_selection()

    def _ask(self, request: type[TextRequest]) -> None:
        wanted = self.selection
        if wanted is None and self._by_keys and self._caret:
            wanted = self.source_line(self._caret[0])
        wanted = wanted or self.in_hand()
        if wanted is None:
            self.app.bell()
            return
        self.clear_selection()
        self._gather(request, *wanted)

    @work(group="copy")
    async def _gather(self, request: type[TextRequest], start: TextPlace, end: TextPlace) -> None:
        parts: list[str] = []
        pause = time.perf_counter() + _SLICE
        for piece in self.pieces(start, end):
            parts.append(piece)
            if time.perf_counter() > pause:
                await asyncio.sleep(0)
                pause = time.perf_counter() + _SLICE
        self.post_message(request("".join(parts)))

    # Keys

    def action_select(self) -> None:
        """Begin, with a caret; again: set the mark from which it selects, or take it away."""
        if not self._by_keys:
            self._begin()
        elif self._caret:
            self._anchor = None if self._anchor else self._caret
            self.selection_changed()

    def action_select_all(self) -> None:
        if self.text_count:
            last = self.text_count - 1
            self.select(TextPlace(0, 0), TextPlace(last, len(self.text_at(last))))

    def action_extend(self, act: str) -> None:
        if not self._by_keys:
            self._begin()
        if self._anchor is None:
            self._anchor = self._caret
        self._move(act)

    def action_caret(self, act: str) -> None:
        self._move(act)

    def action_sideways(self, step: int) -> None:
        if self._by_keys:
            self._move("left" if step < 0 else "right")
        else:
            self.scroll_to(x=self.scroll_offset.x + 8 * step, animate=False, force=True)

    def action_scroll_by(self, lines: int) -> None:
        if self._by_keys:
            self._move("up" if lines < 0 else "down")
        else:
            super().action_scroll_by(lines)

    def action_scroll_page(self, pages: int) -> None:
        if self._by_keys:
            self._move("page_up" if pages < 0 else "page_down")
        else:
            super().action_scroll_page(pages)

    def action_go_start(self) -> None:
        if self._by_keys:
            self._move("start")
        else:
            super().action_go_start()

    def action_go_end(self) -> None:
        if self._by_keys:
            self._move("end")
        else:
            super().action_go_end()

    def looked_at(self) -> TextPlace | None:
        """Where the user's eyes are, if that can be known; in sight or not."""
        hand = self.in_hand()
        return hand[0] if hand else None

    def _begin(self) -> None:
        """A caret where the selection ended, or at what the user looks at, or at the top of the view."""
        top, height = self.scroll_offset.y, self.view_height
        place = self._caret[0] if self._caret else None
        if place is None and (place := self.looked_at()) is not None:
            at = self.cell_of(place)
            place = place if at is not None and top <= at[1] < top + height else None
        place = place or nearest(self, top, 0, 1) or nearest(self, top, 0, -1)
        if place is None:
            self.app.bell()
            return
        self.hold_still()
        self._by_keys = True
        self._caret = place, self.after(place)
        self._column = None
        self.selection_changed()

    def _move(self, act: str) -> None:
        if self._caret is None:
            return
        place = self._caret[0]
        column, self._column = self._column, None
        match act:
            case "left" | "right":
                place = by_character(self, place, -1 if act == "left" else 1)
            case "word_left" | "word_right":
                place = by_word(self, place, -1 if act == "word_left" else 1)
            case "line_start" | "line_end":
                place = row_edge(self, place, -1 if act == "line_start" else 1)
            case "start" | "end":
                place = edge(self, -1 if act == "start" else 1) or place
            case _:
                if column is None:
                    column = (self.cell_of(place) or (0, 0))[0]
                rows = max(1, self.view_height - 1) if act.startswith("page") else 1
                place = by_rows(self, place, -rows if act.endswith("up") else rows, column)
                self._column = column
        self._caret = place, self.after(place)
        self.reveal(place)
        self.selection_changed()

    def go_end(self) -> None:
        self.clear_selection()
        super().go_end()

    def hold_still(self) -> None:
        """The text stays under the caret and the pointer, whatever arrives."""
        self.following = False

    def selection_changed(self) -> None:
        """Other text is selected, or none, or the caret moved."""
        self.refresh()
        self.refresh_bindings()
