"""What a sample of Inspect keeps apart: long texts as attachments, and messages that many calls share."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from agentscope_tui.models.chat import Message
from agentscope_tui.store.imports.exchanged import Said
from agentscope_tui.store.imports.messages import as_text, text_of

_PROTOCOLS = ("attachment://", "tc://")
MOST_CHARACTERS = 1 << 28
"""Of attachments that are put in place, all together: one may be referred to any number of times."""
MOST_MESSAGES = 2_000_000
"""In all requests together, for the same reason."""


class Pools:
    """The attachments and messages of one sample."""

    def __init__(self, attachments: dict[str, Any], messages: Sequence[Any]) -> None:
        self._attachments = attachments
        self._messages = messages
        self._resolved: dict[int, Said | None] = {}
        self._characters = MOST_CHARACTERS
        self._left = MOST_MESSAGES
        self._used: set[str] = set()

    @property
    def unused(self) -> dict[str, Any]:
        """The attachments that were put in no place."""
        return {name: text for name, text in self._attachments.items() if name not in self._used}

    def whole(self, value: Any) -> Any:
        """A value with its attachments in their places."""
        match value:
            case str() if value.startswith(_PROTOCOLS):
                name = value.partition("://")[2]
                text = self._attachments.get(name)
                if not isinstance(text, str) or len(text) > self._characters:
                    return value
                self._characters -= len(text)
                self._used.add(name)
                return text
            case dict():
                return {key: self.whole(item) for key, item in value.items()}
            case list():
                return [self.whole(item) for item in value]
            case _:
                return value

    def request(self, messages: Sequence[Any], references: Any) -> list[Said]:
        """The messages of a request: those that it has itself, and those that it refers to by ranges."""
        found = [_said(self.whole(message)) for message in messages]
        for span in references if isinstance(references, list) else ():
            match span:
                case [int(start), int(end)] if 0 <= start < end:
                    end = min(end, len(self._messages), start + self._left)
                    found += [self._pooled(place) for place in range(start, end)]
                    self._left -= max(end - start, 0)
                case _:
                    pass
        return _numbered(found)

    def _pooled(self, place: int) -> Said:
        said = self._resolved.get(place)
        if said is None:
            said = self._resolved[place] = _said(self.whole(self._messages[place]))
        return said


def _numbered(messages: Sequence[Said]) -> list[Said]:
    """The same; a key that is there before is that of another message."""
    count: Counter[Any] = Counter()
    numbered = []
    for said in messages:
        count[said.key] += 1
        again = count[said.key] > 1
        numbered.append(replace(said, key=(said.key, count[said.key])) if again else said)
    return numbered


def _said(value: Any) -> Said:
    return Said(message_key(value), value, sent_message(value))


def message_key(value: Any) -> str:
    """What tells a message from others: its id, or in old logs all that it says."""
    if not isinstance(value, dict):
        return as_text(value)
    if isinstance(value.get("id"), str):
        return str(value["id"])
    calls = [call.get("id") for call in _objects(value.get("tool_calls"))]
    return json.dumps([value.get("role"), value.get("content"), value.get("tool_call_id"), calls])


def sent_message(value: Any) -> Message:
    """A message of Inspect in the shape of OpenAI."""
    if not isinstance(value, dict):
        return {"role": "user", "content": as_text(value)}
    role, content, problem = value.get("role"), value.get("content"), value.get("error")
    message: Message = {"role": role if isinstance(role, str) else "user"}
    if isinstance(content, list):
        message["content"] = [
            part if isinstance(part, dict) else {"type": "text", "text": as_text(part)}
            for part in content
            if not (isinstance(part, dict) and part.get("type") == "reasoning")
        ]
    else:
        message["content"] = "" if content is None else as_text(content)
    if message["role"] == "tool":
        message["tool_call_id"] = as_text(value.get("tool_call_id") or "")
        if isinstance(problem, dict) and not text_of(message):
            message["content"] = as_text(problem.get("message") or "")
    if message["role"] == "assistant" and (calls := _objects(value.get("tool_calls"))):
        message["tool_calls"] = [_sent_call(call) for call in calls]
    return message


def _sent_call(call: dict[str, Any]) -> dict[str, Any]:
    arguments = call.get("arguments")
    function = {
        "name": as_text(call.get("function") or ""),
        "arguments": as_text({} if arguments is None else arguments),
    }
    return {"id": as_text(call.get("id") or ""), "type": "function", "function": function}


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
