"""What a runner sends as its conversation: mended before a provider sees it, and told apart from the last.

A provider rejects a tool call without a result, two results for one call, and a result without a call;
runners send all three after an abort.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agentscope_tui.models.chat import ChatRequest, Message

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


def read_body(
    body: dict[str, Any], *, max_output_tokens: int, temperature: float | None
) -> tuple[ChatRequest, list[str]]:
    """The request to send for a runner's body, and what was mended in its messages, in words.

    The host's temperature replaces the runner's; its token limit caps the runner's.

    Raises:
        BodyError: messages or tools are not what Chat Completions defines.
    """
    messages, tools = body.get("messages"), body.get("tools") or []
    if not isinstance(messages, list) or not messages:
        raise BodyError("`messages` must be a list with at least one message")
    for position, message in enumerate(messages):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise BodyError(f"message {position} must be an object with a `role`")
    if not isinstance(tools, list) or not all(isinstance(tool, dict) for tool in tools):
        raise BodyError("`tools` must be a list of objects")
    asked = [body.get(name) for name in ("max_completion_tokens", "max_tokens")]
    allowed = [limit for limit in asked if isinstance(limit, int) and limit >= 1]
    mended, notes = mend(messages)
    request = ChatRequest(
        messages=mended,
        tools=tools,
        max_output_tokens=min([*allowed, max_output_tokens]),
        temperature=temperature,
        params={name: value for name, value in body.items() if name not in _HOST_FIELDS},
    )
    return request, notes


def mend(messages: Sequence[Message]) -> tuple[list[Message], list[str]]:
    """The messages with exactly one result after each tool call, and what had to be done for it."""
    mended: list[Message] = []
    notes: list[str] = []
    open_calls: dict[str, str] = {}
    answered: set[str] = set()

    def close_batch() -> None:
        for call_id, name in open_calls.items():
            mended.append({"role": "tool", "tool_call_id": call_id, "content": "The call was not run."})
            notes.append(f"added the missing result of {name} ({call_id})")
            answered.add(call_id)
        open_calls.clear()

    for message in messages:
        if message["role"] == "tool":
            call_id = str(message.get("tool_call_id"))
            if call_id in open_calls:
                del open_calls[call_id]
                answered.add(call_id)
                mended.append(message)
            elif call_id in answered:
                notes.append(f"left out a second result of {call_id}")
            else:
                notes.append(f"left out a result of {call_id}, which no message calls")
            continue
        close_batch()
        mended.append(message)
        if message["role"] == "assistant":
            open_calls = {str(call.get("id")): _name(call) for call in _calls(message)}
    close_batch()
    return mended, notes


def _calls(message: Message) -> list[dict[str, Any]]:
    calls = message.get("tool_calls")
    return [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []


def _name(call: dict[str, Any]) -> str:
    function = call.get("function")
    return str(function.get("name")) if isinstance(function, dict) else "?"


@dataclass(frozen=True)
class Difference:
    """A request told as what it adds: the first `kept` messages of call `base`, then `new`."""

    base: int
    kept: int
    new: list[Message]
    digest: str


class Conversation:
    """The messages of the last request, to tell the next one from."""

    def __init__(self) -> None:
        self._call = 0
        self._messages: list[Message] = []

    def advance(self, call: int, messages: list[Message]) -> Difference:
        """Remember the request of `call`; returns how it differs from the one before."""
        kept = 0
        for old, new in zip(self._messages, messages, strict=False):
            if old != new:
                break
            kept += 1
        difference = Difference(self._call if kept else 0, kept, messages[kept:], digest(messages))
        self._call, self._messages = call, messages
        return difference


def digest(messages: Sequence[Message]) -> str:
    """SHA-256 of the messages as canonical JSON (sorted keys, no spaces, UTF-8), in hex."""
    text = json.dumps(messages, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
