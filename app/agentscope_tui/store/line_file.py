"""An append-only file of lines, each of them whole or absent, also on a disk that is full."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path


class LineFile:
    """A new file, for the user's eyes only. `size` is that of its whole lines, in bytes."""

    def __init__(self, path: Path) -> None:
        """Creates the file.

        Raises:
            OSError: it is there already, or cannot be made.
        """
        self.size = 0
        self._path = path
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
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
