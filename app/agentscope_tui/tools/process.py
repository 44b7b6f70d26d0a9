"""Runs a session's commands: streams their output and ends their whole trees."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentscope_tui.tools.limits import NO_LIMITS, CommandLimits, LimitName, folder_use
from agentscope_tui.tools.link import Call, ProcessError, SupervisorLink
from agentscope_tui.tools.sandbox import Sandbox
from agentscope_tui.tools.spec import OnOutput, Stream

_DISK_EVERY = 0.5
"""Seconds between two looks at how much a folder takes."""
_TICK = 20_000_000
"""Nanoseconds by which the times of files lag behind the clock, at most."""


@dataclass(frozen=True)
class ExitStatus:
    """How a command ended: an exit code, or the signal that killed it; and the limits that it reached."""

    code: int | None
    signal: int | None
    timed_out: bool = False
    reached: tuple[LimitName, ...] = ()


class ProcessHost:
    """Runs the commands of one session, several at a time, under one supervisor. Use `start`."""

    def __init__(self, sandbox: Sandbox, workdir: Path):
        self._sandbox = sandbox
        self._workdir = workdir
        self._lock = asyncio.Lock()
        self._link: SupervisorLink | None = None
        self._closed = False

    @classmethod
    async def start(cls, sandbox: Sandbox, workdir: Path) -> ProcessHost:
        """Start the supervisor, confined to `workdir`.

        Raises:
            ProcessError: it does not start; says why.
        """
        host = cls(sandbox, workdir)
        await host._running()
        return host

    async def run(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        timeout: float | None,
        on_output: OnOutput,
        stdin: bytes = b"",
        limits: CommandLimits = NO_LIMITS,
    ) -> ExitStatus:
        """Run a command and give its output to `on_output` as it comes.

        Returns when the command has ended and what it wrote has been given; its background processes go on,
        their output dropped. After `timeout` seconds, or when the task is cancelled or `on_output` raises,
        all that it started is ended before this returns; so it is when it reaches one of `limits` (but at
        `open_files`, which the kernel holds it to). A program that cannot be started exits with 126 or 127.

        Raises:
            ProcessError: the supervisor does not start, or died; the next call starts a new one.
        """
        link = await self._running()
        call = await link.spawn(argv, cwd=cwd, env=env, limits=limits, stdin=stdin or None)
        watch = _Limited(link, call, limits, cwd)
        pumps = [asyncio.create_task(pipe.pump(watch.metered(on_output))) for pipe in call.pipes]
        try:
            waited: set[asyncio.Future[Any]] = {call.exit, *pumps}
            done, _ = await asyncio.wait(waited, timeout=timeout, return_when=asyncio.FIRST_EXCEPTION)
            for part in done:
                part.result()
            timed_out = not call.exit.done()
            if timed_out:
                await link.end(call)
            await asyncio.gather(*pumps)
            await watch.look_at_what_is_left()
            value = call.exit.result() if call.exit.done() else -signal.SIGKILL
        except BaseException:
            for pump in pumps:
                pump.cancel()
            await _to_the_end(link.end(call))
            await asyncio.gather(*pumps, return_exceptions=True)
            raise
        finally:
            call.release()
        if value in (-signal.SIGXFSZ, 128 + signal.SIGXFSZ) and "file_size" not in call.reached:
            call.reached.append("file_size")
        code = value if value >= 0 else None
        return ExitStatus(code, -value if value < 0 else None, timed_out, tuple(call.reached))

    async def aclose(self) -> None:
        """End every command and every background process."""
        self._closed = True
        async with self._lock:
            if self._link is not None:
                await _to_the_end(self._link.aclose())
                self._link = None

    async def _running(self) -> SupervisorLink:
        async with self._lock:
            if self._closed:
                raise ProcessError("the session's tools are closed; start a new session")
            if self._link is not None and self._link.dead:
                await _to_the_end(self._link.aclose())
                self._link = None
            if self._link is None:
                link = SupervisorLink(self._sandbox, self._workdir)
                try:
                    await link.wait_ready()
                except BaseException:
                    await _to_the_end(link.aclose())
                    raise
                self._link = link
            return self._link


class _Limited:
    """Ends a command that prints too much, or whose folder grows too large: also by what it leaves behind."""

    def __init__(self, link: SupervisorLink, call: Call, limits: CommandLimits, folder: Path) -> None:
        self._link = link
        self._call = call
        self._limits = limits
        self._folder = folder
        self._began = time.time_ns() - _TICK
        self._left = limits.output
        self._tasks: set[asyncio.Task[None]] = set()
        call.gone.add_done_callback(lambda _: self._close())
        if limits.disk is not None:
            self._spawn(self._watch_folder(limits.disk))

    def metered(self, on_output: OnOutput) -> OnOutput:
        """Passes output on, of both streams together, until there is too much of it."""

        async def write(stream: Stream, data: bytes) -> None:
            if self._left is not None:
                left, self._left = self._left, max(0, self._left - len(data))
                if len(data) > left and "output" not in self._call.reached:
                    self._call.reached.append("output")
                    self._spawn(self._link.end(self._call))
                data = data[:left]
            if data:
                await on_output(stream, data)

        return write

    async def look_at_what_is_left(self) -> None:
        """The command has ended: it may have been too quick to be seen, and a shell that goes on does not
        tell that what it started was stopped at a file's size."""
        disk, file_size = self._limits.disk, self._limits.file_size
        if disk is None and file_size is None:
            return
        use = await asyncio.to_thread(folder_use, self._folder, self._began)
        if file_size is not None and use.written >= file_size:
            self._call.reached.append("file_size")
        # What it left running is looked after until it ends.
        over = disk is not None and use.written and use.size > disk and self._call.gone.done()
        if over and "disk" not in self._call.reached:
            self._call.reached.append("disk")

    def _close(self) -> None:
        """Nothing that the command started is left: there is nothing to watch."""
        for task in self._tasks:
            task.cancel()

    async def _watch_folder(self, most: int) -> None:
        size = 0
        while size <= most:
            await asyncio.sleep(_DISK_EVERY)
            size = (await asyncio.to_thread(folder_use, self._folder)).size
        self._call.reached.append("disk")
        await self._link.end(self._call)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work, name="limits of a command")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _to_the_end(work: Coroutine[Any, Any, None]) -> None:
    """Await what is bounded in time and must not be left half done, however often the task is cancelled."""
    task = asyncio.ensure_future(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            cancelled = True
    task.result()
    if cancelled:
        raise asyncio.CancelledError
