"""The JSON text of one row: bytes to an object, or the reason why not."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from agentscope_tui.datasets.task import RowProblem


def parse_row(text: bytes, line: int, *, cut_off: bool) -> dict[str, Any]:
    """The object in a row's text, which begins in `line` of the file; `cut_off`: the file ends within it.

    NaN and Infinity, which many writers let through, are taken as they are. Halves of surrogate pairs
    become U+FFFD: nothing could encode them later.

    Raises:
        RowProblem: not UTF-8, not JSON, not an object, or a key that is there twice.
    """
    try:
        value = _DECODER.decode(decode(text))
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
    return value


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
