"""A JSON file with one array of objects: where each element begins and ends, without parsing the whole."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from agentscope_tui.datasets.json_row import parse_row
from agentscope_tui.datasets.needle import Needle
from agentscope_tui.datasets.sieve import Sieve, json_sieve
from agentscope_tui.datasets.text_rows import Found, Record

# No string goes over a line end: JSON forbids it, and so a missing quote spoils no more than its own line.
_TEXT = rb'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+'
_STRING = _TEXT + rb'"'


def _object(depth: int) -> bytes:
    inner = rb"|" + _object(depth - 1) if depth else b""
    return rb'\{(?:[^{}"]++|' + _STRING + inner + rb")*+\}"


_SCALAR = _STRING + rb'|[^ \t\r\n,{}\[\]"]++'
_ELEMENT = re.compile(_object(4) + rb"|" + _SCALAR)
"""Most elements, found at once; others, nested deeper or lists, are followed token by token."""
_TOKEN = re.compile(_STRING + rb"|(?P<cut>" + _TEXT + rb'\\?\Z)|["{}\[\]]')
_BETWEEN = re.compile(rb"[ \t\r\n,]*+")
_WRAPPER = re.compile(
    rb"\s*+\{\s*+(?:%b\s*+:\s*+(?:%b)\s*+,\s*+)*+%b\s*+:\s*+\[(?=\s*+\{)" % (_STRING, _SCALAR, _STRING)
)


def array_start(head: bytes) -> int | None:
    """Where the first element may begin: after `[`, which may begin the one list of an object.

    None: there is no array in these first bytes of the file.
    """
    if head.lstrip().startswith(b"["):
        return head.index(b"[") + 1
    wrapper = _WRAPPER.match(head)
    return wrapper.end() if wrapper else None


class JsonArray:
    """The grammar of what follows the `[` of a top-level array."""

    def __init__(self, *, wrapped: bool) -> None:
        """`wrapped`: the array is in an object, and more of that may follow."""
        self._wrapped = wrapped
        self._closed = False

    def scan(self, data: bytes, final: bool) -> Found:
        rows = at = 0
        if not self._closed:
            spans, at = _elements(data)
            rows = len(spans) - (bool(spans) and not final and not spans[-1].closed)
            if rows < len(spans):
                at = spans[-1].start
            if data[at : at + 1] == b"]":
                self._closed = True
                at += 1
        if not (self._closed or final):
            return Found(at, rows, data.count(b"\n", 0, at))
        problem = ""
        if not self._closed:
            problem = "the file ends before its array does"
        elif not self._wrapped and data[at:].strip():
            problem = "what follows the array is not read"
        return Found(len(data), rows, data.count(b"\n"), ended=self._wrapped, problem=problem)

    def split(self, data: bytes) -> Sequence[Record]:
        records: list[Record] = []
        line = counted = 0
        for start, end, closed in _elements(data)[0]:
            line += data.count(b"\n", counted, start)
            counted = start
            records.append(Record(line, data[start:end], closed))
        return records

    def parse(self, record: Record, line: int) -> dict[str, Any]:
        return parse_row(record.text, line, cut_off=not record.whole)

    def sieve(self, needle: Needle) -> Sieve:
        return json_sieve(needle)


class _Span(NamedTuple):
    """Where an element is; not closed: the bytes end before it does."""

    start: int
    end: int
    closed: bool


def _elements(data: bytes) -> tuple[list[_Span], int]:
    """The elements, and where they stop: at the array's `]`, or at the end of the bytes."""
    spans: list[_Span] = []
    at = _past_separators(data, 0)
    while at < len(data) and data[at] != ord("]"):
        found = _ELEMENT.match(data, at)
        if found and (found.end() < len(data) or data[found.end() - 1] in b'}"'):
            span = _Span(at, found.end(), True)
        else:
            span = _follow(data, at)
        spans.append(span)
        at = _past_separators(data, span.end)
    return spans, at


def _past_separators(data: bytes, at: int) -> int:
    found = _BETWEEN.match(data, at)
    assert found is not None
    return found.end()


def _follow(data: bytes, start: int) -> _Span:
    """An element by its brackets. A quote that closes nowhere is passed over: the row is bad anyway."""
    depth = 0
    for token in _TOKEN.finditer(data, start):
        if token.lastgroup == "cut":
            break
        if token[0] in (b"{", b"["):
            depth += 1
        elif token[0] in (b"}", b"]"):
            depth -= 1
        if depth <= 0:
            return _Span(start, token.end(), True)
    return _Span(start, len(data), False)
