"""Chat messages as files have them: their text, their tool calls, and what of them a request can carry."""

from __future__ import annotations

import json
from typing import Any

from agentscope_tui.models.chat import Message
from agentscope_tui.store.imports.fields import Fields
from agentscope_tui.store.imports.parts import Answer, ProposedCall

SYSTEM = ("system", "developer")


def text_of(message: Message) -> str:
    """A message's text; of a part that is no text, what kind it is."""
    return content_text(message.get("content"))


def content_text(content: Any) -> str:
    """The text of a message's content: a string, or a list of parts. A part that is no text is named."""
    match content:
        case str():
            return content
        case list():
            return "\n".join(filter(None, map(_part_text, content)))
        case None:
            return ""
        case _:
            return as_text(content)


def _part_text(part: Any) -> str:
    match part:
        case str():
            return part
        case {"text": str(text)}:
            return text
        case {"type": str(kind)}:
            return f"[{kind}]"
        case _:
            return as_text(part)


def only_text(content: Any) -> bool:
    """Whether nothing is lost when only the text of a content is told."""
    parts = content if isinstance(content, list) else []
    return all(isinstance(part, dict) and set(part) == {"type", "text"} for part in parts)


def as_text(value: Any) -> str:
    """A string as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def take_content(fields: Fields, name: str = "content") -> str:
    """The text in a field. What is more than text stays in the rest."""
    content = fields.peek(name)
    if only_text(content):
        fields.any(name)
    return content_text(content)


def sendable(value: Any) -> Message:
    """A message of a file as a request can carry it: with a role, a content that is text or parts, and tool
    calls that name a function."""
    if not isinstance(value, dict):
        return {"role": "user", "content": as_text(value)}
    message: Message = {name: item for name, item in value.items() if item is not None}
    role, content, calls = message.get("role"), message.get("content"), message.get("tool_calls")
    message["role"] = role if isinstance(role, str) else "user"
    if isinstance(content, list):
        message["content"] = [
            part if isinstance(part, dict) else {"type": "text", "text": as_text(part)} for part in content
        ]
    elif content is None:
        message["content"] = None if calls else ""
    elif not isinstance(content, str):
        message["content"] = as_text(content)
    if isinstance(calls, list) and calls:
        message["tool_calls"] = [_sendable_call(call) for call in calls]
    else:
        message.pop("tool_calls", None)
    return message


def _sendable_call(value: Any) -> dict[str, Any]:
    call = value if isinstance(value, dict) else {}
    function = call.get("function")
    inner = function if isinstance(function, dict) else call
    arguments = inner.get("arguments")
    arguments = as_text({} if arguments is None else arguments)
    function = {"name": as_text(inner.get("name") or ""), "arguments": arguments}
    return {"id": as_text(call.get("id") or ""), "type": "function", "function": function}


def assistant_message(answer: Answer) -> Message:
    """The message that a completion becomes in the next request."""
    message: Message = {"role": "assistant", "content": answer.text or None}
    if answer.calls:
        message["tool_calls"] = [call_message(call) for call in answer.calls]
    elif not answer.text:
        message["content"] = ""
    return message


def call_message(call: ProposedCall) -> dict[str, Any]:
    """A tool call as a message carries it."""
    return {
        "id": call.call_id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }


def tool_of(value: Any) -> dict[str, Any] | None:
    """A tool that agents had, as sessions tell it; None: it says more than that, or is none.

    Tools come as OpenAI has them, as Anthropic does (`input_schema`), and bare.
    """
    if not isinstance(value, dict):
        return None
    tool = {name: item for name, item in value.items() if item is not None}
    if tool.get("type") == "function":
        del tool["type"]
    if set(tool) == {"function"} and isinstance(tool["function"], dict):
        tool = {name: item for name, item in tool["function"].items() if item is not None}
    if "input_schema" in tool and "parameters" not in tool:
        tool["parameters"] = tool.pop("input_schema")
    match {"description": "", "parameters": {}, **tool}:
        case {"name": str(), "description": str(), "parameters": dict()} as known if len(known) == 3:
            return known
    return None


def take_tools(fields: Fields, name: str = "tools") -> list[dict[str, Any]]:
    """The tools in a field; it is kept as it is where one of them says more than sessions tell."""
    tools = [tool_of(one) for one in fields.peek(name) or ()] if isinstance(fields.peek(name), list) else []
    known = [tool for tool in tools if tool is not None]
    if tools and len(known) == len(tools):
        fields.any(name)
    return known
