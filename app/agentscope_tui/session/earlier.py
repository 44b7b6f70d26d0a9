"""The conversation that a session starts with: earlier messages, which the host puts into every request.

No runner knows of them, so every runner can be given them.
"""

from __future__ import annotations

from collections.abc import Iterable

from agentscope_tui.models.chat import Message
from agentscope_tui.session.history import mend
from agentscope_tui.session.steering import text_of

SYSTEM_ROLES = ("system", "developer")


class EarlierMessages:
    """`messages` are as models get them, `notes` say what had to be mended for it."""

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self.messages, self.notes = mend(list(messages))

    @property
    def call_ids(self) -> set[str]:
        """The ids of the tool calls in them: no later call may have one of these."""
        calls = [call for message in self.messages for call in message.get("tool_calls") or ()]
        return {str(call["id"]) for call in calls}

    def put_into(self, messages: list[Message]) -> list[Message]:
        """A runner's messages with these after the system messages that they begin with."""
        leading = 0
        while leading < len(messages) and messages[leading]["role"] in SYSTEM_ROLES:
            leading += 1
        return [*messages[:leading], *self.messages, *messages[leading:]]


def leading_system(messages: list[Message]) -> str:
    """The text of the system message that a request begins with; empty: it has none."""
    return text_of(messages[0]) if messages and messages[0].get("role") in SYSTEM_ROLES else ""


def told(message: Message) -> str:
    """A message's text, and the tool calls that it makes."""
    calls = [call.get("function", {}) for call in message.get("tool_calls") or ()]
    lines = [f"→ {function.get('name')} {function.get('arguments')}" for function in calls]
    return "\n".join(part for part in (text_of(message), *lines) if part)
