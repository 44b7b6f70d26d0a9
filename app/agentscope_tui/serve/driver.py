"""The app's side of a page: Textual's packets over standard input and output instead of a terminal."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

from textual.app import App
from textual.drivers.web_driver import WebDriver


class PageDriver(WebDriver):
    """Ends the app when the server closes its end, or dies."""

    def __init__(
        self,
        app: App[Any],
        *,
        debug: bool = False,
        mouse: bool = True,
        size: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._write = partial(self._send)

    def run_input_thread(self) -> None:
        super().run_input_thread()
        if not self.exit_event.is_set():
            self._loop.call_soon_threadsafe(self._app.exit)

    def _send(self, data: bytes) -> int:
        sent = 0
        try:
            while sent < len(data):
                sent += os.write(self.fileno, data[sent:])
        except BrokenPipeError:
            # The server is gone: the end of the input, which came with it, ends the app in order.
            return len(data)
        return sent
