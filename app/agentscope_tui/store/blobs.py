"""Bytes kept by their SHA-256, each once, in a folder for the user's eyes only."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentscope_tui.errors import UserError

MOST_KEPT = 2 << 30
"""Bytes that one store may take."""

READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
"""Opens a file and nothing else: it follows no link and waits for no pipe."""
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

# What a process that was killed has left of its draft is written over.
_DRAFT = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
_PIECE = 1 << 20
_DIGEST = re.compile(r"[0-9a-f]{64}")


class TooMuch(UserError):
    """It is not kept: it is more than is kept."""


class Damaged(UserError):
    """What is kept is not what it was."""


class Blobs:
    """A store; used from one thread at a time."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._kept: int | None = None

    def keep(self, data: bytes) -> str:
        """Keep some bytes; gives their digest.

        Raises:
            TooMuch: there is no more room.
            OSError: they cannot be written.
        """
        digest = hashlib.sha256(data).hexdigest()
        goal = self._path(digest)
        if not os.path.exists(goal):
            self._take_room(len(data))
            with self._draft() as (file, draft):
                write_all(file, data)
                os.replace(draft, goal)
        return digest

    def keep_file(self, file: int, size: int) -> str:
        """Keep what an open file holds, about `size` bytes; a large one never is in memory as a whole.

        Raises:
            As `keep`.
        """
        if size <= _PIECE and len(data := _read(file, size)) <= _PIECE:
            return self.keep(data)
        os.lseek(file, 0, os.SEEK_SET)
        hashed = hashlib.sha256()
        with self._draft() as (out, draft):
            while piece := os.read(file, _PIECE):
                self._take_room(len(piece))
                hashed.update(piece)
                write_all(out, piece)
            os.replace(draft, self._path(hashed.hexdigest()))
        return hashed.hexdigest()

    def read(self, digest: str) -> bytes:
        """The bytes of this digest.

        Raises:
            Damaged: they are missing, or others.
        """
        try:
            data = Path(self._found(digest)).read_bytes()
        except OSError as error:
            raise Damaged(f"what is kept as {digest[:12]} cannot be read: {error.strerror}") from error
        if hashlib.sha256(data).hexdigest() != digest:
            raise Damaged(f"what is kept as {digest[:12]} is something else")
        return data

    def write_to(self, digest: str, file: int) -> None:
        """Write the bytes of this digest to an open file.

        Raises:
            Damaged: they are missing, or others.
            OSError: they cannot be written.
        """
        hashed = hashlib.sha256()
        try:
            blob = os.open(self._found(digest), READ)
        except OSError as error:
            raise Damaged(f"what is kept as {digest[:12]} cannot be read: {error.strerror}") from error
        with closing(blob):
            while piece := os.read(blob, _PIECE):
                hashed.update(piece)
                write_all(file, piece)
        if hashed.hexdigest() != digest:
            raise Damaged(f"what is kept as {digest[:12]} is something else")

    def give(self, digest: str, other: Blobs) -> None:
        """Let another store keep it too, without a copy where that works."""
        goal = other._path(digest)
        if os.path.exists(goal):
            return
        other._make_folders()
        kept = self._found(digest)
        try:
            os.link(kept, goal)
        except OSError:
            shutil.copyfile(kept, goal)

    def _path(self, digest: str) -> str:
        # Text: there may be very many, and a `Path` takes longer to make than a file to find.
        if not _DIGEST.fullmatch(digest):
            raise Damaged(f"{digest[:64]!r} is no SHA-256")
        return f"{self._place}/{digest}"

    def _found(self, digest: str) -> str:
        """Where it is; an earlier version put each into the folder of its first two letters."""
        path = self._path(digest)
        earlier = f"{self._place}/{digest[:2]}/{digest}"
        return earlier if not os.path.exists(path) and os.path.exists(earlier) else path

    @contextmanager
    def _draft(self) -> Iterator[tuple[int, str]]:
        """A new file, open; it is gone afterwards unless it was moved."""
        draft = f"{self._place}/draft"
        try:
            file = os.open(draft, _DRAFT, 0o600)
        except FileNotFoundError:
            self._make_folders()
            file = os.open(draft, _DRAFT, 0o600)
        with closing(file):
            try:
                yield file, draft
            except BaseException:
                os.unlink(draft)
                raise

    def _make_folders(self) -> None:
        for folder in (self._place.parent, self._place):
            folder.mkdir(mode=0o700, exist_ok=True)

    def _take_room(self, size: int) -> None:
        if self._kept is None:
            there = self._place.rglob("*") if self._place.exists() else ()
            self._kept = sum(blob.stat().st_size for blob in there)
        if self._kept + size > MOST_KEPT:
            raise TooMuch(f"the files of this session's calls take more than {MOST_KEPT >> 30} GiB")
        self._kept += size


@contextmanager
def closing(descriptor: int) -> Iterator[int]:
    """An open file that is closed at the end."""
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def write_all(file: int, data: bytes) -> None:
    """Write all of it to an open file."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(file, rest) :]


def _read(file: int, size: int) -> bytes:
    """What an open file holds, up to a little more than `size`."""
    pieces = []
    left = size + 1
    while left > 0 and (piece := os.read(file, left)):
        pieces.append(piece)
        left -= len(piece)
    # A file that grows meanwhile: the rest is more than was asked for.
    while left <= 0 and sum(map(len, pieces)) <= _PIECE and (piece := os.read(file, _PIECE)):
        pieces.append(piece)
    return b"".join(pieces)
