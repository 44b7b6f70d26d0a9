"""Runs a session's commands: streams their output and ends their whole trees."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentscope_tui.tools.link import ProcessError, SupervisorLink
from agentscope_tui.tools.sandbox import Sandbox
from agentscope_tui.tools.spec import OnOutput


@dataclass(frozen=True)
class ExitStatus:
    """How a command ended: an exit code, or the signal that killed it."""

    code: int | None
    signal: int | None
    timed_out: bool = False


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
        limits: Mapping[str, int] | None = None,
    ) -> ExitStatus:
        """Run a command and give its output to `on_output` as it comes.

        Returns when the command has ended and what it wrote has been given; its background processes go on,
        their output dropped. After `timeout` seconds, or when the task is cancelled or `on_output` raises,
        all that it started is ended before this returns. `limits` are resource limits by name: `cpu` in
        seconds, `fsize` in bytes, `nofile` ... A program that cannot be started exits with 126 or 127.

        Raises:
            ProcessError: the supervisor does not start, or died; the next call starts a new one.
        """
        link = await self._running()
        request = {"argv": [*argv], "cwd": str(cwd), "env": {**env}, "limits": {**(limits or {})}}
        call = await link.spawn(json.dumps(request).encode(), stdin=stdin or None)
        pumps = [asyncio.create_task(pipe.pump(on_output)) for pipe in call.pipes]
        try:
            waited: set[asyncio.Future[Any]] = {call.exit, *pumps}
            done, _ = await asyncio.wait(waited, timeout=timeout, return_when=asyncio.FIRST_EXCEPTION)
            for part in done:
                part.result()
            timed_out = not call.exit.done()
            if timed_out:
                await link.end(call)
            await asyncio.gather(*pumps)
            value = call.exit.result() if call.exit.done() else -signal.SIGKILL
        except BaseException:
            for pump in pumps:
                pump.cancel()
            await _to_the_end(link.end(call))
            await asyncio.gather(*pumps, return_exceptions=True)
            raise
        finally:
            call.release()
        return ExitStatus(value if value >= 0 else None, -value if value < 0 else None, timed_out)

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
