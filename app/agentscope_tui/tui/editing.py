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
            return reply_text(_reply(state, hold.call))
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
            return Decision("edit", completion=edited_reply(_reply(state, hold.call), text))
        case "tool_call":
            return Decision("edit", arguments=edited_arguments(text))
        case "tool_result" | "failed_call":
            return Decision("edit", content=text)
        case _:
            assert_never(hold.step)


def reply_text(reply: Completion) -> str:
    """A reply to edit: as JSON when it has tool calls, else its text."""
    if not reply.tool_calls:
        return reply.text
    calls = [
        {"id": part.id, "name": part.function.name, "arguments": _parsed(part.function.arguments)}
        for part in reply.tool_calls
    ]
    return json.dumps({"text": reply.text, "tool_calls": calls}, indent=2, ensure_ascii=False)


def edited_reply(reply: Completion, text: str) -> Completion:
    """The reply that the text is, which `reply_text` gave of `reply` before it was edited.

    Raises:
        EditError: it is no JSON, or not of the form that it had; says where.
    """
    if not reply.tool_calls:
        return Completion(text=text, finish_reason="stop")
    try:
        edited = _Reply.model_validate(_object(text))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise EditError(f"{where}: {first['msg']}") from None
    parts = tuple(
        ToolCallPart(id=one.id, function=FunctionCall(name=one.name, arguments=_written(one.arguments)))
        for one in edited.tool_calls
    )
    return Completion(text=edited.text, tool_calls=parts, finish_reason="tool_calls" if parts else "stop")


def edited_arguments(text: str) -> dict[str, Any]:
    """The arguments of a tool call that the text is.

    Raises:
        EditError: it is no JSON object.
    """
    return _object(text)


def _reply(state: SessionState, call: int) -> Completion:
    message = state.reply(call) or {}
    parts = tuple(ToolCallPart.model_validate(part) for part in message.get("tool_calls", ()))
    return Completion(text=text_of(message), tool_calls=parts)


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
