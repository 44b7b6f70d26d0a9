"""An object in a file of another tool: what is taken out of it is understood, and the rest is kept.

A field of a type that nobody expects is not taken, and so it is kept and shown like one of a name that nobody
knows.
"""

from __future__ import annotations

from datetime import UTC, datetime
from math import isfinite
from typing import Any

_MOST = 2.0**53
_YEARS = range(1971, 2200)
_MILLISECONDS = 1e11
"""A number of seconds beyond the year 5000 is one of milliseconds."""


class Fields:
    """A JSON object, or what stands in the place of one."""

    def __init__(self, value: Any) -> None:
        self._other = None if isinstance(value, dict) else value
        self._left: dict[str, Any] = dict(value) if isinstance(value, dict) else {}
        self._inner: dict[str, Fields | list[Fields]] = {}

    @property
    def rest(self) -> Any:
        """What was not taken, in the shape of the whole: nulls are left out, and in a list of which something
        is left an `{}` stands for each object that was taken whole. Empty or None: nothing is left."""
        if self._other is not None:
            return self._other
        inner = {name: _rest_of(part) for name, part in self._inner.items()}
        left = {name: value for name, value in self._left.items() if value is not None}
        return left | {name: value for name, value in inner.items() if value}

    @property
    def names(self) -> list[str]:
        """The fields that were not taken yet."""
        return list(self._left)

    def has(self, name: str) -> bool:
        """Whether the field is there, and not null; not once it was taken."""
        return self._left.get(name) is not None

    def peek(self, name: str) -> Any:
        """The field as it is, without taking it."""
        return self._left.get(name)

    def peek_items(self, name: str) -> list[Any]:
        """A list, without taking it; empty where it is none."""
        value = self.peek(name)
        return value if isinstance(value, list) else []

    def peek_time(self, name: str) -> datetime | None:
        """A time, without taking it."""
        return time_of(self.peek(name))

    def any(self, name: str) -> Any:
        """The field, whatever it is; None where it is missing."""
        return self._left.pop(name, None)

    def drop(self, *names: str) -> None:
        """Take fields that tell nothing new."""
        for name in names:
            self._left.pop(name, None)

    def text(self, name: str) -> str:
        """A string; empty where it is none."""
        return str(self.any(name)) if isinstance(self.peek(name), str) else ""

    def truth(self, name: str) -> bool | None:
        """A truth value."""
        return bool(self.any(name)) if isinstance(self.peek(name), bool) else None

    def number(self, name: str) -> float | None:
        """A number that is finite."""
        found = number_of(self.peek(name))
        if found is not None:
            self.any(name)
        return found

    def whole(self, name: str) -> int | None:
        """A whole number that is not negative."""
        found = number_of(self.peek(name))
        if found is None or found != int(found) or found < 0:
            return None
        self.any(name)
        return int(found)

    def time(self, name: str) -> datetime | None:
        """A time: ISO 8601, of UTC where it says no zone, or a number of seconds or milliseconds."""
        found = time_of(self.peek(name))
        if found is not None:
            self.any(name)
        return found

    def items(self, name: str) -> list[Any]:
        """A list; empty where it is none."""
        value = self.any(name) if isinstance(self.peek(name), list) else []
        return list(value)

    def inner(self, name: str) -> Fields:
        """The object in a field; an empty one where there is none. What is not taken of it is kept."""
        value = self.any(name) if isinstance(self.peek(name), dict) else {}
        fields = Fields(value)
        if value:
            self._inner[name] = fields
        return fields

    def each(self, name: str) -> list[Fields]:
        """The objects in a list. What is not taken of them is kept."""
        fields = [Fields(item) for item in self.items(name)]
        if fields:
            self._inner[name] = fields
        return fields


def _rest_of(part: Fields | list[Fields]) -> Any:
    if isinstance(part, Fields):
        return part.rest
    rests = [item.rest for item in part]
    return rests if any(rests) else []


def number_of(value: Any) -> float | None:
    """A finite number of an honest size, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if -_MOST < value < _MOST and isfinite(value) else None


def time_of(value: Any) -> datetime | None:
    """A time as files tell it, or None."""
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value)
            found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
        else:
            number = number_of(value)
            if number is None:
                return None
            found = datetime.fromtimestamp(number / (1000 if number > _MILLISECONDS else 1), UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return found if found.year in _YEARS else None
