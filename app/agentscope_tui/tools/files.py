"""The file tools: text files and folders below one root, which no path leads out of.

A path is relative to the root, or absolute and inside it. Links are resolved first; then each folder on the
way is opened relative to the one above and without following links, so that a link put there in between is
refused and never followed. Only regular files are opened: a FIFO would hang, a device do anything.

Blocking calls: run them in a thread. Each raises `FileError` with one line for the model.
"""

from __future__ import annotations

import heapq
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from agentscope_tui.errors import UserError
from agentscope_tui.tools.capping import cut

MAX_EDIT = 16 * 1024 * 1024
"""The largest file that is edited, in bytes: it is held in memory."""
MAX_ENTRIES = 1000
"""The most entries of a folder that are listed."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_UTF8_MAX = 4
"""Bytes of the longest UTF-8 sequence."""


class FileError(UserError):
    """A file tool could not do it: names the path and the reason."""


def read_text(root: Path, path: str, cap: int) -> tuple[str, bool]:
    """The file as text, and whether it was cut to `cap` characters; invalid UTF-8 is shown by `�`.

    Memory is bounded by `cap`, not by the file.
    """
    with _errors(path), _file(root, path, os.O_RDONLY) as fd:
        size, enough = os.fstat(fd).st_size, _UTF8_MAX * cap
        head = _read(fd, 0, 2 * enough)
        if size <= 2 * enough:
            text = head.decode(errors="replace")
            return cut(text, "", len(text), cap, _hint(path)), len(text) > cap
        tail = _read(fd, size - enough, enough)
        ends = head.decode(errors="replace"), tail.decode(errors="replace")
        return cut(*ends, size, cap, _hint(path), unit="bytes"), True


def write_text(root: Path, path: str, content: str) -> str:
    """Write a whole file, with the folders above it; says what was done."""
    data = _encoded(content, "content")
    with _errors(path), _file(root, path, os.O_WRONLY | os.O_CREAT, create=True) as fd:
        _replace(fd, data)
    return f"wrote {path} ({len(data):,} bytes)"


def edit_text(root: Path, path: str, old: str, new: str) -> str:
    """Replace the only occurrence of `old`; says what was done. Bytes that are no UTF-8 stay as they are."""
    if not old:
        raise FileError("old is empty; give the exact text to replace")
    wanted, replacement = _encoded(old, "old"), _encoded(new, "new")
    with _errors(path), _file(root, path, os.O_RDWR) as fd:
        size = os.fstat(fd).st_size
        if size > MAX_EDIT:
            raise FileError(f"{path} is too large to edit ({size:,} bytes; at most {MAX_EDIT:,})")
        data = _read(fd, 0, size)
        first = data.find(wanted)
        if first < 0:
            raise FileError(f"old occurs 0 times in {path}; read the file and copy the text exactly")
        # Overlapping occurrences count: which of them is meant is just as unclear.
        if data.find(wanted, first + 1) >= 0:
            times = max(2, data.count(wanted))
            raise FileError(f"old occurs {times} times in {path}; give more of its surroundings")
        _replace(fd, data[:first] + replacement + data[first + len(wanted) :])
    line = data.count(b"\n", 0, first) + 1
    return f"edited {path} at line {line}"


def list_folder(root: Path, path: str) -> str:
    """The names in a folder, sorted, one a line, folders with a `/`."""
    with _errors(path), _folder(root, _locate(root, path or ".")) as fd:
        count = 0

        def names() -> Iterator[str]:
            nonlocal count
            with os.scandir(fd) as entries:
                for entry in entries:
                    count += 1
                    name = entry.name if entry.name.isprintable() else ascii(entry.name)
                    yield name + "/" * entry.is_dir(follow_symlinks=False)

        lines = heapq.nsmallest(MAX_ENTRIES, names())
    if count > len(lines):
        lines.append(f"… [{count - len(lines):,} more of {count:,} entries not shown; use bash to search] …")
    return "\n".join(lines) or "(empty folder)"


def _hint(path: str) -> str:
    return f"read parts of it with bash, for example: sed -n '1,200p' {path}"


def _encoded(text: str, argument: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise FileError(f"{argument} has half a surrogate pair, which is no text") from None


@contextmanager
def _errors(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from error


def _locate(root: Path, path: str) -> tuple[str, ...]:
    """The parts of a path below the resolved `root`, without links."""
    try:
        real = Path(os.path.realpath(root / path))
    except ValueError:  # NUL, or half a surrogate pair
        raise FileError(f"{path!r} is no valid path") from None
    if not real.is_relative_to(root):
        raise FileError(f"path {path} escapes the session directory")
    return real.relative_to(root).parts


@contextmanager
def _folder(root: Path, parts: tuple[str, ...], create: bool = False) -> Iterator[int]:
    fd = os.open(root, _FOLDER)
    try:
        for part in parts:
            if create:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=fd)
            below = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=fd)
            os.close(fd)
            fd = below
        yield fd
    finally:
        os.close(fd)


@contextmanager
def _file(root: Path, path: str, flags: int, create: bool = False) -> Iterator[int]:
    """A descriptor of a regular file."""
    if not path:
        raise FileError("path is empty; name a file")
    parts = _locate(root, path)
    if not parts or path.endswith("/"):
        raise FileError(f"{path} is a folder; name a file")
    with _folder(root, parts[:-1], create) as folder:
        with suppress(FileNotFoundError):
            _must_be_regular(path, os.stat(parts[-1], dir_fd=folder, follow_symlinks=False))
        fd = os.open(parts[-1], flags | _FILE, 0o666, dir_fd=folder)
        try:
            _must_be_regular(path, os.fstat(fd))
            yield fd
        finally:
            os.close(fd)


def _must_be_regular(path: str, found: os.stat_result) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise FileError(f"{path} is a folder; name a file")
    if not stat.S_ISREG(found.st_mode):
        raise FileError(f"{path} is not a regular file")


def _read(fd: int, start: int, size: int) -> bytes:
    data = bytearray()
    while len(data) < size and (chunk := os.pread(fd, size - len(data), start + len(data))):
        data += chunk
    return bytes(data)


def _replace(fd: int, data: bytes) -> None:
    os.ftruncate(fd, 0)
    written = 0
    while written < len(data):
        written += os.pwrite(fd, data[written:], written)
