"""What can be edited where a session is forked: each as a text, and the edit that the text becomes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from agentscope_tui.errors import UserError
from agentscope_tui.events import UserMessageSent
from agentscope_tui.models.chat import Completion
from agentscope_tui.session.forking import (
    Edit,
    EditedArguments,
    EditedMessage,
    EditedReply,
    EditedResult,
    EditedSystem,
    system_of,
)
from agentscope_tui.session.recorded_turns import RecordedCall, RecordedTurn, recorded_turns
from agentscope_tui.session.tool_calls import SUBMIT
from agentscope_tui.session.views import Entry
from agentscope_tui.store.past import PastSession
from agentscope_tui.tui.editing import edited_arguments, edited_reply, reply_text

AGAIN = "again"


@dataclass(frozen=True)
class ForkChoice:
    """One thing to edit: its name in `key`, what it is, its text, and the edit that a text is.

    `edit` None: nothing is edited, the call is only made again.
    """

    key: str
    title: str
    text: str = ""
    edit: Callable[[str], Edit] | None = None


@dataclass(frozen=True)
class ForkPlace:
    """Where the user wants to fork: the call, what can be edited there, and what is meant most likely."""

    call: int
    choices: Sequence[ForkChoice]
    likely: int


def place_of(past: PastSession, entry: Entry | None) -> ForkPlace:
    """For the transcript entry under the cursor (None: the last call). For a thread: it may be long.

    Raises:
        UserError: no model call was made.
    """
    turns = recorded_turns(past.events, own_results=True)
    turn, call = _call_of(past, turns, entry)
    choices = [*_of_call(call), *_of_messages(turn, call), *_rest(past, call)]
    wanted = _likely(past, entry)
    keys = [choice.key for choice in choices]
    likely = next((keys.index(key) for key in wanted if key in keys), 0)
    return ForkPlace(call.number, choices, likely)


def _call_of(
    past: PastSession, turns: Sequence[RecordedTurn], entry: Entry | None
) -> tuple[RecordedTurn, RecordedCall]:
    """The call that an entry belongs to: a message belongs to the first call after it."""
    places = [(turn, call) for turn in turns for call in turn.calls]
    if not places:
        raise UserError("no model call was made in this session: there is nothing to fork")
    if entry is None:
        return places[-1]
    if entry.call is not None:
        return next((place for place in places if place[1].number >= entry.call), places[-1])
    sent = _message_at(past, entry)
    return next((place for place in places if sent and place[0].message.msg_id == sent.msg_id), places[-1])


def _of_call(call: RecordedCall) -> Iterator[ForkChoice]:
    completion = call.completion or Completion()
    results = {result.call_id: result for result in call.results}
    for part in completion.tool_calls:
        name = part.function.name
        if (result := results.get(part.id)) is not None and name != SUBMIT:
            edit = partial(EditedResult, part.id)
            yield ForkChoice(f"result {part.id}", f"result of {name}", result.content, edit)
        arguments = _pretty(part.function.arguments)
        title = f"arguments of {name}"
        yield ForkChoice(f"arguments {part.id}", title, arguments, partial(_arguments, part.id))
    title = "reply, in place of the error" if call.failure else "reply"
    yield ForkChoice("reply", title, reply_text(completion), partial(_reply, completion))


def _arguments(call_id: str, text: str) -> Edit:
    return EditedArguments(call_id, json.dumps(edited_arguments(text), ensure_ascii=False))


def _reply(reply: Completion, text: str) -> Edit:
    return EditedReply(edited_reply(reply, text))


def _of_messages(turn: RecordedTurn, call: RecordedCall) -> Iterator[ForkChoice]:
    sent = [*(("steer", steer) for steer in call.steers), ("user message", turn.message)]
    for title, message in sent:
        edit = partial(EditedMessage, message.msg_id)
        yield ForkChoice(f"message {message.msg_id}", title, message.text, edit)


def _rest(past: PastSession, call: RecordedCall) -> Iterator[ForkChoice]:
    yield ForkChoice("system", "system prompt", system_of(past, call.number), EditedSystem)
    yield ForkChoice(AGAIN, f"nothing: only make call #{call.number} again")


def _likely(past: PastSession, entry: Entry | None) -> list[str]:
    """The keys of what the user may mean, best first."""
    match entry:
        case None:
            return []
        case Entry(kind="tool"):
            return [f"result {entry.call_id}", f"arguments {entry.call_id}"]
        case Entry(kind="paused", call_id=str() as call_id):
            return [f"result {call_id}" if entry.status == "tool_result" else f"arguments {call_id}"]
        case Entry(kind="assistant" | "reasoning" | "paused" | "error"):
            return ["reply"]
        case Entry(kind="steer"):
            return [f"message {entry.key.removeprefix('steer ')}"]
        case Entry(kind="user"):
            sent = _message_at(past, entry)
            return [f"message {sent.msg_id}"] if sent else []
        case Entry(kind="earlier"):
            return ["system"]
        case _:
            return [AGAIN]


def _message_at(past: PastSession, entry: Entry) -> UserMessageSent | None:
    """The user message that an entry shows; else the last one before it."""
    sent = [event for event in past.events if isinstance(event, UserMessageSent)]
    shown = next((event for event in sent if entry.key == f"user {event.seq}"), None)
    before = (event for event in reversed(sent) if event.at <= entry.at)
    return shown or next(before, None)


def _pretty(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments or "{}"), indent=2, ensure_ascii=False)
    except ValueError:
        return arguments
