"""Where the rows of a file of lines begin: the place of every 64th is kept, the others are found from it.

Lines end at a newline and nowhere else; blank lines are no rows. Files are read, not mapped: a mapped file
that is cut short while it is open kills the process.
"""

from __future__ import annotations

import threading
from array import array
from itertools import islice
from pathlib import Path

_EVERY = 64
_BOM = b"\xef\xbb\xbf"


class RowIndex:
    """The rows of one file, as far as it was scanned. One thread scans while others find.

    `count` rows are known; `complete` tells that the end of the file was reached.
    """

    def __init__(self, path: Path) -> None:
        """Opens the file (OSError); nothing is scanned yet."""
        self.count = 0
        self.complete = False
        self._offsets = array("Q")
        self._lines = array("Q")
        self._scanner = path.open("rb", buffering=1 << 20)
        self._reader = path.open("rb", buffering=1 << 16)
        self._scanning = threading.Lock()
        self._reading = threading.Lock()
        self._offset = len(_BOM) if self._scanner.read(len(_BOM)) == _BOM else 0
        self._scanner.seek(self._offset)
        self._line = 0

    def advance(self, lines: int) -> None:
        """Scan at most `lines` more lines of the file (OSError)."""
        with self._scanning:
            count, offset, number = self.count, self._offset, self._line
            for line in islice(self._scanner, lines):
                number += 1
                if not line.isspace():
                    if count % _EVERY == 0:
                        self._offsets.append(offset)
                        self._lines.append(number)
                    count += 1
                offset += len(line)
            ended = number - self._line < lines
            self.count, self._offset, self._line = count, offset, number
            self.complete = self.complete or ended

    def find(self, row: int) -> tuple[int, bytes]:
        """The number of a known row's line, counted from 1, and its bytes with the line end (OSError).

        The bytes are empty where the file has become shorter.
        """
        with self._reading:
            self._reader.seek(self._offsets[row // _EVERY])
            number, ahead = self._lines[row // _EVERY], row % _EVERY
            for line in self._reader:
                if not line.isspace():
                    if ahead == 0:
                        return number, line
                    ahead -= 1
                number += 1
            return number, b""

    def close(self) -> None:
        """Close the file. No thread may be scanning any more."""
        self._scanner.close()
        self._reader.close()
