"""What one model call was sent that another was not: messages added, removed and altered."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Literal

from agentscope_tui.models.chat import Message
from agentscope_tui.session.history import common_start

ChangeKind = Literal["kept", "added", "removed", "altered"]


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
