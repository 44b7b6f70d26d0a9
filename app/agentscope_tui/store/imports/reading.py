"""Reading files of strangers: JSON of any sort made harmless, and the lines of a file by their places."""

from __future__ import annotations

import json
import os
from array import array
from itertools import pairwise
from pathlib import Path
from typing import Any

import orjson

from agentscope_tui.errors import UserError
from agentscope_tui.wire.arguments import deeper_than

DEEPEST = 64
"""Levels of nesting that are kept; what is deeper becomes `…`."""
LARGEST = 1 << 30
"""Bytes of a file, or a part of one, that is read as one piece of JSON."""
BOM = b"\xef\xbb\xbf"
"""What some writers put before UTF-8."""
_CHUNK = 1 << 22


class Unreadable(ValueError):
    """Bytes that are no JSON; says why and where."""


def parse_json(data: bytes) -> Any:
    """The value, without anything that JSON cannot tell again: NaN and the infinities become words, halves
    of surrogate pairs U+FFFD, what is nested too deeply `…`.

    Raises:
        Unreadable: no JSON.
    """
    data = data.removeprefix(BOM)
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        return _parse_slowly(data)
    if data.count(b"[") + data.count(b"{") > DEEPEST and deeper_than(DEEPEST, value):
        return harmless(value)
    return value


def _parse_slowly(data: bytes) -> Any:
    try:
        value = json.loads(data, parse_constant=str)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}" if error.lineno > 1 else f"column {error.colno}"
        raise Unreadable(f"no valid JSON: {error.msg} at {where}") from None
    except UnicodeDecodeError as error:
        raise Unreadable(f"no valid JSON: byte {error.start + 1} is not UTF-8") from None
    except RecursionError:
        raise Unreadable("no valid JSON: nested too deeply") from None
    except ValueError:
        # What is left is Python's own limit on the digits of a whole number.
        raise Unreadable("no valid JSON: a number with too many digits") from None
    return harmless(value)


def harmless(value: Any, depth: int = 0) -> Any:
    """JSON data with nothing in it that would not survive being written and read."""
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case dict() | list() if depth >= DEEPEST:
            return "…"
        case dict():
            return {str(harmless(key)): harmless(item, depth + 1) for key, item in value.items()}
        case list():
            return [harmless(item, depth + 1) for item in value]
        case float() if value != value or value in (float("inf"), float("-inf")):
            return str(value)
        case _:
            return value


def read_whole(path: Path) -> bytes:
    """All bytes of a file that is read as one piece.

    Raises:
        UserError: it cannot be read, or is too large for that.
    """
    try:
        size = path.stat().st_size
        if size > LARGEST:
            raise UserError(f"{path} is too large to be read as one piece of JSON: {size >> 20} MiB")
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error


class LineFile:
    """The lines of a file that are not blank. Only their places are kept; each reading opens the file."""

    def __init__(self, path: Path) -> None:
        """Looks through the file once for line ends.

        Raises:
            UserError: it cannot be read.
        """
        self.path = path
        try:
            with path.open("rb", buffering=0) as file:
                self._starts, self._numbers = _places(file.fileno())
        except OSError as error:
            raise UserError(f"cannot read {path}: {error.strerror}") from error

    def __len__(self) -> int:
        return len(self._numbers)

    def number(self, place: int) -> int:
        """Which line of the file it is, from 1."""
        return self._numbers[place]

    def line(self, place: int) -> bytes:
        """The bytes of a line; fewer than it had if the file was cut short since.

        Raises:
            UserError: it cannot be read, or is too long.
        """
        start, end = self._starts[2 * place], self._starts[2 * place + 1]
        if end - start > LARGEST:
            raise UserError(f"line {self.number(place)} of {self.path} is too long to be read")
        try:
            with self.path.open("rb", buffering=0) as file:
                return os.pread(file.fileno(), end - start, start)
        except OSError as error:
            raise UserError(f"cannot read {self.path}: {error.strerror}") from error

    def value(self, place: int) -> Any:
        """The JSON in a line.

        Raises:
            Unreadable: there is none.
            UserError: as `line`.
        """
        return parse_json(self.line(place))


def _places(file: int) -> tuple[array[int], array[int]]:
    """Where each line that is not blank starts and ends, one after the other, and the lines' numbers."""
    starts, numbers = array("Q"), array("Q")
    ends = _line_ends(file)
    for number, (before, end) in enumerate(pairwise(ends), start=1):
        start = before
        if end - start < 64 and not os.pread(file, end - start, start).strip():
            continue
        starts.extend((start, end))
        numbers.append(number)
    return starts, numbers


def _line_ends(file: int) -> array[int]:
    """0, and where each line ends; the last one may lack its line end."""
    ends = array("Q", [0])
    offset = 0
    while chunk := os.pread(file, _CHUNK, offset):
        place = chunk.find(b"\n")
        while place >= 0:
            ends.append(offset + place + 1)
            place = chunk.find(b"\n", place + 1)
        offset += len(chunk)
    if offset > ends[-1]:
        ends.append(offset)
    return ends
