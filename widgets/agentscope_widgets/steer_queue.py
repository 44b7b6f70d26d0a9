"""Messages that wait to steer the agent, each with what became of it; those still queued can be changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive

from .line_view import LineView
from .look import Tone
from .safe_text import safe_line
from .text_rows import Row, fit

_GLYPHS: dict[str, tuple[str, Tone]] = {
    "queued": ("○", "warning"),
    "edited": ("○", "warning"),
    "handed over": ("◐", "accent"),
    "in call": ("●", "primary"),
    "answered": ("✓", "success"),
    "returned": ("↩", "muted"),
}


@dataclass(frozen=True, slots=True)
class SteerItem:
    """One message. `state` begins with `queued`, `handed over`, `in call` (`#3`), `answered` or `returned`.

    `is_queued`: it can still be edited, withdrawn and moved.
    """

    key: str
    text: str
    state: str = "queued"
    is_queued: bool = True


class SteerQueue(LineView):
    """The queue, one line each; hidden while it is empty. Keys ask, whoever owns the queue decides."""

    DEFAULT_CSS = """
    SteerQueue {
        height: auto;
        max-height: 5;
        display: none;
        &.-filled { display: block; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e,enter", "ask_edit", "edit", id="steers.edit", tooltip="Take the message back to edit it"),
        Binding(
            "x,delete", "ask_withdraw", "withdraw", id="steers.withdraw", tooltip="Do not send the message"
        ),
        Binding("K,shift+up", "ask_move(-1)", "earlier", id="steers.earlier", tooltip="Send it earlier"),
        Binding("J,shift+down", "ask_move(1)", "later", id="steers.later", tooltip="Send it later"),
        Binding("up", "move(-1)", "Up", show=False, id="steers.up", tooltip="Previous message"),
        Binding("down", "move(1)", "Down", show=False, id="steers.down", tooltip="Next message"),
    ]

    cursor: reactive[int] = reactive(0)
    """Position of the chosen message."""

    class SteerMessage(Message):
        """Something is asked of the message with this key."""

        def __init__(self, queue: SteerQueue, key: str) -> None:
            super().__init__()
            self.queue = queue
            self.key = key

        @property
        def control(self) -> SteerQueue:
            """The queue."""
            return self.queue

    class SteerEditRequested(SteerMessage):
        """Take it out of the queue and into the composer."""

    class SteerWithdrawRequested(SteerMessage):
        """Take it out of the queue."""

    class SteerMoveRequested(SteerMessage):
        """Move it by `offset` places, -1 is earlier."""

        def __init__(self, queue: SteerQueue, key: str, offset: int) -> None:
            super().__init__(queue, key)
            self.offset = offset

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._items: list[SteerItem] = []

    @property
    def items(self) -> Sequence[SteerItem]:
        """The messages shown, in order."""
        return self._items

    def show(self, items: Sequence[SteerItem]) -> None:
        """Show these messages instead; the cursor stays on the same one."""
        chosen = self._chosen()
        self._items = list(items)
        self.virtual_size = Size(0, len(items))
        self.set_class(bool(items), "-filled")
        keys = [item.key for item in items]
        self.cursor = keys.index(chosen.key) if chosen and chosen.key in keys else self.cursor
        self.refresh_bindings()
        self.refresh()

    def row_at(self, y: int) -> Row:
        position = self.scroll_offset.y + y
        if position >= len(self._items):
            return []
        item, look = self._items[position], self.look
        known = (shown for word, shown in _GLYPHS.items() if item.state.startswith(word))
        glyph, tone = next(known, ("·", "normal"))
        state = f" {glyph} {fit(safe_line(item.state, 40), self._state_width())} "
        room = max(0, self.text_width - cell_len(state))
        row = [
            Segment(state, look.tone(tone)),
            Segment(fit(safe_line(item.text, room + 1), room), look.normal),
        ]
        if position == self.cursor and self.has_focus:
            return [Segment(text, (style or look.normal) + look.cursor) for text, style, _ in row]
        return row

    def validate_cursor(self, cursor: int) -> int:
        return max(0, min(cursor, len(self._items) - 1))

    def watch_cursor(self, cursor: int) -> None:
        self.show_line(cursor, self.view_height)
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        chosen = self._chosen()
        if action.startswith("ask_") and not (chosen and chosen.is_queued):
            return None
        return True

    def line_clicked(self, y: int) -> None:
        self.cursor = self.scroll_offset.y + y

    def action_move(self, rows: int) -> None:
        self.cursor += rows

    def action_ask_edit(self) -> None:
        self.post_message(self.SteerEditRequested(self, self._items[self.cursor].key))

    def action_ask_withdraw(self) -> None:
        self.post_message(self.SteerWithdrawRequested(self, self._items[self.cursor].key))

    def action_ask_move(self, offset: int) -> None:
        self.post_message(self.SteerMoveRequested(self, self._items[self.cursor].key, offset))

    def _state_width(self) -> int:
        return min(24, max(cell_len(safe_line(item.state, 40)) for item in self._items))

    def _chosen(self) -> SteerItem | None:
        return self._items[self.cursor] if self.cursor < len(self._items) else None
