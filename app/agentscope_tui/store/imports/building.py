"""The events of a session, built from what a file tells in its order; every importer only maps.

The builder numbers the events and gives them their times, opens and closes turns, tells each request as what
it adds, makes ids of tool calls unique, and gives every tool call exactly one result.

Times are the file's own. They never go back: what the file says is earlier than what stands before it gets
the time of that. A file without times was written when it was last changed: its steps are one second apart
from then on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from agentscope_tui.events import (
    AgentNote,
    AssistantMessage,
    ErrorOccurred,
    Event,
    ExtraKept,
    Graded,
    Interrupted,
    LimitReached,
    LlmRequestSent,
    ModelChanged,
    SessionEnded,
    SessionEvent,
    SessionStarted,
    StateChanged,
    Steer,
    Submitted,
    TurnOutcome,
    UsageReported,
    UserMessageSent,
)
from agentscope_tui.masked_events import masked_event
from agentscope_tui.models.chat import Message
from agentscope_tui.secrets import MASKER
from agentscope_tui.store.imports.messages import assistant_message, text_of
from agentscope_tui.store.imports.parts import Action, Answer, Beginning, Outcome
from agentscope_tui.store.imports.requests import Requests
from agentscope_tui.store.imports.tool_runs import ToolRuns
from agentscope_tui.store.reopen import closing_events

NO_ANSWER = "the file ends before the agent answers"
SYSTEM_MESSAGE = "system message"
"""What an `extra` is about that tells of a system message in the middle of a conversation."""
_STEP = timedelta(seconds=1)


@dataclass
class _Turn:
    """The open turn. `owed`: the agent has yet to say its last;
    `cut`: why it was stopped; `waiting` are steers that no request has taken."""

    owed: bool = True
    answered: bool = False
    cut: str = ""
    waiting: list[Steer] = field(default_factory=list)
    taken: list[Steer] = field(default_factory=list)


class EventBuilder:
    """Call `start` first, then whatever the file tells, in its order, and `finished` at the end."""

    def __init__(self, session_id: str, written: datetime) -> None:
        """`written` is when the file was last changed."""
        self._session_id = session_id
        self._now = written
        self._timed = False
        self._events: list[SessionEvent] = []
        self._is_adopted = False
        self._requests = Requests()
        self._tools = ToolRuns(self._add, self._times)
        self._turn: _Turn | None = None
        self._asked: datetime | None = None
        self.model = ""
        """The model that calls go to now."""
        self._grades: list[Graded] = []
        self._asides: dict[str, dict[str, Any]] = {}
        self._end: tuple[TurnOutcome | None, str, Literal["ended", "failed"]] = (None, "", "ended")
        self.turns = 0
        self.call = 0
        """The number of the newest model call."""
        self.messages: list[Message] = []
        """The conversation so far: what the next request is taken to be, if nothing else is said."""

    # The session

    def start(self, beginning: Beginning, at: datetime | None = None) -> None:
        """The first event. `at` is the time of the file's beginning."""
        if at is not None:
            self._now, self._timed = at, True
        self.model = beginning.model
        self.messages = [*beginning.system, *beginning.history]
        self._add(
            SessionStarted(
                version="",
                runner=beginning.runner,
                model=beginning.model,
                system="\n\n".join(text for text in map(text_of, beginning.system) if text),
                history=list(beginning.history),
                tools=[dict(tool) for tool in beginning.tools],
                dataset=beginning.dataset,
                row=beginning.row,
                temperature=beginning.temperature,
                confinement="",
                grader=beginning.grader,
                parent=beginning.parent,
                parent_call=beginning.parent_call,
                change=beginning.change,
            )
        )
        self._add(StateChanged(status="idle"))

    def adopt(self, events: Sequence[SessionEvent]) -> None:
        """The session is this: agentscope told it itself. Instead of all else but `finished`."""
        self._events = [masked_event(event, MASKER) for event in events]
        self._is_adopted = True

    def at(self, time: datetime | None) -> None:
        """What follows was at this time; None: the file does not say."""
        if time is not None and self._timed:
            self._now = max(time, self._now)
        elif time is not None:
            # What stands before the first time of a file was no later than that.
            self._now, self._timed = time, True
            self._events = [event.model_copy(update={"at": time}) for event in self._events]
        elif not self._timed:
            self._now += _STEP

    def ends(
        self,
        outcome: TurnOutcome | None = None,
        reason: str = "",
        *,
        status: Literal["ended", "failed"] = "ended",
    ) -> None:
        """How the last turn and the session ended, as far as the file says."""
        self._end = (outcome, reason, status)

    def finished(self) -> list[SessionEvent]:
        """All events, with what closes the session; the builder is used up."""
        if self._is_adopted:
            return [*self._events, *closing_events(self._events)]
        if not self._events:
            self.start(Beginning())
        outcome, reason, status = self._end
        waiting = self._turn.waiting if self._turn else []
        self._close_turn(outcome if not waiting else None, reason if not waiting else "")
        for steer in waiting:
            self._open_turn(steer.text, steer.msg_id)
        self._close_turn(outcome, reason)
        for grade in self._grades:
            self._add(grade.model_copy(update={"turn": self.turns}))
        for about, data in self._asides.items():
            self.extra(about, data)
        self._add(SessionEnded(status=status, reason=reason))
        return self._events

    # What is said

    def user(self, text: str, message: Message | None = None) -> None:
        """A user message: a new turn, or a steer where the agent was still at work."""
        self.messages.append(message or {"role": "user", "content": text})
        msg_id = f"m{len(self._events) + 1}"
        if self._turn is None or self._turn.cut or not self._turn.owed:
            self._close_turn()
            self._open_turn(text, msg_id)
            return
        steer = Steer(msg_id=msg_id, status="queued", text=text)
        self._add(steer)
        self._turn.waiting.append(steer)

    def ask(
        self,
        messages: Sequence[Message] | None = None,
        *,
        model: str = "",
        tools: Sequence[str] = (),
        params: Mapping[str, Any] | None = None,
    ) -> None:
        """A model call begins; `messages` is the whole request, None: the conversation so far."""
        turn = self._turn or self._open_turn("", f"m{len(self._events) + 1}")
        if model and model != self.model:
            self.model = model
            self._add(ModelChanged(model=model))
        self.call += 1
        self._asked = self._now
        told = self._requests.advance(self.call, self.messages if messages is None else messages)
        for steer in turn.waiting:
            self._add(steer.model_copy(update={"status": "handed_over", "text": ""}))
        self._add(
            LlmRequestSent(
                call=self.call,
                turn=self.turns,
                req_id=f"r{self.call}",
                base=told.base,
                kept=told.kept,
                messages=told.new,
                digest=told.digest,
                tools=list(tools),
                params=dict(params or {}),
            )
        )
        for steer in turn.waiting:
            self._add(steer.model_copy(update={"status": "in_call", "call": self.call}))
        turn.taken, turn.waiting = [*turn.taken, *turn.waiting], []

    def answer(self, answer: Answer, *, model: str = "", params: Mapping[str, Any] | None = None) -> None:
        """The completion of the newest request; where that has its answer, of one that the file does not
        tell of: it was sent, to `model`, when what was last told had happened."""
        if self._asked is None:
            self._ask_before(model, params)
        assert self._asked is not None
        assert self._turn is not None
        seconds = (self._now - self._asked).total_seconds() if self._timed else 0.0
        self._turn.answered = True
        calls = self._tools.propose(self.call, answer.calls)
        self._add(
            AssistantMessage(
                call=self.call,
                text=answer.text,
                reasoning=answer.reasoning,
                tool_calls=calls,
                finish_reason=answer.finish_reason,
                reasoning_field=answer.reasoning_field,
                partial=answer.partial,
                duration=max(seconds if answer.duration is None else answer.duration, 0.0),
            )
        )
        for steer in self._turn.taken:
            self._add(Steer(msg_id=steer.msg_id, status="answered", call=self.call))
        self._turn.taken = []
        self._turn.owed = bool(calls) and not answer.partial
        self._asked = None
        self.messages.append(answer.message or assistant_message(answer))

    def _ask_before(self, model: str = "", params: Mapping[str, Any] | None = None) -> None:
        now, self._now = self._now, self._events[-1].at
        self.ask(model=model, params=params)
        self._now = now

    def usage(self, usage: UsageReported) -> None:
        """What the newest call took; `call` is set here."""
        self._add(usage.model_copy(update={"call": self.call}))

    # Tools

    def tool_began(self, call_id: str) -> None:
        """A tool call of the file's id begins to run, now."""
        self._tools.begin(call_id)

    def tool_result(self, outcome: Outcome, message: Message | None = None) -> None:
        """How a tool call ended. `message` is what the agent was told; None: a tool message of it."""
        if self._turn is not None:
            self._turn.owed = True
        if not self._tools.finish(self.call, outcome):
            self.extra(f"a second result of {outcome.call_id}", outcome.content)
        self.messages.append(
            message or {"role": "tool", "tool_call_id": outcome.call_id, "content": outcome.content}
        )

    @property
    def next_result(self) -> str | None:
        """The file's id of the first tool call that waits for its result."""
        return self._tools.next_without_id()

    def proposed(self, call_id: str) -> bool:
        """Whether a tool call of the file's id waits for its result."""
        return self._tools.waits(call_id)

    def action(self, action: Action, message: Message | None = None) -> None:
        """Something that ran without a tool call of a model. `message` is what the agent was told of it."""
        if self._turn is not None:
            self._turn.owed = True
        self._tools.act(self.call, action)
        if message is not None:
            self.messages.append(message)

    # What else there is to tell

    def system(self, message: Message) -> None:
        """A system message in the middle of the conversation."""
        self.messages.append(message)
        self.extra(SYSTEM_MESSAGE, text_of(message))

    def extra(self, about: str, data: Any, *, call: int | None = None) -> None:
        """What no other kind of event has a place for; nothing, where there is nothing of it."""
        if data not in (None, {}, [], ""):
            self._add(ExtraKept(about=about, data=data, call=call))

    def aside(self, about: str, where: str, data: Any) -> None:
        """What nobody reads in passing, such as ids: kept at the end, all of one sort together."""
        if data not in (None, {}, [], ""):
            self._asides.setdefault(about, {})[where] = data

    def submit(self, answer: str) -> None:
        """The answer that the agent handed in."""
        self._add(Submitted(call_id="", answer=answer))

    def note(self, text: str, title: str = "") -> None:
        """A remark, the agent's own if it has no title."""
        self._add(AgentNote(text=text, title=title))

    def problem(self, message: str, detail: str = "") -> None:
        """Something of the file that cannot be read."""
        self._add(ErrorOccurred(source="session", message=message, detail=detail))

    def fails(self, message: str) -> None:
        """Nothing of it can be read: a session of that error only."""
        self.start(Beginning())
        self.problem(message)
        self.ends(reason=message, status="failed")

    def model_error(self, message: str, detail: str = "", partial: Answer | None = None) -> None:
        """The newest request failed, or else a new one; `partial` is what came of its answer."""
        if partial is not None:
            self.answer(partial)
        elif self._asked is None:
            self._ask_before()
        self._asked = None
        self._add(ErrorOccurred(source="model", message=message, detail=detail, call=self.call))

    def agent_error(self, message: str, detail: str = "") -> None:
        self._add(ErrorOccurred(source="agent", message=message, detail=detail))

    def limit(self, limit: str, value: float, reason: str) -> None:
        self._add(LimitReached(limit=limit, value=value, reason=reason))

    def interrupted(self, reason: str, *, in_call: bool = False) -> None:
        """The agent was stopped: the turn is over. `in_call`: while it waited for the newest answer."""
        if self._turn is None or self._turn.cut:
            return
        not_run, killed = self._tools.cut_off(reason)
        self._add(
            Interrupted(
                reason=reason,
                model_call=self.call if in_call or self._asked is not None else None,
                finished=[one for one in self._tools.finished if one not in (*not_run, *killed)],
                killed=killed,
                not_run=not_run,
            )
        )
        self._asked = None
        self._turn.cut = reason

    def grade(self, grade: Graded) -> None:
        """A reward of the last turn, told when that is over; `turn` is set then."""
        self._grades.append(grade)

    # Turns

    def _open_turn(self, text: str, msg_id: str) -> _Turn:
        self.turns += 1
        self._add(UserMessageSent(msg_id=msg_id, text=text, turn=self.turns))
        self._add(StateChanged(status="running", turn=self.turns))
        self._turn = _Turn()
        return self._turn

    def _close_turn(self, outcome: TurnOutcome | None = None, reason: str = "") -> None:
        turn = self._turn
        if turn is None:
            return
        if self._asked is not None:
            self.model_error("the file has no answer to this request")
        answered = turn.answered and not self._tools.open
        self._tools.close()
        if outcome is None and turn.cut:
            outcome, reason = "interrupted", turn.cut
        elif outcome is None and not answered:
            outcome, reason = "interrupted", NO_ANSWER
        self._add(StateChanged(status="idle", turn=self.turns, outcome=outcome or "completed", reason=reason))
        self._turn = None

    def _times(self) -> tuple[datetime, datetime]:
        """When what was last told had happened, and now; the same in a file without times."""
        last = self._events[-1].at
        return last, self._now if self._timed else last

    def _add(self, event: Event, at: datetime | None = None) -> None:
        """Number an event, mask its secrets, and keep it. `at` is not before the last one's."""
        stamp = {"seq": len(self._events) + 1, "at": at or self._now, "session_id": self._session_id}
        told: Any = masked_event(event, MASKER).model_copy(update=stamp)
        self._events.append(told)
