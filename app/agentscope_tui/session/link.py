"""The host's end of the channel: frames out in order, frames in, and a task for each request.

Every request is answered in a task of its own, so that a key, an abort or a steer is handled while a model
streams and a tool runs.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from agentscope_tui.wire.channel import Channel, ChannelClosed
from agentscope_tui.wire.frames import (
    FrameError,
    HostFrame,
    LlmRequest,
    LlmResponse,
    RunnerFrame,
    Shutdown,
    ToolRequest,
    ToolResponse,
    parse_runner_frame,
)

log = logging.getLogger(__name__)

Request = LlmRequest | ToolRequest
Response = LlmResponse | ToolResponse


class RunnerLink:
    """Talks to one runner. `serve` answers a request, `on_frame` takes every other frame."""

    def __init__(
        self,
        channel: Channel,
        *,
        serve: Callable[[Request], Awaitable[Response]],
        on_frame: Callable[[RunnerFrame], None],
        on_lost: Callable[[str], None],
        caught_up: Callable[[], Awaitable[None]],
    ) -> None:
        """`on_lost` is told once why no more frames will come; `caught_up` is awaited after each frame."""
        self._channel = channel
        self._serve = serve
        self._on_frame = on_frame
        self._on_lost = on_lost
        self._caught_up = caught_up
        self._outbox: asyncio.Queue[HostFrame] = asyncio.Queue()
        self._requests: set[asyncio.Task[Response]] = set()
        self._reader: asyncio.Task[None] | None = None
        self._sender: asyncio.Task[None] | None = None

    def open(self) -> None:
        """Begin to send and to read."""
        self._reader = asyncio.create_task(self._read(), name="host reads")
        self._sender = asyncio.create_task(self._send(), name="host sends")

    def post(self, frame: HostFrame) -> None:
        """Queue a frame; frames leave in the order in which they are posted."""
        self._outbox.put_nowait(frame)

    def cancel_requests(self) -> None:
        """Stop answering: each open request is answered with `interrupted`, once its task has ended."""
        for request in tuple(self._requests):
            request.cancel()

    async def requests_ended(self) -> None:
        """Return when no request is being answered."""
        while self._requests:
            await asyncio.wait(self._requests)
            await asyncio.sleep(0)

    async def aclose(self, grace: float = 1.0) -> None:
        """Send what is queued up to a `Shutdown` (for at most `grace` seconds), then close the channel."""
        if self._sender is not None and not self._outbox.empty():
            await asyncio.wait([self._sender], timeout=grace)
        await self._channel.aclose()
        tasks = [task for task in (self._reader, self._sender) if task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _send(self) -> None:
        try:
            while True:
                frame = await self._outbox.get()
                await self._channel.send(frame.model_dump(mode="json", exclude_none=True))
                if isinstance(frame, Shutdown):
                    return
        except ChannelClosed:
            log.debug("the runner's channel is closed")

    async def _read(self) -> None:
        reason = "the runner ended"
        try:
            while (data := await self._channel.receive()) is not None:
                frame = parse_runner_frame(data)
                if isinstance(frame, Request):
                    self._answer(frame)
                elif frame is not None:
                    self._on_frame(frame)
                await self._caught_up()
        except FrameError as error:
            reason = f"the runner broke the protocol: {error}"
        except Exception as error:
            log.exception("reading from the runner failed")
            reason = f"cannot read from the runner: {type(error).__name__}: {error}"
        self._on_lost(reason)

    def _answer(self, frame: Request) -> None:
        async def serve() -> Response:
            return await self._serve(frame)

        def answered(task: asyncio.Task[Response]) -> None:
            self._requests.discard(task)
            if task.cancelled():
                self.post(interrupted_answer(frame))
            elif (error := task.exception()) is not None:
                log.error("answering %s failed", frame.type, exc_info=error)
                self._on_lost(f"agentscope failed to answer the runner: {type(error).__name__}: {error}")
            else:
                self.post(task.result())

        task = asyncio.create_task(serve(), name=f"answers {frame.req_id}")
        self._requests.add(task)
        task.add_done_callback(answered)


def interrupted_answer(frame: Request) -> Response:
    """What an open request gets when its turn was interrupted, or when no turn runs."""
    if isinstance(frame, LlmRequest):
        return LlmResponse(req_id=frame.req_id, error="interrupted")
    return ToolResponse(req_id=frame.req_id, content="interrupted", is_error=True)
