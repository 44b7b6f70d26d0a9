"""The tool calls of an imported session: each has an id of its own, and exactly one result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from agentscope_tui.events import Event, ToolCallStarted, ToolResult
from agentscope_tui.models.chat import FunctionCall, ToolCallPart
from agentscope_tui.store.imports.parts import Action, Outcome, ProposedCall
from agentscope_tui.wire.arguments import BadArguments, parse_arguments

NO_RESULT = "the file has no result of this call"
NO_CALL = "no message of the file makes this call"


class Add(Protocol):
    """Tells an event; `at` is a time that is no later than now."""

    def __call__(self, event: Event, at: datetime | None = None) -> None: ...


@dataclass
class _Run:
    """A call without a result. `call_id` is ours, `own_id` the file's."""

    call_id: str
    own_id: str
    call: int
    name: str
    arguments: str
    began: datetime | None = None


@dataclass
class ToolRuns:
    """`times` gives when what was last told had happened, and now: the same where the file has no times."""

    add: Add
    times: Callable[[], tuple[datetime, datetime]]
    finished: list[str] = field(default_factory=list)
    """Ids of the calls that ended in this turn."""
    _open: list[_Run] = field(default_factory=list)
    _used: set[str] = field(default_factory=set)
    _answered: set[str] = field(default_factory=set)
    """The file's own ids of calls with a result."""

    @property
    def open(self) -> bool:
        """Whether a call waits for its result."""
        return bool(self._open)

    def propose(self, call: int, calls: Sequence[ProposedCall]) -> list[ToolCallPart]:
        """The tool calls of a completion, with ids that no other call has."""
        runs = [_Run(self._unique(one.call_id), one.call_id, call, one.name, one.arguments) for one in calls]
        self._open += runs
        self._answered -= {one.call_id for one in calls}
        return [
            ToolCallPart(id=run.call_id, function=FunctionCall(name=run.name, arguments=run.arguments))
            for run in runs
        ]

    def next_without_id(self) -> str | None:
        """The file's id of the first call that has no result."""
        return self._open[0].own_id if self._open else None

    def waits(self, own_id: str) -> bool:
        """Whether a call of this id has no result."""
        return self._find(own_id) is not None

    def begin(self, own_id: str) -> None:
        """The call of this id runs from now on."""
        run = self._find(own_id)
        if run is not None:
            self._begin(run, self.times()[1])

    def finish(self, call: int, outcome: Outcome) -> bool:
        """A call has its result; False: it has one already."""
        run = self._find(outcome.call_id)
        before, _ = self.times()
        if run is not None:
            self._open.remove(run)
            self._begin(run, before)
        elif outcome.call_id in self._answered:
            return False
        else:
            run = _Run(self._unique(outcome.call_id), outcome.call_id, call, outcome.name or "unknown", "")
        self._answered.add(outcome.call_id)
        self._end(run, outcome, reason=outcome.reason or ("" if run.began else NO_CALL))
        return True

    def act(self, call: int, action: Action) -> None:
        """What ran without a call: it begins and ends."""
        before, _ = self.times()
        run = _Run(self._unique(action.outcome.call_id), "", call, action.name, "", before)
        self.add(
            ToolCallStarted(
                call_id=run.call_id,
                call=call,
                req_id="",
                name=action.name,
                arguments=dict(action.arguments),
                own=True,
            ),
            before,
        )
        self._end(run, action.outcome, reason=action.outcome.reason)

    def cut_off(self, reason: str) -> tuple[list[str], list[str]]:
        """The calls without a result get none any more; gives the ids of those that had not begun, and of
        those that ran."""
        not_run = [run.call_id for run in self._open if not run.began]
        killed = [run.call_id for run in self._open if run.began]
        self._drop(reason)
        return not_run, killed

    def close(self) -> None:
        """The turn is over."""
        self._drop(NO_RESULT)
        self.finished = []

    def _drop(self, reason: str) -> None:
        for run in self._open:
            self._end(
                run, Outcome(run.own_id, "", failed=True, status="interrupted", duration=0.0), reason=reason
            )
        self._open = []

    def _find(self, own_id: str) -> _Run | None:
        return next((run for run in self._open if run.own_id == own_id), None)

    def _unique(self, own_id: str) -> str:
        name = own_id or f"call-{len(self._used) + 1}"
        number, unique = 1, name
        while unique in self._used:
            number += 1
            unique = f"{name}#{number}"
        self._used.add(unique)
        return unique

    def _begin(self, run: _Run, at: datetime) -> None:
        if run.began:
            return
        run.began = at
        try:
            arguments = parse_arguments(run.arguments)
        except BadArguments:
            # The proposal shows them as they are.
            arguments = {}
        started = ToolCallStarted(
            call_id=run.call_id, call=run.call, req_id="", name=run.name, arguments=arguments
        )
        self.add(started, at)

    def _end(self, run: _Run, outcome: Outcome, *, reason: str) -> None:
        now = self.times()[1]
        seconds = (now - (run.began or now)).total_seconds()
        self.finished.append(run.call_id)
        self.add(
            ToolResult(
                call_id=run.call_id,
                call=run.call,
                name=run.name,
                status=outcome.status or ("failed" if outcome.failed else "done"),
                content=outcome.content,
                is_error=outcome.failed,
                truncated=outcome.truncated,
                exit_code=outcome.exit_code,
                duration=max(seconds if outcome.duration is None else outcome.duration, 0.0),
                reason=reason,
            )
        )
