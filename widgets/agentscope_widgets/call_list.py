"""A list of tool calls, each with its state, arguments and duration; the newest is followed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive, var

from .copying import CopyRequested, OpenRequested, TextRequest
from .line_view import LineView
from .look import Tone
from .safe_text import safe_line
from .text_rows import Row, fit

_WIDEST_NAME = 16
_WIDEST_STATE = 12
_ROOM_FOR_ARGUMENTS = 6


@dataclass(frozen=True, slots=True)
class CallItem:
    """One call. Text may be anything; `glyph` and `state` tell the state, `tone` its colour.

    `active`: it works now, so it is the one to look at. `waits`: it has not begun, there is nothing to see.
    """

    key: str
    name: str
    glyph: str = ""
    state: str = ""
    arguments: str = ""
    duration: str = ""
    tone: Tone = "normal"
    active: bool = False
    waits: bool = False


class CallList(LineView):
    """Calls in order, one line each, with a cursor that goes to what is new until the user moves it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "Up", show=False, id="calls.up", tooltip="Previous call"),
        Binding("down", "move(1)", "Down", show=False, id="calls.down", tooltip="Next call"),
        Binding("pageup", "move_page(-1)", "Page up", show=False, id="calls.page_up", tooltip="A page up"),
        Binding(
            "pagedown", "move_page(1)", "Page down", show=False, id="calls.page_down", tooltip="A page down"
        ),
        Binding("home", "go_first", "First", show=False, id="calls.first", tooltip="First call"),
        Binding("y", "ask('arguments')", "Copy", show=False, id="calls.copy", tooltip="Copy its arguments"),
        Binding("Y", "ask('result')", "Copy", show=False, id="calls.copy_result", tooltip="Copy its result"),
        Binding(
            "o", "open", "Open", show=False, id="calls.open", tooltip="Open its result in $PAGER or $EDITOR"
        ),
        Binding("end", "go_last", "Last", show=False, id="calls.last", tooltip="Follow the newest call"),
    ]

    cursor: reactive[int] = reactive(0)
    """Position of the chosen call."""
    following: var[bool] = var(True)
    """Whether the cursor goes to each call that begins to work, and to each new one while none works."""

    class CallMessage(Message):
        """What happened to the call with this key."""

        def __init__(self, call_list: CallList, key: str) -> None:
            super().__init__()
            self.call_list = call_list
            self.key = key

        @property
        def control(self) -> CallList:
            """The list."""
            return self.call_list

    class CallHighlighted(CallMessage):
        """Another call is chosen, by the user or because it is the newest."""

    class CallTextRequested(CallMessage):
        """The user wants to copy, or to open, what a call was given or what came of it.

        `request` makes that of the text, which only the owner has.
        """

        def __init__(
            self,
            call_list: CallList,
            key: str,
            part: Literal["arguments", "result"],
            request: type[TextRequest],
        ) -> None:
            super().__init__(call_list, key)
            self.part = part
            self.request = request

    def __init__(self, *, placeholder: str = "", id: str | None = None, classes: str | None = None) -> None:
        super().__init__(placeholder=placeholder, id=id, classes=classes)
        self._items: list[CallItem] = []
        self._highlighted: str | None = None
        self._state_width = 0

    @property
    def items(self) -> Sequence[CallItem]:
        """The calls shown, in order."""
        return self._items

    def show(self, items: Sequence[CallItem]) -> None:
        """Show these calls instead, from the newest."""
        self._items = list(items)
        self.following = True
        self._highlighted = None
        self._update()

    def put(self, position: int, item: CallItem) -> None:
        """Replace the call at `position`, or append it when that is the number of calls.

        Raises:
            IndexError: there would be a gap.
        """
        if position > len(self._items):
            raise IndexError(f"call {position} of {len(self._items)}")
        self._items[position : position + 1] = [item]
        self._update()

    def row_at(self, y: int) -> Row:
        position = self.scroll_offset.y + y
        if position >= len(self._items):
            return []
        item, look = self._items[position], self.look
        row = self._cells(item, look.tone(item.tone))
        if position == self.cursor:
            return [Segment(text, (style or look.normal) + look.cursor) for text, style, _ in row]
        return row

    def validate_cursor(self, cursor: int) -> int:
        return max(0, min(cursor, len(self._items) - 1))

    def watch_cursor(self, cursor: int) -> None:
        self.show_line(cursor, self.view_height)
        self._highlight()

    def line_clicked(self, y: int) -> None:
        position = self.scroll_offset.y + y
        if position < len(self._items):
            self._choose(position)

    def action_move(self, rows: int) -> None:
        self._choose(self.cursor + rows)

    def action_move_page(self, pages: int) -> None:
        self._choose(self.cursor + pages * max(1, self.view_height - 1))

    def action_go_first(self) -> None:
        self._choose(0)

    def action_go_last(self) -> None:
        self.following = True
        self._update()

    def action_ask(self, part: Literal["arguments", "result"]) -> None:
        self._ask(part, CopyRequested)

    def action_open(self) -> None:
        self._ask("result", OpenRequested)

    def _ask(self, part: Literal["arguments", "result"], request: type[TextRequest]) -> None:
        if self._items:
            self.post_message(self.CallTextRequested(self, self._items[self.cursor].key, part, request))

    def _choose(self, position: int) -> None:
        self.cursor = position
        self.following = self.cursor == self._followed

    def _update(self) -> None:
        self.virtual_size = Size(0, len(self._items))
        longest = max((len(item.state) for item in self._items), default=0)
        self._state_width = min(_WIDEST_STATE, longest)
        self.cursor = self._followed if self.following else self.cursor
        self._highlight()
        self.refresh()

    @property
    def _followed(self) -> int:
        """The first that works now, else the newest that has begun, else the newest."""
        newest = len(self._items) - 1
        active = [position for position, item in enumerate(self._items) if item.active]
        begun = [position for position, item in enumerate(self._items) if not item.waits]
        return active[0] if active else begun[-1] if begun else newest

    def _highlight(self) -> None:
        key = self._items[self.cursor].key if self._items else None
        if key is not None and key != self._highlighted:
            self._highlighted = key
            self.post_message(self.CallHighlighted(self, key))

    def _cells(self, item: CallItem, tone: Style) -> Row:
        """State and name, the duration at the right, between them as much of the arguments as fits."""
        look, width = self.look, self.text_width
        state = f" {safe_line(item.glyph, 4)} {fit(safe_line(item.state, 40), self._state_width)} "
        name = safe_line(item.name, 200)
        duration = " " + safe_line(item.duration, 20)
        room = width - cell_len(state) - cell_len(duration)
        name_width = min(cell_len(name), max(_WIDEST_NAME, room - _ROOM_FOR_ARGUMENTS), room)
        name = fit(name, name_width)
        room -= name_width
        arguments = " " + safe_line(item.arguments, room) if room > 2 else ""
        return [
            Segment(state, tone),
            Segment(name, look.strong),
            Segment(fit(arguments, max(0, room)), look.muted),
            Segment(duration, look.muted),
        ]
