"""Bytes that arrive in order only, kept in a private temporary file as far as somebody asked for them.

So a compressed file, or a pipe, is read no further than its rows are wanted.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from typing import Protocol

from agentscope_tui.datasets.file_state import FileState
from agentscope_tui.errors import UserError

_CHUNK = 256 << 10
_MOST_HEAD = 64 << 10
_ROOM = 256 << 20
"""Bytes that are left free on the disk of temporary files."""
_ROOM_EVERY = 64 << 20


class Stream(Protocol):
    """Bytes in order."""

    def read(self, size: int) -> bytes | None:
        """At most `size` bytes; empty at the end, None when there are none yet (OSError, UserError)."""

    def close(self) -> None:
        """Let go of it."""


class Spool:
    """A `ByteSource` of a stream. The file has no name, and is gone when the process is."""

    def __init__(self, stream: Stream, name: str, state: FileState | None) -> None:
        """`state` is of the file behind the stream, None where there is none (OSError: no temporary file)."""
        self._stream = stream
        self._name = name
        self._state = state
        self._file, path = tempfile.mkstemp(prefix="agentscope-")
        os.unlink(path)
        self._filled = 0
        self._room_checked = 0
        self._ended = False
        self._failure: UserError | None = None
        self._failed_at = -1

    def more(self, size: int, offset: int) -> tuple[bytes, bool]:
        while self._filled < offset + size and not self._ended and not self._failure:
            try:
                data = self._stream.read(_CHUNK)
                if data is None:
                    break
                self._keep(data)
                self._ended = not data
            except UserError as error:
                self._failure = error
        data = self.read(size, offset)
        if self._failure and len(data) < size:
            # What came before the failure is used first: as long as the reader gets on, it is not told.
            if self._failed_at == offset:
                raise self._failure
            self._failed_at = offset
        return data, self._ended and offset + len(data) == self._filled

    def _keep(self, data: bytes) -> None:
        if self._filled >= self._room_checked:
            self._room_checked = self._filled + _ROOM_EVERY
            folder = tempfile.gettempdir()
            if shutil.disk_usage(folder).free < _ROOM + _ROOM_EVERY:
                raise UserError(
                    f"no room in {folder} for the rows of {self._name}: set TMPDIR to a folder with more"
                )
        view = memoryview(data)
        while view:
            view = view[os.write(self._file, view) :]
        self._filled += len(data)

    def read(self, size: int, offset: int) -> bytes:
        return os.pread(self._file, size, offset)

    def changed(self) -> str:
        return self._state.changed() if self._state else ""

    def identity(self) -> str:
        """Of a stream without a file: a digest of its beginning."""
        if self._state:
            return self._state.identity
        return hashlib.blake2b(self.read(_MOST_HEAD, 0), digest_size=16).hexdigest()

    def close(self) -> None:
        self._stream.close()
        os.close(self._file)
