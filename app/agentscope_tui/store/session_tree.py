"""Sessions as a tree of forks, each under the one that it was forked from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from agentscope_tui.store.session_row import SessionRow


class Branch(NamedTuple):
    """A session in the tree: how deep, and the one that it was forked from where that is there too."""

    row: SessionRow
    depth: int = 0
    parent: SessionRow | None = None

    @property
    def lead(self) -> str:
        """What stands before its name."""
        return f"{'  ' * (self.depth - 1)}└ " if self.depth else ""

    @property
    def difference(self) -> str:
        """Its reward against its parent's: `+1`, `-0.5`, `=`; empty where one of them has none."""
        if self.parent is None or self.row.reward is None or self.parent.reward is None:
            return ""
        return f"{self.row.reward - self.parent.reward:+g}" if self.row.reward != self.parent.reward else "="


def tree_of(rows: Sequence[SessionRow]) -> Iterator[Branch]:
    """The sessions, those of each parent below it; in the order in which they come, otherwise."""
    by_id = {row.id: row for row in rows}
    forks: dict[str, list[SessionRow]] = {}
    for row in rows:
        forks.setdefault(row.parent if row.parent in by_id else "", []).append(row)
    waiting = [Branch(row) for row in reversed(forks.get("", ()))]
    while waiting:
        branch = waiting.pop()
        del by_id[branch.row.id]
        yield branch
        below = reversed(forks.get(branch.row.id, ()))
        waiting += [Branch(row, branch.depth + 1, branch.row) for row in below]
    # What is left names each other as its parent: no session of ours does.
    yield from map(Branch, by_id.values())
