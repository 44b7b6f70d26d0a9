"""The line of one row: its texts under their columns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rich.segment import Segment
from rich.style import Style

from .look import Look
from .row_columns import Span
from .safe_text import safe_line
from .text_rows import Row, fit


def row_line(
    texts: Mapping[str, str],
    spans: Sequence[Span],
    width: int,
    look: Look,
    tone: Style,
    sought: re.Pattern[str] | None,
) -> Row:
    """The cells of a row from the first column to the edge of a list of `width` cells.

    `tone` is the style of columns that tell the state; what matches `sought` is highlighted.
    """
    row: Row = []
    styles = {"tone": tone, "muted": look.muted, "normal": look.normal}
    ends = [*(span.x for span in spans[1:]), width]
    for span, end in zip(spans, ends, strict=True):
        style = styles[span.column.style]
        shown = _fitted(texts.get(span.column.key, ""), span) + " " * (end - span.end)
        row += _split(shown, style) if sought is None else _marked(shown, style, look.badge, sought)
    return row


def _fitted(text: str, span: Span) -> str:
    shown = fit(safe_line(text, span.width), span.width) if text else " " * span.width
    if not span.column.right:
        return shown
    content = shown.rstrip(" ")
    return " " * (len(shown) - len(content)) + content


def _split(shown: str, style: Style) -> Row:
    # Textual measures a piece of ASCII at once, and any other one by the character.
    before, cut, after = shown.rpartition("…")
    return [Segment(part, style) for part in (before, cut + after) if part]


def _marked(shown: str, style: Style, mark: Style, sought: re.Pattern[str]) -> Row:
    row: Row = []
    end = 0
    for match in sought.finditer(shown):
        row += [Segment(shown[end : match.start()], style), Segment(match[0], style + mark)]
        end = match.end()
    return [*row, Segment(shown[end:], style)]
