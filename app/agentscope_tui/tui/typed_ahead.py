"""Keys typed ahead: sent to one widget, when the key before them gave a text box the focus."""

from __future__ import annotations

from collections import deque

from textual.events import Key
from textual.widget import Widget

_ON_THEIR_WAY = 64


class TypedAhead:
    """Remembers at which widget each key was aimed.

    A key is aimed when it is read, but acted on only after all keys before it: `g5` in one burst is aimed at
    a list, whose `g` opens a box for the `5`.
    """

    def __init__(self) -> None:
        self._aimed: deque[tuple[Key, Widget | None]] = deque(maxlen=_ON_THEIR_WAY)

    def aim(self, key: Key, focused: Widget | None) -> Key:
        """The key is on its way to the widget that has the focus."""
        self._aimed.append((key, focused))
        return key

    def is_for(self, key: Key, focused: Widget | None) -> bool:
        """Whether a key that its widget did not want was meant for the text box that has the focus now."""
        if focused is None or not focused.check_consume_key("a", "a"):
            return False
        return any(sent is key and target is not focused for sent, target in self._aimed)
