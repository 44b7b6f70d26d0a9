"""OpenAI chat: a conversation a line (or in an array), `{"messages": [...], "tools": [...]}`.

What is left of a line is kept under `CONVERSATION`, and of a message under `message_about`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentscope_tui.models.chat import Message, ReasoningField
from agentscope_tui.store.imports.building import EventBuilder
from agentscope_tui.store.imports.fields import Fields
from agentscope_tui.store.imports.messages import (
    SYSTEM,
    as_text,
    content_text,
    sendable,
    take_content,
    take_tools,
)
from agentscope_tui.store.imports.parts import Answer, Beginning, Outcome, ProposedCall
from agentscope_tui.store.imports.records import RecordFile, Records
from agentscope_tui.store.imports.trajectories import Summary

CONVERSATION = "chat"
ROLES = (*SYSTEM, "user", "assistant", "tool", "function")
_REASONING: tuple[ReasoningField, ...] = ("reasoning_content", "reasoning")


def message_about(number: int) -> str:
    """What an `extra` is about that keeps the rest of a message; they are numbered from 1."""
    return f"message {number}"


def is_chat(value: Any) -> bool:
    """Whether a JSON value is a conversation."""
    match value:
        case {"messages": [{"role": str()}, *_]}:
            return True
        case _:
            return False


def is_chat_list(value: Any) -> bool:
    """Whether a JSON value is the messages of a conversation, and nothing else."""
    match value:
        case [{"role": str(role)}, *_]:
            return role in ROLES
        case _:
            return False


class ChatFile(RecordFile):
    """One conversation a record."""

    def __init__(self, records: Records) -> None:
        super().__init__(records, "OpenAI chat")

    def _summarize(self, record: Fields) -> Summary:
        return Summary(first_prompt(record.items("messages")), model=record.text("model"))

    def _tell_record(self, record: Fields, builder: EventBuilder) -> None:
        messages = record.items("messages")
        tools = take_tools(record)
        tell_chat(builder, messages, Beginning(model=record.text("model"), tools=tools))
        builder.extra(CONVERSATION, record.rest)


def first_prompt(messages: Sequence[Any]) -> str:
    """The first text of a user."""
    texts = (
        content_text(message.get("content"))
        for message in messages
        if isinstance(message, dict) and message.get("role") == "user"
    )
    return next(filter(None, texts), "")


def tell_chat(builder: EventBuilder, messages: Sequence[Any], beginning: Beginning, at: Any = None) -> None:
    """Start the session, and tell a conversation from its beginning."""
    leading = 0
    while leading < len(messages) and _role(messages[leading]) in SYSTEM:
        leading += 1
    system = [sendable(message) for message in messages[:leading]]
    builder.start(Beginning(**{**vars(beginning), "system": system}), at)
    for number, message in enumerate(messages, start=1):
        tell_message(builder, message, number, told=number <= leading)


def tell_message(builder: EventBuilder, value: Any, number: int, *, told: bool = False) -> None:
    """Tell one message, and what is left of it; `told`: it is in the session's beginning already."""
    message = Fields(value)
    role = _role(value)
    if role not in ROLES:
        builder.problem(f"message {number} cannot be read: it has no role that is known")
    elif told:
        message.drop("role")
        take_content(message)
    else:
        builder.at(message.time("timestamp"))
        tell_role(builder, message, role, sendable(value))
    builder.extra(message_about(number), message.rest, call=builder.call or None)


def tell_role(builder: EventBuilder, message: Fields, role: str, sent: Message) -> None:
    """Tell a message of a known role; `sent` is as requests have it."""
    message.drop("role")
    match role:
        case "user":
            builder.user(take_content(message), sent)
        case "assistant":
            builder.answer(answer_of(message, sent))
        case "tool" | "function":
            name = message.text("name")
            call_id = message.text("tool_call_id") or builder.next_result or ""
            builder.tool_result(Outcome(call_id, take_content(message), name=name), sent)
        case _:
            take_content(message)
            builder.system(sent)


def answer_of(message: Fields, sent: Message) -> Answer:
    """The completion that an assistant message was."""
    field: ReasoningField = next((name for name in _REASONING if isinstance(message.peek(name), str)), "")
    reasoning = message.text(field) if field else ""
    calls = take_calls(message)
    if message.has("function_call"):
        old = message.inner("function_call")
        calls.append(ProposedCall("", old.text("name"), as_text(old.any("arguments") or "")))
    return Answer(
        take_content(message),
        reasoning,
        calls,
        finish_reason=message.text("finish_reason") or None,
        message=sent,
        reasoning_field=field if reasoning else "",
    )


def take_calls(message: Fields) -> list[ProposedCall]:
    """The tool calls of a message, as objects or as JSON text."""
    calls = []
    for call in message.each("tool_calls"):
        function = call.inner("function") if call.has("function") else call
        call.drop("type")
        arguments = function.any("arguments")
        arguments = as_text({} if arguments is None else arguments)
        calls.append(ProposedCall(call.text("id"), function.text("name"), arguments))
    return calls


def _role(message: Any) -> str:
    role = message.get("role") if isinstance(message, dict) else None
    return role if isinstance(role, str) else ""
