"""What the scratch folder held at each model call: files by content, each content kept once.

`calls.jsonl` says which list of a folder is the scratch folder's at which call; lists and contents are blobs.
Only files that changed are read again. Tools may be hostile: nothing is followed out of the folder, and what
is no file, folder or link is left out.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentscope_tui.store.blobs import NEW, READ, Blobs, Damaged, TooMuch, closing, write_all

MOST_FILES = 50_000
MOST_BYTES = 512 << 20
"""How much a scratch folder may hold to be kept."""
DEEPEST = 64
"""Folders in each other."""

_RACY = 100_000_000
"""Nanoseconds before a look at a file within which a change may leave its times as they are."""
_GONE = (errno.ENOENT, errno.ELOOP, errno.ENOTDIR, errno.ENXIO)
"""How a file cannot be opened that is there no more, or is something else by now."""
_FOLDER = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_DIRECTORY
_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC

_EMPTY = hashlib.sha256(b"{}").hexdigest()
"""The list of a folder in which nothing is: it takes no blob, since most sessions begin with it."""

_Key = tuple[int, int]
"""Device and inode."""
_Signature = tuple[int, int, int]
"""Size, and the times of the last modification and change in ns: a file for which they are the same is."""
_Entry = list[Any]
"""`["file", mode, digest, mtime in ns]`, `["folder", mode, digest of its list]` or `["link", target]`."""


@dataclass(frozen=True)
class Snapshot:
    """The scratch folder at a call: the digest of its list, how many files and bytes it holds, and how many
    files could not be read."""

    call: int
    folder: str
    files: int
    size: int
    left_out: int = 0


class Snapshots:
    """The snapshots of one session, in its folder `place`; used from one thread at a time."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._blobs = Blobs(place / "blobs")
        self._known: dict[_Key, tuple[_Signature, str]] = {}
        self._stop = threading.Event()

    def calls(self) -> dict[int, Snapshot]:
        """The snapshots that there are, by call."""
        found: dict[int, Snapshot] = {}
        with suppress(FileNotFoundError):
            for line in (self._place / "calls.jsonl").read_bytes().splitlines():
                # The last line may be cut off, as the last line of a recording.
                with suppress(ValueError, TypeError):
                    snapshot = Snapshot(**json.loads(line))
                    found[snapshot.call] = snapshot
        return found

    def stop(self) -> None:
        """Let a `take` that runs in another thread end soon, with nothing taken."""
        self._stop.set()

    def take(self, folder: Path, call: int) -> Snapshot | None:
        """Keep what `folder` holds now, as of this call; None: it was stopped.

        Raises:
            TooMuch: that is more than is kept.
            OSError: it cannot be read or written.
        """
        look = _Look(self._blobs, self._known, self._stop)
        try:
            with closing(os.open(folder, _FOLDER)) as top:
                digest = look.folder(top, 0)
        except (TooMuch, OSError):
            self._known |= look.seen
            raise
        if self._stop.is_set():
            return None
        self._known = look.seen
        snapshot = Snapshot(call, digest, look.files, look.size, look.left_out)
        self._note(snapshot)
        return snapshot

    def restore(self, call: int, target: Path) -> Snapshot:
        """Fill the empty folder `target` with what was there at this call.

        Raises:
            Damaged: there is no such snapshot, or it is not what it was.
            OSError: it cannot be written.
        """
        snapshot = self.calls().get(call)
        if snapshot is None:
            raise Damaged(f"the files at call #{call} are not kept")
        with closing(os.open(target, _FOLDER)) as top:
            self._fill(top, snapshot.folder, 0)
        return snapshot

    def share(self, other: Snapshots, last: int) -> None:
        """Give `other` the snapshots up to call `last`, without copies where that works.

        Raises:
            Damaged: one is not what it was.
            OSError: they cannot be written.
        """
        seen: set[str] = set()
        for number, snapshot in sorted(self.calls().items()):
            if number <= last:
                for digest in self._needed(snapshot.folder, seen, 0):
                    self._blobs.give(digest, other._blobs)
                other._note(snapshot)

    def _needed(self, folder: str, seen: set[str], depth: int) -> Iterator[str]:
        """The blobs that a folder takes, its list too; without what was `seen` before."""
        if folder in seen or folder == _EMPTY:
            return
        seen.add(folder)
        for kind, *rest in self._listed(folder, depth).values():
            if kind == "folder":
                yield from self._needed(rest[1], seen, depth + 1)
            elif kind == "file" and rest[1] not in seen:
                seen.add(rest[1])
                yield rest[1]
        yield folder

    def _note(self, snapshot: Snapshot) -> None:
        calls = f"{self._place}/calls.jsonl"
        try:
            descriptor = os.open(calls, _APPEND, 0o600)
        except FileNotFoundError:
            self._place.mkdir(mode=0o700, exist_ok=True)
            descriptor = os.open(calls, _APPEND, 0o600)
        with closing(descriptor) as file:
            write_all(file, json.dumps(vars(snapshot)).encode() + b"\n")

    def _listed(self, digest: str, depth: int) -> dict[str, _Entry]:
        """What a folder holds, by name."""
        if digest == _EMPTY:
            return {}
        try:
            listed = json.loads(self._blobs.read(digest))
            if depth <= DEEPEST and all(map(_is_entry, listed, listed.values())):
                return dict(listed)
        except (ValueError, AttributeError):
            pass
        raise Damaged(f"what is kept as {digest[:12]} is no list of a folder")

    def _fill(self, folder: int, digest: str, depth: int) -> None:
        for name, entry in self._listed(digest, depth).items():
            match entry:
                case ["folder", mode, inner_digest]:
                    os.mkdir(name, 0o700, dir_fd=folder)
                    with closing(os.open(name, _FOLDER, dir_fd=folder)) as inner:
                        self._fill(inner, inner_digest, depth + 1)
                        os.fchmod(inner, mode)
                case ["file", mode, content, modified]:
                    with closing(os.open(name, NEW, 0o600, dir_fd=folder)) as file:
                        self._blobs.write_to(content, file)
                        os.fchmod(file, mode)
                        os.utime(file, ns=(modified, modified))
                case [_, target]:
                    os.symlink(target, name, dir_fd=folder)


