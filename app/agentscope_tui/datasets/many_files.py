"""Several files as one: their rows in the order of the files, each opened when its turn comes."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from agentscope_tui.datasets.needle import Needle
from agentscope_tui.datasets.raw import BadRow, RawRow, RawRows
from agentscope_tui.errors import UserError

Opener = Callable[[Path], RawRows]


class ManyRows:
    """`RawRows` of files."""

    def __init__(self, files: Sequence[Path], opener: Opener) -> None:
        """`files`: at least one. Opens the first (OSError, and what `opener` raises)."""
        self._files = files
        self._listing = [_entry(file) for file in files]
        self._opener = opener
        self._parts = [opener(files[0])]
        self._firsts = [0]

    @property
    def count(self) -> int:
        last = len(self._firsts) - 1
        return self._firsts[last] + self._parts[last].count

    @property
    def complete(self) -> bool:
        return len(self._parts) == len(self._files) and self._parts[-1].complete

    def advance(self) -> None:
        last = self._parts[-1]
        try:
            if not last.complete:
                last.advance()
            elif len(self._parts) < len(self._files):
                part = self._opener(self._files[len(self._parts)])
                # Readers go by the first rows: the part has to be there before its own is.
                first = self.count
                self._parts.append(part)
                self._firsts.append(first)
        except UserError:
            self._files = self._files[: len(self._parts)]
            raise

    def read(self, row: int) -> RawRow:
        part = self._part(row)
        return self._parts[part].read(row - self._firsts[part])

    def walk(self, start: int, stop: int) -> Iterator[RawRow | BadRow]:
        for part, first, end in self._ranges(start, stop):
            yield from part.walk(max(0, start - first), end - first)

    def search(self, needle: Needle, start: int, stop: int) -> Iterator[tuple[int, list[int]]]:
        for part, first, end in self._ranges(start, stop):
            for row, found in part.search(needle, max(0, start - first), end - first):
                yield first + row, [first + hit for hit in found]

    def _ranges(self, start: int, stop: int) -> Iterator[tuple[RawRows, int, int]]:
        """The parts in which these rows are; the first row of each, and the one after the last wanted."""
        while start < stop:
            number = self._part(start)
            part, first = self._parts[number], self._firsts[number]
            end = min(stop, first + part.count)
            yield part, first, end
            start = end

    def _part(self, row: int) -> int:
        return bisect_right(self._firsts, row) - 1

    def changed(self) -> str:
        """Names the first file that is not what it was."""
        for file, part in zip(self._files, self._parts, strict=False):
            if change := part.changed():
                return f"{change} ({file.name})"
        return ""

    def identity(self) -> str:
        """A digest of the first file, and of name, size and modification time of all."""
        digest = hashlib.blake2b(self._parts[0].identity().encode(), digest_size=16)
        digest.update("\n".join(self._listing).encode("utf-8", "surrogateescape"))
        return digest.hexdigest()

    def close(self) -> None:
        for part in self._parts:
            part.close()


def _entry(file: Path) -> str:
    stat = file.stat()
    return f"{file.name} {stat.st_size} {stat.st_mtime_ns}"
