"""Rows that are piped in: standard input as a stream of bytes, with the terminal put in its place."""

from __future__ import annotations

import os
import select
import sys

from agentscope_tui.errors import UsageError

NAME = "standard input"
_WAIT_SECONDS = 0.01


class PipedInput:
    """What is piped into this process. `head` is its beginning, at least four bytes if it has as many."""

    def __init__(self) -> None:
        """Takes standard input over: from now on it is the terminal, if there is one, so that keys arrive.

        Waits for the first bytes.

        Raises:
            UsageError: nothing is piped in.
            OSError: it cannot be read.
        """
        if sys.stdin is None or os.isatty(0):
            raise UsageError("no rows are piped in: use it, as in `cat tasks.jsonl | agentscope -`")
        self._fd = os.dup(0)
        _put_terminal_on(0)
        self.head = b""
        while len(self.head) < 4 and (data := os.read(self._fd, 1 << 16)):
            self.head += data
        self._rest = self.head

    def read(self, size: int) -> bytes | None:
        if self._rest:
            data, self._rest = self._rest, b""
            return data
        if not select.select([self._fd], [], [], _WAIT_SECONDS)[0]:
            return None
        return os.read(self._fd, size)

    def close(self) -> None:
        os.close(self._fd)


def _put_terminal_on(number: int) -> None:
    try:
        terminal = os.open("/dev/tty", os.O_RDWR)
    except OSError:
        terminal = os.open(os.devnull, os.O_RDONLY)
    os.dup2(terminal, number)
    os.close(terminal)
