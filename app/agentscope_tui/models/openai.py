"""OpenAI's Chat Completions, streamed: what most servers speak."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from agentscope_tui.models.anthropic_blocks import CONTENT
from agentscope_tui.models.chat import ChatRequest, Message
from agentscope_tui.models.chunks import ChunkReader

TokenField = Literal["max_tokens", "max_completion_tokens"]

_OTHER: dict[TokenField, TokenField] = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_tokens",
}


@dataclass(frozen=True)
class OpenAIFlags:
    """In what servers and models differ."""

    token_field: TokenField = "max_tokens"
    """What the limit of output tokens is called."""
    temperature: bool = True
    """Whether a temperature may be sent."""
    developer_role: bool = False
    """Whether the system prompt has the role `developer`."""
    stream_usage: bool = True
    """Whether to ask for the usage with `stream_options`."""


_PLAIN = OpenAIFlags()
_OF_MESSAGES_API = frozenset({CONTENT, "is_error"})


class OpenAIDialect:
    """Chat Completions as one model takes them."""

    def __init__(self, model: str, flags: OpenAIFlags = _PLAIN) -> None:
        """`model` is the provider's name for it."""
        self._model = model
        self._flags = flags

    def body(self, request: ChatRequest) -> dict[str, Any]:
        flags = self._flags
        body: dict[str, Any] = {
            **_translated(request),
            "model": self._model,
            "messages": _as_here(request.messages, "developer" if flags.developer_role else "system"),
            "stream": True,
        }
        if request.max_output_tokens is not None:
            body[flags.token_field] = request.max_output_tokens
        if flags.stream_usage:
            body["stream_options"] = {"include_usage": True}
        if request.tools:
            body["tools"] = request.tools
        if flags.temperature and request.temperature is not None:
            body["temperature"] = request.temperature
        return body

    def reader(self) -> ChunkReader:
        return ChunkReader()

    def adapt(self, refusal: str) -> bool:
        """One flag is changed at most, the first that the refusal names."""
        flags = self._flags
        if flags.stream_usage and ("stream_options" in refusal or "include_usage" in refusal):
            self._flags = replace(flags, stream_usage=False)
        elif flags.token_field in refusal and _OTHER[flags.token_field] in refusal:
            self._flags = replace(flags, token_field=_OTHER[flags.token_field])
        elif flags.temperature and _refuses_temperature(refusal):
            self._flags = replace(flags, temperature=False)
        else:
            return False
        return True


def _translated(request: ChatRequest) -> dict[str, Any]:
    """The parameters; who is asking has another name where the agent speaks Anthropic's API, and not to think
    is said there."""
    if request.api != "anthropic":
        return request.params
    params = {name: value for name, value in request.params.items() if name != "metadata"}
    if params.get("thinking") == {"type": "disabled"}:
        del params["thinking"]
    metadata = request.params.get("metadata")
    user = metadata.get("user_id") if isinstance(metadata, dict) else None
    return {**params, "user": user} if user else params


def _refuses_temperature(refusal: str) -> bool:
    return "temperature" in refusal and any(
        word in refusal.lower() for word in ("unsupported", "not support")
    )


def _as_here(messages: list[Message], role: str) -> list[Message]:
    """The messages with one of the two roles that mean the same for all that have either, and without what
    only the Messages API knows."""
    return [
        {
            **{name: value for name, value in message.items() if name not in _OF_MESSAGES_API},
            "role": role if message.get("role") in ("system", "developer") else message.get("role"),
        }
        for message in messages
    ]
