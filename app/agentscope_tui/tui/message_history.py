"""The messages that were sent before, over all sessions: kept in the state folder, newest last."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path

from agentscope_tui.secrets import MASKER

log = logging.getLogger(__name__)

KEPT = 500
"""Messages that are read at the start."""


class MessageHistory:
    """A file of JSON lines, one message each; without it, only this run's messages are known."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.messages: list[str] = []
        try:
            lines = file.read_text(encoding="utf-8").splitlines()
            self.messages = [text for text in map(json.loads, lines[-KEPT:]) if isinstance(text, str)]
        except FileNotFoundError:
            pass
        except (OSError, ValueError) as error:
            log.warning("cannot read the message history %s: %s", file, error)

    def add(self, text: str) -> None:
        """Remember a message, unless it is the last one again."""
        if self.messages and self.messages[-1] == text:
            return
        self.messages.append(text)
        try:
            descriptor = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "a", encoding="utf-8") as file:
                file.write(json.dumps(MASKER.mask(text)) + "\n")
        except OSError as error:
            log.warning("cannot write the message history %s: %s", self._file, error)
