"""Two keys in a row that are one: `g g`."""

from __future__ import annotations

from collections.abc import Collection

from textual.events import Key


class KeySequences:
    """Holds a key that may be the first of two until the next one says."""

    def __init__(self, sequences: Collection[str]) -> None:
        self._sequences = frozenset(sequences)
        self._firsts = {sequence.partition(" ")[0] for sequence in sequences}
        self._held: Key | None = None

    def take(self, event: Key, *, typing: bool) -> list[Key]:
        """The keys to act on now that this one came; while text is typed there are no sequences."""
        held, self._held = self._held, None
        if held is not None:
            both = f"{held.key} {event.key}"
            return [Key(both, None)] if both in self._sequences else [held, event]
        if event.key in self._firsts and not typing:
            self._held = event
            return []
        return [event]
