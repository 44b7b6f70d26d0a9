"""One run of a program: its lines go to the log as they come, its whole tree ends with it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentscope_tui.runners.process import exit_words, log_lines
from agentscope_tui.tools.link import ProcessError, SupervisorLink
from agentscope_tui.wire.frame_channel import LogStream, OnLog
from agentscope_tui.wire.last_lines import LastLines

MAX_ANSWER = 1 << 20
"""Bytes of output that an answer keeps: its end."""
_LAST_LINES = 40
_IN_REASON = 2


@dataclass(frozen=True)
class Ended:
    """How a run ended: `answer` is what it printed, None if nothing; `error` why it failed, in one line, with
    the end of its stderr as `detail`."""

    answer: str | None = None
    error: str = ""
    detail: str = ""


class ProgramRun:
    """Runs a program once."""

    def __init__(self, link: SupervisorLink, *, on_log: OnLog) -> None:
        self._link = link
        self._on_log = on_log
        self._printed = bytearray()
        self._cut = False
        self._last = LastLines(_LAST_LINES)

    async def to_end(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        stdin: Path,
        stop: asyncio.Event,
        grace: float,
    ) -> Ended:
        """Run it; once `stop` is set it has `grace` seconds left. Nothing of it runs afterwards."""
        source = os.open(stdin, os.O_RDONLY)
        try:
            call = await self._link.spawn(argv, cwd=cwd, env=env, stdin=source)
        except ProcessError as error:
            return Ended(error=str(error))
        finally:
            os.close(source)
        readers = [
            asyncio.create_task(log_lines(call.pipes[0], self._log_stdout, self._keep)),
            asyncio.create_task(log_lines(call.pipes[1], self._log_stderr)),
        ]
        stopped = asyncio.create_task(_after(stop, grace))
        try:
            ends: set[asyncio.Future[Any]] = {call.exit, stopped}
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopped.cancel()
            await self._link.end(call)
            await asyncio.wait(readers)
            call.close_pipes()
        try:
            return self._ended(call.exit.result())
        except ProcessError as error:
            return Ended(error=f"the program was lost: {error}")

    def _ended(self, value: int) -> Ended:
        answer = self._printed.decode("utf-8", "replace").strip()
        if self._cut:
            answer = f"[the start of the output was left out]\n{answer}"
        if value == 0:
            return Ended(answer=answer or None)
        last = self._last.end(_IN_REASON)
        reason = f"the program {exit_words(value)}"
        return Ended(answer or None, f"{reason}: {last}" if last else reason, self._last.text)

    def _keep(self, data: bytes) -> None:
        self._printed += data
        if len(self._printed) > MAX_ANSWER:
            self._cut = True
            del self._printed[:-MAX_ANSWER]

    def _log_stdout(self, line: str) -> None:
        self._log("stdout", line)

    def _log_stderr(self, line: str) -> None:
        self._last.add(line)
        self._log("stderr", line)

    def _log(self, stream: LogStream, line: str) -> None:
        self._on_log(stream, line)


async def _after(stop: asyncio.Event, grace: float) -> None:
    await stop.wait()
    await asyncio.sleep(grace)
