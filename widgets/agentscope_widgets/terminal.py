"""A terminal without a screen: the lines that a command's two streams leave, as they were overwritten.

Each stream has a cursor of its own, so that a progress bar on stderr and text on stdout do not tear each
other apart. A cursor can go up over the last lines of its stream, as programs with several bars do.
"""

from __future__ import annotations

import codecs
import re
from bisect import bisect_left
from copy import copy

from rich.segment import Segment
from rich.style import Style

from .ansi import AnsiDecoder
from .line_block import GOES_ON, STDERR, LineBlock, Stream
from .safe_text import safe_text
from .terminal_line import COLUMNS, TerminalLine
from .text_rows import TAB

REACH_LINES = 64
"""How far up a cursor can go, in lines of both streams; few terminals are higher."""
REACH_CELLS = COLUMNS
"""How far up a cursor can go, in cells."""

_ACTIVE = re.compile("[\x1b\r\b]")
_SURELY_FITS = COLUMNS // TAB
"""Characters that fit a line whatever they are."""


class _Cursor:
    """One stream: what decodes it, its open line at the bottom, and the line that is written to."""

    def __init__(self, mark: int) -> None:
        self.mark = mark
        self.utf8 = codecs.getincrementaldecoder("utf-8")("replace")
        self.ansi = AnsiDecoder(keep="\n\r\b", moves=True)
        self.bottom = TerminalLine()
        self.line = self.bottom
        self.number: int | None = None
        """The finished line that is written to; None is the one at the bottom."""


