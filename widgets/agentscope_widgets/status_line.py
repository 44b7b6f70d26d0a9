"""One line of facts, the most important first; what does not fit is left out, never wrapped."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.segment import Segment

from .line_view import LineView
from .look import Tone
from .safe_text import safe_line
from .text_rows import Row, fit

_JOINT = " · "


class StatusLine(LineView, can_focus=False):
    """Segments joined by ` · `, each in its tone; the first is bold and is cut before it is left out."""

    DEFAULT_CSS = """
    StatusLine {
        height: 1;
        overflow: hidden;
        background: $panel;
        padding: 0 1;
    }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._segments: Sequence[tuple[str, Tone]] = ()

    def show(self, segments: Sequence[tuple[str, Tone]]) -> None:
        """Show these facts instead, `(text, tone)` each; empty texts are skipped."""
        shown = [(safe_line(text), tone) for text, tone in segments if text]
        if shown != self._segments:
            self._segments = shown
            self.refresh()

    def shows_placeholder(self) -> bool:
        return False

    def row_at(self, y: int) -> Row:
        look, room = self.look, self.text_width
        row: Row = []
        for text, tone in self._segments:
            if not row:
                text = fit(text, min(cell_len(text), room))
                row.append(Segment(text, look.tone(tone) + look.strong))
            elif cell_len(text) + len(_JOINT) <= room:
                row += [Segment(_JOINT, look.muted), Segment(text, look.tone(tone))]
                room -= len(_JOINT)
            else:
                break
            room -= cell_len(text)
        return row
