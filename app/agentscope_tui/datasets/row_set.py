"""A set of rows: a byte for each, so that a million cost a megabyte and the next one is found at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence


class RowSet:
    """Positions of rows; `version` tells whether it is as it was."""

    def __init__(self) -> None:
        self._flags = bytearray()
        self._count = 0
        self.version = 0

    def __len__(self) -> int:
        return self._count

    def __contains__(self, position: int) -> bool:
        return position < len(self._flags) and self._flags[position] == 1

    def __iter__(self) -> Iterator[int]:
        """The positions, ascending."""
        position = self._flags.find(1)
        while position >= 0:
            yield position
            position = self._flags.find(1, position + 1)

    def put(self, positions: Iterable[int], *, present: bool = True) -> None:
        """Put rows in, or out."""
        for position in positions:
            if position >= len(self._flags):
                self._flags.extend(bytes(max(1024, position + 1 - len(self._flags))))
            self._count += present - self._flags[position]
            self._flags[position] = present
        self.version += 1

    def flags(self, shown: Sequence[int]) -> bytearray:
        """A 1 for each of these positions that is in the set, else a 0."""
        flags = self._flags
        if isinstance(shown, range) and shown.start == 0:
            return flags[: len(shown)].ljust(len(shown), b"\0")
        size = len(flags)
        return bytearray(flags[position] if position < size else 0 for position in shown)


def neighbour(flags: bytearray, place: int, *, backwards: bool = False) -> int | None:
    """The next place after `place` that has a 1, going on from the other end; None: there is none."""
    if backwards:
        found = flags.rfind(1, 0, max(0, place))
        return found if found >= 0 else _place(flags.rfind(1))
    found = flags.find(1, place + 1)
    return found if found >= 0 else _place(flags.find(1))


def _place(found: int) -> int | None:
    return found if found >= 0 else None
