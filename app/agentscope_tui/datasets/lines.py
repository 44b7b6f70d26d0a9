"""Counting the lines of a chunk that are not blank, at memory speed."""

from __future__ import annotations

from agentscope_tui.datasets.text_rows import Found

_LONG = 192
"""Bytes of a line from which on it is faster to search for its end than to split."""


def scan_lines(data: bytes, final: bool) -> Found:
    """The whole lines in `data` as rows, blank ones left out; the rest too when `final`."""
    count = _search if data.find(b"\n", 0, _LONG) < 0 else _split
    lines, blank, end = count(data)
    rows = lines - blank
    if final:
        return Found(len(data), rows + (not is_blank(data[end:])), lines)
    return Found(end, rows, lines)


def _search(data: bytes) -> tuple[int, int, int]:
    """The whole lines, how many of them are blank, and where they end."""
    lines = blank = start = 0
    while (end := data.find(b"\n", start)) >= 0:
        lines += 1
        if data[start] <= 32 and is_blank(data[start:end]):
            blank += 1
        start = end + 1
    return lines, blank, start


def _split(data: bytes) -> tuple[int, int, int]:
    """The same for short lines."""
    lines = data.split(b"\n")
    rest = lines.pop()
    # Lines that are blank, or begin with white space, sort before every other: mostly there is none.
    blank = sum(map(is_blank, lines)) if lines and min(lines) < b"!" else 0
    return len(lines), blank, len(data) - len(rest)


def is_blank(line: bytes) -> bool:
    """Whether there is nothing but white space."""
    return not line or line.isspace()
