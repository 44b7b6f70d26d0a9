"""A row or a column of panes whose common borders move, by mouse or by key."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Literal

from textual.containers import Container
from textual.events import MouseDown, MouseMove, MouseUp
from textual.message import Message
from textual.widget import Widget

Axis = Literal["x", "y"]
SMALLEST: Mapping[Axis, int] = {"x": 20, "y": 4}
"""Cells that a pane keeps, borders included, along each axis."""


class Split(Container):
    """Shares its room among the children in sight, by the share that each child's id has.

    The border between two children is the last cell of the one and the first of the other: there the mouse
    drags it. Shares are relative, so they hold for every size and whichever children are in sight.
    """

    DEFAULT_CSS = """
    Split { width: 1fr; height: 1fr; }
    """
    ALLOW_SELECT = False

    class BorderMoved(Message):
        """The user moved a border: the shares are other ones now."""

        def __init__(self, split: Split) -> None:
            super().__init__()
            self.split = split

        @property
        def control(self) -> Split:
            """The split."""
            return self.split

    def __init__(self, axis: Axis, shares: Mapping[str, float], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.axis = axis
        self.styles.layout = "horizontal" if axis == "x" else "vertical"
        self._shares = dict(shares)
        self._dragged: tuple[Widget, Widget] | None = None
        self._grip = 0
        """Which of the border's two cells the mouse holds: -1 or 0."""

    @property
    def shares(self) -> Mapping[str, float]:
        """Each child's share, by id."""
        return self._shares

    def share_out(self, shares: Mapping[str, float]) -> None:
        """Give the children these shares; ids of others are left out."""
        self._shares.update((name, share) for name, share in shares.items() if name in self._shares)
        for child in self.children:
            share = f"{self._shares[child.id or '']:.6f}fr"
            if self.axis == "x":
                child.styles.width, child.styles.min_width = share, SMALLEST["x"]
            else:
                child.styles.height, child.styles.min_height = share, SMALLEST["y"]

    def on_mount(self) -> None:
        self.share_out(self._shares)

    def move_border(self, inside: Widget, cells: int) -> bool:
        """Move the border after the child that holds `inside` (before the last one) by `cells`.

        Gives whether there was such a border.
        """
        shown = self._shown()
        held = [place for place, child in enumerate(shown) if child in inside.ancestors_with_self]
        if not held or len(shown) < 2:
            return False
        place = min(held[0], len(shown) - 2)
        self._move(shown[place], shown[place + 1], cells)
        self.post_message(self.BorderMoved(self))
        return True

    def on_mouse_down(self, event: MouseDown) -> None:
        at = event.screen_x if self.axis == "x" else event.screen_y
        shown = self._shown()
        for first, second in pairwise(shown):
            if at in (self._start(second) - 1, self._start(second)):
                event.stop()
                self._dragged = (first, second)
                self._grip = at - self._start(second)
                self.capture_mouse()
                self._mark(True)

    def on_mouse_move(self, event: MouseMove) -> None:
        if self._dragged is not None:
            event.stop()
            first, second = self._dragged
            at = event.screen_x if self.axis == "x" else event.screen_y
            self._move(first, second, at - self._grip - self._start(second))

    def on_mouse_up(self, event: MouseUp) -> None:
        if self._dragged is not None:
            event.stop()
            self._mark(False)
            self._dragged = None
            self.release_mouse()
            self.post_message(self.BorderMoved(self))

    def _shown(self) -> list[Widget]:
        return [child for child in self.children if child.display]

    def _start(self, child: Widget) -> int:
        return child.region.x if self.axis == "x" else child.region.y

    def _extent(self, child: Widget) -> int:
        return child.region.width if self.axis == "x" else child.region.height

    def _move(self, first: Widget, second: Widget, cells: int) -> None:
        """Give `cells` of the second child to the first, as far as both keep the smallest size."""
        shown = self._shown()
        sizes = {child.id or "": self._extent(child) for child in shown}
        one, other, least = first.id or "", second.id or "", SMALLEST[self.axis]
        cells = max(min(0, least - sizes[one]), min(cells, max(0, sizes[other] - least)))
        sizes[one] += cells
        sizes[other] -= cells
        # Whole cells as shares divide without rest; those out of sight keep their part of the whole.
        scale = sum(sizes.values()) / sum(self._shares[name] for name in sizes)
        self.share_out({name: share * scale for name, share in self._shares.items()} | sizes)

    def _mark(self, moving: bool) -> None:
        for child in self._dragged or ():
            child.set_class(moving, "-border-moves")


def splits_around(widget: Widget, axis: Axis) -> list[Split]:
    """The splits along `axis` that hold `widget`, the innermost first."""
    return [node for node in widget.ancestors if isinstance(node, Split) and node.axis == axis]
