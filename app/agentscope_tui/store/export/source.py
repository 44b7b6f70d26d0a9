"""A session that is exported: its events as often as a format needs them, masked, never all in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from agentscope_tui.errors import UserError
from agentscope_tui.event_lines import event_from_json, event_to_json
from agentscope_tui.events import SessionEnded, SessionEvent, SessionStarted
from agentscope_tui.masked_events import masked_event
from agentscope_tui.secrets import MASKER
from agentscope_tui.store.folders import SessionFolder
from agentscope_tui.store.lock import is_locked
from agentscope_tui.store.past import PastSession
from agentscope_tui.store.reopen import closing_events

STREAMED = frozenset({"assistant_delta", "tool_output"})
"""Kinds that are told again, whole, by other events: most of a long recording."""
_KIND_WITHIN = 400
"""Bytes of a line within which its kind is."""


@dataclass(frozen=True)
class Source:
    """One session. `name` is what a file of it is called; `read` gives its events from the first one on,
    those of some kinds left out, and tells how many bytes it has read of `size`."""

    name: str
    read: Callable[[Collection[str], Callable[[int], None]], Iterator[SessionEvent]]
    size: int = 0
    folder: SessionFolder | None = None
    """Where output files are; an imported session has none."""
    on_read: Callable[[int], None] = field(default=lambda done: None)

    def events(self, *, without: Collection[str] = ()) -> Iterator[SessionEvent]:
        """The events, in order, with every secret masked that is known by now."""
        for event in self.read(without, self.on_read):
            yield masked_event(event, MASKER)

    def started(self) -> SessionStarted:
        """How it began; of a recording that lost its beginning, nothing is known."""
        first = next(self.events())
        return first if isinstance(first, SessionStarted) else SessionStarted(version="")


def recorded(folder: Path) -> Source:
    """A recording; what hangs in one that is over is closed, one that still runs is taken as far as it is.

    Raises:
        UserError: there is no recording, or not one whole event in it.
    """
    path = folder / "events.jsonl"
    try:
        size = path.stat().st_size
        running = is_locked(folder)
        with path.open("rb") as file:
            event_from_json(file.readline())
    except OSError as error:
        raise UserError(f"there is no recording to read in {folder}: {error.strerror}") from error
    except ValueError:
        raise UserError(f"the recording in {folder} is empty or damaged from its beginning") from None

    def read(without: Collection[str], tell: Callable[[int], None]) -> Iterator[SessionEvent]:
        last: SessionEvent | None = None
        for last in _whole_events(path, without, tell):
            yield last
        if not running and not isinstance(last, SessionEnded):
            yield from closing_events(_whole_events(path, (), lambda done: None))

    return Source(folder.resolve().name, read, size, SessionFolder(folder))


def imported(past: PastSession, name: str) -> Source:
    """A session that is in memory, such as one of another tool's file."""

    def read(without: Collection[str], tell: Callable[[int], None]) -> Iterator[SessionEvent]:
        for event in past.events:
            if event.kind not in without:
                yield event_from_json(event_to_json(event))

    return Source(name, read, folder=past.folder)


def _whole_events(
    path: Path, without: Collection[str], tell: Callable[[int], None]
) -> Iterator[SessionEvent]:
    """The events up to the first line that is not whole. Lines of the kinds `without` are not parsed."""
    skipped = tuple(f'"kind":"{kind}"'.encode() for kind in without)
    done = 0
    with path.open("rb") as file:
        for line in file:
            done += len(line)
            tell(done)
            head = line[:_KIND_WITHIN]
            if any(kind in head for kind in skipped):
                continue
            try:
                event = event_from_json(line)
            except ValueError:
                return
            if event.kind not in without:
                yield event
