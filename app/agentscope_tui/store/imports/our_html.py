"""A page that `agentscope export --html` wrote: the events that are in it are the session."""

from __future__ import annotations

from pathlib import Path

from agentscope_tui.errors import UserError
from agentscope_tui.events import SessionStarted
from agentscope_tui.store.export.embedded import MARK, events_of
from agentscope_tui.store.imports.building import EventBuilder
from agentscope_tui.store.imports.reading import read_whole
from agentscope_tui.store.imports.trajectories import Summary, Trajectories, summary_of


def is_page(head: bytes) -> bool:
    """Whether a file that begins like that is such a page."""
    return MARK in head


class PageFile(Trajectories):
    """The one session of a page."""

    def __init__(self, path: Path) -> None:
        """Reads the page.

        Raises:
            UserError: there is no session in it, or it is damaged.
        """
        super().__init__(path, "agentscope page")
        try:
            events = events_of(read_whole(path))
        except ValueError as problem:
            raise UserError(f"{path} cannot be opened: {problem}") from problem
        if not events or not isinstance(events[0], SessionStarted):
            raise UserError(f"{path} cannot be opened: the session in it has no beginning")
        self._events = events

    def __len__(self) -> int:
        return 1

    def summary(self, number: int) -> Summary:
        return summary_of(self._events)

    def _tell(self, number: int, builder: EventBuilder) -> None:
        builder.adopt(self._events)
