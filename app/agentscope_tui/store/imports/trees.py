"""Sessions of agents that keep a tree: entries that each name the one before them, a line each.

The newest entry is where the session is; the way to it is the session, and each other leaf is the end of a
branch that was left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from agentscope_tui.store.imports.reading import LineFile, Unreadable


@dataclass(frozen=True)
class Entry:
    """A line that is an object. `place` counts the entries of the file from 0."""

    place: int
    line: int
    value: dict[str, Any]

    def text(self, name: str) -> str:
        """A field that is a string; empty where it is none."""
        value = self.value.get(name)
        return value if isinstance(value, str) else ""


@dataclass(frozen=True)
class BadLine:
    """A line that is none."""

    line: int
    problem: str


def read_entries(lines: LineFile) -> tuple[list[Entry], list[BadLine]]:
    """All entries of a file, and its bad lines.

    Raises:
        UserError: the file cannot be read.
    """
    entries: list[Entry] = []
    bad: list[BadLine] = []
    for place in range(len(lines)):
        try:
            value = lines.value(place)
        except Unreadable as problem:
            bad.append(BadLine(lines.number(place), str(problem)))
            continue
        if isinstance(value, dict):
            entries.append(Entry(len(entries), lines.number(place), value))
        else:
            bad.append(BadLine(lines.number(place), f"no object, but {str(value)[:80]}"))
    return entries, bad


class Tree:
    """Which entry comes after which."""

    def __init__(
        self, entries: Sequence[Entry], id_of: Callable[[Entry], str], parent_of: Callable[[Entry], str]
    ) -> None:
        """`parent_of` gives the id of the entry before; one that is not there: the entry that stands before
        it in the file."""
        self.entries = entries
        places: dict[str, int] = {}
        self._parents: dict[int, int] = {}
        self._inner: set[int] = set()
        """The entries that something comes after."""
        before: int | None = None
        for number, entry in enumerate(entries):
            parent = places.get(parent_of(entry), before)
            if parent is not None:
                self._parents[number] = parent
                self._inner.add(parent)
            # The first of its id is the one; so nothing can come before itself.
            places.setdefault(id_of(entry) or f"line {entry.line}", number)
            before = number

    def way(self, leaf: int) -> list[int]:
        """The numbers of the entries from the first one to this one."""
        way = [leaf]
        while (parent := self._parents.get(way[-1])) is not None:
            way.append(parent)
        return way[::-1]

    def leaves(self) -> list[int]:
        """The entries that nothing comes after, the newest last."""
        return [number for number in range(len(self.entries)) if number not in self._inner]

    def parent(self, number: int) -> int | None:
        """The entry before this one."""
        return self._parents.get(number)

    def fresh(self, leaf: int, told: set[int]) -> list[int]:
        """The entries on the way to this one that are not among those, the last one first."""
        found: list[int] = []
        number: int | None = leaf
        while number is not None and number not in told:
            found.append(number)
            number = self._parents.get(number)
        return found


def shared_start(way: Iterable[Entry], other: Iterable[Entry]) -> int:
    """How many entries two ways have in common."""
    count = 0
    for one, two in zip(way, other, strict=False):
        if one is not two:
            break
        count += 1
    return count
