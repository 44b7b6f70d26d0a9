"""Steers for agents without an inbox: the host puts them into requests, and keeps them there.

The agent does not know of them, so its later requests lack them. Each is put in again wherever the messages
before its place are the same as when it was put in first: so the model sees one consistent conversation.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from agentscope_tui.models.chat import Message
from agentscope_tui.session.steering import text_of


@dataclass(frozen=True)
class _Placed:
    """A text, and what it stands after: so many messages of the agent, with this digest."""

    after: int
    digest: str
    text: str


class Injections:
    """What was put into the conversations of one session."""

    def __init__(self) -> None:
        self._placed: list[_Placed] = []

    def apply(self, messages: list[Message], texts: Sequence[str]) -> list[Message]:
        """The agent's messages with what was put in before, and with the new `texts` after the results that
        are due."""
        if not (self._placed or texts):
            return messages
        digests = _digests(messages)
        # An assistant message at the end is the start of the answer.
        end = len(messages) - (messages[-1].get("role") == "assistant")
        self._placed += [_Placed(end, digests[end], text) for text in texts]
        whole: list[Message] = []
        for position, digest in enumerate(digests):
            whole += [
                {"role": "user", "content": placed.text}
                for placed in self._placed
                if (placed.after, placed.digest) == (position, digest)
            ]
            whole += messages[position : position + 1]
        return whole


def _digests(messages: Sequence[Message]) -> list[str]:
    """A digest of the first 0, 1, 2 ... messages: of what they say, since agents change how they write it."""
    seen = hashlib.sha256()
    digests = [seen.hexdigest()]
    for message in messages:
        calls = message.get("tool_calls")
        ids = [call.get("id") for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
        said = [message.get("role"), text_of(message), message.get("tool_call_id"), ids]
        seen.update(json.dumps(said, default=str).encode())
        digests.append(seen.hexdigest())
    return digests
