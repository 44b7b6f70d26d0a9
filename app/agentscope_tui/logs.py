"""The log file in the state folder: warnings of every part, and the tracebacks that no screen shows."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from logging.handlers import RotatingFileHandler
from pathlib import Path

from agentscope_tui.folders import open_state_dir, state_dir

_LARGEST = 4 << 20
_FORMAT = "%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"


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
    handler = RotatingFileHandler(file, maxBytes=_LARGEST, backupCount=1, encoding="utf-8", errors="replace")
    handler.setFormatter(logging.Formatter(_FORMAT))
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
