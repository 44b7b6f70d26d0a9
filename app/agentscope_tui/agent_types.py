"""Types for Python agents, so that an editor helps: what `ctx` is, and what its calls give.

An agent needs none of this to run. Import it for type checkers only:

    if TYPE_CHECKING:
        from agentscope_tui import AgentContext
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

Tool = Mapping[str, Any] | Callable[..., Any]
"""A declaration as OpenAI has it, or a typed function of the agent's own."""


class ToolCall(Protocol):
    """One call that the model asks for."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def arguments(self) -> Any:
        """The arguments, a dict; or the text as the model wrote it, where that is no JSON object."""


class ToolResult(Protocol):
    """What a tool gave: a str. `is_error` says whether it failed."""

    @property
    def content(self) -> str: ...
    @property
    def is_error(self) -> bool: ...


class Completion(Protocol):
    """An OpenAI chat completion, also as a dict, with its first choice at hand."""

    @property
    def message(self) -> dict[str, Any]:
        """The assistant message, to be appended to the conversation."""

    @property
    def content(self) -> str:
        """The text; empty if there is none."""

    @property
    def tool_calls(self) -> Sequence[ToolCall]: ...
    @property
    def finish_reason(self) -> str | None: ...
    @property
    def usage(self) -> Mapping[str, Any]:
        """`prompt_tokens`, `completion_tokens`, `total_tokens`."""


class _Context(Protocol):
    """What sync and async agents have."""

    row: Any
    """The dataset's row: a dict whose keys are attributes too."""
    row_index: int | None
    session_id: str
    messages: list[Any]
    """System prompt, what was said in earlier turns, and what the user says now, as OpenAI has messages."""
    tools: list[Any]
    """Declarations of the tools that agentscope runs, for `chat`."""
    max_output_tokens: int
    temperature: float | None
    max_calls: int

    def done(self, answer: object = None, reward: float | None = None) -> None:
        """Say what the answer is, and how good the agent finds it itself."""

    def fail(self, message: str) -> None:
        """Say that the turn has failed, and why."""

    def log(self, *values: object) -> None:
        """Show a note in the transcript."""


class AgentContext(_Context, Protocol):
    """The `ctx` of `async def run(ctx)`."""

    async def chat(
        self, messages: Sequence[Any] | None = None, tools: Sequence[Tool] | None = None, **params: Any
    ) -> Completion:
        """Call the model; without `messages`, with those of the turn.

        Raises:
            RuntimeError: the call failed, was refused or given up; the message says why.
        """

    async def call_tool(self, name: str, arguments: Any = None) -> ToolResult:
        """Run a tool: an own function that was given to `chat`, or one of agentscope's."""


class SyncAgentContext(_Context, Protocol):
    """The `ctx` of `def run(ctx)`: the calls return when they are done."""

    def chat(
        self, messages: Sequence[Any] | None = None, tools: Sequence[Tool] | None = None, **params: Any
    ) -> Completion:
        """As `AgentContext.chat`."""

    def call_tool(self, name: str, arguments: Any = None) -> ToolResult:
        """As `AgentContext.call_tool`."""
