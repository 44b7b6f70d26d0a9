"""The old contract's agent loop for tools of a FastMCP server, which it calls in its own process."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from osmosis_ai.rollout import (
    OpenAIFunctionToolSchema,
    RolloutAgentLoop,
    RolloutContext,
    RolloutRequest,
    RolloutResult,
    create_tool_result,
    get_tool_call_info,
)


def load_mcp_server(folder: str) -> Any:
    """The server that the folder's `main.py` calls `mcp`."""
    return SimpleNamespace(**runpy.run_path(str(Path(folder) / "main.py"))).mcp


class MCPAgentLoop(RolloutAgentLoop):
    name = "mcp_agent"

    def __init__(self, mcp_server: Any, agent_name: str = "mcp_agent") -> None:
        self.name = agent_name
        self._manager = mcp_server._tool_manager

    def get_tools(self, request: RolloutRequest) -> list[Any]:
        return [
            OpenAIFunctionToolSchema(
                {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
            )
            for tool in self._manager._tools.values()
        ]

    async def run(self, ctx: RolloutContext) -> RolloutResult:
        messages = list(ctx.request.messages)
        for _ in range(ctx.request.max_turns):
            result = await ctx.chat(messages, **ctx.request.completion_params)
            messages.append(result.message)
            if not result.has_tool_calls:
                return ctx.complete(messages)
            for call in result.tool_calls:
                call_id, name, arguments = get_tool_call_info(call)
                value = await self._manager.call_tool(name, arguments)
                messages.append(create_tool_result(call_id, json.dumps(value)))
                ctx.record_tool_call()
        return ctx.complete(messages, finish_reason="max_turns")
