"""A session with everything around it over the in-memory channel, and ways to wait for what it does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from agentscope_tui.bus import EventBus
from agentscope_tui.event_lines import event_from_json, event_to_json
from agentscope_tui.events import (
    Event,
    Paused,
    Resumed,
    SessionEnded,
    SessionEvent,
    Steer,
    ToolCallStarted,
    ToolResult,
)
from agentscope_tui.models.wire_log import WireFolder
from agentscope_tui.runners.builtin import BuiltinRunner
from agentscope_tui.secrets import MASK
from agentscope_tui.session.history import digest
from agentscope_tui.session.runner_log import RunnerLog
from agentscope_tui.session.session import Session
from agentscope_tui.session.settings import SessionSettings
from agentscope_tui.session.state import SessionState
from agentscope_tui.session.steering import text_of
from agentscope_tui.session.tally import TALLIED, Tally
from agentscope_tui.session.tasks import nothing_to_do
from agentscope_tui.wire.channel import Channel, memory_channel
from fakes.engine import DEADLINE, FakeRunner, FakeTools


async def no_wait() -> None:
    """The recording is never behind."""


class Rig:
    """`async with Rig(...)` starts the session (with `own_runner`, `greet` does) and ends it.

    Whatever a test does, on the way out the events must keep the promises in `check_promises`.
    """

    def __init__(
        self,
        model: Any = None,
        tools: Any = None,
        /,
        *,
        own_runner: bool = False,
        grader: Any = None,
        caught_up: Callable[[], Awaitable[None]] = no_wait,
        bus: EventBus | None = None,
        wire: WireFolder | None = None,
        channel: Channel | None = None,
        runner_log: RunnerLog | None = None,
        keep_files: Callable[[int], asyncio.Future[None]] = nothing_to_do,
        **settings: Any,
    ) -> None:
        """`channel` leads to a runner of its own, a process or a socket, that `__aenter__` starts."""
        host_end, runner_end = memory_channel()
        self.model = model
        self.tools = tools or FakeTools()
        self.bus = bus or EventBus("test")
        self.events: list[SessionEvent] = []
        self.state = SessionState()
        self._news = asyncio.Event()
        for callback in (self.events.append, self.state.apply, lambda event: self._news.set()):
            self.bus.subscribe(callback)
        self.session = Session(
            SessionSettings(**{"mode": "run", **settings}),
            channel=channel or host_end,
            model=model,
            tools=self.tools,
            bus=self.bus,
            grader=grader,
            caught_up=caught_up,
            keep_files=keep_files,
            wire=wire,
            runner_log=runner_log,
        )
        self.runner = FakeRunner(runner_end)
        self._own_runner = own_runner
        self._builtin = None if own_runner or channel else BuiltinRunner(runner_end)
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Rig:
        if self._builtin is not None:
            self._task = asyncio.create_task(self._builtin.run())
        if not self._own_runner:
            await self.session.start()
        return self

    async def __aexit__(self, kind: object, *exc: object) -> None:
        await self.end()
        if kind is None:
            check_promises(self.events, self.state)

    async def end(self) -> None:
        """End the session; nothing of it may run after that."""
        await asyncio.wait_for(self.session.end(), DEADLINE)
        if self._task is not None:
            await asyncio.wait_for(self._task, DEADLINE)
        assert [task for task in asyncio.all_tasks() if _is_ours(task)] == []

    async def greet(self, **idle: Any) -> dict[str, Any]:
        """With `own_runner`: start the session; returns the `session_start` that the runner got."""
        starting = asyncio.create_task(self.session.start())
        await self.runner.send("hello", mode="session", node_version="22")
        start = await self.runner.receive("session_start")
        await self.runner.send("state", status="idle", turns=0, **idle)
        await asyncio.wait_for(starting, DEADLINE)
        return start

    async def say(self, text: str = "go") -> str:
        """With `own_runner`: begin a turn up to the runner's `running`; returns the message's id."""
        self.session.send(text)
        message = await self.runner.receive("user_message")
        await self.runner.send("state", status="running", turns=1)
        return str(message["msg_id"])

    async def until(self, predicate: Callable[[], Any], *, seconds: float = DEADLINE) -> None:
        """Wait until the predicate holds; it is looked at after each event."""
        async with asyncio.timeout(seconds):
            while not predicate():
                self._news.clear()
                await self._news.wait()

    async def settled(self) -> None:
        await asyncio.wait_for(self.session.settled(), DEADLINE)

    async def run(self, text: str = "go") -> None:
        """One whole turn."""
        self.session.send(text)
        await self.settled()

    def kinds(self, *without: str) -> list[str]:
        """The kinds of all events so far, in order."""
        return [event.kind for event in self.events if event.kind not in without]

    def of(self, *types: type[Event]) -> list[Any]:
        """The events of these types, in order."""
        return [event for event in self.events if isinstance(event, types)]

    def has(self, kind: str, **fields: Any) -> bool:
        """Whether there was an event of this kind with these fields."""
        return any(
            event.kind == kind and all(getattr(event, name) == value for name, value in fields.items())
            for event in self.events
        )

    def steers(self) -> list[tuple[str, str]]:
        """(text, status) of each steer event, in order."""
        return [(event.text, event.status) for event in self.of(Steer)]

    def outcomes(self) -> list[str]:
        """How each turn ended."""
        return [event.outcome for event in self.events if event.kind == "state" and event.outcome]

    def asked(self, number: int) -> list[tuple[str, str]]:
        """(role, text) of each message of the model's request `number`, from 1; calls as their names."""
        return [
            (message["role"], text_of(message) + _names(message))
            for message in self.model.requests[number - 1].messages
        ]


def _names(message: dict[str, Any]) -> str:
    return "".join(f"<{call['function']['name']}>" for call in message.get("tool_calls") or [])


def _is_ours(task: asyncio.Task[Any]) -> bool:
    return task.get_name() in ("host reads", "host sends", "session closes", "grading", "wall clock") or (
        task.get_name().startswith("the answer to")
    )


def check_promises(events: list[SessionEvent], state: SessionState) -> None:
    """What holds for every session that ended, whatever happened in it."""
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert [event.kind for event in events].count("session_ended") == 1
    assert isinstance(events[-1], SessionEnded)
    started = [event.call_id for event in events if isinstance(event, ToolCallStarted)]
    results = [event.call_id for event in events if isinstance(event, ToolResult) and not event.edited]
    assert len(set(started)) == len(started)
    assert len(set(results)) == len(results)
    assert set(started) <= set(results)
    held = [event.hold for event in events if isinstance(event, Paused)]
    assert sorted(held) == sorted(event.hold for event in events if isinstance(event, Resumed))
    again = SessionState()
    for event in events:
        again.apply(event_from_json(event_to_json(event)))
    assert picture(again) == picture(state)
    tally = Tally()
    for event in events:
        if event.kind in TALLIED:
            tally.apply(event)
    assert picture(state).items() >= vars(tally).items()
    assert not any(entry.live for entry in state.entries)
    assert {call.state for call in state.calls} <= {"done", "failed", "refused", "interrupted"}
    for event in events:
        if event.kind == "llm_request":
            messages = again.request_messages(event.call)
            assert digest(messages) == event.digest or MASK in str(messages)


def picture(state: SessionState) -> dict[str, Any]:
    """All that a state shows, as plain values."""
    shown = {name: value for name, value in vars(state).items() if not name.startswith("_")}
    lists = {
        "entries": [vars(entry) for entry in state.entries],
        "calls": [vars(call) for call in state.calls],
        "steers": [vars(steer) for steer in state.steers],
    }
    return {**shown, **lists}
