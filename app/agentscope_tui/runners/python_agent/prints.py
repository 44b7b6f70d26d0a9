"""Standard output and error: to the log, or while a tool of the agent runs, to that call's output."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from contextvars import ContextVar

OnPrint = Callable[[str, str], None]
"""Takes the stream's name and a piece of text."""

printing_for: ContextVar[OnPrint | None] = ContextVar("printing_for", default=None)
"""Who gets what is printed in this context; None: the log."""


class Prints(io.TextIOWrapper):
    """A standard stream of the user's code."""

    def __init__(self, descriptor: int, stream: str) -> None:
        raw = io.FileIO(descriptor, "w", closefd=False)
        super().__init__(
            io.BufferedWriter(raw), encoding="utf-8", errors="backslashreplace", line_buffering=True
        )
        self._stream = stream
        self._pid = os.getpid()

    def write(self, text: str) -> int:
        taker = printing_for.get()
        if taker is None or os.getpid() != self._pid:
            return super().write(text)
        taker(self._stream, text)
        return len(text)


def redirect() -> None:
    """Put both streams in place of Python's own."""
    sys.stdout = Prints(1, "stdout")
    sys.stderr = Prints(2, "stderr")
