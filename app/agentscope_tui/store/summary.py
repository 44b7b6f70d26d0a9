"""What a list says of a session: a fold over its events, of which it reads only those that it needs."""

from __future__ import annotations

import contextlib
import re
import threading
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from pydantic import TypeAdapter

from agentscope_tui.event_lines import event_from_json
from agentscope_tui.events import SessionEvent, SessionStarted, UserMessageSent
from agentscope_tui.session.tally import TALLIED, Tally

LONGEST_PROMPT = 300
_HEAD = re.compile(rb'\{"seq":\d+,"at":"([^"]{1,40})","session_id":"[^"]*","kind":"(\w+)"')
"""How the recorder begins a line: whose kind tells nothing here is not parsed."""
_PASSED_OVER = 1_000
"""Lines between two looks at whether to stop."""


@dataclass(eq=False)
class Summary:
    """How a session began, how it stands, and up to which byte of its recording that is known."""

    tally: Tally = field(default_factory=Tally)
    version: str = ""
    dataset: str = ""
    row: int | None = None
    agent: str = ""
    parent: str = ""
    parent_call: int | None = None
    change: str = ""
    prompt: str = ""
    """The first line of its first user message."""
    created: datetime | None = None
    newest: datetime | None = None
    """When its newest event was."""
    read: int = 0

    @property
    def is_over(self) -> bool:
        """Whether it says itself that it ended."""
        return self.tally.status in ("ended", "failed")

    def apply(self, event: SessionEvent) -> None:
        """Take one event."""
        self.tally.apply(event)
        self.created = self.created or event.at
        self.newest = event.at
        match event:
            case SessionStarted():
                self.version, self.dataset, self.row = event.version, event.dataset, event.row
                self.agent = event.runner
                self.parent, self.parent_call, self.change = event.parent, event.parent_call, event.change
            case UserMessageSent() if not self.prompt:
                self.prompt = first_line(event.text)
            case _:
                pass

    def read_on(self, recording: Path, stop: threading.Event | None = None) -> None:
        """Take the whole lines that follow in a file, up to a broken one, or until `stop` is set.

        Raises:
            OSError: the file cannot be read.
        """
        newest = None
        with recording.open("rb") as file:
            file.seek(self.read)
            for number, line in enumerate(file):
                if not line.endswith(b"\n") or (stop and not number % _PASSED_OVER and stop.is_set()):
                    break
                head = _HEAD.match(line)
                if head is None or head[2].decode() in TALLIED:
                    try:
                        self.apply(event_from_json(line))
                    except ValueError:
                        break
                    newest = None
                else:
                    newest = head[1]
                self.read += len(line)
        if newest is not None:
            # A time that is none is no reason not to list the session.
            with contextlib.suppress(ValueError):
                self.newest = _TIME.validate_python(newest.decode())

    def to_json(self) -> bytes:
        """This as text, for `from_json`."""
        return _SUMMARY.dump_json(self)

    @staticmethod
    def from_json(text: bytes) -> Summary:
        """What `to_json` gave.

        Raises:
            ValueError: it did not, or another version of it did.
        """
        return _SUMMARY.validate_json(text)


def first_line(text: str) -> str:
    """The first line of a text that is not blank, cut."""
    line = next(filter(None, map(str.strip, text[: 10 * LONGEST_PROMPT].splitlines())), "")
    return line if len(line) <= LONGEST_PROMPT else f"{line[: LONGEST_PROMPT - 1]}…"


_SUMMARY = TypeAdapter(Summary)
_TIME = TypeAdapter(datetime)
