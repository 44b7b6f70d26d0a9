"""A model, tools and a runner that tests control: the parts around a session."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

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
from agentscope_tui.tools.spec import OnOutput, ToolOutcome
from agentscope_tui.wire.channel import MemoryChannel

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

    async def complete(
        self, request: ChatRequest, on_delta: Callable[[Delta], None], **_hooks: object
    ) -> Completion:
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


def streams(*pieces: str, finish: str = "stop") -> Reply:
    """A reply in pieces, a loop turn apart."""

    async def stream(request: ChatRequest, on_delta: Callable[[Delta], None]) -> Completion:
        for piece in pieces:
            on_delta(Delta(text=piece))
            await asyncio.sleep(0)
        return says("".join(pieces), finish=finish)

    return stream


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
        return ToolOutcome(content="let go", side_effects=True)

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

    async def rest(self) -> list[dict[str, Any]]:
        """All frames until the host closes the channel."""
        frames = []
        async with asyncio.timeout(DEADLINE):
            while (frame := await self.channel.receive()) is not None:
                frames.append(frame)
        return frames

    async def ask_model(self, req_id: str, *texts: str, messages: list[Message] | None = None) -> None:
        """A request of user messages with these texts, or of these messages."""
        messages = messages or [{"role": "user", "content": text} for text in texts or ("go",)]
        await self.send("llm_request", req_id=req_id, openai_body={"messages": messages})

    async def ask_tool(self, req_id: str, name: str, **arguments: Any) -> None:
        await self.send("tool_request", req_id=req_id, name=name, arguments=arguments)

    async def idle(self, reason: str = "completed", **fields: Any) -> None:
        await self.send("state", status="idle", turns=1, reason=reason, **fields)

    async def was_read(self) -> None:
        """With no turn running: return once the host has read all that was sent so far."""
        await self.ask_tool("was read?", "nothing")
        while (await self.receive("tool_response"))["req_id"] != "was read?":
            pass
