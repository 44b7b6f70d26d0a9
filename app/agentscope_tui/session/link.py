"""The host's end of the channel: frames out in order, frames in, and a task for each request.

Every request is answered in a task of its own, so that a key, an abort or a steer is handled while a model
streams and a tool runs.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from agentscope_tui.errors import UserError
from agentscope_tui.waiting import ended
from agentscope_tui.wire.channel import Channel, ChannelClosed
from agentscope_tui.wire.frames import (
    FrameError,
    HostFrame,
    LlmRequest,
    LlmResponse,
    ReqId,
    RunnerFrame,
    Shutdown,
    ToolRequest,
    ToolResponse,
    parse_runner_frame,
)

log = logging.getLogger(__name__)

Request = LlmRequest | ToolRequest
Response = LlmResponse | ToolResponse

MAX_OPEN = 64
"""Requests that may wait for their answer; a runner with more is not read until some were answered."""
KILL_GRACE = 10.0
"""Seconds that a cancelled request has to end when the session closes."""
SLICE = 0.005
"""Seconds that frames which are there already may hold the loop."""
SEND_GRACE = 1.0
"""Seconds that a runner has to take its last frames when the session closes."""


class RunnerLink:
    """Talks to one runner. `serve` gives the work of answering a request, or None when no turn runs: then
    the answer is `interrupted`. `on_frame` takes every other frame."""

    def __init__(
        self,
        channel: Channel,
        *,
        serve: Callable[[Request], Coroutine[Any, Any, Response] | None],
        on_frame: Callable[[RunnerFrame], None],
        on_lost: Callable[[str], None],
        caught_up: Callable[[], Awaitable[None]],
    ) -> None:
        """`on_lost` is told why the runner is of no more use; `caught_up` is awaited after each frame."""
        self.connected = asyncio.Event()
        """Whether the channel is open."""
        self._channel = channel
        self._serve = serve
        self._on_frame = on_frame
        self._on_lost = on_lost
        self._caught_up = caught_up
        self._outbox: asyncio.Queue[HostFrame] = asyncio.Queue()
        self._requests: dict[asyncio.Task[None], ReqId] = {}
        self._slots = asyncio.Semaphore(MAX_OPEN)
        self._reader: asyncio.Task[None] | None = None
        self._sender: asyncio.Task[None] | None = None

    def open(self) -> None:
        """Connect, then begin to send and to read."""
        self._reader = asyncio.create_task(self._connect_and_read(), name="host reads")

    def post(self, frame: HostFrame) -> None:
        """Queue a frame; frames leave in the order in which they are posted."""
        self._outbox.put_nowait(frame)

    def cancel_requests(self, req_id: ReqId | None = None) -> None:
        """Stop answering: each open request, or that of this id, is answered with `interrupted`, once its
        task has ended."""
        for request, ident in tuple(self._requests.items()):
            if req_id in (None, ident):
                request.cancel()

    async def requests_ended(self, timeout: float | None = None) -> None:
        """Return when the requests that are open now are answered, or after `timeout` seconds."""
        if self._requests:
            await asyncio.wait(tuple(self._requests), timeout=timeout)

    async def aclose(self) -> None:
        """Stop reading and answering, send what is queued and a `Shutdown`, and close the channel."""
        # A task that was cancelled refers to what it ran in, and so to this.
        reader, self._reader = self._reader, None
        await _stop(reader)
        self.cancel_requests()
        await self.requests_ended(KILL_GRACE)
        for request in self._requests:
            log.error("%s did not end when it was cancelled", request.get_name())
        self.post(Shutdown())
        sender, self._sender = self._sender, None
        if sender is not None:
            await ended(sender, SEND_GRACE)
        await self._channel.aclose()
        await _stop(sender)

    async def _send(self) -> None:
        connected = True
        frame: HostFrame | None = None
        while not isinstance(frame, Shutdown):
            frame = await self._outbox.get()
            try:
                if connected:
                    await self._channel.send(frame)
            except ChannelClosed:
                connected = False
            except Exception as error:
                connected = False
                log.exception("writing to the runner failed")
                self._on_lost(f"cannot write to the runner: {type(error).__name__}: {error}")
            if isinstance(frame, Response):
                self._slots.release()

    async def _connect_and_read(self) -> None:
        try:
            await self._channel.open()
        except UserError as error:
            self._on_lost(str(error))
            return
        except Exception as error:
            log.exception("connecting to the runner failed")
            self._on_lost(f"cannot connect to the runner: {type(error).__name__}: {error}")
            return
        self._sender = asyncio.create_task(self._send(), name="host sends")
        self.connected.set()
        self._on_lost(await self._read())

    async def _read(self) -> str:
        """Take frames until there are no more; why there are none."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            while (data := await self._channel.receive()) is not None:
                frame = parse_runner_frame(data)
                if isinstance(frame, Request):
                    await self._slots.acquire()
                    self._answer(frame)
                elif frame is not None:
                    self._on_frame(frame)
                await self._caught_up()
                if loop.time() - began > SLICE:
                    # A runner that floods never lets `receive` wait.
                    await asyncio.sleep(0)
                    began = loop.time()
            return await self._channel.ending()
        except FrameError as error:
            return f"the runner broke the protocol: {error}"
        except Exception as error:
            log.exception("reading from the runner failed")
            return f"cannot read from the runner: {type(error).__name__}: {error}"

    def _answer(self, frame: Request) -> None:
        work = self._serve(frame)
        if work is None:
            self.post(interrupted_answer(frame))
            return

        async def answer() -> None:
            # Posted in the task's own last step: no steer or abort can come between deciding and posting.
            self.post(await work)

        def answered(task: asyncio.Task[None]) -> None:
            del self._requests[task]
            work.close()
            if task.cancelled():
                self.post(interrupted_answer(frame))
            elif (error := task.exception()) is not None:
                log.error("answering %s failed", frame.type, exc_info=error)
                self._on_lost(f"agentscope failed to answer the runner: {type(error).__name__}: {error}")

        task = asyncio.create_task(answer(), name=f"the answer to {frame.type} {frame.req_id}")
        self._requests[task] = frame.req_id
        task.add_done_callback(answered)


async def _stop(task: asyncio.Task[None] | None) -> None:
    if task is not None:
        task.cancel()
        await ended(task)


def interrupted_answer(frame: Request) -> Response:
    """What an open request gets when its turn was interrupted, or when no turn runs."""
    if isinstance(frame, LlmRequest):
        return LlmResponse(req_id=frame.req_id, error="interrupted")
    return ToolResponse(req_id=frame.req_id, content="interrupted", is_error=True)
