"""A row's fields by dotted path: `meta.answer.0` is the first item of `answer` in `meta`."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

Steps = tuple[str | int, ...]
"""The way to a field: keys of objects and places of lists."""


class NoField(LookupError):
    """There is no such field; the message says what there is instead."""


def lookup(row: Mapping[str, Any], path: str) -> Any:
    """The value at a dotted path. A key that has dots itself wins over the nested one.

    Raises:
        NoField: nothing is there.
    """
    return row[path] if path in row else _value_at(row, locate(row, path))


def locate(row: Mapping[str, Any], path: str) -> Steps:
    """The way to what `lookup` gives.

    Raises:
        NoField: nothing is there.
    """
    steps = _steps(row, path)
    if steps is None:
        raise NoField(f"column '{path}' is missing; {_what_there_is(row, path)}")
    return steps


def without(row: Mapping[str, Any], fields: Iterable[Steps]) -> dict[str, Any]:
    """A copy of the row without these fields. What is not on the way to them is shared with the row.

    Items of one list must come in order.
    """
    copy = dict(row)
    # From the end, so that the places in a list stay true until they are used.
    for steps in reversed(tuple(fields)):
        _leave_out(copy, steps)
    return copy


def is_missing(value: object) -> bool:
    """Null, or the NaN that data frames write in its place."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def as_text(value: object) -> str:
    """A string as it is, any other value as its JSON text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def kind_of(value: object) -> str:
    """What a value is, in words."""
    match value:
        case None:
            return "null"
        case str():
            return "a string"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case list():
            return "a list"
        case dict():
            return "an object"
        case _:
            return f"a {type(value).__name__}"


def _steps(value: object, path: str) -> Steps | None:
    if isinstance(value, Mapping):
        if path in value:
            return (path,)
        end = path.rfind(".")
        while end > 0:
            head, rest = path[:end], path[end + 1 :]
            if head in value and (deeper := _steps(value[head], rest)) is not None:
                return (head, *deeper)
            end = path.rfind(".", 0, end)
    elif isinstance(value, list):
        head, dot, rest = path.partition(".")
        if head.isascii() and head.isdigit() and int(head) < len(value):
            deeper = _steps(value[int(head)], rest) if dot else ()
            return None if deeper is None else (int(head), *deeper)
    return None


def _value_at(value: Any, steps: Steps) -> Any:
    for step in steps:
        value = value[step]
    return value


def _what_there_is(row: Mapping[str, Any], path: str) -> str:
    """The columns, or what is in the last field on the way that is there."""
    end = path.rfind(".")
    while end > 0:
        steps = _steps(row, path[:end])
        if steps is not None:
            return f"'{path[:end]}' is {_describe(_value_at(row, steps))}"
        end = path.rfind(".", 0, end)
    return f"columns found: {', '.join(row) or 'none'}"


def _describe(value: object) -> str:
    match value:
        case dict():
            return f"an object with {', '.join(map(str, value)) or 'nothing'}"
        case list():
            return f"a list of {len(value)}"
        case _:
            return kind_of(value)


def _leave_out(copy: Any, steps: Steps) -> None:
    step, *rest = steps
    if isinstance(step, str) and step not in copy:
        return
    if not rest:
        del copy[step]
        return
    inner = copy[step]
    copy[step] = dict(inner) if isinstance(inner, dict) else list(inner)
    _leave_out(copy[step], tuple(rest))