class _Look:
    """One walk through a scratch folder."""

    def __init__(
        self, blobs: Blobs, known: dict[_Key, tuple[_Signature, str]], stop: threading.Event
    ) -> None:
        """`known` is what earlier walks found in files."""
        self._blobs = blobs
        self._known = known
        self._stop = stop
        self._settled = time.time_ns() - _RACY
        self.seen: dict[_Key, tuple[_Signature, str]] = {}
        self.files = self.size = self.left_out = 0

    def folder(self, folder: int, depth: int) -> str:
        """Keep what an open folder holds, and the list of it; gives its digest."""
        if depth > DEEPEST:
            raise TooMuch(f"the scratch folder has more than {DEEPEST} folders in each other")
        listed: dict[str, _Entry] = {}
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        for entry in found:
            if self._stop.is_set():
                break
            try:
                kept = self._entry(entry, folder, depth)
            except PermissionError:
                self.left_out += 1
                continue
            except OSError as error:
                if error.errno not in _GONE:
                    raise
                continue
            if kept is not None:
                listed[entry.name] = kept
        if not listed:
            return _EMPTY
        return self._blobs.keep(json.dumps(listed, separators=(",", ":")).encode())

    def _entry(self, entry: os.DirEntry[str], folder: int, depth: int) -> _Entry | None:
        facts = entry.stat(follow_symlinks=False)
        self.files += 1
        if self.files > MOST_FILES:
            raise TooMuch(f"the scratch folder has more than {MOST_FILES:,} files")
        mode = stat.S_IMODE(facts.st_mode) & 0o777
        if stat.S_ISDIR(facts.st_mode):
            with closing(os.open(entry.name, _FOLDER, dir_fd=folder)) as inner:
                return ["folder", mode, self.folder(inner, depth + 1)]
        if stat.S_ISLNK(facts.st_mode):
            return ["link", os.readlink(entry.name, dir_fd=folder)]
        if not stat.S_ISREG(facts.st_mode):
            return None
        self.size += facts.st_size
        if self.size > MOST_BYTES:
            raise TooMuch(f"the scratch folder has more than {MOST_BYTES >> 20} MiB")
        return ["file", mode, self._content(facts, entry.name, folder), facts.st_mtime_ns]

    def _content(self, facts: os.stat_result, name: str, folder: int) -> str:
        key = facts.st_dev, facts.st_ino
        signature = facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns
        before = self._known.get(key)
        if before is not None and before[0] == signature:
            self.seen[key] = before
            return before[1]
        with closing(os.open(name, READ, dir_fd=folder)) as file:
            digest = self._blobs.keep_file(file, facts.st_size)
        if max(facts.st_mtime_ns, facts.st_ctime_ns) < self._settled:
            self.seen[key] = signature, digest
        return digest


def _is_entry(name: object, entry: object) -> bool:
    """Whether this may stand in a list: one that is restored may be a stranger's."""
    if not _is_name(name) or name in (".", "..") or "/" in str(name):
        return False
    match entry:
        case ["folder", int(mode), str()]:
            return 0 <= mode <= 0o777
        case ["file", int(mode), str(), int(modified)]:
            return 0 <= mode <= 0o777 and abs(modified) < 1 << 62
        case ["link", target]:
            return _is_name(target)
        case _:
            return False


def _is_name(text: object) -> bool:
    """Whether the system takes this as a name."""
    try:
        return isinstance(text, str) and b"\0" not in os.fsencode(text) and text != ""
    except UnicodeEncodeError:
        return False
