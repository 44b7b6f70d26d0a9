"""The bytes of a text file, read at any place while they may still be arriving.

Files are read, not mapped: a mapped file that is cut short while it is open kills the process.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol

from agentscope_tui.datasets.file_state import FileState


class ByteSource(Protocol):
    """Bytes from 0 on. One thread gets more of them while others read what is there."""

    def more(self, size: int, offset: int) -> tuple[bytes, bool]:
        """The next at most `size` bytes from `offset` on, and whether they are the last there will be.

        Waits a moment for bytes that are on their way; fewer, or none, may be there.

        Raises:
            OSError: cannot be read.
            UserError: the compressed data is damaged; says so once, and then these were the last bytes.
        """

    def read(self, size: int, offset: int) -> bytes:
        """What is there already of `size` bytes from `offset` on (OSError)."""

    def changed(self) -> str:
        """As `RawRows.changed`."""

    def identity(self) -> str:
        """As `RawRows.identity`."""

    def close(self) -> None:
        """Let go of it."""


class PlainFile:
    """A regular file."""

    def __init__(self, path: Path) -> None:
        """Opens it (OSError)."""
        self._state = FileState.of(path)
        self._file = path.open("rb", buffering=0)

    def more(self, size: int, offset: int) -> tuple[bytes, bool]:
        data = self.read(size, offset)
        return data, len(data) < size

    def read(self, size: int, offset: int) -> bytes:
        return os.pread(self._file.fileno(), size, offset)

    def changed(self) -> str:
        return self._state.changed()

    def identity(self) -> str:
        return self._state.identity

    def close(self) -> None:
        self._file.close()
