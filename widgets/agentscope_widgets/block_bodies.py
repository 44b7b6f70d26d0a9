"""The rendered bodies of blocks: kept while they are of use, the least recently used given up first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence

from .blocks import BODY_LIMIT, Block, body_rows, cut_note, shortened, source_text
from .live_rows import LiveRows
from .look import Look
from .source_map import SourceMap
from .text_rows import Row

_MOST_ROWS = 20_000
_MOST_MAPS = 64


class BlockBodies:
    """Rows of bodies by the block's position, at one width and in one look."""

    def __init__(self, width: int, look: Callable[[], Look]) -> None:
        self.width = width
        self._look = look
        self._bodies: OrderedDict[int, list[Row]] = OrderedDict()
        self._live: dict[int, LiveRows] = {}
        self._maps: OrderedDict[int, _Mapped] = OrderedDict()
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

    def rendered(self, position: int) -> Sequence[Row]:
        """The rows at `position` if they are there, else none."""
        return self._bodies.get(position, ())

    def offsets(self, position: int, block: Block) -> Sequence[Sequence[int]]:
        """For each row of the body the offset of each cell in the block's source text, or `NOWHERE`."""
        known = self._maps.setdefault(position, _Mapped())
        self._maps.move_to_end(position)
        if len(self._maps) > _MOST_MAPS:
            self._maps.popitem(last=False)
        rows = self.rows(position, block)
        # Asked for with every row that is drawn.
        if known.rows is not rows or known.block is not block:
            known.rows, known.block = rows, block
            known.offsets = _offsets(known.map, rows, block)
        return known.offsets

    def forget(self, position: int) -> None:
        """The block at `position` is another, or grew."""
        self._rows -= len(self._bodies.pop(position, ()))

    def _rendered(self, position: int, block: Block) -> list[Row]:
        if not block.live:
            live = self._live.pop(position, None)
            return live.finish(block) if live else body_rows(block, self.width, self._look())
        if position not in self._live:
            self._live[position] = LiveRows(self.width, self._look())
        return self._live[position].update(block)


class _Mapped:
    """The offsets of a body as it was last rendered."""

    def __init__(self) -> None:
        self.map = SourceMap()
        self.rows: list[Row] = []
        self.block: Block | None = None
        self.offsets: Sequence[Sequence[int]] = ()


def _offsets(source_map: SourceMap, rows: Sequence[Row], block: Block) -> Sequence[Sequence[int]]:
    shown = source_text(shortened(block.body), block.format)
    offsets = source_map.offsets(rows, shown)
    if len(block.body) <= BODY_LIMIT:
        return offsets
    cut = shown.index(cut_note(len(block.body)))
    missing = len(source_text(block.body, block.format)) - len(shown)
    return [[_in_whole(offset, cut, missing) for offset in row] for row in offsets]


def _in_whole(offset: int, cut: int, missing: int) -> int:
    """Where a character is in a text of which the middle, from `cut` on, is not shown."""
    return offset if offset < cut else max(cut, offset + missing)
