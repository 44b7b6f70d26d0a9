"""Sessions of pi: JSON lines after a header, linear in version 1, a tree by `parentId` from version 2 on.

The session is the way to the newest entry, and each branch that was left is a further trajectory. What is
left of an entry is kept under `entry_about`, ids and prices together under `IDS` and `PRICES`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentscope_tui.store.imports.building import EventBuilder
from agentscope_tui.store.imports.messages import content_text
from agentscope_tui.store.imports.pi_entries import Teller
from agentscope_tui.store.imports.reading import LineFile
from agentscope_tui.store.imports.trajectories import Summary, Trajectories
from agentscope_tui.store.imports.trees import Entry, Tree, read_entries, shared_start


def is_pi_entry(value: Any) -> bool:
    """Whether a JSON value is the header of a session, or a message in one."""
    match value:
        case {"type": "session", "id": str(), "cwd": str()}:
            return True
        case {"type": "message", "timestamp": _, "message": {"role": str()}}:
            return True
        case _:
            return False


class PiFile(Trajectories):
    """The session, and then its other branches."""

    def __init__(self, lines: LineFile) -> None:
        entries, self._bad = read_entries(lines)
        self._header = next((entry for entry in entries if entry.text("type") == "session"), None)
        version = self._header.value.get("version") if self._header else None
        super().__init__(lines.path, f"pi session {version if isinstance(version, int) else 1}")
        self._entries = [entry for entry in entries if entry is not self._header]
        self._tree = Tree(self._entries, lambda entry: entry.text("id"), lambda entry: entry.text("parentId"))
        self._leaves = self._find_leaves()

    def _find_leaves(self) -> list[int]:
        """Where the session is, and where each branch ends that has a message of its own."""
        leaves = self._tree.leaves()[::-1]
        told: set[int] = set()
        found: list[int] = []
        for leaf in leaves:
            fresh = self._tree.fresh(leaf, told)
            if not found or any(self._entries[number].text("type") == "message" for number in fresh):
                found.append(leaf)
            told.update(fresh)
        return found

    def __len__(self) -> int:
        return max(len(self._leaves), 1)

    def _way(self, number: int) -> list[Entry]:
        way = self._tree.way(self._leaves[number]) if self._leaves else []
        return [self._entries[place] for place in way]

    def summary(self, number: int) -> Summary:
        messages = [_message(entry) for entry in self._way(number)]
        texts = (content_text(one.get("content")) for one in messages if one.get("role") == "user")
        return Summary(next(filter(None, texts), ""), model=_first_model(messages))

    def _tell(self, number: int, builder: EventBuilder) -> None:
        way = self._way(number)
        teller = Teller(builder, self._header, _first_model([_message(entry) for entry in way]))
        if number:
            shared = way[: shared_start(way, self._way(0))]
            calls = [entry for entry in shared if _message(entry).get("role") == "assistant"]
            teller.start(way, self.session_id(0), len(calls) + 1)
        else:
            teller.start(way)
        bad = [] if number else list(self._bad)
        for entry in way:
            while bad and bad[0].line < entry.line:
                teller.tell_bad(bad.pop(0))
            teller.tell(entry)
        for one in bad:
            teller.tell_bad(one)


def _message(entry: Entry) -> dict[str, Any]:
    message = entry.value.get("message")
    return message if isinstance(message, dict) else {}


def _first_model(messages: Sequence[dict[str, Any]]) -> str:
    """The first model that answers."""
    answers = (one for one in messages if one.get("role") == "assistant")
    names = ((one.get("provider"), one.get("model")) for one in answers)
    return next((f"{provider}/{model}" for provider, model in names if isinstance(model, str)), "")
