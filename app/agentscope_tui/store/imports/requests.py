"""The requests of an imported session, told as what each adds to an earlier one."""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agentscope_tui.models.chat import Message
from agentscope_tui.session.history import Difference

_REMEMBERED = 8
"""Requests that a new one is told from: agents in a file may have had several conversations at once."""


@dataclass(frozen=True)
class _Sent:
    """A request. `hashes[n]` has seen the JSON of the first n messages."""

    call: int
    messages: list[Message]
    hashes: list[Any]


class Requests:
    """As `Conversation`, for long histories: what two requests share is hashed once."""

    def __init__(self) -> None:
        self._sent: deque[_Sent] = deque(maxlen=_REMEMBERED)

    def advance(self, call: int, messages: Sequence[Message]) -> Difference:
        """Remember the request of `call`; returns how it differs from the one before that it goes on from."""
        base, kept = self._base(messages)
        hashes = list(base.hashes[: kept + 1]) if base else [hashlib.sha256(b"[")]
        for place in range(kept, len(messages)):
            one = hashes[-1].copy()
            one.update((b"," if place else b"") + _canonical(messages[place]))
            hashes.append(one)
        whole = hashes[-1].copy()
        whole.update(b"]")
        self._sent.append(_Sent(call, list(messages), hashes))
        return Difference(base.call if base else 0, kept, list(messages[kept:]), whole.hexdigest())

    def _base(self, messages: Sequence[Message]) -> tuple[_Sent | None, int]:
        best: tuple[_Sent | None, int] = (None, 0)
        for sent in reversed(self._sent):
            kept = _common_start(sent.messages, messages)
            if kept > best[1]:
                best = (sent, kept)
            if kept == len(sent.messages) and all(len(one.messages) <= kept for one in self._sent):
                # It goes on from this one, and none can share more.
                break
        return best


def _common_start(before: Sequence[Message], messages: Sequence[Message]) -> int:
    """As that of `session.history`; the same object is not looked into."""
    kept = 0
    for old, new in zip(before, messages, strict=False):
        if old is not new and old != new:
            break
        kept += 1
    return kept


def _canonical(message: Message) -> bytes:
    text = json.dumps(message, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass")
