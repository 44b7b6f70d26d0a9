"""The lock of a session's folder: one process writes it; whoever only reads needs no lock."""

from __future__ import annotations

import fcntl
import logging
import os
from pathlib import Path

from agentscope_tui.errors import UserError

log = logging.getLogger(__name__)


class SessionInUse(UserError):
    """Another process writes this session."""

    def __init__(self, folder: Path) -> None:
        super().__init__(f"the session {folder.name} is open in another agentscope: end it there first")


class FolderLock:
    """Held from the start until `release`, or until the process ends, however it does."""

    def __init__(self, folder: Path) -> None:
        """Takes the lock.

        Raises:
            SessionInUse: another process holds it.
            OSError: the lock file cannot be made.
        """
        self._descriptor = os.open(f"{folder}/lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._descriptor)
            raise SessionInUse(folder) from None
        except OSError as error:
            log.warning("the session %s is not locked, the file system has no locks: %s", folder.name, error)

    def release(self) -> None:
        os.close(self._descriptor)


def is_locked(folder: Path) -> bool:
    """Whether a process, this one or another, writes the session now; it must have begun its recording.

    What cannot be found out is no: without a lock file, or on a file system that has no locks.
    """
    try:
        descriptor = os.open(folder / "lock", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        # Shared: two that ask at the same time are no writers to each other.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False
