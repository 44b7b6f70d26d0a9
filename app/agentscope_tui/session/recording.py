"""What models answered in recorded sessions, found again by what they were asked."""

from __future__ import annotations

import hashlib
import json
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from agentscope_tui.events import LlmRequestSent, SessionEvent
from agentscope_tui.models.chat import Completion, Message
from agentscope_tui.secrets import MASKER, MAX_DEPTH
from agentscope_tui.session.history import digest
from agentscope_tui.session.recorded_turns import RecordedCall, recorded_turns
from agentscope_tui.session.request_diff import described, request_changes

_THOUGHT = re.compile(r"\A<think>.*?</think>\s*", re.DOTALL)
_SCRATCH = re.compile(r"""(?<![^\s"'=(])[^\s"'=(]*\b\d{8}-\d{6}-row\d+-\w{4}/files\b""")
"""The folder where tools work: each session has one of its own, and tools tell its path."""
_OF_NO_WEIGHT = frozenset({"tool_call_id", "cache_control"})
"""Fields of messages that say nothing to a model."""


class Requests:
    """The requests of a recorded session, by the number of the call, each told as what it adds."""

    def __init__(self, events: Iterable[SessionEvent]) -> None:
        self._sent = {event.call: event for event in events if isinstance(event, LlmRequestSent)}

    @cached_property
    def chains(self) -> dict[int, list[bytes]]:
        """The digests of each request's beginnings; see `_chain`."""
        chains = {0: _chain([])}
        for call, event in self._sent.items():
            chains[call] = _chain(event.messages, chains.get(event.base, chains[0])[: event.kept + 1])
        return chains


@dataclass(frozen=True)
class RecordedAnswer:
    """One call of a recorded session, and what the agent got for it in the end."""

    session: str
    asked: RecordedCall
    requests: Requests

    @property
    def name(self) -> str:
        """How a user finds the call."""
        return f"call #{self.asked.number} of {self.session}"

    @property
    def completion(self) -> Completion | None:
        return None if self.failure else self.asked.completion

    @property
    def failure(self) -> str:
        return self.asked.failure

    @property
    def whole(self) -> bool:
        """Whether it can be given again: it was not cut off."""
        return self.asked.completion is not None or self.failure != ""


class Recording:
    """The calls of one session or of several, in order. Many models may read it at once."""

    def __init__(self, answers: Iterable[RecordedAnswer]) -> None:
        self.answers = list(answers)
        self._by_digest: defaultdict[str, list[int]] = defaultdict(list)
        for place, answer in enumerate(self.answers):
            self._by_digest[answer.asked.request.digest].append(place)
        self._last: tuple[Sequence[Message], list[bytes]] = ([], [b""])
        """What was looked for last, and its chain: several questions are asked about one request."""

    @property
    def sessions(self) -> int:
        """How many sessions it is of."""
        return len({answer.session for answer in self.answers})

    def find(self, messages: Sequence[Message]) -> list[int]:
        """The places of the calls that were asked just this, in order."""
        # A recording is masked, or another tool's: it may not have what was sent to the letter.
        return self._by_digest.get(digest(messages)) or self._by_chain.get(self._chain_of(messages)[-1], [])

    def nearest(self, messages: Sequence[Message], given: set[int]) -> int:
        """The place of the call whose request has most in common at its start; of several the first that is
        not among the `given` ones."""
        asked = self._chain_of(messages)

        def rank(place: int) -> tuple[int, bool, int]:
            return _common(self._chains[place], asked), place not in given, -place

        return max(range(len(self.answers)), key=rank)

    def differences(self, place: int, messages: Sequence[Message]) -> str:
        """How a request differs from the one that a call was asked, a line for each message."""
        same = _common(self._chains[place], self._chain_of(messages))
        recorded = self.answers[place].asked.request.messages
        changes = request_changes([*map(_plain, recorded[same:])], [*map(_plain, messages[same:])])
        told = [replace(change, position=same + change.position) for change in changes]
        return described([change for change in told if change.kind != "kept"], most=4)

    def _chain_of(self, messages: Sequence[Message]) -> list[bytes]:
        if self._last[0] is not messages:
            self._last = messages, _chain(messages)
        return self._last[1]

    @cached_property
    def _chains(self) -> list[list[bytes]]:
        return [answer.requests.chains[answer.asked.number] for answer in self.answers]

    @cached_property
    def _by_chain(self) -> dict[bytes, list[int]]:
        found: defaultdict[bytes, list[int]] = defaultdict(list)
        for place, chain in enumerate(self._chains):
            found[chain[-1]].append(place)
        return dict(found)


