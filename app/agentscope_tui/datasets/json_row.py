"""The JSON text of one row: bytes to an object, or the reason why not."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import orjson

from agentscope_tui.datasets.task import RowProblem
from agentscope_tui.wire.arguments import deeper_than

_DEEPEST = 100
_MOST_LEVELS = 500
"""Of nesting: a search takes a call for each, and some Pythons parse far more than they can call."""
_MOST_WHOLE = 2.0**63


def parse_row(text: bytes, line: int, *, cut_off: bool) -> dict[str, Any]:
    """The object in a row's text, which begins in `line` of the file; `cut_off`: the file ends within it.

    NaN and Infinity, which many writers let through, are taken as they are. Halves of surrogate pairs
    become U+FFFD: nothing could encode them later.

    Raises:
        RowProblem: not UTF-8, not JSON, not an object, a key that is there twice, or nested too deeply.
    """
    plain = _plain_row(text)
    if plain is not None:
        return plain
    try:
        value: Any = _DECODER.decode(decode(text))
        if b"\\ud" in text or b"\\uD" in text:
            value = _well_formed(value)
    except json.JSONDecodeError as error:
        hint = " (the file ends in the middle of this row)" if cut_off else ""
        where = f"line {line + error.lineno - 1}: {error.msg} at column {error.colno}"
        raise RowProblem(f"invalid JSON at {where}{hint}") from None
    except RecursionError:
        raise RowProblem(f"invalid JSON at line {line}: nested too deeply") from None
    except ValueError:
        # What is left is Python's own limit on the digits of a whole number.
        raise RowProblem(f"invalid JSON at line {line}: a number with too many digits") from None
    if not isinstance(value, dict):
        raise RowProblem(f"expected an object, got {_kind(value)}")
    if text.count(b"[") + text.count(b"{") > _MOST_LEVELS and deeper_than(_MOST_LEVELS, value):
        raise RowProblem(f"nested too deeply: more than {_MOST_LEVELS} levels")
    return value


def _plain_row(text: bytes) -> dict[str, Any] | None:
    """The same at a third of the time; None for what is no object, or might be read otherwise.

    orjson drops the first of two equal keys, and with it a string: so the strings are counted.
    """
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    if type(value) is not dict:
        return None
    marks = text.count(b'"')
    if b"\\" in text:
        if b'\\\\"' in text:
            # Whether this mark ends its string is not to be seen at once.
            return None
        marks -= text.count(b'\\"')
    return value if marks == 2 * _strings(value) else None


def _strings(row: dict[str, Any]) -> int:
    """How many strings are in a row, keys too; -1 where it is deep, or may have had a huge whole number."""
    count = 0
    level: list[Any] = [row]
    for _ in range(_DEEPEST):
        inner: list[Any] = []
        for item in level:
            if type(item) is dict:
                count += len(item)
                item = item.values()
            for part in item:
                kind = type(part)
                if kind is str:
                    count += 1
                elif kind is dict or kind is list:
                    inner.append(part)
                elif kind is float and not -_MOST_WHOLE < part < _MOST_WHOLE:
                    return -1
        if not inner:
            return count
        level = inner
    return -1


def decode(text: bytes) -> str:
    """A row's text.

    Raises:
        RowProblem: not UTF-8.
    """
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        column = error.start - text.rfind(b"\n", 0, error.start)
        raise RowProblem(f"not UTF-8: byte 0x{text[error.start]:02x} at column {column}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        (twice, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise RowProblem(f"the key {twice!r} is there twice")
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_object)
"""Made once: to make one takes longer than to read a row."""


def _well_formed(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case dict():
            return {_well_formed(key): _well_formed(item) for key, item in value.items()}
        case list():
            return [_well_formed(item) for item in value]
        case _:
            return value


def _kind(value: object) -> str:
    return {list: "a list", str: "a string", type(None): "null"}.get(type(value), "a number or a truth value")
