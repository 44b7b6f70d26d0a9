"""All matches of a pattern in many texts, found in slices of time and kept up to date while texts change."""

from __future__ import annotations

import re
import time
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence

from .text_view import TextPlace

MOST_MATCHES = 50_000
"""Matches that are kept; then the search stops, and the count is told with a plus."""

_OFFSET_BITS = 32
_NO_END = 1 << 30

Passage = Sequence[str]
"""The texts from a number on that are searched as one: a match may go from one into the next."""


class BadPattern(ValueError):
    """A regular expression that is none; says what is wrong and where."""


def compile_pattern(needle: str, *, regex: bool, exact: bool) -> re.Pattern[str]:
    """The pattern to search for; `exact` tells capitals from small letters.

    Raises:
        BadPattern: it is no regular expression.
    """
    flags = re.MULTILINE if exact else re.MULTILINE | re.IGNORECASE
    try:
        return re.compile(needle if regex else re.escape(needle), flags)
    except (re.error, OverflowError, RecursionError) as error:
        raise BadPattern(f"not a regular expression: {error}") from None


class TextSearch:
    """The matches of one pattern, in order. `passage` gives the texts, `count` how many texts there are.

    The search begins at text `first`, goes on to the last, and then from the start, so that what comes next
    is found first.
    """

    def __init__(
        self, pattern: re.Pattern[str], passage: Callable[[int], Passage], count: int, first: int
    ) -> None:
        self.pattern = pattern
        self._passage = passage
        self._texts = count
        self._starts: array[int] = array("q")
        self._ends: array[int] = array("q")
        # The texts at which the passages began that were searched.
        self._heads: array[int] = array("q")
        self._to_search = [(first, _NO_END), (0, first)]
        self._changes = 0

    @property
    def count(self) -> int:
        """The matches found so far."""
        return len(self._starts)

    @property
    def full(self) -> bool:
        """Whether there were too many to find all."""
        return len(self._starts) >= MOST_MATCHES

    @property
    def done(self) -> bool:
        """Whether there is nothing left to search."""
        return self.full or not any(start < min(stop, self._texts) for start, stop in self._to_search)

    def match_at(self, index: int) -> tuple[TextPlace, TextPlace]:
        """Where a match starts and ends."""
        return _place(self._starts[index]), _place(self._ends[index])

    def index_of(self, place: TextPlace) -> int | None:
        """Which match starts at a place."""
        index = self.first_from(place)
        return index if index < self.count and self._starts[index] == _code(place) else None

    def first_from(self, place: TextPlace) -> int:
        """The first match that starts at or after a place; `count` if there is none."""
        return bisect_left(self._starts, _code(place))

    def between(self, start: TextPlace, end: TextPlace) -> range:
        """The matches that have a part between two places."""
        return range(bisect_right(self._ends, _code(start)), bisect_left(self._starts, _code(end)))

    def changed(self, start: int, stop: int, count: int) -> None:
        """The texts from `start` to before `stop` are others, and there are `count` in all."""
        if stop >= count or count < self._texts:
            stop = _NO_END
        self._texts = count
        self._forget(count, _NO_END)
        if any(first <= start and stop <= last for first, last in self._to_search):
            return
        start = self._head(start)
        others = [one for one in self._to_search if one[0] < start or stop < one[1]]
        self._to_search = [(start, stop), *others]

    def search(self, seconds: float) -> bool:
        """Search for about so long; returns whether what is known of matches changed."""
        deadline, before = time.perf_counter() + seconds, self._changes
        while self._to_search and not self.full and time.perf_counter() < deadline:
            start, stop = self._to_search[0]
            if start < min(stop, self._texts):
                self._to_search[0] = start + self._take(start), stop
            else:
                del self._to_search[0]
        return self._changes != before

    def _head(self, number: int) -> int:
        """The text at which the passage with this text began, as far as it was searched."""
        index = bisect_right(self._heads, number)
        return self._heads[index - 1] if index else number

    def _forget(self, start: int, stop: int) -> tuple[int, int]:
        """Drop what was found in texts from `start` to before `stop`; where in the arrays that was."""
        first = bisect_left(self._starts, start << _OFFSET_BITS)
        last = bisect_left(self._starts, stop << _OFFSET_BITS)
        del self._starts[first:last], self._ends[first:last]
        self._changes += last > first
        head, behind = bisect_left(self._heads, start), bisect_left(self._heads, stop)
        del self._heads[head:behind]
        return first, head

    def _take(self, number: int) -> int:
        """Search the passage that begins with this text; returns how many texts it has."""
        texts = self._passage(number)
        at, head = self._forget(number, number + len(texts))
        self._heads.insert(head, number)
        ends = [0]
        for text in texts:
            ends.append(ends[-1] + len(text))
        starts_found: array[int] = array("q")
        ends_found: array[int] = array("q")
        room = MOST_MATCHES - len(self._starts)
        for match in self.pattern.finditer("".join(texts)):
            if match.start() == match.end():
                continue
            if len(starts_found) >= room:
                break
            # A match starts in the text that has its first character, and ends in the one with its last.
            one = bisect_right(ends, match.start()) - 1
            other = bisect_left(ends, match.end()) - 1
            starts_found.append(number + one << _OFFSET_BITS | match.start() - ends[one])
            ends_found.append(number + other << _OFFSET_BITS | match.end() - ends[other])
        self._starts[at:at] = starts_found
        self._ends[at:at] = ends_found
        self._changes += len(starts_found) > 0
        return len(texts)


def _code(place: TextPlace) -> int:
    return place.text << _OFFSET_BITS | place.offset


def _place(code: int) -> TextPlace:
    return TextPlace(code >> _OFFSET_BITS, code & (1 << _OFFSET_BITS) - 1)
