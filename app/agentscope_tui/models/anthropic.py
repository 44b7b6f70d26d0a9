"""Anthropic's Messages API, streamed."""

from __future__ import annotations

from typing import Any

from agentscope_tui.models.anthropic_blocks import conversation
from agentscope_tui.models.anthropic_events import MessageReader
from agentscope_tui.models.chat import ChatRequest, ModelError

_PASSED_ON = frozenset(
    {
        "thinking",
        "top_k",
        "top_p",
        "metadata",
        "service_tier",
        "stop_sequences",
        "output_config",
        "context_management",
        "mcp_servers",
        "container",
    }
)
"""Parameters that the API knows under the same name; it refuses a request that has any other."""
_MAX_TOKENS = 8192
"""The API wants a limit; this one stands where nobody set any."""
_HOTTEST = 1.0
"""Chat Completions allow a temperature up to 2."""
_NO_COUNTERPART = ("response_format", "logit_bias", "prediction", "web_search_options")
_CACHED = {"cache_control": {"type": "ephemeral"}}


class AnthropicDialect:
    """The Messages API as one model takes it."""

    def __init__(self, model: str, *, temperature: bool = True, cache: bool = True) -> None:
        """`model` is the provider's name for it. `cache`: ask for the prompt to be cached, up to its end."""
        self._model = model
        self._temperature = temperature
        self._cache = cache

    def body(self, request: ChatRequest) -> dict[str, Any]:
        """As `Dialect.body`.

        Raises:
            ModelError: the request asks for something that the API does not know.
        """
        _refuse(request.params)
        system, messages = conversation(request.messages)
        body: dict[str, Any] = {name: value for name, value in request.params.items() if name in _PASSED_ON}
        body |= {
            "model": self._model,
            "max_tokens": request.max_output_tokens or _MAX_TOKENS,
            "messages": _cached_to_the_end(messages) if self._cache else messages,
            "stream": True,
        }
        if system:
            # Its mark covers the tools too, which come before it.
            body["system"] = [{"type": "text", "text": system, **(_CACHED if self._cache else {})}]
        if request.tools:
            body["tools"] = [_tool(tool) for tool in request.tools]
            body |= _choice(request.params)
        if self._temperature and request.temperature is not None and not _thinks(request.params):
            body["temperature"] = min(request.temperature, _HOTTEST)
        stop = request.params.get("stop")
        if stop:
            body["stop_sequences"] = [stop] if isinstance(stop, str) else stop
        return body

    def reader(self) -> MessageReader:
        return MessageReader()

    def adapt(self, refusal: str) -> bool:
        if "cache_control" in refusal and self._cache:
            self._cache = False
        elif "temperature" in refusal and self._temperature:
            self._temperature = False
        else:
            return False
        return True


def _refuse(params: dict[str, Any]) -> None:
    """Refuse what would change the answer and has no counterpart here: to leave it out would be a lie.

    Raises:
        ModelError: names it.
    """
    for name in _NO_COUNTERPART:
        if params.get(name) not in (None, {}, {"type": "text"}):
            message = f"the Messages API has nothing like `{name}`: ask without it"
            raise ModelError(message, kind="bad_request")


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    given = tool.get("function")
    function: dict[str, Any] = given if isinstance(given, dict) else {}
    schema = function.get("parameters") or {"type": "object", "properties": {}}
    described = {"description": function["description"]} if function.get("description") else {}
    return {"name": function.get("name"), **described, "input_schema": schema}


def _choice(params: dict[str, Any]) -> dict[str, Any]:
    """`tool_choice` and `parallel_tool_calls` in the words of this API."""
    choice: dict[str, Any] = {}
    match params.get("tool_choice"):
        case "required":
            choice = {"type": "any"}
        case "none" | "auto" as word:
            choice = {"type": word}
        case {"type": "function", "function": {"name": name}}:
            choice = {"type": "tool", "name": name}
        case dict() as own:
            choice = dict(own)
    if params.get("parallel_tool_calls") is False:
        choice = {"type": "auto", **choice, "disable_parallel_tool_use": True}
    return {"tool_choice": choice} if choice else {}


def _thinks(params: dict[str, Any]) -> bool:
    """Whether the model thinks first, which allows no temperature."""
    thinking = params.get("thinking")
    return isinstance(thinking, dict) and thinking.get("type") != "disabled"


def _cached_to_the_end(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages with a mark on the last block, so that the next call reads all of them from the cache."""
    if not messages:
        return messages
    *before, last = messages
    *blocks, block = last["content"]
    # A block of thoughts must stay as it is.
    marked = block if block.get("type") in ("thinking", "redacted_thinking") else {**block, **_CACHED}
    return [*before, {**last, "content": [*blocks, marked]}]
