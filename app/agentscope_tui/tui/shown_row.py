"""What the panes draw a session from, whether it runs in this process or is a recording."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from agentscope_tui.session.session import Session
from agentscope_tui.session.state import SessionState
from agentscope_tui.session.views import CallView
from agentscope_tui.store.folders import SessionFolder
from agentscope_tui.store.past import PastSession
from agentscope_tui.tui.recorded_output import RecordedOutput
from agentscope_widgets.output_buffer import OutputBuffer

MOST_OUTPUTS = 8
"""Outputs of a session that are held in memory, in part; the others are taken in again when looked at."""


class News(NamedTuple):
    """What `pump` brought: whether anything changed, and texts that came back undelivered."""

    changed: bool = False
    returned: Sequence[str] = ()
    anew: bool = False
    """The state is another one: all of it has to be drawn."""
    said: str = ""
    """What the user is to be told, in words of our own."""


class ShownRow(ABC):
    """One session as the screen shows it: its state, and outputs that were looked at.

    `index` is the row of the open dataset that it belongs to; None: to none of them. `session` is what acts
    go to; a recording has none.
    """

    def __init__(self, index: int | None, folder: SessionFolder | None) -> None:
        self.index = index
        self.folder = folder
        self.state = SessionState()
        self.draft = ""
        self._outputs: dict[str, RecordedOutput] = {}

    @property
    @abstractmethod
    def session_id(self) -> str:
        """The session's id."""

    @property
    def session(self) -> Session | None:
        """The session, where it runs in this process."""
        return None

    @property
    def active(self) -> bool:
        """Whether a turn runs here (held at the gate or not)."""
        return False

    @abstractmethod
    def now(self) -> datetime:
        """The time that running durations are counted to."""

    @abstractmethod
    def pump(self) -> News:
        """Take in what is new since the last time."""

    async def written(self) -> None:  # noqa: B027
        """Return once `past` has all that is on screen."""

    @abstractmethod
    def past(self) -> PastSession:
        """All that is recorded of it by now: for a thread, it may be long.

        Raises:
            UserError: it cannot be read.
        """

    def output_of(self, call: CallView) -> OutputBuffer:
        """The call's output as a buffer, with what has come so far; see `has_more_output`."""
        output = self._outputs.pop(call.call_id, None)
        if output is None:
            output = RecordedOutput(call, self.folder.outputs if self.folder else None)
        self._outputs[call.call_id] = output
        if len(self._outputs) > MOST_OUTPUTS:
            del self._outputs[next(iter(self._outputs))]
        output.take_in()
        return output.buffer

    def has_more_output(self, call: CallView) -> bool:
        """Whether `output_of` did not take in everything yet: a lot of it is taken in a little at a time."""
        output = self._outputs.get(call.call_id)
        return output is not None and output.is_behind
