"""Forks: a new session that is like a past one up to a call, and goes on live from there, with an edit.

Nothing here runs; a `Plan` says what `Replay` is to give again and what is different from then on.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from agentscope_tui.errors import UserError
from agentscope_tui.events import LlmRequestSent, ModelChanged, SessionEvent, ToolCallStarted
from agentscope_tui.models.chat import Completion, ToolCallPart
from agentscope_tui.session.amending import Amendments
from agentscope_tui.session.ancestry import RESUMED
from agentscope_tui.session.earlier import leading_system
from agentscope_tui.session.exchanges import Exchanges
from agentscope_tui.session.recorded_turns import RecordedCall, RecordedTurn, SentMessage, recorded_turns
from agentscope_tui.store.past import PastSession

_SHOWN = 60
"""Characters of what was edited, in the words about it."""


class NoSuchPlace(UserError):
    """The recording has no such call, message or tool call to fork at."""


@dataclass(frozen=True)
class EditedMessage:
    """Another text of a user message or of a steer, by its id."""

    msg_id: str
    text: str


@dataclass(frozen=True)
class EditedSystem:
    """Another system prompt, from the call on."""

    text: str


@dataclass(frozen=True)
class EditedReply:
    """Another completion of the call; its tools run anew."""

    completion: Completion


@dataclass(frozen=True)
class EditedArguments:
    """Other arguments (JSON text) of a tool call of the call, as if the model had written them."""

    call_id: str
    arguments: str


@dataclass(frozen=True)
class EditedResult:
    """Another result of a tool call of the call, as if the tool had given it."""

    call_id: str
    content: str


Edit = EditedMessage | EditedSystem | EditedReply | EditedArguments | EditedResult


@dataclass(frozen=True)
class Fork:
    """Where a session parts from a past one, and how: `edit` is of `call`, None goes on without one.

    `call` None is the end of what is recorded. `model` and `temperature` None: as before.
    """

    past: PastSession
    call: int | None = None
    edit: Edit | None = None
    model: str | None = None
    temperature: float | None = None

    @property
    def resumes(self) -> bool:
        """Whether it only goes on where the past session ended."""
        return self.call is None and self.edit is None


@dataclass(frozen=True)
class Plan:
    """What a fork comes to.

    `turns` are replayed. `call` is the first call that is not the recording's; before it `files_at` is the
    call whose files are the ones to begin with (None: those at the end). `change` says it in words.
    """

    turns: Sequence[RecordedTurn]
    call: int
    change: str
    files_at: int | None = None
    system: str | None = None
    amendments: Amendments = field(default_factory=Amendments)
    model: str | None = None
    runs_again: Sequence[str] = ()
    """Names of tools of the agent's own process, which run again in the replay."""


def plan_of(fork: Fork, *, own_results: bool = False) -> Plan:
    """What has to be replayed and changed for a fork; `own_results` as in `recorded_turns`.

    Raises:
        NoSuchPlace: the recording has not got what is edited.
    """
    events = fork.past.events
    recording = _Recording(events, recorded_turns(events, own_results=own_results))
    plan = _edited(fork, recording)
    replayed = {call.number for turn in plan.turns for call in turn.calls}
    own = [] if own_results else _own_tools(events, replayed)
    changes = [plan.change]
    if fork.model is not None:
        changes.append(f"model {fork.model}")
    if fork.temperature is not None:
        changes.append(f"temperature {fork.temperature:g}")
    words = "; ".join(change for change in changes if change)
    nothing = RESUMED if fork.resumes else f"call #{plan.call} asked again"
    model = fork.model or _changed_model(events, plan.call)
    return replace(plan, change=words or nothing, runs_again=own, model=model)


class _Recording:
    """The turns of a recording, and ways to cut them."""

    def __init__(self, events: Sequence[SessionEvent], turns: list[RecordedTurn]) -> None:
        self.turns = turns
        self.numbers = {event.call for event in events if isinstance(event, LlmRequestSent)}
        self.next_call = max(self.numbers, default=0) + 1

    def before(self, number: int) -> list[RecordedTurn]:
        """All as it was when the call of this number was about to be sent."""
        for place, turn in enumerate(self.turns):
            if any(call.number >= number for call in turn.calls):
                return [*self.turns[:place], turn.until(number)]
        if self.turns and (number in self.numbers or number == self.next_call):
            return self.turns
        raise NoSuchPlace(f"there is no call #{number} in this session")

    def after(self, call: RecordedCall) -> list[RecordedTurn]:
        """All as it was when the tools of this call had ended."""
        place = next(place for place, turn in enumerate(self.turns) if call in turn.calls)
        return [*self.turns[:place], self.turns[place].until(call.number + 1)]

    def call(self, number: int | None) -> RecordedCall:
        for turn in self.turns:
            for call in turn.calls:
                if call.number == number:
                    return call
        raise NoSuchPlace(f"call #{number} has no reply in this session")


