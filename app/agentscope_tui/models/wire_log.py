"""The raw request and response of each call, kept in a file that people read; keys never get into it."""

from __future__ import annotations

import codecs
import logging
import os
import time
from collections.abc import Callable, Iterable, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Protocol

from agentscope_tui.secrets import MASK, MASKER

log = logging.getLogger(__name__)

Headers = Iterable[tuple[str, str]]

LARGEST = 4 * 1024 * 1024
"""Characters of one file; what goes beyond is only counted."""

_SECRET_HEADERS = frozenset(
    {"authorization", "proxy-authorization", "x-api-key", "api-key", "cookie", "set-cookie"}
)


class WireLog(Protocol):
    """Sees one call as it goes over the wire; each attempt begins with a `request`."""

    def request(self, method: str, url: str, headers: Headers, body: str, secrets: Sequence[str]) -> None:
        """What is sent. `secrets` are the texts to keep out, from here on."""

    def response(self, status: int, headers: Headers) -> None:
        """How the answer begins."""

    def chunk(self, data: bytes) -> None:
        """A piece of the answer's body as it came, without its compression."""

    def end(self, reason: str) -> None:
        """The attempt is over: the body ended, or why it did not."""


class WireFolder:
    """A folder with a file for each call: `call-0001.txt`."""

    def __init__(self, folder: Path, *, largest: int = LARGEST) -> None:
        """`folder` is made when the first call is written, for the user's eyes only."""
        self.folder = folder
        self._largest = largest

    def path(self, call: int) -> Path:
        """Where the raw text of call `call` is; it need not exist."""
        return self.folder / f"call-{call:04}.txt"

    def open(self, call: int) -> WireFile:
        """The log of one call. The same call sent again goes on in the same file."""
        return WireFile(self.path(call), largest=self._largest)


class WireFile:
    """One call's file: what was sent, then what came, each chunk under the seconds since the request.

    A file that cannot be written is told to the log once; the call goes on.
    """

    def __init__(
        self,
        path: Path,
        *,
        largest: int = LARGEST,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._path = path
        self._left = largest
        self._left_out = 0
        self._clock = clock
        self._started = 0.0
        self._file: TextIOWrapper | None = None
        self._broken = False
        self._masker = MASKER
        self._masked = MASKER.stream()
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode

    def request(self, method: str, url: str, headers: Headers, body: str, secrets: Sequence[str]) -> None:
        self._started = self._clock()
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._masker = MASKER.also(secrets)
        self._masked = self._masker.stream()
        self._write(self._masker.mask(f">>> {method} {url}\n{_lines(headers)}\n{body}\n"))

    def response(self, status: int, headers: Headers) -> None:
        self._write(self._masker.mask(f"\n<<< {status} after {self._age()}\n{_lines(headers)}"))

    def chunk(self, data: bytes) -> None:
        self._write(f"\n--- {self._age()}, {len(data)} bytes\n")
        self._write(self._masked.take(self._decode(data)))

    def end(self, reason: str) -> None:
        self._write(self._masked.take(self._decode(b"", True)) + self._masked.rest())
        left_out = f" ({self._left_out} characters left out)" if self._left_out else ""
        last = self._masker.mask(f"\n=== {reason} after {self._age()}{left_out}\n\n")
        # The end is told even in a file that is full.
        self._guarded(lambda: self._append(last))
        if self._file is not None:
            self._guarded(self._file.close)
            self._file = None

    def _age(self) -> str:
        return f"{self._clock() - self._started:.3f} s"

    def _write(self, text: str) -> None:
        kept = text[: self._left]
        self._left -= len(kept)
        self._left_out += len(text) - len(kept)
        self._guarded(lambda: self._append(kept))

    def _append(self, text: str) -> None:
        if self._file is None:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            self._file = os.fdopen(descriptor, "w", encoding="utf-8", errors="replace", newline="")
        self._file.write(text)
        self._file.flush()

    def _guarded(self, act: Callable[[], object]) -> None:
        if self._broken:
            return
        try:
            act()
        except OSError as error:
            self._broken = True
            log.warning("the raw text of a call is not kept: %s", error)


def _lines(headers: Headers) -> str:
    shown = ((name, MASK if name.lower() in _SECRET_HEADERS else value) for name, value in headers)
    return "".join(f"{name}: {value}\n" for name, value in shown)
