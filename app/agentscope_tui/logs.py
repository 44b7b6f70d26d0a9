"""The log file in the state folder: warnings of every part, and the tracebacks that no screen shows.

For the user's eyes only, and without secrets.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from agentscope_tui.folders import open_state_dir, state_dir
from agentscope_tui.secrets import MASKER

_LARGEST = 4 << 20
_FORMAT = "%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"


class _PrivateFile(RotatingFileHandler):
    """Makes each of its files private."""

    def _open(self) -> TextIOWrapper:
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.fchmod(descriptor, 0o600)
        return os.fdopen(descriptor, "a", encoding=self.encoding, errors=self.errors)


class _Masked(logging.Formatter):
    """Masks what a line says, with its traceback."""

    def format(self, record: logging.LogRecord) -> str:
        return MASKER.mask(super().format(record))


def log_file(state: Path) -> Path:
    """The log's path in the state folder."""
    return state / "agentscope.log"


def start_log(environ: Mapping[str, str], level: str) -> Path:
    """Send the log of this process to the file, from `level` (`debug` to `error`) on; gives its path.

    Nothing goes to standard error any more, where it would tear a screen.

    Raises:
        UserError: the state folder cannot be written.
    """
    file = log_file(open_state_dir(environ))
    handler = _PrivateFile(file, maxBytes=_LARGEST, backupCount=1, encoding="utf-8", errors="replace")
    handler.setFormatter(_Masked(_FORMAT))
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
    return file


def log_crash(environ: Mapping[str, str], error: BaseException) -> Path:
    """Write a traceback to the log, also before `start_log`; gives the log's path.

    Raises:
        UserError: the state folder cannot be written.
    """
    file = log_file(state_dir(environ))
    if not any(isinstance(handler, RotatingFileHandler) for handler in logging.getLogger().handlers):
        start_log(environ, "error")
    logging.getLogger(__name__).critical("unexpected error", exc_info=error)
    return file
