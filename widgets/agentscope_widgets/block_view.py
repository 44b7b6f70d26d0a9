"""A view of many blocks of text: drawn, scrolled, folded and chosen; where they are is its layout's work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.events import Mount
from textual.message import Message
from textual.reactive import reactive
from textual.timer import Timer

from .block_layout import BlockLayout
from .blocks import Block, title_row
from .line_view import ScrollingView
from .text_rows import Row

_SLICE = 0.004
"""Seconds of measuring out of sight between two frames."""
_SLICES_A_SECOND = 25


class BlockView(ScrollingView):
    """Blocks one below the other, with a cursor that goes from block to block and folds."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "[", "move_cursor(-1)", "Previous", show=False, id="blocks.previous", tooltip="Previous block"
        ),
        Binding("]", "move_cursor(1)", "Next", show=False, id="blocks.next", tooltip="Next block"),
        Binding("space", "fold", "Fold", show=False, id="blocks.fold", tooltip="Fold or unfold the block"),
    ]

    cursor: reactive[int | None] = reactive(None)
    """Position of the chosen block."""

    class BlockHighlighted(Message):
        """The cursor went to another block."""

        def __init__(self, view: BlockView, key: str) -> None:
            super().__init__()
            self.view = view
            self.key = key

        @property
        def control(self) -> BlockView:
            """The view."""
            return self.view

    def __init__(self, *, placeholder: str = "", id: str | None = None, classes: str | None = None) -> None:
        super().__init__(placeholder=placeholder, id=id, classes=classes)
        self._layout = BlockLayout(lambda: self.look)
        self._changed_unseen: set[int] = set()
        self._measuring: Timer | None = None

    # What is shown

    @property
    def blocks(self) -> Sequence[Block]:
        """The blocks shown, in order."""
        return self._layout.blocks

    def show(self, blocks: Sequence[Block]) -> None:
        """Show these blocks instead: a view that follows from its end, any other from its start."""
        self._layout.replace(blocks)
        self.cursor = None
        self.following = self.FOLLOWS
        self.seen_all()
        self._settle(0)

    def put(self, position: int, block: Block) -> None:
        """Replace the block at `position`, or append it when that is the number of blocks.

        Raises:
            IndexError: there would be a gap.
        """
        if position > len(self.blocks):
            raise IndexError(f"block {position} of {len(self.blocks)}")
        if position < len(self.blocks) and self.blocks[position] == block:
            return
        if self.FOLLOWS and not self.following:
            self._changed_unseen.add(position)
            self.unseen = len(self._changed_unseen)
        self._settle(self._layout.put(position, block, self.scroll_offset.y))

    def go_to(self, position: int) -> None:
        """Choose the block and bring its title into sight."""
        if not self.blocks:
            return
        position = max(0, min(position, len(self.blocks) - 1))
        top = self.scroll_offset.y
        if not top <= self._layout.title_line(position) < top + self.view_height - 1:
            self._layout.measure(position)
            top = self._layout.title_line(position)
        self._hold(top)
        self.cursor = position

    def is_folded(self, position: int) -> bool:
        """Whether a foldable block is folded to its title line."""
        return self._layout.is_folded(position)

    def set_folded(self, position: int, folded: bool) -> None:
        """Fold or unfold a block; nothing happens to one that is not foldable."""
        if self.blocks[position].foldable and self.is_folded(position) != folded:
            self._hold(self._layout.fold(position, folded, self.scroll_offset.y))

    # Drawing

    def shows_placeholder(self) -> bool:
        return not self.blocks

    def row_at(self, y: int) -> Row:
        place = self._layout.place(self.scroll_offset.y + y)
        if place is None or place.line < 0:
            return []
        position, line = place
        block, look = self.blocks[position], self.look
        chosen = position == self.cursor
        bar = Segment(
            "▌ " if chosen else "▎ ", look.muted if block.tone == "normal" else look.tone(block.tone)
        )
        if line > 0:
            body = self._layout.body(position)
            return [bar, *(body[line - 1] if line <= len(body) else ())]
        title = title_row(block, folded=self.is_folded(position), width=self._layout.body_width, look=look)
        if chosen and self.has_focus:
            title = [Segment(text, style + look.cursor if style else look.cursor) for text, style, _ in title]
        return [bar, *title]

    def look_changed(self) -> None:
        self._layout.restyle()

    # Keys and clicks

    def action_move_cursor(self, step: int) -> None:
        seen = self._layout.in_sight(self.scroll_offset.y, self.view_height)
        if self.cursor is not None:
            self.go_to(self.cursor + step)
        elif seen:
            self.go_to(seen[0] if step > 0 else seen[-1])

    def action_fold(self) -> None:
        position = self.cursor
        if position is None:
            seen = self._layout.in_sight(self.scroll_offset.y, self.view_height)
            position = next((seen_one for seen_one in reversed(seen) if self.blocks[seen_one].foldable), None)
        if position is not None:
            self.set_folded(position, not self.is_folded(position))

    def line_clicked(self, y: int) -> None:
        if place := self._layout.place(self.scroll_offset.y + y):
            self.cursor = place.position
            if place.line == 0:
                self.set_folded(place.position, not self.is_folded(place.position))

    def watch_cursor(self, cursor: int | None) -> None:
        if cursor is not None:
            self.post_message(self.BlockHighlighted(self, self.blocks[cursor].key))

    # The view

    def _on_mount(self, event: Mount) -> None:
        super()._on_mount(event)
        self._measuring = self.set_interval(1 / _SLICES_A_SECOND, self._measure_more, pause=True)

    def resized(self) -> None:
        top = self.scroll_offset.y
        if self.text_width != self._layout.width:
            top = self._layout.resize(self.text_width, top)
        self._settle(top)

    def view_moved(self) -> None:
        self._settle(self.scroll_offset.y)

    def seen_all(self) -> None:
        self._changed_unseen.clear()
        self.unseen = 0

    def _hold(self, top: int) -> None:
        """Show from line `top`, not following any more unless that is the end."""
        self.following = False
        self._settle(top)
        self.following = self.FOLLOWS and self.scroll_offset.y >= self.max_scroll_y

    def _settle(self, top: int) -> None:
        """Show from line `top`, with all heights in sight exact."""
        if self._layout.width:
            top = self._layout.settle(top, self.view_height, at_end=self.following)
        self.place(top, self._layout.total)
        if self._measuring is not None:
            self._measuring.resume()

    def _measure_more(self) -> None:
        if self.is_vertical_scrollbar_grabbed or not self._layout.width:
            return
        top, done = self._layout.measure_around(self.scroll_offset.y, self.view_height, _SLICE)
        if top != self.scroll_offset.y or self._layout.total != self.virtual_size.height:
            self.place(top, self._layout.total)
        if done and self._measuring is not None:
            self._measuring.pause()
