"""JSON lines: a row is a line that is not blank. Lines end at a newline and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentscope_tui.datasets.json_row import parse_row
from agentscope_tui.datasets.lines import is_blank, scan_lines
from agentscope_tui.datasets.needle import Needle
from agentscope_tui.datasets.sieve import Sieve, json_sieve
from agentscope_tui.datasets.text_rows import Found, Record


class JsonLines:
    """The grammar of JSON lines."""

    def scan(self, data: bytes, final: bool) -> Found:
        return scan_lines(data, final)

    def split(self, data: bytes) -> Sequence[Record]:
        lines = data.split(b"\n")
        last = len(lines) - 1
        return [
            Record(number, line, number < last) for number, line in enumerate(lines) if not is_blank(line)
        ]

    def parse(self, record: Record, line: int) -> dict[str, Any]:
        return parse_row(record.text, line, cut_off=not record.whole)

    def sieve(self, needle: Needle) -> Sieve:
        return json_sieve(needle)
