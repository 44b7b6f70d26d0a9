"""Sessions get names, and go when they are not wanted any more."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from pathlib import Path

from agentscope_tui.errors import UserError
from agentscope_tui.store.find import LAST
from agentscope_tui.store.folders import read_meta
from agentscope_tui.store.lock import FolderLock

LONGEST_NAME = 100
_EVENTS = "events.jsonl"


def rename_session(folder: Path, name: str) -> str:
    """Give a session a name of the user's, in its `meta.json`; gives it without blanks around it.

    An empty name takes the old one away.

    Raises:
        UserError: it is no name, or cannot be written.
    """
    name = name.strip()
    if name == LAST:
        raise UserError(f"{LAST!r} is always the newest session: use another name")
    if len(name) > LONGEST_NAME:
        raise UserError(f"a name has at most {LONGEST_NAME} characters")
    if not name.isprintable() or "/" in name:
        raise UserError("a name is one line, without slashes")
    meta = {key: value for key, value in read_meta(folder).items() if key != "name"}
    if name:
        meta["name"] = name
    new = folder / f"meta.json.{os.getpid()}"
    try:
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(meta, file, indent=2)
            file.write("\n")
        new.replace(folder / "meta.json")
    except OSError as error:
        with suppress(OSError):
            new.unlink()
        raise UserError(f"cannot rename the session {folder.name}: {error.strerror or error}") from error
    return name


def delete_session(folder: Path) -> None:
    """Delete a session with all its files. The recording goes last: what is cut short can be done again.

    Raises:
        SessionInUse: a process still writes it.
        UserError: something of it cannot be deleted.
    """
    try:
        lock = FolderLock(folder)
    except OSError as error:
        raise _undeletable(folder, error) from error
    try:
        for entry in list(os.scandir(folder)):
            if entry.is_dir(follow_symlinks=False):
                _open_up(entry.path)
                shutil.rmtree(entry.path)
            elif entry.name != _EVENTS:
                os.unlink(entry.path)
        (folder / _EVENTS).unlink(missing_ok=True)
        folder.rmdir()
    except OSError as error:
        raise _undeletable(folder, error) from error
    finally:
        lock.release()


def size_of(folder: Path) -> int:
    """The bytes of all files in a folder; those that vanish, or cannot be looked at, do not count."""
    size = 0
    waiting = [str(folder)]
    while waiting:
        try:
            entries = os.scandir(waiting.pop())
        except OSError:
            continue
        with entries:
            for entry in entries:
                try:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        size += entry.stat(follow_symlinks=False).st_size
                except OSError:
                    continue
    return size


def _open_up(folder: str) -> None:
    """A tool may have left folders that nobody may write to."""
    os.chmod(folder, 0o700)
    for path, folders, _ in os.walk(folder):
        for name in folders:
            inner = os.path.join(path, name)
            if not os.path.islink(inner):
                os.chmod(inner, 0o700)


def _undeletable(folder: Path, error: OSError) -> UserError:
    return UserError(f"cannot delete the session {folder.name}: {error.strerror or error}")
