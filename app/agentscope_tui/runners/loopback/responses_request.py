"""A request to OpenAI's Responses as the body of a chat request.

The items of one assistant turn (thoughts, text, calls) become one message. What the provider would have to
remember between calls cannot be expressed: each call is seen whole here.
"""

from __future__ import annotations

import json
from typing import Any

from agentscope_tui.models.chat import Message
from agentscope_tui.runners.loopback.api import Refusal, objects, refuse

_STATEFUL = ("previous_response_id", "conversation", "background", "prompt")
_NEVER = ("top_logprobs", "max_tool_calls", "context_management")
_SAME = (
    "model",
    "stream",
    "temperature",
    "top_p",
    "parallel_tool_calls",
    "service_tier",
    "safety_identifier",
    "prompt_cache_key",
    "user",
)
_TRANSLATED = frozenset(
    {"input", "instructions", "tools", "tool_choice", "text", "reasoning", "max_output_tokens"}
)
_MEANINGLESS = frozenset({"store", "include", "metadata", "stream_options", "truncation"})
"""What asks the provider only how to keep or to show its answer."""


def read_request(body: dict[str, Any]) -> dict[str, Any]:
    """The chat request.

    Raises:
        Refusal: something in it cannot be expressed as one.
    """
    refuse(body, *_STATEFUL, why="send the whole conversation with each call")
    refuse(body, *_NEVER)
    if body.get("truncation") not in (None, "disabled"):
        raise Refusal("`truncation` is not supported here: cut the conversation yourself")
    unknown = body.keys() - _TRANSLATED - _MEANINGLESS - {*_SAME, *_STATEFUL, *_NEVER}
    refuse(body, *sorted(unknown))
    chat = {name: body[name] for name in _SAME if body.get(name) is not None}
    instructions = body.get("instructions")
    chat["messages"] = [{"role": "system", "content": instructions}] if instructions else []
    chat["messages"] += _messages(body.get("input"))
    if tools := objects(body.get("tools"), "tools"):
        chat["tools"] = [_tool(tool) for tool in tools]
    if body.get("tool_choice") is not None:
        chat["tool_choice"] = _choice(body["tool_choice"])
    if body.get("max_output_tokens") is not None:
        chat["max_completion_tokens"] = body["max_output_tokens"]
    return chat | _text_options(body.get("text")) | _reasoning_options(body.get("reasoning"))


def _messages(given: object) -> list[Message]:
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    messages: list[Message] = []
    for item in objects(given, "input"):
        kind = item.get("type", "message")
        match kind:
            case "message" if item.get("role") != "assistant":
                messages.append({"role": item.get("role"), "content": _content(item.get("content"))})
            case "message":
                _add(messages, content=_said(item.get("content")))
            case "function_call":
                _add(messages, call=_call(item))
            case "reasoning":
                _add(messages, kept=_kept(item))
            case "function_call_output":
                result = _content(item.get("output"))
                messages.append({"role": "tool", "tool_call_id": item.get("call_id"), "content": result})
            case _:
                raise Refusal(f"input items of the type `{kind}` are not supported here")
    return messages


def _add(
    messages: list[Message],
    *,
    content: str = "",
    call: dict[str, Any] | None = None,
    kept: dict[str, Any] | None = None,
) -> None:
    """Put a piece of an assistant's turn into its message."""
    if not messages or messages[-1]["role"] != "assistant":
        messages.append({"role": "assistant", "content": None})
    message = messages[-1]
    if content:
        message["content"] = (message["content"] or "") + content
    if call is not None:
        message.setdefault("tool_calls", []).append(call)
    message.update(kept or {})


def _call(item: dict[str, Any]) -> dict[str, Any]:
    function = {"name": item.get("name"), "arguments": item.get("arguments") or ""}
    return {"id": item.get("call_id"), "type": "function", "function": function}


def _kept(item: dict[str, Any]) -> dict[str, Any]:
    """The fields of the message that the endpoint hid in the item; none in an item of someone else."""
    try:
        kept = json.loads(str(item.get("encrypted_content") or "{}"))
    except (ValueError, RecursionError):
        kept = None
    if not isinstance(kept, dict):
        return {}
    return {name: value for name, value in kept.items() if name not in ("role", "content", "tool_calls")}


def _content(content: object) -> object:
    """Text, or parts as Chat Completions has them."""
    if content is None or isinstance(content, str):
        return content or ""
    return [_part(part) for part in objects(content, "content")]


def _part(part: dict[str, Any]) -> dict[str, Any]:
    match part:
        case {"type": "input_text" | "output_text" | "text", "text": text}:
            return {"type": "text", "text": text}
        case {"type": "input_image", "image_url": str(url)}:
            return {"type": "image_url", "image_url": {"url": url, "detail": part.get("detail") or "auto"}}
        case _:
            raise Refusal(f"content of the type `{part.get('type')}` is not supported here")


def _said(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = objects(content, "content")
    return "".join(str(part.get("text") or part.get("refusal") or "") for part in parts)


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    if tool.get("type") != "function":
        raise Refusal(f"the tool `{tool.get('type')}` runs at the provider, which is not supported here")
    names = ("name", "description", "parameters", "strict")
    return {
        "type": "function",
        "function": {name: tool[name] for name in names if tool.get(name) is not None},
    }


def _choice(choice: object) -> object:
    match choice:
        case "auto" | "none" | "required":
            return choice
        case {"type": "function", "name": name}:
            return {"type": "function", "function": {"name": name}}
        case _:
            raise Refusal(f"`tool_choice` {json.dumps(choice)} is not supported here")


def _text_options(text: object) -> dict[str, Any]:
    if not isinstance(text, dict):
        return {}
    options = {"verbosity": text["verbosity"]} if text.get("verbosity") else {}
    match text.get("format"):
        case dict() as schema if schema.get("type") == "json_schema":
            named = {name: value for name, value in schema.items() if name != "type"}
            return {**options, "response_format": {"type": "json_schema", "json_schema": named}}
        case {"type": "json_object"}:
            return {**options, "response_format": {"type": "json_object"}}
        case _:
            return options


def _reasoning_options(reasoning: object) -> dict[str, Any]:
    effort = reasoning.get("effort") if isinstance(reasoning, dict) else None
    return {"reasoning_effort": effort} if effort else {}
