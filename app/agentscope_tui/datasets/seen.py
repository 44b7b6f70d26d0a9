"""Which digests came before, of millions: a hash table of plain numbers, 24 to 48 bytes for each."""

from __future__ import annotations

from array import array

_FREE = 0


class Seen:
    """Digests (whole numbers of 8 bytes), and the number that each came with first."""

    def __init__(self) -> None:
        self._count = 0
        self._make_room(1 << 10)

    def first(self, digest: int, number: int) -> int | None:
        """The number that this digest came with first; None: it comes with `number`, for the first time."""
        digest = digest or 1
        place = self._place(digest)
        if self._digests[place] == digest:
            return self._numbers[place]
        self._digests[place], self._numbers[place] = digest, number
        self._count += 1
        if self._count * 3 > len(self._digests) * 2:
            self._grow()
        return None

    def _place(self, digest: int) -> int:
        """Where the digest is, or the free place for it."""
        digests, mask = self._digests, len(self._digests) - 1
        place = digest & mask
        while digests[place] not in (_FREE, digest):
            place = (place + 1) & mask
        return place

    def _grow(self) -> None:
        digests, numbers = self._digests, self._numbers
        self._make_room(2 * len(digests))
        for digest, number in zip(digests, numbers, strict=True):
            if digest != _FREE:
                place = self._place(digest)
                self._digests[place], self._numbers[place] = digest, number

    def _make_room(self, places: int) -> None:
        self._digests = array("Q", bytes(8 * places))
        self._numbers = array("Q", bytes(8 * places))
