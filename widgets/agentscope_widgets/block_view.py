"""A view of many blocks of text: drawn, scrolled, folded and chosen; where they are is its layout's work."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import chain
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.events import Mount
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.timer import Timer

from .block_layout import Place
from .block_source import BlockSource
from .blocks import RESULT_RULE, Block, title_row
from .look import Tone
from .text_rows import Row
from .text_view import TextPlace

_SLICE = 0.004
"""Seconds of measuring out of sight between two frames."""
_SLICES_A_SECOND = 25
_MOST_STRIPS = 2_000


class BlockView(BlockSource):
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
        self._cursor_key = ""
        self._strips: dict[Place, tuple[tuple[Row, bool, Tone, Style], Strip]] = {}
        self._changed_unseen: set[int] = set()
        self._measuring: Timer | None = None

    # What is shown

    def show(self, blocks: Sequence[Block]) -> None:
        """Show these blocks instead: a view that follows from its end, any other from its start."""
        # A view with a selection would not follow.
        self.clear_selection()
        self._layout.replace(blocks)
        self.cursor = None
        self.following = self.FOLLOWS
        self.seen_all()
        self._settle(0)
        self.texts_replaced()

    def put(self, position: int, block: Block) -> None:
        """Replace the block at `position`, or append it when that is the number of blocks.

        Raises:
            IndexError: there would be a gap.
        """
        if position > len(self.blocks):
            raise IndexError(f"block {position} of {len(self.blocks)}")
        old = self.blocks[position] if position < len(self.blocks) else None
        if old == block:
            return
        before = self._layout.drawn(position)
        top = self._layout.put(position, block, self.scroll_offset.y)
        if self.FOLLOWS and not self.following and not self.is_hidden(position):
            self._changed_unseen.add(position)
            self.unseen = len(self._changed_unseen)
        if self.cursor is not None and block.key == self._cursor_key:
            # Something came before the chosen block.
            self.cursor = position
        self._settle(top, changed=lambda: self._layout.changed_since(before, position))
        self.text_put(position, old)

    def keep_only(self, kinds: Collection[str]) -> None:
        """Show only the blocks of these kinds, or all if there are none."""
        self._settle(self._layout.keep_only(kinds, self.scroll_offset.y))
        self.texts_changed(0, self.text_count)
        if self.cursor is not None and self.is_hidden(self.cursor):
            self.cursor = None

    def shown_all(self) -> None:
        """What was hidden is shown again, because a hidden block was gone to."""

    def go_to(self, position: int) -> None:
        """Choose the block and bring its title into sight; a hidden one brings all others back as well."""
        if not self.blocks:
            return
        position = max(0, min(position, len(self.blocks) - 1))
        if self.is_hidden(position):
            self.keep_only(())
            self.shown_all()
        top = self.scroll_offset.y
        if not top <= self._layout.title_line(position) < top + self.view_height - 1:
            self._layout.measure(position)
            top = self._layout.title_line(position)
        self._hold(top)
        self.cursor = position

    def go_to_next(self, step: int, wanted: Callable[[Block], bool], *, around: bool = False) -> bool:
        """Choose the next (`step` 1) or previous (-1) wanted block, from the chosen one or else from those in
        sight; `around` goes on at the other end. False if there is none.
        """
        count, start = len(self.blocks), self._start_of_move(step)
        ways = [range(start, count), range(min(start, count))]
        if step < 0:
            ways = [range(start, -1, -1), range(count - 1, start, -1)]
        for position in chain(*(ways if around else ways[:1])):
            if wanted(self.blocks[position]):
                self.go_to(position)
                return True
        return False

    def is_folded(self, position: int) -> bool:
        """Whether a foldable block is folded to its title line."""
        return self._layout.is_folded(position)

    def set_folded(self, position: int, folded: bool) -> None:
        """Fold or unfold a block; nothing happens to one that is not foldable."""
        if self.blocks[position].foldable and self.is_folded(position) != folded:
            top = self._layout.fold(position, folded, self.scroll_offset.y)
            if not folded:
                # What was asked for is brought into sight, as much of it as there is room for.
                self._layout.measure(position)
                title = self._layout.title_line(position)
                end = title + 1 + len(self._layout.body(position))
                top = max(top, min(title, end - self.view_height))
            self._hold(top)

    # Its text

    def reveal(self, place: TextPlace) -> None:
        position, is_body = divmod(place.text, 2)
        if self.is_hidden(position):
            self.keep_only(())
            self.shown_all()
        if is_body:
            self.set_folded(position, False)
        self._layout.measure(position)
        top, height = self.scroll_offset.y, self.view_height
        line = (self.cell_of(place) or (0, top))[1]
        if line < top:
            self._hold(line)
        elif line >= top + height - 1:
            # What is just below comes in by its own line, anything else to the middle.
            self._hold(line - (height - 1 if line <= top + height else height // 2))
        self.cursor = position

    def in_hand(self) -> tuple[TextPlace, TextPlace] | None:
        """What the chosen block says, of a call its arguments; else that of the newest block in sight."""
        position = self.block_in_hand()
        if position is None:
            return None
        title, body = 2 * position, 2 * position + 1
        text = self.text_at(body)
        if not text:
            return TextPlace(title, 0), TextPlace(title, len(self.text_at(title)))
        is_call = self.blocks[position].format == "call"
        return TextPlace(body, 0), TextPlace(body, len(text.partition(RESULT_RULE)[0] if is_call else text))

    def block_in_hand(self) -> int | None:
        """The position of the chosen block, else of the newest in sight, or the first if the view stays."""
        seen = self._layout.in_sight(self.scroll_offset.y, self.view_height)
        if self.cursor is not None or not seen:
            return self.cursor
        return seen[-1] if self.FOLLOWS else seen[0]

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

    def strip_at(self, y: int) -> Strip:
        place = self._layout.place(self.scroll_offset.y + y)
        if place is None or place.line < 1:
            return super().strip_at(y)
        position, line = place
        rows = self._layout.body(position)
        if line > len(rows):
            return super().strip_at(y)
        key = rows[line - 1], position == self.cursor, self.blocks[position].tone, self._base
        kept = self._strips.get(place)
        # A row that is another list was rendered anew, and may look like the old one.
        if kept is None or kept[0][0] is not key[0] or kept[0][1:] != key[1:]:
            if len(self._strips) > _MOST_STRIPS:
                self._strips.clear()
            kept = self._strips[place] = (key, super().strip_at(y))
        return kept[1]

    def look_changed(self) -> None:
        self._layout.restyle()

    # Keys and clicks

    def action_move_cursor(self, step: int) -> None:
        self._go(step, self.is_stop)

    def is_stop(self, block: Block) -> bool:
        """Whether the keys for the next and the previous block stop at this one."""
        return True

    def _go(self, step: int, wanted: Callable[[Block], bool]) -> None:
        """Go to the next wanted block that is shown."""
        self.go_to_next(step, lambda block: self._layout.shows(block) and wanted(block))

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
        key = "" if cursor is None else self.blocks[cursor].key
        if key and key != self._cursor_key:
            self.post_message(self.BlockHighlighted(self, key))
        self._cursor_key = key

    def _start_of_move(self, step: int) -> int:
        """The first position to look at when going on (1) or back (-1)."""
        top = self.scroll_offset.y
        seen = self._layout.in_sight(top, self.view_height)
        if self.cursor is not None and self.cursor in seen:
            begins_above = self._layout.title_line(self.cursor) < top
            return self.cursor if step < 0 and begins_above else self.cursor + step
        if step < 0 or not seen:
            return seen.stop - 1
        return seen.start + (self._layout.title_line(seen.start) < top)

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

    def _settle(self, top: int, *, changed: Callable[[], range] | None = None) -> None:
        """Show from line `top`, with all heights in sight exact; `changed` says which lines are others."""
        if self._layout.width:
            top = self._layout.settle(top, self.view_height, at_end=self.following)
        self.place(top, self._layout.total, changed=changed() if changed else None)
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
