"""What is written to the terminal, by a thread: one that takes nothing or is gone holds nobody up."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

MOST_WAITING = 1 << 20
"""Characters that wait for a terminal that takes none: then they are dropped, and drawn anew later."""


class TerminalOutput:
    """Writes text in order. Both callbacks are called in the thread."""

    def __init__(
        self, descriptor: int, *, on_lost: Callable[[], None], on_caught_up: Callable[[], None]
    ) -> None:
        """`on_lost`: the terminal is gone. `on_caught_up`: it takes text again after some was dropped."""
        self._descriptor = descriptor
        self._on_lost = on_lost
        self._on_caught_up = on_caught_up
        # Its lock may be taken again by the same thread: a signal's handler may write while a write is made.
        self._changed = threading.Condition()
        self._waiting: list[str] = []
        self._size = 0
        self._busy = False
        self._dropped = False
        self._lost = False
        self._thread: threading.Thread | None = None

    def write(self, text: str) -> None:
        """Take text; never waits."""
        with self._changed:
            if self._lost:
                return
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="terminal output", daemon=True)
                self._thread.start()
            if self._size > MOST_WAITING:
                self._waiting.clear()
                self._size = 0
                self._dropped = True
            self._waiting.append(text)
            self._size += len(text)
            self._changed.notify_all()

    def flush(self, seconds: float) -> None:
        """Return when all was written, or the terminal is gone, or after so many seconds."""
        with self._changed:
            self._changed.wait_for(lambda: self._lost or not (self._waiting or self._busy), seconds)

    def _run(self) -> None:
        try:
            while True:
                with self._changed:
                    self._changed.wait_for(lambda: self._waiting)
                    text, self._waiting = "".join(self._waiting), []
                    dropped, self._dropped = self._dropped, False
                    self._size, self._busy = 0, True
                data = memoryview(text.encode("utf-8", "replace"))
                while data:
                    data = data[os.write(self._descriptor, data) :]
                with self._changed:
                    self._busy = False
                    self._changed.notify_all()
                if dropped:
                    self._on_caught_up()
        except OSError:
            with self._changed:
                self._lost = True
                self._waiting.clear()
                self._changed.notify_all()
            self._on_lost()
