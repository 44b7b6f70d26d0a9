"""A histogram: upright bars over an axis, each an eighth of a line fine, with what is at both ends below."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.segment import Segment

from .line_view import LineView
from .look import Tone
from .safe_text import safe_line
from .text_rows import Row

_EIGHTHS = " ▁▂▃▄▅▆▇█"
_LABEL = 24


class Histogram(LineView, can_focus=False):
    """Bars of counts, as wide as the room allows; the last line is the axis. The highest bar is as high as
    the view, and a count that is not 0 is always seen.
    """

    DEFAULT_CSS = """
    Histogram {
        height: 6;
        overflow: hidden;
        padding: 0 1;
    }
    """

    def __init__(
        self,
        *,
        tone: Tone = "primary",
        placeholder: str = "",
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(placeholder=placeholder, id=id, classes=classes)
        self._tone: Tone = tone
        self._counts: Sequence[int] = ()
        self._low = self._high = ""

    def show(self, counts: Sequence[int], low: str, high: str) -> None:
        """Show these bars instead, with what stands below the first and the last of them."""
        shown = (tuple(counts), safe_line(low, _LABEL), safe_line(high, _LABEL))
        if shown != (self._counts, self._low, self._high):
            self._counts, self._low, self._high = shown
            self.refresh()

    def shows_placeholder(self) -> bool:
        return not any(self._counts)

    def row_at(self, y: int) -> Row:
        look, width, bars = self.look, self.text_width, self.view_height - 1
        each = max(1, width // len(self._counts))
        if y >= bars:
            return [Segment(self._axis(min(width, each * len(self._counts))), look.muted)]
        most = max(self._counts)
        gap = 1 if each > 2 else 0
        text = "".join(
            _EIGHTHS[_eighths(count, most, bars, bars - 1 - y)] * (each - gap) + " " * gap
            for count in self._counts
        )
        return [Segment(text, look.tone(self._tone))]

    def _axis(self, width: int) -> str:
        """The ends, and between them, where there is room, how many the highest bar stands for."""
        most = f"most {max(self._counts):,}"
        between = width - cell_len(self._low) - cell_len(self._high)
        middle = most.center(between) if between > len(most) + 1 else " " * max(1, between)
        return self._low + middle + self._high


def _eighths(count: int, most: int, lines: int, line: int) -> int:
    """How much of a bar is in a line, counted from the bottom: 0 to 8."""
    height = max(1, round(count / most * lines * 8)) if count else 0
    return max(0, min(8, height - line * 8))
