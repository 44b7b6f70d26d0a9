"""The chat types that every model, runner and event shares: OpenAI Chat Completions shapes.

Messages stay plain JSON objects (`Message`), because a runner may put fields in them that a provider
needs back unchanged. A completion is typed: the host reads it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from agentscope_tui.errors import UserError
from agentscope_tui.models.wire_log import WireLog

Message = dict[str, Any]
"""`{"role": "system" | "developer" | "user" | "assistant" | "tool", "content": ..., ...}`."""


class FunctionCall(BaseModel):
    """A function's name and its arguments as the model wrote them: JSON text, perhaps not valid."""

    model_config = ConfigDict(frozen=True, defer_build=True, extra="allow")

    name: str = ""
    arguments: str = ""


class ToolCallPart(BaseModel):
    """One entry of an assistant message's `tool_calls`."""

    model_config = ConfigDict(frozen=True, defer_build=True, extra="allow")

    id: str
    type: Literal["function"] = "function"
    function: FunctionCall


class Usage(BaseModel):
    """Tokens of one call. `partial` marks a call that was cut off: counted as far as known."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    input_tokens: int = 0
    """All of the prompt, with what was read from a cache or written to one."""
    output_tokens: int = 0
    """All that was generated, reasoning too."""
    cached_tokens: int = 0
    """Those of the input that were read from a cache."""
    reasoning_tokens: int = 0
    partial: bool = False
    replayed: bool = False
    """They were used when the call was recorded; to replay it costs nothing."""
    model: str = ""
    """The full name of the model that used them, where it is not the one that was called."""


ReasoningField = Literal["", "reasoning_content", "reasoning", "<think>"]
"""A field of the message, or tags at the start of its text."""


class Completion(BaseModel):
    """What a model answered: the only choice of a chat completion, whole.

    `finish_reason` is the provider's word: `stop`, `length`, `tool_calls`, `content_filter` ...
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    text: str = ""
    reasoning: str = ""
    reasoning_field: ReasoningField = ""
    """Where the provider wrote the reasoning, and reads it again in a tool loop; empty: it does not."""
    tool_calls: tuple[ToolCallPart, ...] = ()
    finish_reason: str | None = None
    usage: Usage = Field(default_factory=Usage)
    model: str = ""
    extra: dict[str, Any] = Field(default_factory=dict)
    """Provider fields of the message that must go back unchanged in a tool loop."""

    def message(self) -> Message:
        """The assistant message as it belongs into the next request."""
        message: Message = {"role": "assistant", "content": self.text or None, **self.extra}
        if self.tool_calls:
            message["tool_calls"] = [call.model_dump(mode="json") for call in self.tool_calls]
            if self.reasoning and self.reasoning_field == "<think>":
                message["content"] = f"<think>{self.reasoning}</think>\n\n{self.text}"
            elif self.reasoning and self.reasoning_field:
                message[self.reasoning_field] = self.reasoning
        elif not self.text:
            message["content"] = ""
        return message

    def to_openai(self) -> dict[str, Any]:
        """The completion as frames carry it: an OpenAI chat completion object. What the model thought stands
        beside the message, for whoever shows it: in it, it would go back to a provider that takes none.
        """
        usage = self.usage
        choice = {"index": 0, "message": self.message(), "finish_reason": self.finish_reason}
        if self.reasoning:
            field = "reasoning" if self.reasoning_field == "reasoning" else "reasoning_content"
            choice["reasoning"] = {field: self.reasoning}
        return {
            "object": "chat.completion",
            "model": self.model,
            "choices": [choice],
            "usage": {
                "prompt_tokens": usage.input_tokens,
                "completion_tokens": usage.output_tokens,
                "total_tokens": usage.input_tokens + usage.output_tokens,
                "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
                "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
            },
        }


class ToolCallDelta(BaseModel):
    """A piece of a tool call while it streams: `index` tells parallel calls apart."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    index: int
    id: str = ""
    name: str = ""
    arguments: str = ""


class Delta(BaseModel):
    """What one streamed chunk adds to the completion."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCallDelta, ...] = ()
    usage: Usage | None = None
    """What the provider has told of the call's tokens so far, in the delta after it told it."""
    note: str = ""
    """A line for the transcript that is no part of the answer; such a delta has nothing else."""


class ChatRequest(BaseModel):
    """One model call, as the host sends it: messages and tools in OpenAI shape."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    messages: list[Message]
    tools: list[dict[str, Any]] = Field(default_factory=list)
    """`[{"type": "function", "function": {"name", "description", "parameters"}}]`"""
    max_output_tokens: int | None = 4096
    """None: as many as the provider allows."""
    temperature: float | None = None
    params: dict[str, Any] = Field(default_factory=dict)
    """Whatever else the runner asked for (`tool_choice`, `stop` ...), passed on as it is."""
    asked_model: str = ""
    """The model that the runner named; it counts where the user leaves the choice to the agent."""
    api: Literal["openai", "anthropic"] = "openai"
    """The kind of provider that the runner believes it talks to."""


@dataclass(frozen=True)
class RetryNotice:
    """A call failed before its first token and is sent again after `seconds`.

    `attempt` is the number of the attempt to come, from 2 to `of`; `reason` is the error that it follows.
    """

    attempt: int
    of: int
    seconds: float
    reason: str


class Model(Protocol):
    """A model that a session calls. One instance serves one session."""

    @property
    def name(self) -> str:
        """How the user named it, for example `openai:gpt-5-mini`."""

    async def complete(
        self,
        request: ChatRequest,
        on_delta: Callable[[Delta], None],
        *,
        on_retry: Callable[[RetryNotice], None] | None = None,
        wire: WireLog | None = None,
    ) -> Completion:
        """Answer one request; `on_delta` is called on the loop with each piece as it comes.

        `on_retry` is called before each wait for another attempt, `wire` sees what is sent and received.

        Raises:
            ModelError: the call failed; what was streamed until then has been given to `on_delta`.
            asyncio.CancelledError: the task was cancelled; no connection is left open.
        """

    async def aclose(self) -> None:
        """Close connections. Called once, at the end of the session."""


class ModelError(UserError):
    """A model call that failed: one line that says what to do."""

    def __init__(
        self,
        message: str,
        *,
        kind: str = "error",
        detail: str = "",
        usage: Usage | None = None,
        retryable: bool = False,
        retry_after: float | None = None,
    ):
        super().__init__(message)
        self.kind = kind
        """`authentication`, `unknown_model`, `bad_request`, `connection`, `timeout`, `malformed` ..."""
        self.detail = detail
        """The provider's own words, or the start of a body that was no stream."""
        self.usage = usage
        """Tokens of the call as far as known; None: nothing is known to have been used."""
        self.retryable = retryable
        """Whether the same request may work a little later."""
        self.retry_after = retry_after
        """Seconds that the provider asks to wait."""
