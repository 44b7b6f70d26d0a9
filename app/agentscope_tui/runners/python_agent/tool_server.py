"""Serves a user's functions as tools: first their declarations, then calls, each told while it runs."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from .link import Frame, Link
from .load import load_tools, one_line, traceback_of
from .own_tools import OwnTool
from .replies import AgentError


class ToolServer:
    """The tools of one session. To stop a call the host ends the process."""

    def __init__(self, link: Link, name: str, workdir: str) -> None:
        """`name` is the module or file with the functions; they work in the folder `workdir`."""
        self._link = link
        self._name = name
        self._workdir = workdir
        self._tools: dict[str, OwnTool] = {}
        self._calls: set[asyncio.Task[Any]] = set()

    def serve(self) -> None:
        """Tell the declarations, or why there are none, and answer calls until the host leaves."""
        try:
            tools = [OwnTool(function, self._link) for function in load_tools(self._name)]
        except BaseException as error:
            known = isinstance(error, AgentError)
            told = (
                {"error": str(error)} if known else {"error": one_line(error), "detail": traceback_of(error)}
            )
            self._link.send("tools", **told)
            return
        self._tools = {tool.name: tool for tool in tools}
        os.chdir(self._workdir)
        self._link.send("tools", specs=[tool.declaration for tool in tools])
        asyncio.run(self._answer())

    async def _answer(self) -> None:
        loop = asyncio.get_running_loop()

        def take(frame: Frame) -> None:
            loop.call_soon_threadsafe(self._begin, frame)

        await loop.run_in_executor(None, self._link.read, take)
        # Without a host there is nobody to work for; a thread of the user's must not keep the process.
        os._exit(0)

    def _begin(self, frame: Frame) -> None:
        call = self._tools[frame["name"]].run_async(frame["arguments"], frame["call_id"])
        task = asyncio.ensure_future(call)
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)
