"""CSV and TSV: rows end at a newline outside quotes, as Python's own `csv` reads them."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from typing import Any

from agentscope_tui.datasets.byte_source import ByteSource
from agentscope_tui.datasets.json_row import decode
from agentscope_tui.datasets.lines import is_blank, scan_lines
from agentscope_tui.datasets.needle import Needle
from agentscope_tui.datasets.sieve import Sieve, csv_sieve
from agentscope_tui.datasets.task import RowProblem
from agentscope_tui.datasets.text_rows import MOST_ROW, Found, Record
from agentscope_tui.errors import UsageError

DELIMITERS = (",", "\t", ";", "|")

csv.field_size_limit(MOST_ROW)


class Csv:
    """The grammar of the rows after the header. A cell without text is null, all others are strings."""

    def __init__(self, delimiter: str, header: Sequence[str]) -> None:
        self._delimiter = delimiter
        self._header = header
        self._quoted = _quoted(delimiter)

    def scan(self, data: bytes, final: bool) -> Found:
        end = len(data) if final else data.rfind(b"\n") + 1
        flat = self._flat(data[:end])
        if not final and flat and not flat.endswith(b"\n"):
            # The bytes end within quotes: the last row is not whole.
            ends, _ = _row_ends(data[:end], self._quoted)
            end = ends[-2] if len(ends) > 1 else 0
            flat = self._flat(data[:end])
        return Found(end, scan_lines(flat, final).rows, data.count(b"\n", 0, end))

    def _flat(self, data: bytes) -> bytes:
        """The same rows with a letter for all that is quoted, so that each is one line."""
        return self._quoted.sub(b"q", data) if b'"' in data else data

    def split(self, data: bytes) -> Sequence[Record]:
        records: list[Record] = []
        line = start = 0
        ends, within = _row_ends(data, self._quoted)
        for end in ends:
            text = data[start:end]
            if not is_blank(text):
                records.append(Record(line, text, whole=not (within and end == len(data))))
            line += text.count(b"\n")
            start = end
        return records

    def parse(self, record: Record, line: int) -> dict[str, Any]:
        if not record.whole:
            raise RowProblem("the file ends within quotes: the last quotation mark is missing")
        cells = parse_cells(record.text, self._delimiter)
        if len(cells) != len(self._header):
            more = "more" if len(cells) > len(self._header) else "fewer"
            raise RowProblem(
                f"{more} columns than the header: {len(cells)} cells, the header has {len(self._header)}"
            )
        return {name: cell or None for name, cell in zip(self._header, cells, strict=True)}

    def sieve(self, needle: Needle) -> Sieve:
        return csv_sieve(needle)


def parse_cells(text: bytes, delimiter: str) -> list[str]:
    """The cells of one row's text.

    Raises:
        RowProblem: it is not a row of CSV in UTF-8.
    """
    try:
        return next(csv.reader([decode(text).removesuffix("\n").removesuffix("\r")], delimiter=delimiter), [])
    except csv.Error as error:
        reason = str(error).partition(" - ")[0]
        raise RowProblem(f"invalid CSV: {reason}") from None


def open_csv(source: ByteSource, start: int, delimiter: str, name: str) -> tuple[Csv, int, int]:
    """The grammar for a file whose header is at byte `start`; the first byte and line after the header.

    Raises:
        UsageError: the header is none.
        UserError: the file cannot be read.
        OSError: likewise.
    """
    head, line, at = _header(source, start, _quoted(delimiter))
    try:
        header = parse_cells(head, delimiter)
    except RowProblem as problem:
        raise UsageError(f"{name}: the header: {problem}") from None
    if twice := [column for column in header if header.count(column) > 1]:
        raise UsageError(f"{name}: the header names the column {twice[0]!r} twice")
    return Csv(delimiter, header), at, line


def _header(source: ByteSource, start: int, quoted: re.Pattern[bytes]) -> tuple[bytes, int, int]:
    """The first row that is not blank; the line and the byte after it."""
    size = 64 << 10
    while True:
        data, final = source.more(size, start)
        ends, _ = _row_ends(data, quoted)
        at = 0
        for end in ends if final else ends[:-1]:
            if not is_blank(data[at:end]):
                return data[at:end], 1 + data.count(b"\n", 0, end), start + end
            at = end
        if final or size > MOST_ROW:
            return b"", 1, start + len(data)
        size += size if len(data) == size else 0


def _quoted(delimiter: str) -> re.Pattern[bytes]:
    """What is quoted, with both marks. A mark counts only at the beginning of a cell.

    The group `open` tells that the bytes end before the second mark.
    """
    inside = rb'[^%b\n]"' % re.escape(delimiter.encode())
    return re.compile(rb'"(?<!%b)[^"]*+(?:""[^"]*+)*+(?:"|(?P<open>\Z))' % inside)


def _row_ends(data: bytes, quoted: re.Pattern[bytes]) -> tuple[list[int], bool]:
    """Where rows end, the last one with the bytes; whether that is within quotes."""
    ends: list[int] = []
    start, within = 0, False
    for found in quoted.finditer(data):
        _add_lines(data, start, found.start(), ends)
        start, within = found.end(), found.lastgroup == "open"
    _add_lines(data, start, len(data), ends)
    if not ends or ends[-1] < len(data):
        ends.append(len(data))
    return ends, within


def _add_lines(data: bytes, start: int, stop: int, ends: list[int]) -> None:
    while (end := data.find(b"\n", start, stop)) >= 0:
        start = end + 1
        ends.append(start)
