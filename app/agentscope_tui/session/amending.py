"""What the host puts into an agent's requests in place of what it says itself: for agents with prompts and
tools of their own, which a fork cannot reach in another way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agentscope_tui.models.chat import Message
from agentscope_tui.session.earlier import SYSTEM_ROLES
from agentscope_tui.session.steering import text_of


@dataclass(frozen=True)
class Amendments:
    """`system`: a system prompt and the one in its place; an empty one stands for none. `results`: the
    results of tool calls, by their ids."""

    system: tuple[str, str] | None = None
    results: Mapping[str, str] = field(default_factory=dict)

    def put_into(self, messages: list[Message]) -> list[Message]:
        """The messages with what is to stand in them; the same list where nothing is."""
        if self.system is None and not self.results:
            return messages
        amended = [self._amended(message) for message in messages]
        if self.system is not None and not self.system[0] and amended[0].get("role") not in SYSTEM_ROLES:
            amended.insert(0, {"role": "system", "content": self.system[1]})
        return amended

    def _amended(self, message: Message) -> Message:
        role = message.get("role")
        if self.system is not None and role in SYSTEM_ROLES and text_of(message) == self.system[0]:
            return {**message, "content": self.system[1]}
        if role == "tool" and (content := self.results.get(str(message.get("tool_call_id")))) is not None:
            return {**message, "content": content}
        return message
