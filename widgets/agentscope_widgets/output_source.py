"""Where output can be read again: old lines leave memory and are written anew from what made them."""

from __future__ import annotations

import tempfile
import weakref
from array import array
from typing import Protocol

from .line_block import Stream

_IN_MEMORY = 256 * 1024
"""Bytes that a private source keeps before it uses a file."""
_TEXT = 2


class OutputSource(Protocol):
    """What was written to a buffer, by the number of the write (from 0). A write has at most 64 Ki
    characters or bytes; the buffer cuts longer ones."""

    def keep(self, stream: Stream, data: str | bytes) -> None:
        """The next write. Errors are reported when it is read."""

    def read(self, number: int) -> tuple[Stream, str | bytes]:
        """A write as it was.

        Raises:
            OSError: it cannot be read.
        """


class PrivateSource:
    """Keeps what is written itself: a little in memory, more in a temporary file without a name."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115
        self._ends = array("q", [0])
        self._kinds = bytearray()
        self._error: OSError | None = None
        weakref.finalize(self, self._file.close)

    def keep(self, stream: Stream, data: str | bytes) -> None:
        kind = int(stream == "stderr")
        if isinstance(data, str):
            kind |= _TEXT
            data = data.encode("utf-8", "surrogatepass")
        self._kinds.append(kind)
        self._ends.append(self._ends[-1] + len(data))
        if self._error is None:
            try:
                self._file.seek(0, 2)
                self._file.write(data)
            except OSError as error:
                # The disk is full: what is in memory can still be shown, so this is said where it matters.
                self._error = error

    def read(self, number: int) -> tuple[Stream, str | bytes]:
        start, end = self._ends[number], self._ends[number + 1]
        self._file.seek(start)
        data = self._file.read(end - start)
        if len(data) < end - start:
            raise self._error or OSError("it is not there any more")
        kind = self._kinds[number]
        text = data.decode("utf-8", "surrogatepass") if kind & _TEXT else data
        return ("stderr" if kind & 1 else "stdout"), text
