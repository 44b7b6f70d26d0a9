"""The transcript's entries and the tool calls among them, in order, and which of them changed."""

from __future__ import annotations

from datetime import datetime

from agentscope_tui.session.views import CallView, Entry


class Timeline:
    """Entries and calls never leave their place, but for an answer that something is put before."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.calls: list[CallView] = []
        self._call_places: dict[str, int] = {}
        self._entry_places: list[int] = []
        """The entry of each call."""
        self._changed_entries: set[int] = set()
        self._changed_calls: set[int] = set()

    def take_changes(self) -> tuple[set[int], set[int]]:
        """Positions in `entries` and in `calls` that changed since this was last asked."""
        changes = self._changed_entries, self._changed_calls
        self._changed_entries, self._changed_calls = set(), set()
        return changes

    def add(self, entry: Entry) -> int:
        """Add an entry at the end; gives its position."""
        self.entries.append(entry)
        position = len(self.entries) - 1
        self._changed_entries.add(position)
        return position

    def add_before(self, entry: Entry, last: int) -> tuple[int, int]:
        """Add an entry before the last one, which is at `last`; gives both positions."""
        after = self.entries.pop(last)
        return self.add(entry), self.add(after)

    def touch(self, position: int) -> Entry:
        """The entry there, which is about to change."""
        self._changed_entries.add(position)
        return self.entries[position]

    # Tool calls

    def place_of(self, call_id: str) -> int | None:
        """The position in `calls` of the call of this id."""
        return self._call_places.get(call_id)

    def add_call(self, view: CallView, at: datetime) -> int:
        """Add a call, and its entry, at the end; gives its position in `calls`."""
        self.calls.append(view)
        position = len(self.calls) - 1
        self._call_places[view.call_id] = position
        key = f"tool {position} {at.timestamp()}"
        self._entry_places.append(self.add(_entry_of(view, at, key)))
        self._changed_calls.add(position)
        return position

    def replace_call(self, position: int, view: CallView, at: datetime) -> None:
        """Another view, perhaps of another id, in the same place."""
        self._call_places.pop(self.calls[position].call_id, None)
        self.calls[position] = view
        self._call_places[view.call_id] = position
        place = self._entry_places[position]
        self.entries[place] = _entry_of(view, at, self.entries[place].key)
        self.touch_call(position)

    def touch_call(self, position: int) -> CallView:
        """The call there, which is about to change."""
        self._changed_calls.add(position)
        self._changed_entries.add(self._entry_places[position])
        return self.calls[position]


def _entry_of(view: CallView, at: datetime, key: str) -> Entry:
    return Entry(key, "tool", at, call=view.call, call_id=view.call_id)
