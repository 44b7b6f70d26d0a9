"""A request to Anthropic's Messages as the body of a chat request.

Blocks that only Anthropic has (thoughts, documents) stay as they are, for a model that knows them.
"""

from __future__ import annotations

import json
from typing import Any

from agentscope_tui.models.anthropic_blocks import CONTENT, Block
from agentscope_tui.models.chat import Message
from agentscope_tui.runners.loopback.api import Refusal, objects

_TRANSLATED = frozenset({"messages", "system", "tools", "tool_choice", "stop_sequences"})
_CHOICES = {"auto": "auto", "any": "required", "none": "none"}


def read_request(body: dict[str, Any]) -> dict[str, Any]:
    """The chat request.

    Raises:
        Refusal: something in it cannot be expressed as one.
    """
    chat = {name: value for name, value in body.items() if name not in _TRANSLATED and value is not None}
    system = _text(body.get("system"), "system")
    chat["messages"] = [{"role": "system", "content": system}] if system else []
    for turn in objects(body.get("messages"), "messages"):
        chat["messages"] += _assistant(turn) if turn.get("role") == "assistant" else _user(turn)
    if tools := objects(body.get("tools"), "tools"):
        chat["tools"] = [_tool(tool) for tool in tools]
    if choice := body.get("tool_choice"):
        chat |= _choice(choice)
    if body.get("stop_sequences"):
        chat["stop"] = body["stop_sequences"]
    return chat


def _user(turn: dict[str, Any]) -> list[Message]:
    """The results of tools, then what the user says."""
    content = turn.get("content")
    if isinstance(content, str):
        return [{"role": turn.get("role"), "content": content}]
    blocks = objects(content, "content")
    results: list[Message] = [
        {
            "role": "tool",
            "tool_call_id": block.get("tool_use_id"),
            "content": _result(block.get("content")),
            **({"is_error": True} if block.get("is_error") else {}),
        }
        for block in blocks
        if block.get("type") == "tool_result"
    ]
    said = [_part(block) for block in blocks if block.get("type") != "tool_result"]
    return [*results, {"role": turn.get("role"), "content": said}] if said else results


def _result(content: object) -> object:
    if content is None or isinstance(content, str):
        return content or ""
    return [_part(block) for block in objects(content, "tool_result.content")]


def _part(block: Block) -> Block:
    match block:
        case {"type": "text", "text": text}:
            return {"type": "text", "text": text}
        case {"type": "image", "source": {"type": "base64", "media_type": media, "data": data}}:
            return {"type": "image_url", "image_url": {"url": f"data:{media};base64,{data}"}}
        case {"type": "image", "source": {"type": "url", "url": url}}:
            return {"type": "image_url", "image_url": {"url": url}}
        case {"type": kind, "source": {"type": "file"}}:
            raise Refusal(f"a block `{kind}` that names an uploaded file is not supported here")
        case _:
            return block


def _assistant(turn: dict[str, Any]) -> list[Message]:
    content = turn.get("content")
    if isinstance(content, str):
        return [{"role": "assistant", "content": content}]
    blocks = [block for block in objects(content, "content") if not _is_ours(block)]
    text = "".join(str(block.get("text")) for block in blocks if block.get("type") == "text")
    calls = [
        {
            "id": block.get("id"),
            "type": "function",
            "function": {"name": block.get("name"), "arguments": json.dumps(block.get("input") or {})},
        }
        for block in blocks
        if block.get("type") == "tool_use"
    ]
    message: Message = {"role": "assistant", "content": text or (None if calls else "")}
    if calls:
        message["tool_calls"] = calls
    if any(block.get("type") not in ("text", "tool_use") for block in blocks):
        message[CONTENT] = [
            {name: value for name, value in block.items() if name != "cache_control"} for block in blocks
        ]
    return [message]


def _is_ours(block: Block) -> bool:
    """Whether the endpoint made this thought of one that no API of Anthropic has signed, or takes back."""
    return block.get("type") == "thinking" and not block.get("signature")


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    if tool.get("type") not in (None, "custom"):
        raise Refusal(f"the tool `{tool['type']}` runs at the provider, which is not supported here")
    function = {"name": tool.get("name"), "parameters": tool.get("input_schema") or {"type": "object"}}
    if tool.get("description"):
        function["description"] = tool["description"]
    return {"type": "function", "function": function}


def _choice(choice: object) -> dict[str, Any]:
    if not isinstance(choice, dict):
        raise Refusal("`tool_choice` must be an object")
    chat: dict[str, Any] = {}
    match choice.get("type"):
        case "tool":
            chat["tool_choice"] = {"type": "function", "function": {"name": choice.get("name")}}
        case str(kind) if kind in _CHOICES:
            chat["tool_choice"] = _CHOICES[kind]
        case kind:
            raise Refusal(f"`tool_choice` of the type {kind!r} is not supported here")
    if choice.get("disable_parallel_tool_use"):
        chat["parallel_tool_calls"] = False
    return chat


def _text(content: object, what: str) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "\n\n".join(str(block.get("text") or "") for block in objects(content, what))
