"""The body of a runner's model request: what of it is sent to the model, and what the host decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agentscope_tui.models.chat import ChatRequest
from agentscope_tui.session.history import mend
from agentscope_tui.session.settings import ModelSettings
from agentscope_tui.wire.frames import LlmRequest

_HOST_FIELDS = frozenset(
    {
        "model",
        "messages",
        "tools",
        "stream",
        "stream_options",
        "store",
        "temperature",
        "max_tokens",
        "max_completion_tokens",
    }
)
"""Fields of a body that the host decides; the rest is passed on."""


class BodyError(Exception):
    """A request body that no provider could read; says why."""


@dataclass(frozen=True)
class ReadRequest:
    """What a runner's body comes to.

    `repairs`: what was mended in its messages, in words. `overridden`: what it asked for and does not get.
    """

    request: ChatRequest
    repairs: list[str]
    overridden: dict[str, Any]


def read_body(frame: LlmRequest, settings: ModelSettings, *, own_params: bool = False) -> ReadRequest:
    """The request to send for a runner's.

    The host's temperature replaces the runner's, its token limit caps the runner's. With `own_params` they
    do so only where the user has set them.

    Raises:
        BodyError: messages or tools are not what Chat Completions defines.
    """
    body = frame.openai_body
    messages, tools = body.get("messages"), body.get("tools") or []
    if not isinstance(messages, list) or not messages:
        raise BodyError("`messages` must be a list with at least one message")
    for position, message in enumerate(messages):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise BodyError(f"message {position} must be an object with a `role`")
    if not isinstance(tools, list) or not all(map(_is_tool, tools)):
        raise BodyError("`tools` must be a list of objects, `function` in them an object")
    mended, notes = mend(messages)
    given, overridden = _given(body, settings, own_params)
    request = ChatRequest(
        messages=mended,
        tools=tools,
        params={name: value for name, value in body.items() if name not in _HOST_FIELDS},
        asked_model=str(body.get("model") or "") if own_params else "",
        api=frame.api,
        **given,
    )
    return ReadRequest(request, notes, overridden)


def _given(
    body: dict[str, Any], settings: ModelSettings, own_params: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The temperature and the output limit to send, and what an agent with its own does not get."""
    asked: dict[str, Any] = {"temperature": _number(body.get("temperature"))}
    limits = [body.get(name) for name in ("max_completion_tokens", "max_tokens")]
    asked["max_output_tokens"] = min(
        (limit for limit in limits if isinstance(limit, int) and limit >= 1), default=None
    )
    ours = {
        "temperature": settings.temperature,
        "max_output_tokens": min(
            asked["max_output_tokens"] or settings.max_output_tokens, settings.max_output_tokens
        ),
    }
    if not own_params:
        return ours, {}
    given = {name: ours[name] if name in settings.set_by_user else value for name, value in asked.items()}
    return given, {name: value for name, value in asked.items() if value not in (None, given[name])}


def _is_tool(tool: object) -> bool:
    return isinstance(tool, dict) and isinstance(tool.get("function", tool), dict)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and 0 <= value <= 2 else None
