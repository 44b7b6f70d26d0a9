"""The rendered bodies of blocks: kept while they are of use, the least recently used given up first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from .blocks import Block, body_rows
from .live_rows import LiveRows
from .look import Look
from .text_rows import Row

_MOST_ROWS = 20_000


class BlockBodies:
    """Rows of bodies by the block's position, at one width and in one look."""

    def __init__(self, width: int, look: Callable[[], Look]) -> None:
        self.width = width
        self._look = look
        self._bodies: OrderedDict[int, list[Row]] = OrderedDict()
        self._live: dict[int, LiveRows] = {}
        self._rows = 0

    def rows(self, position: int, block: Block) -> list[Row]:
        """The rows of the body of the block at `position`."""
        if (rows := self._bodies.get(position)) is not None:
            self._bodies.move_to_end(position)
            return rows
        rows = self._rendered(position, block)
        self._bodies[position] = rows
        self._rows += len(rows)
        while self._rows > _MOST_ROWS and len(self._bodies) > 1:
            self._rows -= len(self._bodies.popitem(last=False)[1])
        return rows

    def forget(self, position: int) -> None:
        """The block at `position` is another, or grew."""
        self._rows -= len(self._bodies.pop(position, ()))

    def _rendered(self, position: int, block: Block) -> list[Row]:
        if not block.live:
            self._live.pop(position, None)
            return body_rows(block, self.width, self._look())
        if position not in self._live:
            self._live[position] = LiveRows(self.width, self._look())
        return self._live[position].update(block)
