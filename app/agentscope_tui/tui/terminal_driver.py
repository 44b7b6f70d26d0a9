"""Textual's driver for a terminal that may hang or go away: the loop goes on, and the app ends in order."""

from __future__ import annotations

import asyncio
import contextlib
import select
from collections.abc import Callable
from typing import Any

from textual.app import App
from textual.drivers.linux_driver import LinuxDriver

from agentscope_tui.tui.terminal_output import TerminalOutput

LOOK_EVERY = 0.5
"""Seconds between two looks at whether the terminal is still there."""
FLUSH_SECONDS = 1.0
"""Seconds that a terminal has to take the last that is written to it."""


class TerminalDriver(LinuxDriver):
    """Writes by a thread that is never waited for without end; Textual's own stays idle."""

    def __init__(
        self,
        app: App[Any],
        *,
        debug: bool = False,
        mouse: bool = True,
        size: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        assert self._file is not None
        self._output = TerminalOutput(
            self._file.fileno(),
            on_lost=lambda: self._tell(self._app.exit),
            on_caught_up=lambda: self._tell(lambda: self._app.refresh(layout=True)),
        )
        self._look: asyncio.TimerHandle | None = None

    def write(self, data: str) -> None:
        self._output.write(data)

    def start_application_mode(self) -> None:
        super().start_application_mode()  # type: ignore[no-untyped-call]
        self._look_at_terminal()

    def close(self) -> None:
        if self._look is not None:
            self._look.cancel()
            self._look = None
        super().close()
        self._output.flush(FLUSH_SECONDS)

    def _look_at_terminal(self) -> None:
        """End the app when the terminal has hung up: a signal may not come, and reading tells nothing."""
        poll = select.poll()
        poll.register(self.fileno, 0)
        if any(seen & (select.POLLHUP | select.POLLERR | select.POLLNVAL) for _, seen in poll.poll(0)):
            self._app.exit()
        self._look = self._loop.call_later(LOOK_EVERY, self._look_at_terminal)

    def _tell(self, act: Callable[[], object]) -> None:
        """Have the app act, from another thread; too late for that is when its loop is closed."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(act)
