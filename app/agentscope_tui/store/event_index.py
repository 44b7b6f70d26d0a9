"""`events.idx`, beside a recording: the places of calls, turns and errors in it, and checkpoints of the fold.

It is made from the recording and can be deleted at any time. The first line is a JSON object that says what
is in it and how long each checkpoint is; the checkpoints follow, a line each.
"""

from __future__ import annotations

import logging
import os
import tempfile
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter

from agentscope_tui import __version__
from agentscope_tui.session.saved_state import FOLD
from agentscope_tui.store.marks import Mark

log = logging.getLogger(__name__)

INDEX_FILE = "events.idx"
VERSION = f"1 {__version__} {FOLD}"
"""Of the file and of what is in it: an index of any other is made anew."""
_MOST_HEADER = 64 << 20


class Stored:
    """The bytes of a checkpoint, in memory or in an index that stays open."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.size = len(data)

    def read(self) -> bytes:
        """The checkpoint (OSError)."""
        return self._data


class _InFile(Stored):
    def __init__(self, file: _OpenIndex, start: int, size: int) -> None:
        self._file, self._start, self.size = file, start, size

    def read(self) -> bytes:
        return os.pread(self._file.descriptor, self.size, self._start)


class _OpenIndex:
    def __init__(self, path: Path) -> None:
        self.descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        weakref.finalize(self, os.close, self.descriptor)


@dataclass(frozen=True)
class Checkpoint:
    """The state after event number `seq`, whose line is from byte `start` to before byte `end`."""

    seq: int
    start: int
    end: int
    stored: Stored


@dataclass
class _Header:
    version: str
    checkpoints: list[tuple[int, int, int, int]]
    """Number, start, end and the size of what is stored."""
    marks: list[Mark]


@cache
def _adapter() -> TypeAdapter[_Header]:
    return TypeAdapter(_Header)


def read_index(folder: Path) -> tuple[list[Checkpoint], list[Mark]]:
    """The checkpoints of a session's recording, in order, and the marks up to the last of them.

    There are none where there is no index, or one that is damaged or of another version.
    """
    try:
        file = _OpenIndex(folder / INDEX_FILE)
        with open(file.descriptor, "rb", closefd=False) as lines:
            line = lines.readline(_MOST_HEADER)
        header = _adapter().validate_json(line)
    except FileNotFoundError:
        return [], []
    except (OSError, ValueError) as error:
        log.info("%s is not used: %s", folder / INDEX_FILE, error)
        return [], []
    if header.version != VERSION:
        return [], []
    checkpoints: list[Checkpoint] = []
    at = len(line)
    for seq, start, end, size in header.checkpoints:
        checkpoints.append(Checkpoint(seq, start, end, _InFile(file, at, size)))
        at += size + 1
    return checkpoints, header.marks


def write_index(folder: Path, checkpoints: Sequence[Checkpoint], marks: Sequence[Mark]) -> None:
    """Put an index in the place of the one that is there, all at once, for the user's eyes only.

    Raises:
        OSError: it cannot be written, or a checkpoint cannot be read any more.
    """
    states = [checkpoint.stored.read() for checkpoint in checkpoints]
    places = [
        (checkpoint.seq, checkpoint.start, checkpoint.end, len(state))
        for checkpoint, state in zip(checkpoints, states, strict=True)
    ]
    last = checkpoints[-1].seq if checkpoints else 0
    header = _Header(VERSION, places, [mark for mark in marks if mark.seq <= last])
    descriptor, name = tempfile.mkstemp(dir=folder, prefix=f".{INDEX_FILE}.")
    try:
        with open(descriptor, "wb") as file:
            for line in (_adapter().dump_json(header), *states):
                file.write(line + b"\n")
        os.replace(name, folder / INDEX_FILE)
    except BaseException:
        os.unlink(name)
        raise