def recorded_answers(session: str, events: Iterable[SessionEvent]) -> list[RecordedAnswer]:
    """The model calls that a session's events tell of."""
    events = list(events)
    requests = Requests(events)
    return [RecordedAnswer(session, call, requests) for turn in recorded_turns(events) for call in turn.calls]


def _chain(messages: Sequence[Message], known: Sequence[bytes] = ()) -> list[bytes]:
    """A digest of no message, of the first, of the first two and so on, as they are `_plain`."""
    chain = list(known) or [b""]
    for message in messages:
        text = json.dumps(_plain(message), sort_keys=True, ensure_ascii=False, default=str)
        chain.append(hashlib.sha256(chain[-1] + text.encode("utf-8", "surrogatepass")).digest())
    return chain


def _common(one: Sequence[bytes], other: Sequence[bytes]) -> int:
    """How many messages at the start two chains have in common."""
    most = min(len(one), len(other))
    return bisect_left(range(most), True, key=lambda place: one[place] != other[place]) - 1


def _plain(message: Message) -> Message:
    """A message as the agent means it: masked, without the ids of calls, what only the provider put into it
    (reasoning, signatures) and where the session's files are. Two spellings of one thing become the same."""
    role = "system" if message.get("role") == "developer" else message.get("role")
    content = _content(message.get("content"))
    if role == "assistant":
        calls = message.get("tool_calls")
        others = {"tool_calls": [*map(_call, calls)] if isinstance(calls, list) else None}
        content = _THOUGHT.sub("", content) if isinstance(content, str) else content
    else:
        others = {name: value for name, value in message.items() if name not in _OF_NO_WEIGHT}
    fields = {**others, "role": role, "content": content}
    shape = {name: value for name, value in fields.items() if value not in (None, "", [])}
    masked: Message = MASKER.masked(_anywhere(shape))
    return masked


def _anywhere(value: Any, depth: int = 0) -> Any:
    """JSON data in whose texts no folder of a session stands."""
    match value:
        case str():
            return _SCRATCH.sub("./files", value) if "/files" in value else value
        case dict() | list() if depth > MAX_DEPTH:
            return "…"
        case dict():
            return {name: _anywhere(item, depth + 1) for name, item in value.items()}
        case list():
            return [_anywhere(item, depth + 1) for item in value]
        case _:
            return value


def _content(content: Any) -> Any:
    """Text that is in parts is one text."""
    if not isinstance(content, list):
        return content
    parts = [_without_weight(part) if isinstance(part, dict) else part for part in content]
    if all(isinstance(part, dict) and part.get("type") == "text" for part in parts):
        return "".join(str(part.get("text", "")) for part in parts)
    return parts


def _without_weight(part: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in part.items() if name not in _OF_NO_WEIGHT}


def _call(call: Any) -> Any:
    """A tool call by its name and its arguments, however these are spaced."""
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return {"function": {"name": None, "arguments": call}}
    arguments = function.get("arguments")
    try:
        arguments = json.dumps(json.loads(str(arguments)), sort_keys=True, ensure_ascii=False)
    except (ValueError, RecursionError):
        pass
    return {"function": {"name": function.get("name"), "arguments": arguments}}
