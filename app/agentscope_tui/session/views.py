"""What there is to show of a session's parts: transcript entries, tool calls, steers. Plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from agentscope_tui.events import Interrupted, SteerStatus
from agentscope_tui.tools.spec import Stream

ToolState = Literal["streaming", "proposed", "running", "done", "failed", "refused", "interrupted"]
ENDED_GLYPHS: Mapping[ToolState, str] = {"done": "✓", "failed": "✗", "refused": "⊘", "interrupted": "■"}
"""How a tool call ended, wherever it is told."""

EntryKind = Literal[
    "earlier",
    "user",
    "steer",
    "reasoning",
    "assistant",
    "tool",
    "paused",
    "interrupted",
    "limit",
    "error",
    "reward",
    "repair",
    "note",
    "extra",
    "ended",
]


@dataclass(frozen=True, slots=True)
class OutputPiece:
    """What a `tool_output` says: the text, or where in a file it is. There may be very many of them."""

    stream: Stream
    text: str = ""
    file: str | None = None
    offset: int | None = None
    length: int | None = None


@dataclass(eq=False)
class CallView:
    """One tool call: what the model proposed and what became of it. `arguments` is JSON text."""

    call_id: str
    call: int
    name: str
    arguments: str = ""
    state: ToolState = "proposed"
    started: datetime | None = None
    duration: float | None = None
    content: str = ""
    reason: str = ""
    exit_code: int | None = None
    output: list[OutputPiece] = field(default_factory=list)
    edited: bool = False
    own: bool = False
    """It ran in the agent's process."""


@dataclass(eq=False)
class Entry:
    """One entry of the transcript, in the order in which things began.

    `text` is what was said; an entry of kind `tool` shows the call `call_id`.
    """

    key: str
    kind: EntryKind
    at: datetime
    text: str = ""
    call: int | None = None
    call_id: str | None = None
    live: bool = False
    partial: bool = False
    edited: bool = False
    duration: float | None = None
    tokens: int | None = None
    replayed: bool = False
    """The answer is a recorded one: its tokens were used before."""
    finish_reason: str | None = None
    status: str = ""
    detail: str = ""
    reward: float | None = None
    metrics: dict[str, float] = field(default_factory=dict)
    provisional: bool = False
    """A reward that is not the session's: how things stood when the user asked."""
    interrupted: Interrupted | None = None


@dataclass
class SteerView:
    """One steer and where it is."""

    msg_id: str
    text: str
    status: SteerStatus
    call: int | None = None
