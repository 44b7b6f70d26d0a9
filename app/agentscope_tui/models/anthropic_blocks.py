"""Chat messages as the Messages API wants them: turns that alternate, made of typed blocks.

Roles of a turn are only `user` and `assistant`. The results of one batch of tool calls stand together at
the start of the user's turn, what the user says after them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from agentscope_tui.models.chat import Message

Block = dict[str, Any]

CONTENT = "anthropic_content"
"""The field of assistant messages that keeps its blocks as they came, where text and calls do not say all."""

_DATA_URL = re.compile(r"data:(?P<type>[\w.+/-]+);base64,(?P<data>.*)", re.DOTALL)
_ID = re.compile(r"[^A-Za-z0-9_-]")


def conversation(messages: Sequence[Message]) -> tuple[str, list[dict[str, Any]]]:
    """The system prompt, and the turns: `[{"role", "content": [block, ...]}]`.

    System messages after the first user message become parts of the user's turn, since the API takes one
    system prompt only.
    """
    system: list[str] = []
    turns: list[dict[str, Any]] = []
    for message in messages:
        role = message.get("role")
        if role in ("system", "developer") and not turns:
            system.append(_text(message))
            continue
        blocks = assistant_blocks(message) if role == "assistant" else _user(message)
        _append(turns, "assistant" if role == "assistant" else "user", blocks)
    return "\n\n".join(filter(None, system)), turns


def _append(turns: list[dict[str, Any]], role: str, blocks: list[Block]) -> None:
    if not blocks:
        return
    if turns and turns[-1]["role"] == role:
        turns[-1]["content"] += blocks
    else:
        turns.append({"role": role, "content": blocks})


def _user(message: Message) -> list[Block]:
    if message.get("role") != "tool":
        return _parts(message.get("content"))
    result: Block = {"type": "tool_result", "tool_use_id": _valid_id(message.get("tool_call_id"))}
    content = _parts(message.get("content"))
    if content:
        result["content"] = content
    if message.get("is_error"):
        result["is_error"] = True
    return [result]


def assistant_blocks(message: Message) -> list[Block]:
    """An assistant message as blocks: those it came in, as far as they still say what it says."""
    content = message.get(CONTENT)
    kept = [dict(block) for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    if kept and _says(kept) == (_text(message), _calls(message)):
        return kept
    # Text or calls were changed since: thoughts stay, because the API wants them before calls.
    thoughts = [block for block in kept if block.get("type") in ("thinking", "redacted_thinking")]
    calls = [
        {"type": "tool_use", "id": call_id, "name": name, "input": _input(arguments)}
        for call_id, name, arguments in _calls(message)
    ]
    return [*thoughts, *_parts(message.get("content")), *calls]


def _says(blocks: Sequence[Block]) -> tuple[str, list[tuple[str, str, str]]]:
    """The text and the calls of blocks, to compare with those of a message."""
    text = "".join(str(block.get("text")) for block in blocks if block.get("type") == "text")
    calls = [
        (str(block.get("id")), str(block.get("name")), _canonical(block.get("input")))
        for block in blocks
        if block.get("type") == "tool_use"
    ]
    return text, calls


def _calls(message: Message) -> list[tuple[str, str, str]]:
    calls = message.get("tool_calls")
    known = [call for call in (calls if isinstance(calls, list) else []) if isinstance(call, dict)]
    functions = [(call, call["function"]) for call in known if isinstance(call.get("function"), dict)]
    return [
        (_valid_id(call.get("id")), str(function.get("name")), _canonical(_input(function.get("arguments"))))
        for call, function in functions
    ]


def _canonical(value: object) -> str:
    """JSON that is equal for equal values."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _input(arguments: object) -> dict[str, Any]:
    """A call's arguments as the object that the API wants, also where the model wrote none."""
    if not isinstance(arguments, str) or not arguments.strip():
        return {}
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {"invalid_json": arguments}


def _parts(content: object) -> list[Block]:
    """The blocks of a message's content; the API refuses empty text."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content.strip() else []
    blocks: list[Block] = []
    for part in content if isinstance(content, list) else []:
        match part:
            case {"type": "text", "text": str(text)}:
                blocks += [{"type": "text", "text": text}] if text.strip() else []
            case {"type": "image_url", "image_url": {"url": str(url)}}:
                blocks.append({"type": "image", "source": _source(url)})
            case dict():
                blocks.append(part)
    return blocks


def _source(url: str) -> dict[str, str]:
    if found := _DATA_URL.fullmatch(url):
        return {"type": "base64", "media_type": found["type"], "data": found["data"]}
    return {"type": "url", "url": url}


def _text(message: Message) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _valid_id(call_id: object) -> str:
    """An id of the characters that the API allows; other servers write other ones."""
    return _ID.sub("_", str(call_id)) or "call"
