"""What the screen remembers from one run to the next: a small JSON file in the state folder."""

from __future__ import annotations

import json
import logging
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

log = logging.getLogger(__name__)


class Remembered:
    """One JSON object in a file. A file that cannot be read or written is logged, and does no harm."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def read(self) -> dict[str, object]:
        """The object; empty where there is none or the file is damaged."""
        try:
            values = json.loads(self._file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            log.warning("cannot read %s: %s", self._file, error)
            return {}
        return values if isinstance(values, dict) else {}

    def write(self, values: Mapping[str, object]) -> None:
        """Replace the object, all or nothing, for the user's eyes only."""
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            # mkstemp makes it 0600.
            descriptor, name = tempfile.mkstemp(dir=self._file.parent, prefix=f".{self._file.name}.")
            try:
                with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                    json.dump(values, file)
                Path(name).replace(self._file)
            except OSError:
                Path(name).unlink()
                raise
        except OSError as error:
            log.warning("cannot write %s: %s", self._file, error)
