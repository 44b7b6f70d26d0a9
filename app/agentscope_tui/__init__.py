"""agentscope: a step debugger for LLM agents, in the terminal.

This package is the extension API: what a user's own code may import.
"""

from agentscope_tui.agent_types import (
    AgentContext,
    Completion,
    SyncAgentContext,
    Tool,
    ToolCall,
    ToolResult,
)

__version__ = "0.1.0"
__all__ = [
    "AgentContext",
    "Completion",
    "SyncAgentContext",
    "Tool",
    "ToolCall",
    "ToolResult",
    "__version__",
]
