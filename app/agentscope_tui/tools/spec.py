"""What a tool is: its declaration, what a call gives back, and the check before a session starts."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from agentscope_tui.errors import UserError

Stream = Literal["stdout", "stderr"]
OnOutput = Callable[[Stream, bytes], Awaitable[None]]
"""Awaited with each piece of output as it comes (bytes that may contain anything): while it waits, no more
is read, so that a flood is slowed down at its source."""

TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What OpenAI and Anthropic both accept as a function name."""


class ToolOutcome(BaseModel):
    """What a tool call gave.

    `content` goes to the model, already cut to the cap. `side_effects` tells whether the call may have
    changed something outside itself, so that an interrupt can say so.
    """

    model_config = ConfigDict(frozen=True)

    content: str
    is_error: bool = False
    truncated: bool = False
    exit_code: int | None = None
    side_effects: bool = False


class Toolset(Protocol):
    """The tools of one session. The host calls them; a runner only asks."""

    @property
    def specs(self) -> Sequence[dict[str, Any]]:
        """The declarations, `[{"name", "description", "parameters"}]`, as `session_start` carries them."""

    @property
    def confinement(self) -> str:
        """What holds the tools in, for the status line: `bwrap`, `none` ..."""

    async def call(self, name: str, arguments: dict[str, Any], on_output: OnOutput) -> ToolOutcome:
        """Run one tool. Cancelling the task kills all that the call started before it returns.

        Raises:
            UserError: the call could not be made; its text becomes the error result.
        """

    async def aclose(self) -> None:
        """End everything that the tools left running. Called once, at the end of the session."""


class ToolSpecError(UserError):
    """A bad tool declaration: says which tool (index and name) and why."""


class ToolSpec(BaseModel):
    """A tool's declaration: the model sees name, description and the JSON Schema of the parameters."""

    model_config = ConfigDict(frozen=True)

    name: str
    description: str = ""
    parameters: dict[str, Any] = Field(default_factory=lambda: {"type": "object", "properties": {}})
