"""The transcript of a session: its blocks in order, following the newest until the user scrolls up."""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar

from .block_view import BlockView


class Transcript(BlockView):
    """A `BlockView` that opens at its end and follows it."""

    FOLLOWS: ClassVar[bool] = True

    def go_to_kind(self, kinds: Collection[str], step: int) -> bool:
        """Choose the next (`step` 1) or previous (-1) block of one of these kinds; False if there is none."""
        position = self.cursor
        if position is None:
            position = -1 if step > 0 else len(self.blocks)
        position += step
        while 0 <= position < len(self.blocks):
            if self.blocks[position].kind in kinds:
                self.go_to(position)
                return True
            position += step
        return False
