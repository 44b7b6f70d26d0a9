"""The output of a command, line by line as a terminal would show it, in bounded memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from rich.segment import Segment
from rich.style import Style

from .ansi import AnsiDecoder
from .safe_text import safe_text
from .terminal_line import TerminalLine
from .text_rows import Row, without_tabs

Stream = Literal["stdout", "stderr"]


class _Styled(NamedTuple):
    """A line that is not plain: its text, and (end, style) of one piece after the other."""

    text: str
    pieces: tuple[tuple[int, Style | None], ...]


class OutputLine(NamedTuple):
    """One line as it is shown."""

    runs: Row
    stream: Stream


class _Open:
    """What belongs to one stream: its colours, and the line that has no end yet."""

    def __init__(self, longest: int) -> None:
        self.decoder = AnsiDecoder(keep="\n\r\b", erase=True)
        self.line = TerminalLine(longest)


class OutputBuffer:
    """Lines of stdout and stderr in the order in which they were finished.

    Colours are kept, a carriage return overwrites the line, a backspace goes back, tabs are spaces; every
    other control becomes a visible symbol. A line is cut at `longest_line` characters and says so. Past
    `most_lines` lines or `most_characters` characters the oldest are dropped, in batches of a tenth. Lines
    are numbered from 0 since the start; `first` is the oldest still there, `end` one past the newest
    finished one.
    """

    def __init__(
        self, *, most_lines: int = 50_000, most_characters: int = 16_000_000, longest_line: int = 20_000
    ) -> None:
        self.first = 0
        self.version = 0
        """Changes with every write."""
        self.has_stderr = False
        self._most_lines = most_lines
        self._most_characters = most_characters
        self._longest = longest_line
        self._lines: list[str | _Styled] = []
        self._is_stderr = bytearray()
        self._characters = 0
        self._open: dict[Stream, _Open] = {"stdout": _Open(longest_line), "stderr": _Open(longest_line)}

    @property
    def end(self) -> int:
        """One past the number of the newest finished line."""
        return self.first + len(self._lines)

    def write(self, stream: Stream, text: str) -> None:
        """Take in output as it comes; it may be cut anywhere, also inside an escape sequence."""
        if not text:
            return
        self.version += 1
        self.has_stderr |= stream == "stderr"
        opened = self._open[stream]
        if opened.decoder.is_plain and not ("\x1b" in text or "\r" in text or "\b" in text):
            self._write_plain(stream, opened.line, safe_text(text))
        else:
            for run in opened.decoder.feed(text):
                self._write_run(stream, opened.line, run)
        if len(self._lines) > self._most_lines * 1.1 or self._characters > self._most_characters * 1.1:
            self._drop_oldest()

    def close(self) -> None:
        """The output has ended: what is left of an unfinished escape sequence is shown."""
        self.version += 1
        for stream, opened in self._open.items():
            for run in opened.decoder.close():
                self._write_run(stream, opened.line, run)

    def line(self, number: int) -> OutputLine:
        """A finished line.

        Raises:
            IndexError: it was dropped, or is not finished.
        """
        index = number - self.first
        if index < 0:
            raise IndexError(f"line {number} was dropped")
        stream: Stream = "stderr" if self._is_stderr[index] else "stdout"
        return OutputLine(_runs(self._lines[index]), stream)

    def texts(self, start: int) -> Sequence[str]:
        """The text of the finished lines from number `start` on."""
        lines = self._lines[max(0, start - self.first) :]
        return [line if isinstance(line, str) else line.text for line in lines]

    def unfinished(self) -> list[OutputLine]:
        """The lines that have begun and not ended: at most one a stream."""
        return [
            OutputLine(opened.line.runs(), stream)
            for stream, opened in self._open.items()
            if not opened.line.is_empty
        ]

    def _write_plain(self, stream: Stream, line: TerminalLine, text: str) -> None:
        """The quick way: nothing in `text` moves the cursor or changes the colour."""
        first, *rest = text.split("\n")
        if not rest:
            line.write(first, None)
            return
        line.write(first, None)
        self._finish(stream, line)
        *whole, last = rest
        longest = self._longest
        if "\t" in text:
            whole = [without_tabs(part) for part in whole]
        if len(text) > longest:
            whole = [part if len(part) <= longest else _cut(part, longest) for part in whole]
        self._lines += whole
        self._is_stderr += (b"\x01" if stream == "stderr" else b"\x00") * len(whole)
        self._characters += sum(map(len, whole))
        line.write(last, None)

    def _write_run(self, stream: Stream, line: TerminalLine, run: Segment) -> None:
        match run.text:
            case "\n":
                self._finish(stream, line)
            case "\r":
                line.carriage_return()
            case "\b":
                line.backspace()
            case text if text.startswith("\x1b"):
                line.erase(text)
            case text:
                line.write(text, run.style)

    def _finish(self, stream: Stream, line: TerminalLine) -> None:
        runs = line.runs()
        line.clear()
        text = "".join(run.text for run in runs)
        if any(run.style for run in runs):
            ends: list[tuple[int, Style | None]] = []
            end = 0
            for run in runs:
                end += len(run.text)
                ends.append((end, run.style))
            self._lines.append(_Styled(text, tuple(ends)))
        else:
            self._lines.append(text)
        self._is_stderr.append(stream == "stderr")
        self._characters += len(text)

    def _drop_oldest(self) -> None:
        count = max(0, len(self._lines) - self._most_lines)
        texts = self.texts(self.first)
        characters = self._characters - sum(len(text) for text in texts[:count])
        while characters > self._most_characters:
            characters -= len(texts[count])
            count += 1
        del self._lines[:count], self._is_stderr[:count]
        self._characters = characters
        self.first += count


def _cut(text: str, longest: int) -> str:
    return f"{text[:longest]}… {len(text) - longest:,} more characters"


def _runs(line: str | _Styled) -> Row:
    if isinstance(line, str):
        return [Segment(line)] if line else []
    starts = [0, *(end for end, _ in line.pieces)]
    return [
        Segment(line.text[start:end], style) for start, (end, style) in zip(starts, line.pieces, strict=False)
    ]
