"""Tools that are typed Python functions of the user's, served by a process of their own interpreter.

It is their own code: it is not confined. A call that is stopped ends the process; the next starts it anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from agentscope_tui.errors import UserError
from agentscope_tui.runners.home import Home
from agentscope_tui.runners.process import ProcessStream
from agentscope_tui.tools.capping import cut_middle
from agentscope_tui.tools.spec import OnOutput, ToolOutcome, Toolset, validate_tools
from agentscope_tui.wire.channel import ChannelClosed
from agentscope_tui.wire.frame_channel import FrameChannel, OnLog
from agentscope_tui.wire.frames import FrameError, ToolReport, parse_runner_frame
from agentscope_tui.wire.framing import Base64Lines


class PythonTools:
    """The functions of the user's, beside the tools of `inner`."""

    def __init__(
        self,
        inner: Toolset,
        command: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        result_cap: int,
        start_timeout: float,
        on_log: OnLog,
    ) -> None:
        """`command` serves the functions (`tools_command`), started in `cwd`. `on_log` gets what they print
        outside of calls. `result_cap` is in characters, `start_timeout` in seconds."""
        self._inner = inner
        self._command = command
        self._cwd = cwd
        self._env = env
        self._cap = result_cap
        self._start_timeout = start_timeout
        self._on_log = on_log
        self._own: list[dict[str, Any]] = []
        self._channel: FrameChannel | None = None
        self._reader: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._calls: dict[str, asyncio.Queue[ToolReport | str]] = {}
        self._numbers = count(1)

    @property
    def specs(self) -> Sequence[dict[str, Any]]:
        return [*self._inner.specs, *self._own]

    @property
    def confinement(self) -> str:
        return self._inner.confinement

    async def start(self) -> None:
        """Start the process and learn what it offers.

        Raises:
            UserError: the functions cannot be had, or are no tools.
        """
        async with self._starting:
            if self._channel is not None:
                return
            stream = ProcessStream(self._command, home=Home(self._cwd), env=self._env, on_log=self._on_log)
            channel = FrameChannel(stream, Base64Lines(), self._on_log)
            try:
                await channel.open()
                async with asyncio.timeout(self._start_timeout):
                    self._own = await _declared(channel)
                validate_tools(self.specs)
            except TimeoutError:
                await channel.aclose()
                limit = f"{self._start_timeout:g} s (setting runner.start_timeout)"
                raise UserError(f"--tools: importing the functions took longer than {limit}") from None
            except BaseException:
                await channel.aclose()
                raise
            self._channel = channel
            self._reader = asyncio.create_task(self._read(channel), name="python tools")

    async def call(self, name: str, arguments: dict[str, Any], on_output: OnOutput) -> ToolOutcome:
        """As every toolset.

        Raises:
            UserError: the process ended in the call, or cannot be started again.
        """
        if all(spec["name"] != name for spec in self._own):
            return await self._inner.call(name, arguments, on_output)
        await self.start()
        assert self._channel is not None
        call_id = f"p{next(self._numbers)}"
        reports = self._calls[call_id] = asyncio.Queue()
        try:
            await self._channel.send(
                {"type": "call", "call_id": call_id, "name": name, "arguments": arguments}
            )
            while True:
                report = await reports.get()
                if isinstance(report, str):
                    raise UserError(f"tool '{name}' failed: {report}")
                if report.status == "finished":
                    content = cut_middle(report.content, self._cap)
                    cut = content != report.content
                    return ToolOutcome(
                        content=content, is_error=report.is_error, truncated=cut, side_effects=True
                    )
                if report.status == "output":
                    await on_output(report.stream, report.text.encode("utf-8", "replace"))
        except ChannelClosed:
            raise UserError(f"tool '{name}' failed: its process ended") from None
        except asyncio.CancelledError:
            await self._end_process()
            raise
        finally:
            del self._calls[call_id]

    async def aclose(self) -> None:
        await self._end_process()
        await self._inner.aclose()

    async def _read(self, channel: FrameChannel) -> None:
        """Pass reports on to their calls; when there are no more, tell the calls that are open."""
        try:
            while (data := await channel.receive()) is not None:
                frame = parse_runner_frame(data)
                if isinstance(frame, ToolReport) and frame.report_id in self._calls:
                    self._calls[frame.report_id].put_nowait(frame)
            why = (await channel.ending()).replace("the runner", "its process")
        except FrameError as error:
            why = str(error)
        if self._channel is channel:
            self._channel = None
        for reports in self._calls.values():
            reports.put_nowait(why)
        await channel.aclose()

    async def _end_process(self) -> None:
        # A new process starts only once this one, and what is read of it, has ended.
        async with self._starting:
            channel, self._channel = self._channel, None
            if channel is not None:
                await channel.aclose()
            if self._reader is not None:
                await asyncio.wait([self._reader])


async def _declared(channel: FrameChannel) -> list[dict[str, Any]]:
    """The declarations that the process begins with."""
    frame = await channel.receive()
    if frame is None:
        raise UserError(f"--tools: {(await channel.ending()).replace('the runner', 'their process')}")
    if "error" in frame:
        raise UserError(f"--tools: {frame['error']}")
    specs: list[dict[str, Any]] = frame["specs"]
    return specs
