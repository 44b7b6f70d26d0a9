"""Which file it was: enough to tell later that it was replaced or changed, and to recognise it again."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

_END = 64 << 10


@dataclass(frozen=True)
class FileState:
    """A regular file as it was when it was opened."""

    path: Path
    stat: os.stat_result

    @classmethod
    def of(cls, path: Path) -> FileState:
        """The file as it is now (OSError)."""
        return cls(path, path.stat())

    def changed(self) -> str:
        """What happened to the file since, as in "was replaced"; "" for nothing."""
        try:
            now = self.path.stat()
        except OSError:
            return "is gone"
        before = self.stat
        if (now.st_dev, now.st_ino) != (before.st_dev, before.st_ino):
            return "was replaced"
        if now.st_size != before.st_size:
            return "was appended to" if now.st_size > before.st_size else "was cut short"
        return "" if now.st_mtime_ns == before.st_mtime_ns else "was rewritten"

    def identity(self) -> str:
        """A digest of size, modification time, and the first and last 64 KiB: 32 hex digits (OSError)."""
        size = self.stat.st_size
        digest = hashlib.blake2b(f"{size} {self.stat.st_mtime_ns}".encode(), digest_size=16)
        with self.path.open("rb") as file:
            digest.update(file.read(_END))
            file.seek(max(0, size - _END))
            digest.update(file.read(_END))
        return digest.hexdigest()
