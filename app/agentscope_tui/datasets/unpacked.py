"""What is in a gzip or zstd file, as a stream of bytes."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from agentscope_tui.errors import UserError

_PACKED_CHUNK = 8 << 10


class GzipStream:
    """The unpacked bytes of a gzip file, however many members it has."""

    def __init__(self, path: Path) -> None:
        """Opens it (OSError)."""
        self._name = path
        self._file = gzip.GzipFile(path)

    def read(self, size: int) -> bytes:
        try:
            return self._file.read1(size)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise _damaged(self._name, "gzip", error) from error

    def close(self) -> None:
        self._file.close()


class ZstdStream:
    """The unpacked bytes of a zstd file, however many frames it has."""

    def __init__(self, path: Path) -> None:
        """Opens it (OSError)."""
        import zstandard

        self._error = zstandard.ZstdError
        self._decompressor = zstandard.ZstdDecompressor()
        self._frame = self._decompressor.decompressobj()
        self._name = path
        self._file = path.open("rb")
        self._within = False
        self._rest = b""

    def read(self, size: int) -> bytes:
        while True:
            packed = self._rest or self._file.read(_PACKED_CHUNK)
            try:
                if not packed and self._within:
                    raise EOFError("it ends within a frame")
                data = self._frame.decompress(packed)
            except (EOFError, self._error) as error:
                raise _damaged(self._name, "zstd", error) from error
            self._within, self._rest = not self._frame.eof, b""
            if self._frame.eof:
                self._rest = self._frame.unused_data
                self._frame = self._decompressor.decompressobj()
            if data or not packed:
                return data

    def close(self) -> None:
        self._file.close()


def _damaged(path: Path, kind: str, error: Exception) -> UserError:
    return UserError(f"{path}: the {kind} data is damaged or cut short ({error}); the rows before stay")
