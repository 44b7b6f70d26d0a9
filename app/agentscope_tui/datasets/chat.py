"""A chat as a task: what comes before the last user message is history, what comes after it the answer.

Messages are those of OpenAI's Chat Completions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agentscope_tui.datasets.fields import as_text, kind_of
from agentscope_tui.datasets.task import RowProblem
from agentscope_tui.models.chat import Message

_SYSTEM = ("system", "developer")
_ROLES = (*_SYSTEM, "user", "assistant", "tool")


@dataclass(frozen=True)
class Chat:
    """`system` are the leading system messages, `prompt` is the last user message, at place `asked` of the
    list; `history` lies between them. `expected` is the last text of the assistant after the prompt."""

    system: str | None
    history: tuple[Message, ...]
    prompt: str
    expected: str | None
    asked: int


def read_chat(value: Sequence[object], column: str) -> Chat:
    """The chat in a row's column.

    Raises:
        RowProblem: a message is not what Chat Completions defines, or no user asks anything.
    """
    messages = [_message(item, f"'{column}' message {place}") for place, item in enumerate(value, start=1)]
    asked = max((place for place, message in enumerate(messages) if message["role"] == "user"), default=-1)
    if asked < 0:
        raise RowProblem(f"'{column}' has no user message")
    leading = 0
    while messages[leading]["role"] in _SYSTEM:
        leading += 1
    replies = [_text(message) for message in messages[asked + 1 :] if message["role"] == "assistant"]
    return Chat(
        system="\n\n".join(map(_text, messages[:leading])) if leading else None,
        history=tuple(messages[leading:asked]),
        prompt=_prompt(messages[asked], f"'{column}' message {asked + 1}"),
        expected=next((text for text in reversed(replies) if text.strip()), None),
        asked=asked,
    )


def _message(item: object, where: str) -> Message:
    """A message without the fields that are null, which table formats write for what is not there."""
    if not isinstance(item, dict):
        raise RowProblem(f"{where} must be an object with a role and content, got {kind_of(item)}")
    message = {str(name): value for name, value in item.items() if value is not None}
    role = message.get("role")
    if role not in _ROLES:
        got = repr(role) if isinstance(role, str) else kind_of(role)
        raise RowProblem(f"{where}: the role must be system, user, assistant or tool, got {got}")
    if message.get("tool_calls"):
        message["tool_calls"] = _tool_calls(message["tool_calls"], role, where)
        message.setdefault("content", None)
    else:
        message.pop("tool_calls", None)
        _check_content(message.get("content"), where)
    if role == "tool" and not isinstance(message.get("tool_call_id"), str):
        raise RowProblem(f"{where}: a tool message needs a tool_call_id")
    return message


def _check_content(content: object, where: str) -> None:
    match content:
        case str():
            return
        case list():
            for part in content:
                if not isinstance(part, dict) or not isinstance(part.get("type"), str):
                    raise RowProblem(f"{where}: each part of the content must be an object with a type")
                if part["type"] == "text" and not isinstance(part.get("text"), str):
                    raise RowProblem(f"{where}: the text of a part must be a string")
        case _:
            raise RowProblem(
                f"{where}: the content must be a string or a list of parts, got {kind_of(content)}"
            )


def _tool_calls(calls: object, role: str, where: str) -> list[dict[str, Any]]:
    """The calls with their arguments as JSON text, which some datasets hold as objects."""
    if role != "assistant":
        raise RowProblem(f"{where}: only an assistant message can have tool_calls")
    if not isinstance(calls, list):
        raise RowProblem(f"{where}: tool_calls must be a list, got {kind_of(calls)}")
    checked = []
    for call in calls:
        match call:
            case {"id": str(), "function": {"name": str()} as function}:
                arguments = function.get("arguments")
                text = "{}" if arguments is None else as_text(arguments)
                kept = {name: item for name, item in call.items() if item is not None}
                checked.append({**kept, "type": "function", "function": {**function, "arguments": text}})
            case _:
                raise RowProblem(f"{where}: a tool call needs an id and a function with a name")
    return checked


def _prompt(message: Message, where: str) -> str:
    content = message["content"]
    if isinstance(content, list) and any(part["type"] != "text" for part in content):
        raise RowProblem(f"{where}: the last user message must be text: an agent is asked in words")
    text = _text(message)
    if not text.strip():
        raise RowProblem(f"{where} cannot be empty")
    return text


def _text(message: Message) -> str:
    content = message["content"]
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part["type"] == "text")
    return content or ""
