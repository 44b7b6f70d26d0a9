"""A tool of the agent's own: a typed function, run in this process and told to the host while it runs."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import json
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any

from .link import Link
from .load import one_line, traceback_of
from .prints import printing_for
from .replies import ToolResult, plain
from .schema import bind, declare

_reports = count(1)
_LONGEST_PIECE = 8192


class OwnTool:
    """One function as a tool."""

    def __init__(self, function: Callable[..., Any], link: Link) -> None:
        """Raises TypeError: it cannot be described to a model."""
        self._function = function
        self._link = link
        self.declaration = declare(function)
        self.name: str = self.declaration["name"]

    async def run_async(self, arguments: dict[str, Any], report_id: str | None = None) -> ToolResult:
        """Run it in a thread beside the event loop, or in the loop if it is async. What it raises becomes an
        error result. `report_id` names the call to the host; None: a new name."""
        report = _Report(self._link, self.name, arguments, report_id)
        loop = asyncio.get_running_loop()
        try:
            call = bind(self._function, arguments)
            if inspect.iscoroutinefunction(inspect.unwrap(self._function)):
                return report.finished(await loop.create_task(_printing_async(report, call)))
            context = contextvars.copy_context()
            return report.finished(await loop.run_in_executor(None, context.run, _printing, report, call))
        except Exception as error:
            return report.failed(error)

    def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Run it in this thread; an async one in an event loop of its own."""
        report = _Report(self._link, self.name, arguments)
        try:
            call = bind(self._function, arguments)
            return report.finished(contextvars.copy_context().run(_printing, report, call))
        except Exception as error:
            return report.failed(error)


def _printing(report: _Report, call: Callable[[], Any]) -> Any:
    printing_for.set(report.printed)
    value = call()
    return asyncio.run(value) if inspect.iscoroutine(value) else value


async def _printing_async(report: _Report, call: Callable[[], Awaitable[Any]]) -> Any:
    printing_for.set(report.printed)
    return await call()


class _Report:
    """What the host is told of one call: that it started, what it prints, and its result."""

    def __init__(
        self, link: Link, name: str, arguments: dict[str, Any], report_id: str | None = None
    ) -> None:
        self._link = link
        self._id = report_id or f"t{next(_reports)}"
        self._waiting = {"stdout": "", "stderr": ""}
        self._send("started", name=name, arguments=plain(arguments))

    def printed(self, stream: str, text: str) -> None:
        """Pass on what was printed, by whole lines."""
        self._waiting[stream] += text
        if self._waiting[stream][-1:] in ("\n", "\r") or len(self._waiting[stream]) > _LONGEST_PIECE:
            self._flush(stream)

    def finished(self, value: Any) -> ToolResult:
        return self._end(_text_of(value), is_error=False)

    def failed(self, error: Exception) -> ToolResult:
        self.printed("stderr", f"{traceback_of(error)}\n")
        return self._end(one_line(error), is_error=True)

    def _end(self, content: str, *, is_error: bool) -> ToolResult:
        for stream in self._waiting:
            self._flush(stream)
        self._send("finished", content=content, is_error=is_error)
        return ToolResult(content, is_error)

    def _flush(self, stream: str) -> None:
        text, self._waiting[stream] = self._waiting[stream], ""
        if text:
            self._send("output", stream=stream, text=text)

    def _send(self, status: str, **fields: Any) -> None:
        self._link.send("tool_report", report_id=self._id, status=status, **fields)


def _text_of(value: Any) -> str:
    """A tool's value for the model: text as it is, anything else as JSON."""
    if isinstance(value, str):
        return str(value)
    return "" if value is None else json.dumps(value, default=str, ensure_ascii=False)
