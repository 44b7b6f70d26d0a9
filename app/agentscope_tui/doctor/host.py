"""The doctor's side of a channel: sends exact frames and says in words what did not come back."""

from __future__ import annotations

import asyncio
from typing import Any, TypeVar

from agentscope_tui.errors import UserError
from agentscope_tui.wire.channel import Channel, ChannelClosed
from agentscope_tui.wire.frames import (
    EpisodeError,
    FrameError,
    HostFrame,
    LlmRequest,
    LlmResponse,
    RunnerFrame,
    RunnerState,
    ToolRequest,
    parse_runner_frame,
)

T = TypeVar("T", bound=RunnerFrame)


class Failed(Exception):
    """A check that failed; says what was expected and what came."""


class DoctorHost:
    """Talks to one runner, one frame after the other; `seconds` is how long it has for each."""

    def __init__(self, channel: Channel, *, seconds: float = 10.0) -> None:
        self._channel = channel
        self._seconds = seconds
        self.states: list[RunnerState] = []
        """The states that came while something else was expected."""

    async def open(self) -> None:
        try:
            await self._channel.open()
        except UserError as error:
            raise Failed(str(error)) from error

    async def send(self, frame: HostFrame) -> None:
        try:
            await self._channel.send(frame)
        except ChannelClosed:
            raise Failed(await self._channel.ending()) from None

    async def expect(self, kind: type[T], what: str, seconds: float | None = None) -> T:
        """The next frame of this kind; `what` is expected in words.

        Raises:
            Failed: it did not come in time, or the runner asked for something else or ended.
        """
        limit = self._seconds if seconds is None else seconds
        try:
            async with asyncio.timeout(limit):
                while True:
                    frame = await self._next(what)
                    if isinstance(frame, kind):
                        return frame
                    if isinstance(frame, RunnerState):
                        self.states.append(frame)
                    elif isinstance(frame, LlmRequest | ToolRequest):
                        raise Failed(f"expected {what}, but a {frame.type} came")
        except TimeoutError:
            raise Failed(f"no {what} within {limit:g} s") from None

    async def idle(self, what: str) -> RunnerState:
        """The next `state` with status `idle`."""
        while (state := await self.expect(RunnerState, what)).status != "idle":
            self.states.append(state)
        return state

    async def answer(self, request: LlmRequest, text: str, *calls: dict[str, Any]) -> None:
        """Answer a model call with this text and these entries of `tool_calls`."""
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if calls:
            message["tool_calls"] = list(calls)
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        completion = {"object": "chat.completion", "model": "doctor", "choices": [choice], "usage": usage}
        await self.send(LlmResponse(req_id=request.req_id, completion=completion))

    async def leaves(self, seconds: float) -> bool:
        """Whether the runner ends the connection by itself within this time."""
        try:
            async with asyncio.timeout(seconds):
                while await self._channel.receive() is not None:
                    pass
        except TimeoutError:
            return False
        except FrameError as error:
            raise Failed(str(error)) from error
        return True

    async def _next(self, what: str) -> RunnerFrame | None:
        try:
            data = await self._channel.receive()
            if data is None:
                raise Failed(f"expected {what}, but {await self._channel.ending()}")
            frame = parse_runner_frame(data)
        except FrameError as error:
            raise Failed(str(error)) from error
        if isinstance(frame, EpisodeError):
            raise Failed(f"expected {what}, but the runner reported an error: {frame.note}")
        return frame
