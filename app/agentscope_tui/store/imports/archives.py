"""ZIP archives of strangers: their parts read one at a time, into memory and never to the disk.

Newer writers pack with zstd (method 93), which Python's own module cannot unpack before 3.14.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from pathlib import Path

import zstandard

from agentscope_tui.errors import UserError

LARGEST_PART = 1 << 29
"""Bytes of a part, packed or not."""
_HEAD = struct.Struct("<4s22xHH")
"""The head of a part: its mark, and the lengths of its name and of what follows that."""


class Archive:
    """The names and the parts of an archive. The file is opened for each reading: nothing is held."""

    def __init__(self, path: Path) -> None:
        """Reads the list of parts.

        Raises:
            UserError: cannot be read, or is damaged.
        """
        self._path = path
        try:
            with zipfile.ZipFile(path) as archive:
                self._parts = {info.filename: info for info in archive.infolist()}
        except OSError as error:
            raise UserError(f"cannot read {path}: {error.strerror}") from error
        except (zipfile.BadZipFile, RuntimeError, ValueError, OverflowError, struct.error) as error:
            raise UserError(f"{path} is a damaged archive: {error}") from error

    @property
    def names(self) -> list[str]:
        """The names of all parts, in the order of the archive."""
        return list(self._parts)

    def read(self, name: str) -> bytes:
        """One part, unpacked.

        Raises:
            UserError: cannot be read, is damaged, encrypted or too large, or packed in an unknown way.
        """
        part = self._parts[name]
        try:
            data = _unpack(self._packed(part), part.compress_type)
        except OSError as error:
            raise UserError(f"cannot read {self._path}: {error.strerror}") from error
        except (zlib.error, zstandard.ZstdError, struct.error, ValueError, OverflowError) as error:
            raise UserError(f"{name!r} in {self._path} cannot be unpacked: {error}") from error
        if zlib.crc32(data) != part.CRC:
            raise UserError(f"{name!r} in {self._path} is damaged: its checksum is wrong")
        return data

    def _packed(self, part: zipfile.ZipInfo) -> bytes:
        if part.flag_bits & 1:
            raise ValueError("it is encrypted")
        if part.compress_size > LARGEST_PART:
            raise ValueError("it is too large")
        with self._path.open("rb") as file:
            file.seek(part.header_offset)
            mark, name, extra = _HEAD.unpack(file.read(_HEAD.size))
            if mark != b"PK\x03\x04":
                raise ValueError("it is not where the archive says")
            file.seek(name + extra, 1)
            return file.read(part.compress_size)


def _unpack(packed: bytes, method: int) -> bytes:
    """Unpack a part; the head of an archive may lie about its size, so what comes out is counted."""
    match method:
        case zipfile.ZIP_STORED:
            return packed
        case zipfile.ZIP_DEFLATED:
            inflater = zlib.decompressobj(-zlib.MAX_WBITS)
            data = inflater.decompress(packed, LARGEST_PART + 1)
        case 93:
            with zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True) as reader:
                data = reader.read(LARGEST_PART + 1)
        case _:
            raise ValueError(f"it is packed by method {method}, which is not known")
    if len(data) > LARGEST_PART:
        raise ValueError("it is too large when it is unpacked")
    return data
