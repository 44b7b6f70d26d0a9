"""Sessions of Claude Code: JSON lines, a tree by `parentUuid`.

The session is the way to the newest entry; other branches, and the conversations of subagents (sidechains),
are further trajectories. What is left of an entry is kept under `entry_about`, ids together under `IDS`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from agentscope_tui.store.imports.building import EventBuilder
from agentscope_tui.store.imports.claude_entries import (
    ENTRY_TYPES,
    Teller,
    answer_id,
    first_model,
    first_user_text,
    is_message,
    message_of,
    tool_uses,
)
from agentscope_tui.store.imports.reading import LineFile
from agentscope_tui.store.imports.trajectories import Summary, Trajectories
from agentscope_tui.store.imports.trees import Entry, Tree, read_entries, shared_start


def is_claude_entry(value: Any) -> bool:
    """Whether a JSON value is an entry that only Claude Code writes."""
    match value:
        case {"type": "user" | "assistant", "message": dict(), "sessionId": str()}:
            return True
        case {"type": "summary", "summary": str(), "leafUuid": _}:
            return True
        case {"type": str(kind), "sessionId": str(), "uuid": str()}:
            return kind in ENTRY_TYPES
        case _:
            return False


class ClaudeFile(Trajectories):
    """The session, its other branches, and its subagents."""

    def __init__(self, lines: LineFile) -> None:
        super().__init__(lines.path, "Claude Code")
        entries, self._bad = read_entries(lines)
        aside = [entry for entry in entries if entry.value.get("isSidechain") is True]
        main = [entry for entry in entries if entry.value.get("isSidechain") is not True]
        if not any(map(is_message, main)):
            # The file of a subagent.
            main, aside = entries, []
        self._session = _Session(main)
        self._subagents = _sidechains(aside)

    def __len__(self) -> int:
        return 1 + len(self._session.branches) + len(self._subagents)

    def summary(self, number: int) -> Summary:
        entries = self._entries(number)
        return Summary(first_user_text(entries), model=first_model(entries))

    def _tell(self, number: int, builder: EventBuilder) -> None:
        entries = self._entries(number)
        teller = Teller(builder, entries, [] if number else self._bad)
        if 0 < number <= len(self._session.branches):
            teller.start(self.session_id(0), shared_start(entries, self._entries(0)))
        else:
            teller.start()
        if number > len(self._session.branches):
            builder.note("this is a subagent of trajectory 1 of the file", title="subagent")
        teller.tell({} if number else self._asked())

    def _entries(self, number: int) -> list[Entry]:
        """The entries of a trajectory, in the order of the file."""
        branches = self._session.branches
        if number == 0:
            return self._session.main
        if number <= len(branches):
            return self._session.branch(branches[number - 1])
        return self._subagents[number - 1 - len(branches)]

    def _asked(self) -> dict[str, int]:
        """The numbers of the subagents, from 1, by what they were asked."""
        first = 2 + len(self._session.branches)
        return {first_user_text(chain): first + place for place, chain in enumerate(self._subagents)}


class _Session:
    """The tree of a session: `main` is the way to the newest message, with what stands beside the tree;
    `branches` are the leaves of the ways that were left."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = entries
        self._tree = Tree(entries, lambda entry: entry.text("uuid"), _parent_of)
        newest = max((number for number, entry in enumerate(entries) if is_message(entry)), default=None)
        way = set() if newest is None else self._whole(newest)
        pieces = _Pieces(entries[number] for number in way)
        told, beside = set(way), set[int]()
        self.branches: list[int] = []
        for leaf in self._tree.leaves():
            fresh = self._tree.fresh(leaf, told)
            found = [entries[number] for number in fresh if is_message(entries[number])]
            told.update(fresh)
            if not found:
                beside.update(fresh)
            elif not all(map(pieces.has, found)):
                self.branches.append(leaf)
            for entry in found:
                pieces.add(entry)
        self.main = [entries[number] for number in sorted(way | beside)]

    def branch(self, leaf: int) -> list[Entry]:
        """The entries of the branch that ends there."""
        return [self._entries[number] for number in sorted(self._whole(leaf))]

    def _whole(self, leaf: int) -> set[int]:
        """The way to a leaf with the entries beside it that belong to it."""
        found = set(self._tree.way(leaf))
        pieces = _Pieces(self._entries[number] for number in found)
        for number, entry in enumerate(self._entries):
            if number not in found and self._tree.parent(number) in found and pieces.has(entry):
                found.add(number)
                pieces.add(entry)
        return found


class _Pieces:
    """What belongs together though no way leads through all of it: a completion is written in several
    entries, and the results of its tool calls come after different ones of them."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._answers: set[str] = set()
        self._calls: set[str] = set()
        for entry in entries:
            self.add(entry)

    def add(self, entry: Entry) -> None:
        self._answers.add(answer_id(entry))
        self._calls.update(tool_uses(entry))

    def has(self, entry: Entry) -> bool:
        """Whether an entry is a piece of what was added, or the results of its calls."""
        if entry.text("type") == "assistant":
            return answer_id(entry) in self._answers
        results = list(_results(entry))
        return bool(results) and self._calls.issuperset(results)


def _parent_of(entry: Entry) -> str:
    return entry.text("parentUuid") or entry.text("logicalParentUuid")


def _results(entry: Entry) -> Iterator[str]:
    """The ids of the tool calls whose results an entry has."""
    content = message_of(entry).get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == "tool_result":
            yield str(block.get("tool_use_id"))


def _sidechains(entries: Iterable[Entry]) -> list[list[Entry]]:
    """The conversations of subagents: those of one agent, or those that come after one beginning."""
    chains: list[list[Entry]] = []
    by_id: dict[str, list[Entry]] = {}
    for entry in entries:
        agent = entry.text("agentId")
        chain = by_id.get(f"agent {agent}") if agent else by_id.get(entry.text("parentUuid"))
        if chain is None:
            chain = []
            chains.append(chain)
        chain.append(entry)
        by_id[entry.text("uuid")] = chain
        if agent:
            by_id[f"agent {agent}"] = chain
    return chains
