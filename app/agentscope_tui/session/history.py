"""What a runner sends as its conversation: mended before a provider sees it, and told apart from the last.

A provider rejects a tool call without a result, two results for one call, and a result without a call;
runners send all three after an abort.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agentscope_tui.models.chat import Message


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


_REMEMBERED = 8
"""Requests that a new one is told from: an agent may have several conversations at once."""


class Conversation:
    """The messages of the last requests, to tell the next one from."""

    def __init__(self) -> None:
        self._requests: deque[tuple[int, list[Message]]] = deque(maxlen=_REMEMBERED)

    def advance(self, call: int, messages: list[Message]) -> Difference:
        """Remember the request of `call`; returns how it differs from the one before that it goes on from."""
        kept = base = 0
        for number, before in reversed(self._requests):
            # Most go on from the newest, as a whole; then no other needs a look.
            if len(before) > kept and (same := common_start(before, messages)) > kept:
                kept, base = same, number
        self._requests.append((call, messages))
        return Difference(base if kept else 0, kept, messages[kept:], digest(messages))


def common_start(before: Sequence[Message], messages: Sequence[Message]) -> int:
    """How many messages at the start are the same."""
    pairs = zip(before, messages, strict=False)
    return next(
        (place for place, (old, new) in enumerate(pairs) if old != new), min(len(before), len(messages))
    )


def digest(messages: Sequence[Message]) -> str:
    """SHA-256 of the messages as canonical JSON (sorted keys, no spaces, UTF-8), in hex."""
    text = json.dumps(messages, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
