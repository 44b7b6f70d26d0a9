"""A session as calls and their parts, without what differs from run to run: ids, times, numbers of tokens."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from agentscope_tui.session.state import SessionState
from agentscope_tui.session.views import CallView, Entry

PartKind = Literal[
    "system",
    "tools",
    "earlier",
    "user",
    "steer",
    "reasoning",
    "assistant",
    "tool",
    "answer",
    "interrupted",
    "limit",
    "error",
    "reward",
]

_OF_ENTRIES: frozenset[PartKind] = frozenset(
    ("earlier", "user", "steer", "reasoning", "interrupted", "limit", "error")
)
"""The kinds of transcript entries that are parts as they are; of the others some are left out: that a step
waited, or what an imported file had besides, is no difference of what was done."""


@dataclass(frozen=True, slots=True)
class Part:
    """Something that was said or done. Two parts that are equal are no difference.

    `name` is a tool's, a role or a grader's; `text` what was said, a tool's arguments as JSON, a reward. A
    tool call has a `result` as the model read it, a `state` and perhaps an `exit_code`.
    """

    kind: PartKind
    name: str = ""
    text: str = ""
    result: str = ""
    state: str = ""
    exit_code: int | None = None

    @property
    def told(self) -> str:
        """The whole part as a text to read."""
        return "\n\n".join(text for text in (self.text, self.result) if text)


@dataclass(frozen=True)
class Call:
    """A model call with all that belongs to it: the messages before it, what it answered, what its tools did.

    `number` 0 is what there was before the first: the system prompt, the tools, earlier messages.
    """

    number: int
    parts: tuple[Part, ...]

    @cached_property
    def content(self) -> str:
        """The same for calls that do not differ."""
        return repr(self.parts)

    @cached_property
    def proposal(self) -> str:
        """The same for calls that want the same of the tools; without tools, that say the same."""
        tools = [(part.name, part.text) for part in self.parts if part.kind == "tool"]
        return repr(tools or [part.text for part in self.parts if part.kind == "assistant"])

    @property
    def tools(self) -> str:
        """The names of the tools that it calls, in their order."""
        return " ".join(part.name for part in self.parts if part.kind == "tool")


FOLDER = "<session>"
"""What stands for the folder of a session, which is another one for each."""


def folders_of(states: Iterable[SessionState]) -> list[str]:
    """The folders of sessions that are compared. A fork tells of its parent's too, in what was replayed."""
    folders = {state.started.folder for state in states if state.started is not None}
    return sorted(filter(None, folders), key=len, reverse=True)


def calls_of(state: SessionState, folders: Sequence[str] = ()) -> list[Call]:
    """A session as calls in their order, the first of them number 0, without the names of these folders.

    A user message, and what else is of no call, belongs to the call that follows it, at the end to the last.
    """
    calls: dict[int, list[Part]] = {0: [*_before(state)]}
    coming: list[Part] = []
    last = 0
    for entry in state.entries:
        parts = [_without(part, folders) for part in _parts(state, entry)]
        if entry.call is not None:
            last = entry.call
            calls.setdefault(last, []).extend([*coming, *parts])
            coming = []
        elif entry.kind == "user":
            coming += parts
        else:
            (coming or calls[last]).extend(parts)
    calls[last] += coming
    return [Call(number, tuple(parts)) for number, parts in calls.items()]


def _without(part: Part, folders: Sequence[str]) -> Part:
    text, result = part.text, part.result
    for folder in folders:
        text, result = text.replace(folder, FOLDER), result.replace(folder, FOLDER)
    return replace(part, text=text, result=result) if folders else part


def _before(state: SessionState) -> Iterator[Part]:
    if state.started is None:
        return
    if state.started.system:
        yield Part("system", text=state.started.system)
    if state.started.tools:
        tools = sorted(state.started.tools, key=lambda tool: str(tool.get("name")))
        yield Part("tools", text=json.dumps(tools, indent=2, sort_keys=True, ensure_ascii=False))


def _parts(state: SessionState, entry: Entry) -> Iterator[Part]:
    """What an entry of the transcript comes to, if anything."""
    match entry.kind:
        case "tool":
            call = state.call_view(entry.call_id or "")
            if call is not None:
                yield _tool(call)
        case "assistant":
            if entry.text or entry.partial:
                yield Part("assistant", text=entry.text, state="cut off" if entry.partial else "")
        case "reward" if not entry.provisional:
            reward = "no reward" if entry.reward is None else f"{entry.reward:g}"
            yield Part("reward", entry.status, reward, entry.text)
        case "note" if entry.status == "answer":
            yield Part("answer", text=entry.text)
        case kind if kind in _OF_ENTRIES:
            yield Part(kind, entry.status, entry.text)
        case _:
            pass


def _tool(call: CallView) -> Part:
    reason = call.reason if call.reason != call.content else ""
    result = "\n\n".join(text for text in (call.content, reason) if text)
    return Part("tool", call.name, plain_arguments(call.arguments), result, call.state, call.exit_code)


def plain_arguments(text: str) -> str:
    """Arguments of a tool call so that the order of their names is no difference."""
    try:
        return json.dumps(json.loads(text), indent=2, sort_keys=True, ensure_ascii=False)
    except ValueError:
        return text
