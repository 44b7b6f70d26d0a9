"""An append-only file of lines, each of them whole or absent, also on a disk that is full."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path


class LineFile:
    """A file for the user's eyes only. `size` is that of its whole lines, in bytes."""

    def __init__(self, path: Path, *, goes_on: bool = False) -> None:
        """Creates the file. With `goes_on` it may be there already: what is appended follows its last whole
        line.

        Raises:
            OSError: it is there already and should not, or cannot be made.
        """
        self.size = _whole_lines(path) if goes_on else 0
        self._path = path
        new = 0 if goes_on else os.O_EXCL
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | new | os.O_CLOEXEC, 0o600)
        # Whatever the umask is.
        os.fchmod(self._descriptor, 0o600)

    def append(self, lines: bytes) -> None:
        """Write lines, each with its line end; does not sync.

        Raises:
            OSError: not all of them could be written. Those that fitted are in the file, and `size` counts
                them; no half line is.
        """
        if os.fstat(self._descriptor).st_nlink == 0:
            raise FileNotFoundError(errno.ENOENT, "its file was deleted")
        view, written = memoryview(lines), 0
        try:
            while written < len(lines):
                written += os.pwrite(self._descriptor, view[written:], self.size + written)
        except OSError:
            self.size += lines.rfind(b"\n", 0, written) + 1
            # Where even this fails, the next line is written over the half one.
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, self.size)
            raise
        self.size += written

    def lines(self, offset: int) -> Iterator[bytes]:
        """The whole lines from a place on, also after `close`.

        Raises:
            OSError: the file cannot be read.
        """
        with self._path.open("rb") as file:
            file.seek(offset)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                yield line

    def close(self) -> None:
        os.close(self._descriptor)


def _whole_lines(path: Path) -> int:
    """How many bytes of the file are whole lines."""
    try:
        with path.open("rb") as file:
            return sum(len(line) for line in file if line.endswith(b"\n"))
    except FileNotFoundError:
        return 0
