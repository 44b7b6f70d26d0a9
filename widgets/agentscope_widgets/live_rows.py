"""A body that still grows: what is finished is rendered once, only its last part anew."""

from __future__ import annotations

from .blocks import Block, shortened, text_rows
from .look import Look
from .markdown_rows import LONGEST, has_open_fence, stable_lines
from .safe_text import safe_text
from .text_rows import Row


class LiveRows:
    """The rows of one live block, at one width and in one look.

    Markdown becomes final paragraph by paragraph. A code fence that is still open is shown as plain
    text, coloured once it closes.
    """

    def __init__(self, width: int, look: Look) -> None:
        self.width = width
        self.look = look
        self._done = ""
        self._rows: list[Row] = []

    def update(self, block: Block) -> list[Row]:
        """The rows of the block as it is now."""
        body = shortened(block.body)
        if block.format in ("json", "ansi"):
            return text_rows(body, block.format, self.width, self.look)
        if not body.startswith(self._done):
            self._done, self._rows = "", []
        rest = body[len(self._done) :]
        if stable := self._stable(rest, block):
            rows = text_rows(rest[:stable], block.format, self.width, self.look)
            self._rows = self._with(rows, block)
            self._done += rest[:stable]
            rest = rest[stable:]
        return self._with(self._tail(rest, block), block)

    def _stable(self, rest: str, block: Block) -> int:
        """How many characters of `rest` what comes next cannot change any more."""
        if block.format == "markdown":
            lines = stable_lines(safe_text(rest)) if len(rest) <= LONGEST else 0
            return sum(len(line) + 1 for line in rest.split("\n")[:lines])
        return rest.rfind("\n") + 1

    def _tail(self, rest: str, block: Block) -> list[Row]:
        markdown = block.format == "markdown" and len(rest) <= LONGEST
        plain = markdown and has_open_fence(safe_text(rest))
        return text_rows(rest, "plain" if plain else block.format, self.width, self.look)

    def _with(self, rows: list[Row], block: Block) -> list[Row]:
        """The finished rows and these, with the empty row that Markdown has between two blocks."""
        gap: list[Row] = [[]] if block.format == "markdown" and self._rows and rows else []
        return [*self._rows, *gap, *rows]
