"""Where each of many blocks is, although only those in sight are ever rendered.

A height is an estimate until it is needed, then exact. Every change is told with the first line of the
view and gives back the line that shows the same text afterwards, so that nothing on the screen moves.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from .block_bodies import BlockBodies
from .blocks import INDENT, Block, estimate_rows
from .heights import Heights
from .look import Look
from .text_rows import Row

_AROUND = 200
"""Blocks above and below the view that are measured ahead."""


class Place(NamedTuple):
    """A line of a block: -1 the empty line above it, 0 its title, then its body."""

    position: int
    line: int


class Drawn(NamedTuple):
    """A block, and the rows of its body as far as they were rendered."""

    block: Block
    rows: Sequence[Row]


class BlockLayout:
    """Blocks one below the other at one width. Lines count from 0 over all blocks.

    `look` is asked when something is rendered, so never before there is a view.
    """

    def __init__(self, look: Callable[[], Look], bodies: type[BlockBodies] = BlockBodies) -> None:
        self.blocks: list[Block] = []
        self.width = 0
        self._look = look
        self._make_bodies = bodies
        self._folds: dict[str, bool] = {}
        self._kept: Collection[str] = ()
        self._lay_out()

    @property
    def total(self) -> int:
        """Lines of all blocks."""
        return self._heights.total

    @property
    def body_width(self) -> int:
        """Cells for the text of a block, between the gutter and an empty column."""
        return max(1, self.width - INDENT - 1)

    def place(self, line: int) -> Place | None:
        """What is on a line; None past the end."""
        if not 0 <= line < self.total:
            return None
        position, inside = self._heights.find(line)
        return Place(position, inside - self._gaps[position])

    def title_line(self, position: int) -> int:
        """The line of a block's title."""
        return self._heights.start(position) + self._gaps[position]

    def body(self, position: int) -> list[Row]:
        """The rendered body of a block."""
        return self._bodies.rows(position, self.blocks[position])

    def offsets(self, position: int) -> Sequence[Sequence[int]]:
        """For each row of a block's body the offset of each cell in its source text."""
        return self._bodies.offsets(position, self.blocks[position])

    def shows(self, block: Block) -> bool:
        """Whether a block is of a kind that is shown."""
        return not self._kept or block.kind in self._kept

    def is_hidden(self, position: int) -> bool:
        """Whether the block at `position` is of a kind that is not shown."""
        return not self.shows(self.blocks[position])

    def is_folded(self, position: int) -> bool:
        """Whether a foldable block is folded to its title line."""
        block = self.blocks[position]
        return block.foldable and self._folds.get(block.key, block.folded)

    def in_sight(self, top: int, height: int) -> range:
        """The positions of the blocks in a view of `height` lines from line `top`."""
        if not self.blocks:
            return range(0)
        last = self._heights.find(top + max(1, height) - 1)[0]
        return range(self._heights.find(top)[0], last + 1)

    def drawn(self, position: int) -> Drawn | None:
        """A block and its rendered body as they are now; None if there is none."""
        if position >= len(self.blocks):
            return None
        return Drawn(self.blocks[position], self._bodies.rendered(position))

    def changed_since(self, before: Drawn | None, position: int) -> range:
        """The lines of a block that show something else than `before`, if none has moved."""
        start, end = self._heights.start(position), self._heights.start(position + 1)
        block = self.blocks[position]
        if before is None or replace(before.block, body=block.body) != block:
            return range(start, end)
        rows = self._bodies.rendered(position)
        same = next(
            (at for at, (old, new) in enumerate(zip(before.rows, rows, strict=False)) if old != new), 0
        )
        return range(self.title_line(position) + 1 + same, end)

    # Changes

    def replace(self, blocks: Sequence[Block]) -> None:
        """Other blocks; those with a key seen before stay as the user folded them."""
        keys = {block.key for block in blocks}
        self._folds = {key: folded for key, folded in self._folds.items() if key in keys}
        self.blocks = list(blocks)
        self._lay_out()

    def put(self, position: int, block: Block, top: int) -> int:
        """Replace a block or append one."""
        if position == len(self.blocks):
            self.blocks.append(block)
            self._heights.extend([0])
            self._gaps.append(0)
            self._exact.append(False)
        self.blocks[position] = block
        return self._changed(position, top)

    def fold(self, position: int, folded: bool, top: int) -> int:
        """Fold or unfold a block; a title above the view becomes its first line."""
        self._folds[self.blocks[position].key] = folded
        return self._changed(position, min(top, self.title_line(position)))

    def keep_only(self, kinds: Collection[str], top: int) -> int:
        """Show only the blocks of these kinds, or all if there are none."""
        return self._laid_out_anew(self.width, kinds, top)

    def resize(self, width: int, top: int) -> int:
        """Another width: the line at the top stays there as well as it can."""
        return self._laid_out_anew(width, self._kept, top)

    def _laid_out_anew(self, width: int, kept: Collection[str], top: int) -> int:
        place = self.place(top) if self.width else None
        before = self._heights[place.position] if place else 1
        self.width, self._kept = width, kept
        self._lay_out()
        if place is None:
            return 0
        if self.is_hidden(place.position):
            return self._heights.start(place.position)
        self.measure(place.position)
        inside = (place.line + self._gaps[place.position]) * self._heights[place.position] // max(1, before)
        return self._heights.start(place.position) + max(0, inside)

    def restyle(self) -> None:
        """Other colours; heights stay."""
        self._bodies = self._make_bodies(self.body_width, self._look)

    def measure(self, position: int) -> int:
        """Make a height exact; returns by how much it changed."""
        if self._exact[position]:
            return 0
        before = self._heights[position]
        rows = 0 if self._is_known(position) else len(self.body(position))
        self._set(position, self._height(position, rows), exact=True)
        return self._heights[position] - before

    def settle(self, top: int, height: int, *, at_end: bool) -> int:
        """Measure all that is in view; with `at_end` the view is the last `height` lines."""
        moved = bool(self.blocks)
        while moved:
            if at_end:
                top = max(0, self.total - height)
            top, moved = self._measure_view(top, height, at_end=at_end)
        return top

    def measure_around(self, top: int, height: int, seconds: float) -> tuple[int, bool]:
        """Measure near the view, the nearest first, for about `seconds`; True when there is no more."""
        deadline = time.perf_counter() + seconds
        seen = self.in_sight(top, height)
        for distance in range(1, _AROUND if seen else 0):
            for position in (seen.start - distance, seen.stop - 1 + distance):
                if 0 <= position < len(self.blocks) and not self._exact[position]:
                    change = self.measure(position)
                    top += change if position < seen.start else 0
                    if time.perf_counter() > deadline:
                        return top, False
        return top, True

    # Heights

    def _lay_out(self) -> None:
        self._bodies = self._make_bodies(self.body_width, self._look)
        self._gaps: list[int] = []
        self._exact: list[bool] = []
        heights: list[int] = []
        above_is_one_line: bool | None = None
        for position, block in enumerate(self.blocks):
            shown, one_line = self.shows(block), self._is_one_line(position)
            gap = 0
            if shown:
                gap = 0 if above_is_one_line is None or (above_is_one_line and one_line) else 1
                above_is_one_line = one_line
            rows = 0 if one_line else estimate_rows(block, self.body_width)
            heights.append(gap + 1 + rows if shown else 0)
            self._gaps.append(gap)
            self._exact.append(one_line or not shown)
        self._heights = Heights(heights)

    def _gap(self, position: int) -> int:
        """The empty line above a block; there is none between two that are one line each."""
        above = self._next_shown(position, -1)
        if above is None or self.is_hidden(position):
            return 0
        return 0 if self._is_one_line(position) and self._is_one_line(above) else 1

    def _next_shown(self, position: int, step: int) -> int | None:
        """The block below (`step` 1) or above (-1) that is not hidden."""
        position += step
        while 0 <= position < len(self.blocks):
            if not self.is_hidden(position):
                return position
            position += step
        return None

    def _is_one_line(self, position: int) -> bool:
        return not self.blocks[position].body or self.is_folded(position)

    def _height(self, position: int, body_rows: int) -> int:
        return 0 if self.is_hidden(position) else self._gap(position) + 1 + body_rows

    def _estimate(self, position: int) -> int:
        rows = 0 if self._is_one_line(position) else estimate_rows(self.blocks[position], self.body_width)
        return self._height(position, rows)

    def _is_known(self, position: int) -> bool:
        """Whether a height needs no rendering."""
        return self.is_hidden(position) or self._is_one_line(position)

    def _set(self, position: int, height: int, *, exact: bool) -> None:
        self._heights[position] = height
        self._gaps[position] = self._gap(position)
        self._exact[position] = exact

    def _changed(self, position: int, top: int) -> int:
        """A block is another: its height changes, and perhaps the gap below it."""
        self._bodies.forget(position)
        start, before = self._heights.start(position), self._heights[position]
        self._set(position, self._estimate(position), exact=self._is_known(position))
        if start < top < start + before:
            # Its beginning is above the view: what is in sight of it stays, so it grows at its end.
            self.measure(position)
        elif start < top:
            top += self._heights[position] - before
        below = self._next_shown(position, 1)
        if below is not None and (change := self._gap(below) - self._gaps[below]):
            top += change if start + before < top else 0
            self._set(below, self._heights[below] + change, exact=self._exact[below])
        return top

    def _measure_view(self, top: int, height: int, *, at_end: bool) -> tuple[int, bool]:
        """Measure from line `top` down, until that moves `top` itself.

        A block that begins above the view keeps its end in place, for that is the part in sight.
        """
        position, line = self._heights.find(top)
        start = top - line
        while position < len(self.blocks) and start < top + height:
            change = self.measure(position)
            if change and (at_end or start < top):
                return max(0, top + change), True
            start += self._heights[position]
            position += 1
        return top, False
