"""Searching in a view of text: as it is typed, all matches marked, from match to match."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.timer import Timer

from .dragging_view import DraggingView
from .prompt_line import PromptLine
from .safe_text import safe_line
from .source_map import NOWHERE
from .text_search import BadPattern, Passage, TextSearch, compile_pattern
from .text_view import Mark, RowPlaces, TextPlace

FIND = "find"
"""The question that the prompt line is asked."""

_SLICE = 0.006
"""Seconds of searching between two looks at the keys."""
_SLICES_A_SECOND = 60
_START = TextPlace(0, 0)


class SearchingView(DraggingView):
    """Its pane needs a `PromptLine` beside it, where the search is typed.

    Small letters find capitals too until a capital is typed, or `case` is switched.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "Search", False, id="text.search", tooltip="Search, as you type"),
        Binding(">", "go_match(1)", "next match", id="text.next", tooltip="To the next match of the search"),
        Binding("<", "go_match(-1)", "match before", id="text.previous", tooltip="To the match before"),
    ]

    def __init__(self, *, placeholder: str = "", id: str | None = None, classes: str | None = None) -> None:
        super().__init__(placeholder=placeholder, id=id, classes=classes)
        self._needle = ""
        self._regex = False
        self._exact: bool | None = None
        self._search: TextSearch | None = None
        self._match: TextPlace | None = None
        self._origin = _START
        self._origin_top = 0
        self._seeking = False
        self._slices: Timer | None = None

    def passage(self, number: int) -> Passage:
        """The texts from `number` on in which is searched as in one; an empty one is of no interest."""
        return [self.text_at(number)]

    # What was found

    @property
    def searching(self) -> bool:
        """Whether there is a search, whose matches are marked."""
        return self._search is not None

    @property
    def matches(self) -> int:
        """The matches found so far."""
        return self._search.count if self._search else 0

    def search_for(self, needle: str) -> str:
        """Search for this from now on, or, if it is empty, no more; returns what is wrong with it."""
        self._needle = needle
        self._search = self._match = None
        problem = ""
        if needle:
            try:
                pattern = compile_pattern(needle, regex=self._regex, exact=self._is_exact)
            except BadPattern as error:
                problem = str(error)
            else:
                self._begin_search(pattern)
        self.refresh()
        self.refresh_bindings()
        return problem

    def texts_changed(self, start: int, stop: int) -> None:
        """The texts from `start` to before `stop` are others, or new, or gone: the search takes that in."""
        if self._search is not None:
            self._search.changed(start, stop, self.text_count)
            self._go_on()

    def texts_replaced(self) -> None:
        """All texts are others: the search begins anew."""
        self._origin = _START
        if self._search is not None:
            self._begin_search(self._search.pattern)
            self._seeking = False
            self._match = None

    def has_marks(self) -> bool:
        return self.matches > 0 or super().has_marks()

    def marks(self, row: RowPlaces) -> Iterable[Mark]:
        shown = [offset for offset in row.offsets if offset != NOWHERE]
        if self._search is not None and shown:
            start, end = TextPlace(row.text, min(shown)), TextPlace(row.text, max(shown) + 1)
            for index in self._search.between(start, end):
                match = self._search.match_at(index)
                look = self.look.match_current if match[0] == self._match else self.look.match
                yield Mark(*match, look)
        yield from super().marks(row)

    def notes(self) -> list[str]:
        notes = super().notes()
        if self.searching and not self._prompt_is_open():
            notes.append(f"/{safe_line(self._needle, 30)}  {self.hits()}")
        return notes

    def hits(self) -> str:
        """How many matches there are, and which of them is the current one: `3/17`, `17, searching`."""
        search = self._search
        if search is None:
            return ""
        index = search.index_of(self._match) if self._match else None
        many = f"{search.count:,}{'+' if search.full else ''}"
        said = many if index is None else f"{index + 1:,}/{many}"
        return said if search.done else f"{said}, searching"

    def looked_at(self) -> TextPlace | None:
        return self._match or super().looked_at()

    # Keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "go_match":
                return self.searching
            case "leave":
                return self.searching or super().check_action(action, parameters)
            case _:
                return super().check_action(action, parameters)

    def action_search(self) -> None:
        self._origin_top = self.scroll_offset.y
        self._origin = self.place_at(0, self._origin_top) or _START
        self._match = self._exact = None
        PromptLine.beside(self).open(self, FIND, "/", switches=self._switches)
        self.search_for("")

    def action_go_match(self, step: int) -> None:
        self.go_match(step)

    def action_leave(self) -> None:
        if self.selecting or self.selection:
            super().action_leave()
        else:
            self.search_for("")

    def go_match(self, step: int) -> None:
        """Go to the next match (`step` 1) or the one before (-1), after the last to the first."""
        search = self._search
        if search is None or not search.count:
            self.app.bell()
            return
        place = self._match or self.place_at(0, self.scroll_offset.y) or _START
        index = search.first_from(place)
        if step < 0:
            index -= 1
        elif self._match is not None and search.index_of(place) == index:
            index += 1
        self._seeking = False
        self._visit(index % search.count)

    @on(PromptLine.Changed)
    def _needle_changed(self, event: PromptLine.Changed) -> None:
        if event.question == FIND:
            event.stop()
            self._search_from_prompt(event.prompt)

    @on(PromptLine.SwitchRequested)
    def _switched(self, event: PromptLine.SwitchRequested) -> None:
        if event.question != FIND:
            return
        event.stop()
        if event.switch == "regex":
            self._regex = not self._regex
        else:
            self._exact = not self._is_exact
        self._search_from_prompt(event.prompt)

    @on(PromptLine.Submitted)
    def _needle_accepted(self, event: PromptLine.Submitted) -> None:
        if event.question == FIND:
            event.stop()
            if self.searching or not event.value:
                event.prompt.close()
                self.refresh()

    @on(PromptLine.Cancelled)
    def _search_cancelled(self, event: PromptLine.Cancelled) -> None:
        if event.question == FIND:
            event.stop()
            self.search_for("")
            self.scroll_to(y=self._origin_top, animate=False, force=True)

    @on(PromptLine.NextRequested)
    def _next_requested(self, event: PromptLine.NextRequested) -> None:
        if event.question == FIND:
            event.stop()
            self.go_match(1)

    @on(PromptLine.PreviousRequested)
    def _previous_requested(self, event: PromptLine.PreviousRequested) -> None:
        if event.question == FIND:
            event.stop()
            self.go_match(-1)

    # Searching

    def on_mount(self) -> None:
        self._slices = self.set_interval(1 / _SLICES_A_SECOND, self._search_more, pause=True)

    @property
    def _is_exact(self) -> bool:
        if self._exact is not None:
            return self._exact
        needle = re.sub(r"\\.", "", self._needle) if self._regex else self._needle
        return needle != needle.lower()

    @property
    def _switches(self) -> dict[str, bool]:
        return {"case": self._is_exact, "regex": self._regex}

    def _search_from_prompt(self, prompt: PromptLine) -> None:
        prompt.note = self.search_for(prompt.value) or self.hits()
        prompt.switches = self._switches

    def _begin_search(self, pattern: re.Pattern[str]) -> None:
        first = min(self._origin.text, max(0, self.text_count - 1))
        self._search = TextSearch(pattern, self.passage, self.text_count, first)
        self._seeking = True
        self._go_on()
        # What is near is found before the next frame.
        self._search_more()

    def _go_on(self) -> None:
        if self._slices is not None:
            self._slices.resume()

    def _search_more(self) -> None:
        search = self._search
        if search is None or search.search(_SLICE):
            self.refresh()
        if search is not None:
            self._seek(search)
        if self._slices is not None and (search is None or search.done):
            self._slices.pause()
            self.refresh()
        self._tell()

    def _seek(self, search: TextSearch) -> None:
        """Go to the first match from where the search began, as soon as it is known."""
        if not self._seeking:
            return
        index = search.first_from(self._origin)
        if index < search.count or (search.done and search.count):
            self._seeking = False
            self._visit(index % search.count)

    def _visit(self, index: int) -> None:
        if self._search is not None:
            self._match = self._search.match_at(index)[0]
            self.hold_still()
            self.reveal(self._match)
            self.refresh()
            self._tell()

    def _tell(self) -> None:
        if self._prompt_is_open() and self._search is not None:
            PromptLine.beside(self).note = self.hits()

    def _prompt_is_open(self) -> bool:
        """Whether this view's search is being typed."""
        pane = self.parent
        return pane is not None and any(prompt.question == FIND for prompt in pane.query(PromptLine))