class Terminal:
    """Takes in output as it comes, and gives lines out once no cursor can reach them any more.

    Lines are numbered from 0 in the order in which they were finished. Colours are kept; a carriage return,
    a backspace, cursor movements by lines and columns, and erasing in and below a line are obeyed within the
    last lines of a stream; every other control becomes a visible symbol.
    """

    def __init__(self) -> None:
        self.first = 0
        """The number of the first line that is still here."""
        self.block = LineBlock()
        """The finished lines that may still change."""
        self._cursors: dict[Stream, _Cursor] = {"stdout": _Cursor(0), "stderr": _Cursor(STDERR)}

    def write(self, stream: Stream, data: str | bytes) -> LineBlock:
        """Take in output, cut anywhere, also inside a character; returns the lines that are final now."""
        cursor = self._cursors[stream]
        text = cursor.utf8.decode(data) if isinstance(data, bytes) else cursor.utf8.decode(b"", True) + data
        text = text.replace("\r\n", "\n")
        if cursor.number is None and cursor.ansi.is_plain and not _ACTIVE.search(text):
            self._write_plain(cursor, safe_text(text))
        else:
            for run in cursor.ansi.feed(text):
                if not cursor.line.append(run):
                    self._obey(cursor, run)
            self._put_back(cursor)
        return self._settle()

    def close(self) -> None:
        """The output has ended: what is left of an unfinished character or sequence is shown."""
        for cursor in self._cursors.values():
            for run in (*cursor.ansi.feed(cursor.utf8.decode(b"", True)), *cursor.ansi.close()):
                self._obey(cursor, run)
            self._put_back(cursor)

    def unfinished(self) -> LineBlock:
        """The lines that have begun and not ended: at most one a stream."""
        block = LineBlock()
        for cursor in self._cursors.values():
            if not cursor.bottom.is_empty:
                block.append(cursor.bottom.line(), cursor.mark)
        return block

    def copy(self) -> Terminal:
        """A terminal in the same state."""
        copied = Terminal()
        copied.first, copied.block = self.first, self.block.copy()
        for stream, cursor in self._cursors.items():
            other = copied._cursors[stream]
            other.utf8.setstate(cursor.utf8.getstate())
            other.ansi = copy(cursor.ansi)
            other.bottom = cursor.bottom.copy()
            other.line = other.bottom if cursor.number is None else cursor.line.copy()
            other.number = cursor.number
        return copied

    def _write_plain(self, cursor: _Cursor, text: str) -> None:
        """The quick way: nothing in `text` moves the cursor or changes the colour."""
        first, *rest = text.split("\n")
        self._print(cursor, first)
        if not rest:
            return
        self._new_line(cursor)
        *whole, last = rest
        if len(text) <= _SURELY_FITS or max(map(len, whole), default=0) <= _SURELY_FITS:
            self.block.extend_texts(whole, cursor.mark, plain=text.isascii() and "\t" not in text)
        else:
            for part in whole:
                self._print(cursor, part)
                self._new_line(cursor)
        self._print(cursor, last)

    def _obey(self, cursor: _Cursor, run: Segment) -> None:
        text, style, _ = run
        if text[0] >= " " or text[0] == "\t":
            self._print(cursor, text, style)
        elif text == "\n":
            self._new_line(cursor)
        elif text == "\r":
            cursor.line.move_to(0)
        elif text == "\b":
            cursor.line.move_to(cursor.line.column - 1)
        else:
            self._move(cursor, text[2:-1], text[-1])

    def _move(self, cursor: _Cursor, parameter: str, kind: str) -> None:
        column, count = cursor.line.column, int(parameter or 1) or 1
        match kind:
            case "A" | "B":
                self._go(cursor, -count if kind == "A" else count, column)
            case "C" | "D":
                cursor.line.move_to(column - count if kind == "D" else column + count)
            case "E" | "F":
                self._go(cursor, -count if kind == "F" else count, 0)
            case "G":
                cursor.line.move_to(count - 1)
            case "K":
                cursor.line.erase(parameter)
            case _:
                self._erase_below(cursor)

    def _print(self, cursor: _Cursor, text: str, style: Style | None = None) -> None:
        """Write text without controls, on to the next line where one is full."""
        while text := cursor.line.write(text, style):
            self._new_line(cursor, GOES_ON)

    def _new_line(self, cursor: _Cursor, mark: int = 0) -> None:
        if cursor.number is None:
            self.block.append(cursor.line.line(), cursor.mark | mark)
            cursor.bottom = cursor.line = TerminalLine()
        else:
            self._go(cursor, 1, 0)

    def _go(self, cursor: _Cursor, lines: int, column: int) -> None:
        """Down by so many lines of the stream (up if negative), as far as they are in reach."""
        self._put_back(cursor)
        own = self._own(cursor, self._reach())
        at = len(own) if cursor.number is None else bisect_left(own, cursor.number - self.first)
        target = max(0, at + lines)
        if target < len(own):
            cursor.number = self.first + own[target]
            cursor.line = TerminalLine(self.block.lines[own[target]])
        else:
            cursor.number, cursor.line = None, cursor.bottom
        cursor.line.move_to(column)

    def _erase_below(self, cursor: _Cursor) -> None:
        """Erase from the cursor on: the line that it is on becomes the last of its stream."""
        cursor.line.erase("")
        if cursor.number is None:
            return
        for index in reversed(self._own(cursor, cursor.number - self.first)):
            self.block.delete(index)
            for other in self._cursors.values():
                if other is not cursor and other.number is not None and other.number > self.first + index:
                    other.number -= 1
        cursor.number, cursor.bottom = None, cursor.line

    def _put_back(self, cursor: _Cursor) -> None:
        if cursor.number is not None:
            self.block.replace(cursor.number - self.first, cursor.line.line())

    def _own(self, cursor: _Cursor, start: int) -> list[int]:
        """Where the lines of this stream are, from index `start` on."""
        marks = self.block.marks
        return [index for index in range(start, len(marks)) if marks[index] & STDERR == cursor.mark]

    def _reach(self) -> int:
        """The index of the first line in reach of a cursor."""
        measures = self.block.measures
        start = max(0, len(measures) - REACH_LINES)
        cells = 0
        for index in range(len(measures) - 1, start - 1, -1):
            cells += abs(measures[index])
            if cells > REACH_CELLS:
                return index + 1
        return start

    def _settle(self) -> LineBlock:
        """Take out the lines out of reach, once they are some; a cursor on one goes down to the next."""
        measures = self.block.measures
        if len(measures) < 2 * REACH_LINES and sum(map(abs, measures)) < 2 * REACH_CELLS:
            return LineBlock()
        count = self._reach()
        for cursor in self._cursors.values():
            if cursor.number is not None and cursor.number < self.first + count:
                self._go(cursor, 0, cursor.line.column)
        self.first += count
        return self.block.cut(count)
