"""Long text cut in the middle: the head and the tail stay, and the cut says how much is missing."""

from __future__ import annotations


class CappedText:
    """Text of any length in bounded memory: keeps the first and the last `cap` characters."""

    def __init__(self, cap: int):
        self._cap = cap
        self._head = ""
        self._tail = ""
        self.length = 0
        """Characters added so far."""

    def add(self, text: str) -> None:
        self.length += len(text)
        room = self._cap - len(self._head)
        self._head += text[:room]
        self._tail += text[room:]
        if len(self._tail) > 2 * self._cap:
            self._tail = self._tail[-self._cap :]

    def text(self, cap: int, hint: str = "") -> str:
        """At most `cap` characters, which may be fewer than this was made for; `hint` says in the cut what
        to do about it."""
        return cut(self._head, self._tail, self.length, cap, hint)


def cut_middle(text: str, cap: int, hint: str = "") -> str:
    """`text` in at most `cap` characters."""
    return cut(text, "", len(text), cap, hint)


def cut(head: str, tail: str, length: int, cap: int, hint: str = "", unit: str = "characters") -> str:
    """Join the start and the end of a text of `length` into at most `cap` characters; the
    mark of the cut always has its place."""
    if length <= cap:
        return head + tail
    # The number cut is at most the length, so it takes at most as much room.
    room = max(0, cap - len(_marker(length, unit, hint)))
    first = room // 2
    kept = head + tail
    return head[:first] + _marker(length - room, unit, hint) + kept[len(kept) - room + first :]


def _marker(count: int, unit: str, hint: str) -> str:
    return f"\n… [{count:,} {unit} cut{'; ' + hint if hint else ''}] …\n"
