"""OpenAI chat JSON lines: the conversation of a session as one example, ready for fine-tuning.

An example is `{"messages": [...], "tools": [...]}`: what the last answered call was sent, and its answer. It
keeps OpenAI's rules: each tool call has one result and each result its call, arguments are JSON text, the
last message is the assistant's, and no answer in it was cut off.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, TextIO

from agentscope_tui.events import (
    AssistantMessage,
    ErrorOccurred,
    LlmRequestSent,
    Paused,
    Resumed,
    SessionEvent,
    SessionStarted,
)
from agentscope_tui.models.chat import Message
from agentscope_tui.session.exchanges import Exchanges
from agentscope_tui.session.history import mend
from agentscope_tui.session.tally import Tally
from agentscope_tui.store.export.formats import Choices
from agentscope_tui.store.export.source import STREAMED, Source

_FIELDS = {
    "system": ("role", "content", "name"),
    "developer": ("role", "content", "name"),
    "user": ("role", "content", "name"),
    "assistant": ("role", "content", "name", "refusal", "tool_calls"),
    "tool": ("role", "content", "tool_call_id"),
}
_REASONING = ("reasoning_content", "reasoning")
_THOUGHT = re.compile(r"\A<think>.*?</think>\s*", re.DOTALL)


def write(source: Source, out: TextIO, choices: Choices) -> bool:
    """Write one line; False, and nothing, for a session that was not answered or has too low a reward."""
    chat, tally = _Chat(), Tally()
    for event in source.events(without=STREAMED):
        chat.apply(event)
        tally.apply(event)
    if choices.min_reward is not None and (tally.reward is None or tally.reward < choices.min_reward):
        had = "has no reward" if tally.reward is None else f"has reward {tally.reward:g}"
        choices.say(f"{source.name} {had}: left out")
        return False
    if chat.last is None:
        choices.say(f"{source.name} has no model call that was answered: left out")
        return False
    if chat.others:
        calls = ", ".join(f"#{call}" for call in chat.others[:10])
        choices.say(
            f"{source.name} has more than one conversation: the one that ends with call #{chat.last} is "
            f"written, not those that end with {calls}"
        )
    out.write(json.dumps(chat.example(reasoning=choices.reasoning), ensure_ascii=False) + "\n")
    return True


class _Chat:
    """The requests and whole answers of a session, and which call ends a conversation."""

    def __init__(self) -> None:
        self.last: int | None = None
        """The newest call with a whole answer."""
        self._exchanges = Exchanges()
        self._reasoning: dict[int, str] = {}
        self._offered: dict[int, list[str]] = {}
        self._continued: dict[int, int] = {}
        self._lengths: dict[int, int] = {}
        self._answered: set[int] = set()
        self._held: dict[int, int] = {}
        self._tools: list[dict[str, Any]] = []
        self._all_offered = False

    def apply(self, event: SessionEvent) -> None:
        match event:
            case SessionStarted():
                self._tools = event.tools
                # Files of other tools tell which tools there were, not which of them a call was offered.
                self._all_offered = not event.version
            case LlmRequestSent():
                self._exchanges.sent(event)
                self._offered[event.call] = event.tools
                self._lengths[event.call] = event.kept + len(event.messages)
                if event.base and event.kept == self._lengths.get(event.base):
                    self._continued[event.base] = event.call
            case AssistantMessage(partial=False):
                self._exchanges.answered(event)
                self._reasoning[event.call] = event.reasoning
                self._answered.add(event.call)
                self.last = max(self._answered)
            case AssistantMessage() | ErrorOccurred(source="model", call=int()):
                self._take_back(event.call)
            case Paused(step="completion"):
                self._held[event.hold] = event.call
            case Resumed(decision="refuse") if event.hold in self._held:
                self._take_back(self._held[event.hold])
            case _:
                pass

    def _take_back(self, call: int | None) -> None:
        """The agent did not get this answer."""
        self._answered.discard(call or 0)
        self.last = max(self._answered, default=None)

    @property
    def others(self) -> list[int]:
        """The calls that end other conversations than the last one."""
        return sorted(call for call in self._answered if call != self.last and not self._goes_on(call))

    def _goes_on(self, call: int) -> bool:
        """Whether an answered call's request is the beginning of a later one's."""
        later = self._continued.get(call)
        return later is not None and (later in self._answered or self._goes_on(later))

    def example(self, *, reasoning: bool) -> dict[str, Any]:
        """The last conversation as one example."""
        assert self.last is not None
        reply = self._exchanges.reply(self.last)
        assert reply is not None
        if thought := self._reasoning.get(self.last):
            reply = {**reply, "reasoning_content": thought}
        sent, _ = mend(self._exchanges.request(self.last))
        messages = [_clean(message, reasoning) for message in (*sent, reply)]
        example: dict[str, Any] = {"messages": messages}
        names = self._offered.get(self.last) or (self._known if self._all_offered else ())
        if tools := self._declared(names):
            example["tools"] = tools
        return example

    @property
    def _known(self) -> dict[str, dict[str, Any]]:
        return {str(tool.get("name")): tool for tool in (one.get("function", one) for one in self._tools)}

    def _declared(self, names: Iterable[str]) -> list[dict[str, Any]]:
        """The tools of these names, as OpenAI declares them; one that only its name is known of has no
        parameters."""
        known = self._known
        return [
            {"type": "function", "function": known.get(name, {"name": name, "parameters": _NOTHING})}
            for name in names
        ]


_NOTHING = {"type": "object", "properties": {}}


def _clean(message: Message, reasoning: bool) -> Message:
    """Only what an example may have."""
    role = str(message.get("role"))
    fields = _FIELDS.get(role, _FIELDS["user"])
    kept = {name: message[name] for name in fields if name in message}
    if role != "assistant":
        return kept
    if calls := [_clean_call(call) for call in message.get("tool_calls") or ()]:
        kept["tool_calls"] = calls
    else:
        kept.pop("tool_calls", None)
        kept["content"] = kept.get("content") or ""
    if reasoning:
        kept |= {name: message[name] for name in _REASONING if message.get(name)}
    elif isinstance(text := kept.get("content"), str):
        kept["content"] = _THOUGHT.sub("", text) or ("" if not calls else None)
    return kept


def _clean_call(call: dict[str, Any]) -> dict[str, Any]:
    function = call.get("function") or {}
    arguments = function.get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    named = {"name": str(function.get("name")), "arguments": text}
    return {"id": str(call.get("id")), "type": "function", "function": named}
