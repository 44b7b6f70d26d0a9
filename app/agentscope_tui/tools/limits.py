"""What one command, with all that it starts, may use; and what is said when it would use more."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

LimitName = Literal["cpu", "memory", "processes", "open_files", "file_size", "output", "disk"]

# The words for each limit: what a command that reached it did.
_WORDS: Mapping[LimitName, str] = {
    "cpu": "used more than {} s of processor time",
    "memory": "used more than {} of memory",
    "processes": "had more than {} processes",
    "open_files": "had as many files open as it may: {}",
    "file_size": "wrote a file of more than {}",
    "output": "printed more than {}",
    "disk": "left more than {} in its folder",
}
_IN_BYTES = ("memory", "file_size", "output", "disk")
WATCHED: tuple[LimitName, ...] = ("cpu", "memory", "processes", "open_files")
"""Those that the supervisor looks after, for the whole tree of a command."""


@dataclass(frozen=True)
class CommandLimits:
    """Bytes, seconds or a count each; None: no limit. `disk` is for the whole folder."""

    cpu: int | None = None
    memory: int | None = None
    processes: int | None = None
    open_files: int | None = None
    file_size: int | None = None
    output: int | None = None
    disk: int | None = None

    @property
    def of_each_process(self) -> dict[str, int]:
        """Those that the kernel holds each process to, by the name of its resource."""
        given = {"nofile": self.open_files, "fsize": self.file_size}
        return {name: value for name, value in given.items() if value is not None}

    @property
    def watched(self) -> dict[LimitName, int]:
        """Those in `WATCHED` that are set."""
        return {name: value for name in WATCHED if (value := getattr(self, name)) is not None}

    def said(self, name: LimitName) -> str:
        """What a command that reached this limit did, in words."""
        value = getattr(self, name)
        return _WORDS[name].format(bytes_in_words(value) if name in _IN_BYTES else f"{value:,}")


NO_LIMITS = CommandLimits()


def bytes_in_words(count: int) -> str:
    """A number of bytes: `900 bytes`, `64 MiB`, `1.5 GiB`."""
    if count < 1 << 20:
        return f"{count:,} bytes"
    size, unit = (count / (1 << 30), "GiB") if count >= 1 << 30 else (count / (1 << 20), "MiB")
    return f"{size:.1f}".removesuffix(".0") + f" {unit}"


class FolderUse(NamedTuple):
    """The bytes that a folder takes on disk, and of the largest of its files that were written lately."""

    size: int
    written: int


def folder_use(folder: Path, since: int = 0) -> FolderUse:
    """What a folder takes, links not followed; `since`, in ns of the wall clock, says what is lately. For a
    thread: it may be large."""
    size = written = 0
    ahead = [str(folder)]
    while ahead:
        try:
            with os.scandir(ahead.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        ahead.append(entry.path)
                    facts = entry.stat(follow_symlinks=False)
                    size += facts.st_blocks * 512
                    if facts.st_mtime_ns >= since and entry.is_file(follow_symlinks=False):
                        written = max(written, facts.st_size)
        except OSError:  # gone since the listing, or closed to us: what others wrote is not counted
            continue
    return FolderUse(size, written)
