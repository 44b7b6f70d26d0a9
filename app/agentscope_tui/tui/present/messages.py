"""A request as sections to read: its messages, and what changed in them since the call before."""

from __future__ import annotations

import difflib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agentscope_tui.models.chat import Message
from agentscope_tui.models.estimate import estimate_tokens
from agentscope_tui.session.request_diff import ChangeKind, MessageChange, request_changes
from agentscope_tui.session.state import SessionState
from agentscope_tui.session.steering import text_of
from agentscope_widgets.blocks import Block
from agentscope_widgets.look import Tone

_MARKS: Mapping[ChangeKind, tuple[str, str, Tone]] = {
    "kept": ("", "", "normal"),
    "added": ("+ ", "added", "success"),
    "removed": ("− ", "removed", "error"),
    "altered": ("~ ", "altered", "warning"),
}


@dataclass(frozen=True)
class Request:
    """What one call sends. `call` None: the next one, as far as it is known now."""

    call: int | None
    changes: Sequence[MessageChange]
    """Against the call before it; all are added in the first."""
    waiting: Sequence[Message] = ()
    """Steers that the next call will take, if nothing else happens."""

    @property
    def messages(self) -> list[Message]:
        """The messages in order."""
        return [change.message for change in self.changes if change.kind != "removed"]

    @property
    def title(self) -> str:
        """What is shown: the call, its size, and the changes in short."""
        name = "next call" if self.call is None else f"call #{self.call}"
        tokens = sum(map(estimate_tokens, self.messages))
        counts = Counter(change.kind for change in self.changes)
        changed = " ".join(
            f"{sign.strip()}{counts[kind]}" for kind, (sign, _, _) in _MARKS.items() if sign and counts[kind]
        )
        return f"{name} · {len(self.messages)} messages · ~{tokens:,} tok · {changed or 'no change'}"


def request_of(state: SessionState, call: int | None) -> Request:
    """The request of a call, or of the next one (None)."""
    if call is not None:
        before = state.request_messages(call - 1) if call > 1 else []
        return Request(call, request_changes(before, state.request_messages(call)))
    sent = state.request_messages(state.call)
    waiting = [
        {"role": "user", "content": steer.text}
        for steer in state.steers
        if steer.status in ("queued", "handed_over")
    ]
    return Request(None, request_changes(sent, [*sent, *_come_since(state), *waiting]), waiting)


def _come_since(state: SessionState) -> list[Message]:
    """What the last call brought: its answer, and the results that are there."""
    reply = state.reply(state.call)
    if reply is None:
        return []
    calls = [state.call_view(part["id"]) for part in reply.get("tool_calls", [])]
    results: list[Message] = [
        {"role": "tool", "tool_call_id": call.call_id, "content": call.content}
        for call in calls
        if call is not None and call.content
    ]
    return [reply, *results]


def blocks_of(request: Request, *, as_json: bool, only_changes: bool) -> list[Block]:
    """The request's messages as blocks; each says what became of it and about how long it is."""
    return [
        _block(number, change, request, as_json)
        for number, change in enumerate(request.changes)
        if change.kind != "kept" or not only_changes
    ]


def parameters_block(state: SessionState, request: Request) -> Block:
    """What is sent beside the messages."""
    sent = state.request_parameters(request.call or state.call)
    return Block(
        key="parameters",
        kind="parameters",
        title="parameters",
        body=json.dumps(sent, indent=2, ensure_ascii=False, default=str),
        format="json",
        foldable=True,
        folded=True,
        summary=" · ".join(f"{name} {value}" for name, value in sent.items() if not isinstance(value, list)),
        tone="muted",
    )


def _block(number: int, change: MessageChange, request: Request, as_json: bool) -> Block:
    message = change.message
    sign, word, tone = _MARKS[change.kind]
    role = str(message.get("role"))
    title = f"{sign}[{change.position}] {role}"
    if role == "tool":
        title += f" · {message.get('tool_call_id')}"
    if request.call is None and change.kind == "added":
        word = "waits in the queue" if message in request.waiting else "comes in"
    tokens = _tokens(change)
    return Block(
        key=f"message {number}",
        kind=change.kind,
        title=title,
        body=_body(change, as_json),
        format="json" if as_json and change.kind != "altered" else "plain",
        margin=tuple(part for part in (word, tokens) if part),
        tone=tone,
        foldable=True,
        summary=text_of(message).partition("\n")[0],
    )


def _tokens(change: MessageChange) -> str:
    now = estimate_tokens(change.message)
    if change.before is None:
        return f"~{now:,} tok"
    return f"~{estimate_tokens(change.before):,} → {now:,} tok"


def _body(change: MessageChange, as_json: bool) -> str:
    now = _text(change.message, as_json)
    if change.before is None:
        return now
    was = _text(change.before, as_json)
    if was == now:
        return f"(only other fields changed)\n{_difference(_json(change.before), _json(change.message))}"
    return _difference(was, now)


def _difference(was: str, now: str) -> str:
    """The lines of both, those that went marked `-`, those that came `+`."""
    lines = difflib.ndiff(was.splitlines(), now.splitlines())
    return "\n".join(line for line in lines if not line.startswith("?"))


def _text(message: Message, as_json: bool) -> str:
    if as_json:
        return _json(message)
    parts = [text_of(message)]
    for call in message.get("tool_calls") or []:
        function = call.get("function", {})
        parts.append(f"→ {function.get('name')} · {call.get('id')}\n{function.get('arguments')}")
    return "\n\n".join(part for part in parts if part)


def _json(message: Message) -> str:
    return json.dumps(message, indent=2, ensure_ascii=False, default=str)
