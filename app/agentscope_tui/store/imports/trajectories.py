"""The trajectories in a file of another tool: told in short all together, read one at a time."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from agentscope_tui.errors import UserError
from agentscope_tui.events import SessionEvent, UserMessageSent
from agentscope_tui.session.tally import Tally
from agentscope_tui.store.imports.building import EventBuilder
from agentscope_tui.store.past import PastSession


@dataclass(frozen=True)
class Summary:
    """A trajectory in short: what was asked, and what came of it. `problem` says why it cannot be read."""

    prompt: str = ""
    reward: float | None = None
    model: str = ""
    problem: str = ""


def summary_of(events: Iterable[SessionEvent]) -> Summary:
    """A session in short, by its events."""
    tally, prompt = Tally(), ""
    for event in events:
        tally.apply(event)
        if isinstance(event, UserMessageSent):
            prompt = prompt or event.text
    return Summary(prompt, tally.reward, tally.model)


class Trajectories(ABC):
    """All of a file, numbered from 0 in its order. Reads from the disk, and holds nothing open; may be used
    from any thread."""

    def __init__(self, path: Path, format: str) -> None:
        """`format` is the format's name, with its version where the file tells it: `ATIF 1.7`.

        Raises:
            UserError: the file is not there any more.
        """
        self.path = path
        self.format = format
        try:
            self._written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        except OSError as error:
            raise UserError(f"cannot read {path}: {error.strerror}") from error
        self._name = hashlib.sha256(str(path.resolve()).encode(errors="surrogateescape")).hexdigest()[:12]

    @abstractmethod
    def __len__(self) -> int:
        """How many there are."""

    @abstractmethod
    def summary(self, number: int) -> Summary:
        """One in short; cheap, also where there are very many."""

    @abstractmethod
    def _tell(self, number: int, builder: EventBuilder) -> None:
        """Tell all that the file says of one.

        Raises:
            UserError: nothing of it can be read.
        """

    def session_id(self, number: int) -> str:
        """Always the same for the same place in the same file."""
        return f"import-{self._name}-{number + 1}"

    def session(self, number: int) -> PastSession:
        """One as a session, with its problems as errors in it.

        Raises:
            UserError: the file cannot be read any more.
        """
        builder = EventBuilder(self.session_id(number), self._written)
        self._tell(number, builder)
        imported = {"format": self.format, "path": str(self.path), "number": number + 1, "of": len(self)}
        return PastSession(builder.finished(), meta={"imported": imported})
