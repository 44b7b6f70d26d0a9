"""A body that still grows: what is finished is rendered once, only its last part anew."""

from __future__ import annotations

import re

from .blocks import Block, body_rows, shortened, text_rows
from .look import Look
from .markdown_rows import ending, is_too_much, markdown_rows
from .safe_text import safe_text
from .text_rows import Row

TAIL = 800
"""Characters of Markdown that are rendered anew at each update: a longer unfinished part is cut in pieces."""

_LINE_START = re.compile(r"\n(?=\S)")


class LiveRows:
    """The rows of one live block, at one width and in one look.

    Markdown becomes final block by block. A code fence that is still open is shown as plain text, coloured
    once it closes. A long list or paragraph is rendered in pieces, so that no update takes long, and once
    more as a whole when it is finished.
    """

    def __init__(self, width: int, look: Look) -> None:
        self.width = width
        self.look = look
        self._seen = ""
        self._lines = _GrowingLines(width, look)
        self._reset()

    def update(self, block: Block) -> list[Row]:
        """The rows of the block as it is now."""
        body = shortened(block.body)
        if not body.startswith(self._seen):
            self._reset()
        self._seen = body
        match block.format:
            case "plain":
                return self._lines.update(body)
            case "markdown":
                return self._markdown(body)
            case _:
                return text_rows(body, block.format, self.width, self.look)

    def finish(self, block: Block) -> list[Row]:
        """The rows of the block that grew, now that it is whole."""
        body = block.body
        if block.format != "markdown" or self._pieces or not body.startswith(self._seen) or is_too_much(body):
            return body_rows(block, self.width, self.look)
        return self._with(text_rows(body[self._done :], "markdown", self.width, self.look))

    def _reset(self) -> None:
        self._seen = ""
        self._done = 0
        self._rows: list[Row] = []
        self._pieces = self._in_pieces = False
        self._newlines = 0
        self._fence: re.Pattern[str] | None = None
        self._lines = _GrowingLines(self.width, self.look)

    def _markdown(self, body: str) -> list[Row]:
        rest = body[self._done :]
        newlines = rest.count("\n")
        # Only a new line can finish what was there before.
        if newlines != self._newlines and not self._is_inside_fence(rest):
            rest = self._finish(rest)
            newlines = rest.count("\n")
        self._newlines = newlines
        if self._fence is not None:
            return self._with(self._lines.update(rest))
        return self._with(text_rows(rest, "plain" if len(rest) > TAIL else "markdown", self.width, self.look))

    def _is_inside_fence(self, rest: str) -> bool:
        """Whether the rest begins with a code fence that has not been closed since this was last asked."""
        return self._fence is not None and self._fence.search(rest, self._lines.done) is None

    def _finish(self, rest: str) -> str:
        """Render what nothing that comes can change any more; returns what is left."""
        # A line that still grows may turn out to belong to the block before it.
        stable, fence = ending(safe_text(rest[: rest.rfind("\n") + 1]))
        end = sum(len(line) + 1 for line in rest.split("\n")[:stable])
        pieces = not fence and len(rest) - end > TAIL
        if pieces:
            end = max((match.end() for match in _LINE_START.finditer(rest)), default=rest.rfind("\n") + 1)
        if end:
            self._rows = self._with(markdown_rows(safe_text(rest[:end]), self.width, self.look))
            self._in_pieces = pieces
            self._pieces = self._pieces or pieces
            self._done += end
        self._fence = re.compile(rf"^[ \t>]*{re.escape(fence)}+[ \t]*$", re.MULTILINE) if fence else None
        self._lines = _GrowingLines(self.width, self.look)
        return rest[end:]

    def _with(self, rows: list[Row]) -> list[Row]:
        """The finished rows and these, with the empty row that Markdown has between two blocks."""
        gap: list[Row] = [[]] if self._rows and rows and not self._in_pieces else []
        return [*self._rows, *gap, *rows]


class _GrowingLines:
    """Plain text that grows: finished lines are wrapped once."""

    def __init__(self, width: int, look: Look) -> None:
        self.done = 0
        """Characters of the finished lines."""
        self._width = width
        self._look = look
        self._rows: list[Row] = []

    def update(self, text: str) -> list[Row]:
        """The rows of `text`, which begins with what it was before."""
        end = text.rfind("\n") + 1
        if end > self.done:
            self._rows += text_rows(text[self.done : end], "plain", self._width, self._look)
            self.done = end
        return [*self._rows, *text_rows(text[end:], "plain", self._width, self._look)]
