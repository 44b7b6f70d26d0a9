"""What importers tell: how a session begins, what a model answered, what a tool call became."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentscope_tui.events import ToolStatus
from agentscope_tui.models.chat import Message, ReasoningField


@dataclass(frozen=True)
class ProposedCall:
    """A tool call as a model wrote it: `call_id` is the file's own, `arguments` is JSON text."""

    call_id: str
    name: str
    arguments: str = ""


@dataclass
class Answer:
    """A completion. `calls` are its tool calls as the file tells them; `message` is the message that later
    requests have of it, where that is known."""

    text: str = ""
    reasoning: str = ""
    calls: Sequence[ProposedCall] = ()
    finish_reason: str | None = None
    partial: bool = False
    duration: float | None = None
    """Seconds; None: as long as since what was before it, if the file has times."""
    message: Message | None = None
    reasoning_field: ReasoningField = ""


@dataclass(frozen=True)
class Beginning:
    """What is known of a session before its first turn."""

    runner: str = ""
    model: str = ""
    system: Sequence[Message] = ()
    """The messages that every request begins with."""
    history: Sequence[Message] = ()
    tools: Sequence[Mapping[str, Any]] = ()
    """`{"name", "description", "parameters"}`"""
    dataset: str = ""
    row: int | None = None
    temperature: float | None = None
    grader: str | None = None
    parent: str = ""
    parent_call: int | None = None
    change: str = ""


@dataclass(frozen=True)
class Outcome:
    """How a tool call ended. `call_id` is the file's own; `name` is needed only where no call of this id is
    known. `duration` in seconds; None: since what was before it, if the file has times."""

    call_id: str
    content: str
    failed: bool = False
    name: str = ""
    status: ToolStatus | None = None
    duration: float | None = None
    exit_code: int | None = None
    truncated: bool = False
    reason: str = ""


@dataclass(frozen=True)
class Action:
    """What was run without a tool call of a model, and what came of it."""

    name: str
    arguments: Mapping[str, Any]
    outcome: Outcome
