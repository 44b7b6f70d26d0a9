"""A conversation as a text to read: what a grader's function, or a judge, gets of it."""

from __future__ import annotations

from collections.abc import Iterable

from agentscope_tui.models.chat import Message
from agentscope_tui.session.earlier import told


def transcript_of(messages: Iterable[Message]) -> str:
    """Each message under a heading with its role; tool calls as `→ name arguments`."""
    return "\n\n".join(f"[{message.get('role', '?')}]\n{told(message)}".rstrip() for message in messages)
