"""Editing the step that waits: what is edited as text, and the decision that the text becomes."""

from __future__ import annotations

import json
from typing import Any, assert_never

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agentscope_tui.errors import UserError
from agentscope_tui.events import Paused
from agentscope_tui.models.chat import Completion, FunctionCall, ToolCallPart
from agentscope_tui.session.gate import Decision
from agentscope_tui.session.state import SessionState
from agentscope_tui.session.steering import text_of
from agentscope_tui.tui.present.words import pretty_arguments


class EditError(UserError):
    """The edited text is not what the step needs."""


class _Call(BaseModel):
    model_config = ConfigDict(extra="forbid")

    id: str = ""
    name: str
    arguments: dict[str, Any] | str = Field(default_factory=dict[str, Any])


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid")

    text: str = ""
    tool_calls: list[_Call] = Field(default_factory=list)


def editable_text(state: SessionState, hold: Paused) -> str:
    """What the user edits: a reply as JSON when it has tool calls, else its text; arguments; a result."""
    call = state.call_view(hold.call_id) if hold.call_id else None
    match hold.step:
        case "completion":
            return _reply_text(state, hold.call)
        case "tool_call":
            return pretty_arguments(call) if call else "{}"
        case "tool_result":
            return call.content if call else ""
        case "failed_call":
            return ""
        case _:
            assert_never(hold.step)


def decision_of(state: SessionState, hold: Paused, text: str) -> Decision:
    """The decision to go on with the edited text.

    Raises:
        EditError: it is no JSON, or not of the form that it had; says where.
    """
    match hold.step:
        case "completion":
            return Decision("edit", completion=_completion(state, hold.call, text))
        case "tool_call":
            return Decision("edit", arguments=_object(text))
        case "tool_result" | "failed_call":
            return Decision("edit", content=text)
        case _:
            assert_never(hold.step)


def _reply_text(state: SessionState, call: int) -> str:
    message = state.reply(call) or {}
    parts = message.get("tool_calls", [])
    if not parts:
        return text_of(message)
    calls = [
        {
            "id": part["id"],
            "name": part["function"]["name"],
            "arguments": _parsed(part["function"]["arguments"]),
        }
        for part in parts
    ]
    return json.dumps({"text": text_of(message), "tool_calls": calls}, indent=2, ensure_ascii=False)


def _completion(state: SessionState, call: int, text: str) -> Completion:
    if not (state.reply(call) or {}).get("tool_calls"):
        return Completion(text=text, finish_reason="stop")
    try:
        reply = _Reply.model_validate(_object(text))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise EditError(f"{where}: {first['msg']}") from None
    parts = tuple(
        ToolCallPart(id=one.id, function=FunctionCall(name=one.name, arguments=_written(one.arguments)))
        for one in reply.tool_calls
    )
    return Completion(text=reply.text, tool_calls=parts, finish_reason="tool_calls" if parts else "stop")


def _written(arguments: dict[str, Any] | str) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _parsed(arguments: str) -> Any:
    try:
        return json.loads(arguments) if arguments.strip() else {}
    except ValueError:
        return arguments


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise EditError(f"not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise EditError("a JSON object is needed: {…}")
    return value
