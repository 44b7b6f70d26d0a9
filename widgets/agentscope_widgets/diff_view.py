"""A view of blocks that show two texts side by side, and the keys that go from difference to difference."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from .block_bodies import BlockBodies
from .blocks import Block
from .detail_view import DetailView
from .diff_block import DiffBlock, diff_offsets, diff_rows
from .look import Look
from .text_rows import Row

SAME = "same"
"""The kind of a block in which nothing differs."""

_MOST_OFFSETS = 64


class DiffBodies(BlockBodies):
    """Bodies of blocks, those of a `DiffBlock` in one or two columns."""

    def __init__(self, width: int, look: Callable[[], Look]) -> None:
        super().__init__(width, look)
        self._diff_offsets: OrderedDict[int, tuple[Block, Sequence[Sequence[int]]]] = OrderedDict()

    def offsets(self, position: int, block: Block) -> Sequence[Sequence[int]]:
        if not isinstance(block, DiffBlock):
            return super().offsets(position, block)
        known = self._diff_offsets.get(position)
        # Asked for with every row that is drawn.
        if known is None or known[0] is not block:
            known = self._diff_offsets[position] = block, diff_offsets(block, self.width, self._look())
        self._diff_offsets.move_to_end(position)
        if len(self._diff_offsets) > _MOST_OFFSETS:
            self._diff_offsets.popitem(last=False)
        return known[1]

    def _rendered(self, position: int, block: Block) -> list[Row]:
        if isinstance(block, DiffBlock):
            return diff_rows(block, self.width, self._look())
        return super()._rendered(position, block)


class DiffView(DetailView):
    """A `DetailView` of comparisons: `[` and `]` stop where something differs."""

    BODIES: ClassVar[type[BlockBodies]] = DiffBodies
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "fold", "Fold", False, id="diff.fold", tooltip="Fold or unfold the call"),
        Binding("(", "go_block(-1)", "Previous call", False, id="diff.up", tooltip="Previous call"),
        Binding(")", "go_block(1)", "Next call", False, id="diff.down", tooltip="Next call"),
    ]

    class SideRequested(Message):
        """The user wants all of one text of the block at `position`, in a program outside."""

        def __init__(self, view: DiffView, position: int) -> None:
            super().__init__()
            self.view = view
            self.position = position

        @property
        def control(self) -> DiffView:
            """The view."""
            return self.view

    def is_stop(self, block: Block) -> bool:
        return block.kind != SAME

    def action_go_block(self, step: int) -> None:
        self._go(step, lambda block: True)

    def action_open(self) -> None:
        position = self.block_in_hand()
        if self.selection is None and not self.selecting and position is not None:
            self.post_message(self.SideRequested(self, position))
        else:
            super().action_open()
