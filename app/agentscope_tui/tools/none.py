"""No tools: for agents that only run their own. The session's folder and its graders' commands stay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentscope_tui.errors import UserError
from agentscope_tui.tools.spec import OnOutput, ToolOutcome, Toolset


class NoTools:
    """Offers nothing, and closes the tools that it hides."""

    specs: Sequence[dict[str, Any]] = ()
    confinement = "none"

    def __init__(self, hidden: Toolset) -> None:
        self._hidden = hidden

    async def call(self, name: str, arguments: dict[str, Any], on_output: OnOutput) -> ToolOutcome:
        raise UserError(f"tool '{name}' not available")

    async def aclose(self) -> None:
        await self._hidden.aclose()
