"""All messages as they are sent to the model: roles, tool calls, ids, and the JSON itself."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import ClassVar

from agentscope_tui.models.chat import Message
from agentscope_tui.session.state import SessionState
from agentscope_tui.session.steering import text_of
from agentscope_tui.tui.screens.detail import DetailScreen
from agentscope_widgets.blocks import Block

SENT = "sent"
NEXT = "goes into the next call"


class MessagesScreen(DetailScreen):
    """The last request, its answer, and the steers that wait: what the next call will carry."""

    HEADING: ClassVar[str] = "Messages"

    def __init__(self, state: SessionState) -> None:
        super().__init__()
        self._state = state

    def blocks(self, as_json: bool) -> Sequence[Block]:
        return [
            _block(position, message, standing, as_json)
            for position, (message, standing) in enumerate(_messages(self._state))
        ]


def _messages(state: SessionState) -> Iterator[tuple[Message, str]]:
    """Each message with where it stands: sent with the last call, or due in the next one."""
    for message in state.request_messages(state.call):
        yield message, f"{SENT} with call #{state.call}"
    reply = state.reply(state.call)
    if reply is not None:
        yield reply, NEXT
        for part in reply.get("tool_calls", []):
            call = state.call_view(part["id"])
            if call is not None and call.content:
                yield {"role": "tool", "tool_call_id": part["id"], "content": call.content}, NEXT
    for steer in state.steers:
        if steer.status in ("queued", "handed_over"):
            yield {"role": "user", "content": steer.text}, f"{steer.status.replace('_', ' ')}: {NEXT}"


def _block(position: int, message: Message, standing: str, as_json: bool) -> Block:
    role = str(message.get("role"))
    title = f"[{position}] {role}"
    if role == "tool":
        title += f" · {message.get('tool_call_id')}"
    body = json.dumps(message, indent=2, ensure_ascii=False) if as_json else _text(message)
    return Block(
        key=f"message {position}",
        kind=role,
        title=title,
        body=body,
        format="json" if as_json else "plain",
        margin=(standing,),
        tone="normal" if standing.startswith(SENT) else "accent",
        foldable=True,
        summary=text_of(message).partition("\n")[0],
    )


def _text(message: Message) -> str:
    parts = [text_of(message)]
    for call in message.get("tool_calls") or []:
        function = call.get("function", {})
        parts.append(f"→ {function.get('name')} · {call.get('id')}\n{function.get('arguments')}")
    return "\n\n".join(part for part in parts if part)