def _edited(fork: Fork, recording: _Recording) -> Plan:
    edit, number = fork.edit, fork.call
    match edit:
        case None:
            if number is None:
                return Plan(recording.turns, recording.next_call, "")
            return Plan(recording.before(number), number, "", number)
        case EditedMessage():
            return _with_message(edit, recording)
        case EditedSystem():
            return _with_system(edit, number or 1, fork.past, recording)
        case EditedReply():
            call, said = recording.call(number), edit.completion
            words = said.text or ", ".join(part.function.name for part in said.tool_calls)
            return _with_reply(said, call, recording, f"reply of call #{number}: {_short(words)}")
        case EditedArguments():
            return _with_arguments(edit, recording.call(number), recording)
        case EditedResult():
            return _with_result(edit, recording.call(number), recording)
        case _:
            assert_never(edit)


def _with_message(edit: EditedMessage, recording: _Recording) -> Plan:
    """A user message: from the start of its turn. A steer: from the call that took it."""
    edited = SentMessage(edit.msg_id, edit.text)
    first = 1
    for place, turn in enumerate(recording.turns):
        before = recording.turns[:place]
        first = turn.calls[0].number if turn.calls else first
        if turn.message.msg_id == edit.msg_id:
            change = f"user message: {_short(edit.text)}"
            return Plan([*before, replace(turn.until(first), message=edited)], first, change, first)
        for call in turn.calls:
            if any(steer.msg_id == edit.msg_id for steer in call.steers):
                cut = turn.until(call.number)
                steers = [edited if steer.msg_id == edit.msg_id else steer for steer in cut.steers]
                change = f"steer in call #{call.number}: {_short(edit.text)}"
                return Plan([*before, replace(cut, steers=steers)], call.number, change, call.number)
            first = call.number + 1
    raise NoSuchPlace("no call took this message: there is nothing to fork at")


def _with_system(edit: EditedSystem, number: int, past: PastSession, recording: _Recording) -> Plan:
    """The session's own prompt is given to the new runner; in place of one that the agent has itself, the
    host puts it into the requests."""
    plan = Plan(recording.before(number), number, f"system prompt: {_short(edit.text)}", number)
    said = system_of(past, number)
    if said == past.started.system:
        return replace(plan, system=edit.text)
    return replace(plan, amendments=Amendments(system=(said, edit.text)))


def system_of(past: PastSession, number: int) -> str:
    """The system prompt that the call of this number was sent; the session's own where it was sent none."""
    exchanges = Exchanges()
    for event in past.events:
        if isinstance(event, LlmRequestSent):
            exchanges.sent(event)
    messages = exchanges.request(number)
    return leading_system(messages) if messages else past.started.system


def _with_reply(completion: Completion, call: RecordedCall, recording: _Recording, change: str) -> Plan:
    *turns, last = recording.before(call.number)
    said = replace(call, completion=completion, failure="", results=[])
    last = replace(last, calls=[*last.calls, said], steers=[])
    return Plan([*turns, last], call.number, change, call.number)


def _with_arguments(edit: EditedArguments, call: RecordedCall, recording: _Recording) -> Plan:
    completion, part = _tool_call(call, edit.call_id)
    function = part.function.model_copy(update={"arguments": edit.arguments})
    edited = part.model_copy(update={"function": function})
    parts = tuple(edited if known is part else known for known in completion.tool_calls)
    change = f"arguments of {function.name} in call #{call.number}: {_short(edit.arguments)}"
    return _with_reply(completion.model_copy(update={"tool_calls": parts}), call, recording, change)


def _with_result(edit: EditedResult, call: RecordedCall, recording: _Recording) -> Plan:
    """The host gives it, or puts it into the requests where the tool runs in the agent's process."""
    _, part = _tool_call(call, edit.call_id)
    number = min((known for known in recording.numbers if known > call.number), default=recording.next_call)
    change = f"result of {part.function.name} in call #{call.number}: {_short(edit.content)}"
    *turns, last = recording.after(call)
    plan = Plan([*turns, last], number, change, number if number in recording.numbers else None)
    if all(result.call_id != edit.call_id for result in call.results):
        return replace(plan, amendments=Amendments(results={edit.call_id: edit.content}))
    given = {"content": edit.content, "status": "done", "is_error": False, "exit_code": None}
    results = [
        result.model_copy(update=given) if result.call_id == edit.call_id else result
        for result in call.results
    ]
    last = replace(last, calls=[*last.calls[:-1], replace(call, results=results)])
    return replace(plan, turns=[*turns, last])


def _tool_call(call: RecordedCall, call_id: str) -> tuple[Completion, ToolCallPart]:
    for part in call.completion.tool_calls if call.completion is not None else ():
        if part.id == call_id:
            assert call.completion is not None
            return call.completion, part
    raise NoSuchPlace(f"call #{call.number} made no tool call {call_id}")


def _own_tools(events: Sequence[SessionEvent], calls: Collection[int]) -> list[str]:
    """The tools of the agent's own process that these calls used."""
    own = [event for event in events if isinstance(event, ToolCallStarted) and event.own]
    return sorted({event.name for event in own if event.call in calls})


def _changed_model(events: Sequence[SessionEvent], call: int) -> str | None:
    """The model that the user had changed to when the call was sent; None: it was that of the start."""
    model: str | None = None
    for event in events:
        if isinstance(event, LlmRequestSent) and event.call >= call:
            break
        if isinstance(event, ModelChanged):
            model = event.model
    return model


def _short(text: str) -> str:
    line = " ".join(text[: 2 * _SHOWN].split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"
