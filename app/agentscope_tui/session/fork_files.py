"""The files that a fork begins with: those at its call, of the session that it parts from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from agentscope_tui.events import SessionEvent, ToolCallStarted
from agentscope_tui.store.folders import SessionFolder
from agentscope_tui.store.past import PastSession
from agentscope_tui.store.scratch import copy_of
from agentscope_tui.store.snapshots import Snapshots


class ForkFiles:
    """Fills the scratch folder of a new session; afterwards `note` says what is not as it was, if anything.

    The snapshots of the calls that are replayed come along, so that the fork can be forked at one of them.
    """

    def __init__(
        self, past: PastSession, call: int, files_at: int | None, seed: Callable[[Path], None]
    ) -> None:
        """`call` is the first that is not replayed; `files_at` as in `Plan`. `seed` fills a folder with what
        the row brings."""
        self._past = past
        self._call = call
        self._files_at = files_at
        self._seed = seed
        self.note = ""

    def __call__(self, target: Path) -> None:
        folder = self._past.folder
        if folder is None:
            self._begin_anew(target, "no files come with an imported session")
            return
        snapshots = Snapshots(folder.snapshots)
        at = self._files_at
        if at is None or at in snapshots.calls():
            self._refill(folder, snapshots, target)
        elif _at_rest_since(self._past.events, at):
            self._refill(folder, snapshots, target, now=True)
        else:
            self._begin_anew(target, f"the files at call #{at} were not kept")
        snapshots.share(Snapshots(SessionFolder(target.parent).snapshots), self._call)

    def _refill(
        self, folder: SessionFolder, snapshots: Snapshots, target: Path, *, now: bool = False
    ) -> None:
        if self._files_at is not None and not now:
            left_out = snapshots.restore(self._files_at, target).left_out
            self.note = f"{left_out} of the files could not be read, and are not here" if left_out else ""
        elif folder.files.is_dir():
            copy_of(folder.files)(target)
        else:
            self._begin_anew(target, "the files of the session are gone")

    def _begin_anew(self, target: Path, reason: str) -> None:
        self._seed(target)
        self.note = f"{reason}: it begins with the files of the row"


def _at_rest_since(events: list[SessionEvent], call: int) -> bool:
    """Whether no tool has run since a call was made: the files are what they were then."""
    return not any(isinstance(event, ToolCallStarted) and event.call >= call for event in events)
