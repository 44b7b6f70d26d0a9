"""What each model call was sent and what it answered, put together from events that tell only what is new."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from agentscope_tui.events import AssistantMessage, LlmRequestSent
from agentscope_tui.models.chat import Message


class Exchanges:
    """The requests and replies of a session, by the number of the call."""

    def __init__(self) -> None:
        self.requests: MutableMapping[int, LlmRequestSent] = {}
        self.replies: MutableMapping[int, AssistantMessage] = {}
        """What was sent, and what came of it, by call. Who reads a recording leaves them there."""

    def sent(self, event: LlmRequestSent) -> None:
        self.requests[event.call] = event

    def answered(self, event: AssistantMessage) -> None:
        self.replies[event.call] = event

    def request(self, call: int) -> list[Message]:
        """The whole request of a call; empty for a call that never was."""
        parts: list[list[Message]] = []
        wanted: int | None = None
        while (sent := self.requests.get(call)) is not None:
            end = None if wanted is None else max(wanted - sent.kept, 0)
            parts.append(sent.messages[:end])
            wanted = sent.kept if wanted is None else min(wanted, sent.kept)
            call = sent.base
        return [message for part in reversed(parts) for message in part]

    def sent_beside(self, call: int) -> dict[str, Any]:
        """What a call was sent beside its messages: parameters, and the names of the tools."""
        sent = self.requests.get(call)
        return {} if sent is None else {**sent.params, "tools": sent.tools}

    def reply(self, call: int) -> Message | None:
        """The assistant message that answered a call."""
        event = self.replies.get(call)
        if event is None:
            return None
        message: Message = {"role": "assistant", "content": event.text}
        if event.tool_calls:
            message["tool_calls"] = [part.model_dump(mode="json") for part in event.tool_calls]
        return message
