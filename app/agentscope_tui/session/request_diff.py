"""What one model call was sent that another was not: messages added, removed and altered.

Also how a request differs from a recorded one, of which all texts are masked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import dropwhile, zip_longest
from typing import Literal

from agentscope_tui.models.chat import Message
from agentscope_tui.secrets import MASKER
from agentscope_tui.session.earlier import SYSTEM_ROLES, told
from agentscope_tui.session.history import common_start, digest

ChangeKind = Literal["kept", "added", "removed", "altered"]

_SIGNS = {"added": "+", "removed": "-", "altered": "~"}
_EXCERPT = 80
"""Characters of a message in a line about it."""


@dataclass(frozen=True, slots=True)
class MessageChange:
    """One message of the later request, or one that only the earlier had (`removed`).

    `before` is what an `altered` message was. `position` counts the later request's messages from 0; a
    removed message has the position of the one that follows it.
    """

    kind: ChangeKind
    position: int
    message: Message
    before: Message | None = None


def request_changes(before: Sequence[Message], after: Sequence[Message]) -> list[MessageChange]:
    """How `after` came from `before`: every message of both, in order.

    Requests mostly grow at their end, so the common start is found first and is cheap.
    """
    same = common_start(before, after)
    changes = [MessageChange("kept", place, after[place]) for place in range(same)]
    old, new = before[same:], after[same:]
    matcher = SequenceMatcher(None, [*map(_canonical, old)], [*map(_canonical, new)], autojunk=False)
    for tag, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if tag == "equal":
            changes += [MessageChange("kept", same + place, new[place]) for place in range(new_from, new_to)]
        else:
            changes += _replaced(old[old_from:old_to], new[new_from:new_to], same + new_from)
    return changes


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A recorded request: the number of its call, the digest of what was really sent, and where its messages,
    with secrets masked, are read."""

    call: int
    digest: str
    read: Callable[[int], list[Message]]

    @property
    def messages(self) -> list[Message]:
        return self.read(self.call)


def deviation(
    recorded: SentRequest, messages: Sequence[Message], *, system: bool = True
) -> list[MessageChange]:
    """How a request differs from the recorded one, without what is the same in both; empty: not at all.

    Without `system` the system messages that both begin with may differ. What says the same to a model is no
    difference: other ids of tool calls, a text as a list of parts.
    """
    if recorded.digest and recorded.digest == digest(list(messages)):
        return []
    before, after = recorded.messages, MASKER.masked(list(messages))
    if not system:
        before, after = _without_system(before), _without_system(after)
    return [
        change
        for change in request_changes(before, after)
        if change.kind != "kept" and not _says_the_same(change)
    ]


def _says_the_same(change: MessageChange) -> bool:
    return change.before is not None and told(change.before).strip() == told(change.message).strip()


def described(changes: Sequence[MessageChange], most: int = 8) -> str:
    """The changes in words, a line each: a sign, the message's number from 1, its role and what it says."""
    lines = [_line(change) for change in changes[:most]]
    if len(changes) > most:
        lines.append(f"… {len(changes) - most} more")
    return "\n".join(lines)


def _line(change: MessageChange) -> str:
    text = told(change.message)
    if change.before is not None:
        was = told(change.before)
        start = next(
            (place for place, (old, new) in enumerate(zip(was, text, strict=False)) if old != new),
            min(len(was), len(text)),
        )
        start = max(0, start - _EXCERPT // 4)
        text = f"{_short(was[start:])} → {_short(text[start:])}"
    else:
        text = _short(text)
    return f"{_SIGNS[change.kind]} message {change.position + 1} ({change.message.get('role')}): {text}"


def _short(text: str) -> str:
    line = " ".join(text[: 2 * _EXCERPT].split())
    return line if len(line) <= _EXCERPT else line[: _EXCERPT - 1] + "…"


def _without_system(messages: list[Message]) -> list[Message]:
    return [*dropwhile(lambda message: message.get("role") in SYSTEM_ROLES, messages)]


def _replaced(old: Sequence[Message], new: Sequence[Message], position: int) -> Iterator[MessageChange]:
    """One stretch for another: messages of the same role at the same place are altered ones."""
    for place, (was, now) in enumerate(zip_longest(old, new)):
        if was is not None and now is not None and was.get("role") == now.get("role"):
            yield MessageChange("altered", position + place, now, was)
            continue
        if was is not None:
            yield MessageChange("removed", position + min(place, len(new)), was)
        if now is not None:
            yield MessageChange("added", position + place, now)


def _canonical(message: Message) -> str:
    return json.dumps(message, sort_keys=True, ensure_ascii=False, default=str)
