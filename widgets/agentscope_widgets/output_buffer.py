"""The output of a command, line by line as a terminal would show it: all of it, in bounded memory."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .line_block import GOES_ON, STDERR, LineBlock, Stream, text_of
from .output_source import OutputSource, PrivateSource
from .safe_text import safe_line
from .terminal import Terminal
from .terminal_line import Line, runs_of
from .text_rows import Row

PAGE_LINES = 1_024
PAGE_SIZE = 256 * 1024
"""How much output leaves memory and comes back at once, in lines, and in cells or in what was written."""
PIECE = 64 * 1024
"""The longest write: one that is longer counts as several, so that little is written anew for a line."""


class OutputLine(NamedTuple):
    """One line as it is shown."""

    line: Line
    stream: Stream
    goes_on: bool
    """It was longer than a terminal is wide: the next line of its stream continues it."""

    @property
    def text(self) -> str:
        """The text without styles, with its tabs."""
        return text_of(self.line)

    @property
    def runs(self) -> Row:
        """The text as styled pieces."""
        return runs_of(self.line)


_PRINTED, _MOST_PRINTED = 16_384, 1_048_576
"""Characters that are given as printed: about so many, and the most of what belongs together."""


@dataclass(frozen=True)
class Page:
    """Lines that leave memory together: what stays is their measures and how they came about."""

    first: int
    """The number of its first line."""
    measures: array[int]
    """See `LineBlock`."""
    widest: int
    """Cells of its widest line."""
    widest_mixed: int
    """Cells of the widest of the lines whose measure is below zero."""
    terminal: Terminal
    """The terminal as it was before the first write of the page."""
    write: int
    """The number of that write."""


class OutputBuffer:
    """Lines of stdout and stderr in the order in which they were finished, numbered from 0.

    `source` is where old lines can be read again; without one the buffer keeps what is written to it in a
    file of its own. Past `most_bytes` (about) the lines that were not looked at for longest leave memory.
    Lines from `settled` on may still change, and lines from `end` on are unfinished, at most one a stream.
    """

    def __init__(self, source: OutputSource | None = None, *, most_bytes: int = 8_000_000) -> None:
        self.version = 0
        """Changes with every write."""
        self.has_stderr = False
        self._source = PrivateSource() if source is None else source
        self._most_bytes = most_bytes
        self._terminal = Terminal()
        self._writes = 0
        self._continued = 0
        self._pages: list[Page] = []
        self._firsts: list[int] = []
        self._loaded: OrderedDict[int, tuple[LineBlock, int]] = OrderedDict()
        self._bytes = 0
        self._open = -1, LineBlock()
        self._start_page()

    @property
    def settled(self) -> int:
        """The number of the first line that may still change."""
        return self._terminal.first

    @property
    def end(self) -> int:
        """One past the number of the newest finished line."""
        return self._terminal.first + len(self._terminal.block)

    @property
    def line_count(self) -> int:
        """The lines there are, unfinished ones too."""
        return self.end + len(self._unfinished())

    @property
    def newlines(self) -> int:
        """The lines there are, if those that only continue another do not count."""
        return self.line_count - self._continued - self._terminal.block.continued()

    @property
    def pages(self) -> Sequence[Page]:
        """The pages that are complete; the lines after them are always in memory."""
        return self._pages

    @property
    def tail(self) -> int:
        """The number of the first line after the pages."""
        return self._tail

    def write(self, stream: Stream, data: str | bytes) -> None:
        """Take in output as it comes; it may be cut anywhere, also inside a character or an escape sequence.

        Bytes are UTF-8, what is invalid in them is shown as such.
        """
        for start in range(0, len(data), PIECE):
            self._write(stream, data[start : start + PIECE])

    def close(self) -> None:
        """The output has ended: what is left of an unfinished character or escape sequence is shown."""
        self.version += 1
        self._terminal.close()

    def line(self, number: int) -> OutputLine:
        """A line, from wherever it is.

        Raises:
            IndexError: there is no such line.
        """
        block, index = self._place(number)
        mark = block.marks[index]
        stream: Stream = "stderr" if mark & STDERR else "stdout"
        return OutputLine(block.lines[index], stream, mark & GOES_ON != 0)

    def plain(self, number: int) -> str:
        """The text of a line as it was printed, without styles; see `line`."""
        return self.line(number).text

    def text_between(self, start: tuple[int, int], end: tuple[int, int]) -> str:
        """The text from one position (line, column in its plain text) to another, as it was printed: a line
        that only the edge of the terminal broke is whole."""
        parts: list[str] = []
        for number in range(start[0], min(end[0] + 1, self.line_count)):
            text = self.plain(number)
            text = text[: end[1]] if number == end[0] else text + ("" if self.continues(number) else "\n")
            parts.append(text[start[1] :] if number == start[0] else text)
        return "".join(parts)

    def continues(self, number: int) -> bool:
        """Whether only the edge of the terminal parts a line from the next one."""
        if not 0 <= number < self.line_count - 1:
            return False
        line = self.line(number)
        return line.goes_on and self.line(number + 1).stream == line.stream

    def printed(self, number: int) -> list[str]:
        """The texts of the lines from a number on, with their line breaks, until they are a good deal; a line
        that only the edge of the terminal broke is not parted, unless it is very long."""
        texts: list[str] = []
        size = 0
        while number < self.line_count:
            block, index = self._place(number)
            for line, mark in zip(block.lines[index:], block.marks[index:], strict=True):
                text = text_of(line)
                goes_on = mark & GOES_ON != 0 and self.continues(number)
                texts.append(text if goes_on else f"{text}\n")
                size += len(texts[-1])
                number += 1
                if size > _MOST_PRINTED or (size > _PRINTED and not goes_on):
                    return texts
        return texts

    def measures(self, start: int) -> array[int]:
        """The measures (see `LineBlock`) of all lines from number `start` on, which is not in a page."""
        ended = self._block.measures[start - self._tail :] if start < self.settled else array("i")
        open_lines = self._terminal.block.measures[max(0, start - self.settled) :]
        return ended + open_lines + self._unfinished().measures

    def page_of(self, number: int) -> int:
        """The page in which line `number` is, which is before `tail`."""
        return bisect_right(self._firsts, number) - 1

    def is_loaded(self, page: int) -> bool:
        """Whether the lines of this page are in memory."""
        return page in self._loaded

    def _write(self, stream: Stream, data: str | bytes) -> None:
        self.version += 1
        self.has_stderr |= stream == "stderr"
        self._source.keep(stream, data)
        self._writes += 1
        settled = self._terminal.write(stream, data)
        self._block.extend(settled)
        self._continued += settled.continued()
        self._cells += sum(map(abs, settled.measures))
        self._size += len(data)
        if len(self._block) >= PAGE_LINES or max(self._cells, self._size) >= PAGE_SIZE:
            self._end_page()

    def _place(self, number: int) -> tuple[LineBlock, int]:
        """The lines among which line `number` is, and where."""
        if not 0 <= number < self.end:
            return self._unfinished(), number - self.end if number >= 0 else self.line_count
        if number >= self.settled:
            return self._terminal.block, number - self.settled
        if number >= self._tail:
            return self._block, number - self._tail
        page = self.page_of(number)
        return self._lines_of(page), number - self._firsts[page]

    def _unfinished(self) -> LineBlock:
        if self._open[0] != self.version:
            self._open = self.version, self._terminal.unfinished()
        return self._open[1]

    def _start_page(self) -> None:
        self._block = LineBlock()
        self._cells = self._size = 0
        self._tail = self._terminal.first
        self._page_start = self._terminal.copy(), self._writes

    def _end_page(self) -> None:
        if not len(self._block):
            self._start_page()
            return
        block, (terminal, write) = self._block, self._page_start
        mixed = max(0, -min(block.measures))
        widest = max(mixed, max(block.measures))
        self._keep(len(self._pages), block)
        self._pages.append(Page(self._tail, block.measures, widest, mixed, terminal, write))
        self._firsts.append(self._tail)
        self._start_page()

    def _keep(self, page: int, block: LineBlock) -> None:
        """Hold the lines of a page in memory, and let the least used ones go."""
        size = block.bytes_used()
        self._loaded[page] = block, size
        self._bytes += size
        while self._bytes > self._most_bytes and len(self._loaded) > 1:
            self._bytes -= self._loaded.popitem(last=False)[1][1]

    def _lines_of(self, page: int) -> LineBlock:
        if page not in self._loaded:
            self._keep(page, self._written_anew(page))
        self._loaded.move_to_end(page)
        return self._loaded[page][0]

    def _written_anew(self, page: int) -> LineBlock:
        """The lines of a page that left memory: its writes once more, on the terminal as it was then."""
        start = self._pages[page]
        last = page + 1 == len(self._pages)
        end = self._page_start[1] if last else self._pages[page + 1].write
        terminal, block = start.terminal.copy(), LineBlock()
        problem = "it is not what it was"
        try:
            for number in range(start.write, end):
                block.extend(terminal.write(*self._source.read(number)))
        except OSError as error:
            problem = error.strerror or str(error)
        missing = len(start.measures) - len(block)
        if missing:
            note = f"[this part of the output cannot be read: {safe_line(problem)}]"
            block = LineBlock()
            block.extend_texts([note] * len(start.measures), 0, plain=note.isascii())
        return block
