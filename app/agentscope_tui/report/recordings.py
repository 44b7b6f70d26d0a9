"""How the recordings of a run are opened: commands to copy, and what a recording says of its row."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from agentscope_tui.report.pair import Change
from agentscope_tui.report.reading import Rollout
from agentscope_tui.report.run import Run
from agentscope_tui.store.folders import read_meta


class Recordings:
    """The recordings of runs: in the run's folder, or among the `sessions` of the state folder."""

    def __init__(self, sessions: Path) -> None:
        self._sessions = sessions

    def folder(self, run: Run, rollout: Rollout) -> Path | None:
        """None: it is not there any more, or there never was one."""
        return run.recording(rollout, self._sessions)

    def open_command(self, run: Run, rollout: Rollout) -> str:
        """The command that opens it; empty without a recording."""
        name = self.name(run, rollout)
        return f"agentscope open {name}" if name else ""

    def name(self, run: Run, rollout: Rollout) -> str:
        """How a command line names it from here: its id where that is known, else its path."""
        folder = self.folder(run, rollout)
        return "" if folder is None else self._name(folder)

    def compared(self, left: Run, right: Run, change: Change) -> str:
        """The names of two sessions that show the change best: the worst of the worse side and the best of
        the better one. Empty where one has no recording."""
        one, other = (
            (change.left.worst, change.right.best)
            if change.difference > 0
            else (change.left.best, change.right.worst)
        )
        names = self.name(left, one), self.name(right, other)
        return " ".join(names) if all(names) else ""

    def prompt(self, run: Run, rollout: Rollout) -> str:
        """The first line of what was asked, as its recording keeps it."""
        folder = self.folder(run, rollout)
        task = read_meta(folder).get("task") if folder is not None else None
        prompt = task.get("prompt") if isinstance(task, dict) else None
        return prompt.strip().partition("\n")[0] if isinstance(prompt, str) else ""

    def _name(self, folder: Path) -> str:
        if folder.parent == self._sessions:
            return folder.name
        path = os.path.relpath(folder)
        return shlex.quote(str(folder) if path.startswith("..") else path)
