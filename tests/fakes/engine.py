"""A session over the in-memory channel with a model, tools and (if wanted) a runner that tests control."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from agentscope_tui.bus import EventBus
from agentscope_tui.events import Event, SessionEvent
from agentscope_tui.models.chat import (
    ChatRequest,
    Completion,
    Delta,
    FunctionCall,
    Message,
    ModelError,
    ToolCallPart,
    Usage,
)
from agentscope_tui.runners.builtin import BuiltinRunner
from agentscope_tui.session.session import Session
from agentscope_tui.session.settings import SessionSettings
from agentscope_tui.session.state import SessionState
from agentscope_tui.tools.spec import OnOutput, ToolOutcome
from agentscope_tui.wire.channel import MemoryChannel, memory_channel

DEADLINE = 10.0

Reply = Completion | ModelError | Callable[[ChatRequest, Callable[[Delta], None]], Awaitable[Completion]]
ToolBody = Callable[[dict[str, Any], OnOutput], Awaitable[ToolOutcome]]


def says(text: str, *calls: tuple[str, str], finish: str | None = None, ids: str = "c") -> Completion:
    """A completion with text and tool calls given as (name, arguments as JSON text)."""
    parts = tuple(
        ToolCallPart(id=f"{ids}{number}", function=FunctionCall(name=name, arguments=arguments))
        for number, (name, arguments) in enumerate(calls, start=1)
    )
    return Completion(
        text=text,
        tool_calls=parts,
        finish_reason=finish or ("tool_calls" if parts else "stop"),
        usage=Usage(input_tokens=10, output_tokens=5),
    )


class FakeModel:
    """Answers from a list; a callable may stream, wait or fail as a test needs it."""

    name = "fake"

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.requests: list[ChatRequest] = []
        self.closed = False

    async def complete(self, request: ChatRequest, on_delta: Callable[[Delta], None]) -> Completion:
        self.requests.append(request)
        reply = self.replies.pop(0) if self.replies else says("nothing more to say")
        if isinstance(reply, ModelError):
            raise reply
        if isinstance(reply, Completion):
            on_delta(Delta(text=reply.text))
            return reply
        return await reply(request, on_delta)

    async def aclose(self) -> None:
        self.closed = True


def tool(name: str, *required: str) -> dict[str, Any]:
    """A tool declaration whose arguments are strings."""
    properties = {argument: {"type": "string"} for argument in required}
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return {"name": name, "description": name, "parameters": parameters}


class FakeTools:
    """Tools made of coroutines; records what was called."""

    confinement = "none"

    def __init__(self, **bodies: ToolBody) -> None:
        self.bodies = bodies
        self.called: list[tuple[str, dict[str, Any]]] = []
        self.closed = False
        self.specs: Sequence[dict[str, Any]] = [*(tool(name) for name in bodies), tool("submit", "answer")]

    async def call(self, name: str, arguments: dict[str, Any], on_output: OnOutput) -> ToolOutcome:
        self.called.append((name, arguments))
        return await self.bodies[name](arguments, on_output)

    async def aclose(self) -> None:
        self.closed = True


def returns(content: str, *, is_error: bool = False) -> ToolBody:
    """A tool body that gives this at once."""

    async def body(arguments: dict[str, Any], on_output: OnOutput) -> ToolOutcome:
        return ToolOutcome(content=content, is_error=is_error, side_effects=True)

    return body


class Gatekeeper:
    """A tool or reply that waits until the test lets it go; `entered` says that it began."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.let_go = asyncio.Event()
        self.cancelled = False

    async def wait(self) -> None:
        self.entered.set()
        try:
            await self.let_go.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise

    async def body(self, arguments: dict[str, Any], on_output: OnOutput) -> ToolOutcome:
        await self.wait()
        return ToolOutcome(content="let go")

    def reply(self, completion: Completion, before: str = "") -> Reply:
        async def stream(request: ChatRequest, on_delta: Callable[[Delta], None]) -> Completion:
            if before:
                on_delta(Delta(text=before))
            await self.wait()
            return completion

        return stream


class FakeRunner:
    """The runner's end in the test's own hands."""

    def __init__(self, channel: MemoryChannel) -> None:
        self.channel = channel

    async def send(self, type: str, **fields: Any) -> None:
        await self.channel.send({"type": type, **fields})

    async def receive(self, type: str | None = None) -> dict[str, Any]:
        """The next frame; with a type, frames of other types before it are skipped."""
        while True:
            frame = await asyncio.wait_for(self.channel.receive(), DEADLINE)
            assert frame is not None, "the host closed the channel"
            if type is None or frame["type"] == type:
                return frame

    async def ask_model(self, req_id: str, messages: list[Message], **body: Any) -> None:
        await self.send("llm_request", req_id=req_id, openai_body={"messages": messages, **body})

    async def idle(self, reason: str = "completed", **fields: Any) -> None:
        await self.send("state", status="idle", turns=1, reason=reason, **fields)


class Rig:
    """A session with everything around it, and ways to wait for what it does."""

    def __init__(
        self,
        model: FakeModel | None,
        tools: FakeTools | None = None,
        *,
        own_runner: bool = False,
        grader: Any = None,
        **settings: Any,
    ) -> None:
        host_end, runner_end = memory_channel()
        self.model = model
        self.tools = tools or FakeTools()
        self.bus = EventBus("test")
        self.events: list[SessionEvent] = []
        self.state = SessionState()
        self.bus.subscribe(self.events.append)
        self.bus.subscribe(self.state.apply)
        self._news = asyncio.Event()
        self.bus.subscribe(lambda event: self._news.set())
        self.session = Session(
            SessionSettings(**{"mode": "run", **settings}),
            channel=host_end,
            model=model,
            tools=self.tools,
            bus=self.bus,
            grader=grader,
        )
        self.runner = FakeRunner(runner_end)
        self._builtin = None if own_runner else BuiltinRunner(runner_end)
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Rig:
        if self._builtin is not None:
            self._task = asyncio.create_task(self._builtin.run())
            await self.session.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await asyncio.wait_for(self.session.end(), DEADLINE)
        if self._task is not None:
            await asyncio.wait_for(self._task, DEADLINE)

    async def until(self, predicate: Callable[[], Any]) -> None:
        """Wait until the predicate holds; it is looked at after each event."""
        async with asyncio.timeout(DEADLINE):
            while not predicate():
                self._news.clear()
                if predicate():
                    return
                await self._news.wait()

    async def settled(self) -> None:
        await asyncio.wait_for(self.session.settled(), DEADLINE)

    def kinds(self, *without: str) -> list[str]:
        """The kinds of all events so far, in order."""
        return [event.kind for event in self.events if event.kind not in without]

    def of(self, *types: type[Event]) -> list[Any]:
        """The events of these types, in order."""
        return [event for event in self.events if isinstance(event, types)]

    def steers(self) -> list[tuple[str, str, int | None]]:
        """(text, status, call) of each steer event, in order."""
        return [(event.text, event.status, event.call) for event in self.events if event.kind == "steer"]
