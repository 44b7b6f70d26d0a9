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
    identity: str
    """A digest of size, modification time, and the first and last 64 KiB: 32 hex digits."""

    @classmethod
    def of(cls, path: Path) -> FileState:
        """The file as it is now (OSError)."""
        with path.open("rb", buffering=0) as file:
            stat = os.fstat(file.fileno())
            digest = hashlib.blake2b(f"{stat.st_size} {stat.st_mtime_ns}".encode(), digest_size=16)
            for place in (0, max(0, stat.st_size - _END)):
                digest.update(os.pread(file.fileno(), _END, place))
        return cls(path, stat, digest.hexdigest())

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
