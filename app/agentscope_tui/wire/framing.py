"""The framings: a 4-byte big-endian length before each JSON body, or a line a frame, of base64 or of JSON.

A splitter takes bytes as they come and gives pieces, one for each frame; a piece is decoded apart from it,
because that may be done in a thread. No splitter keeps more than one frame and what came with its end.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import Protocol

from agentscope_tui.wire.frames import FrameData, FrameError

MAX_FRAME = 64 << 20
"""Bytes of JSON that a frame may have."""
_PREFIX = 4
_OBJECT = base64.b64encode(b'{"type')[:3]
"""How the base64 of a JSON object begins when its first key follows at once."""
_TRIES = 8


class Framing(Protocol):
    """Frames to bytes, and bytes to frames, of one connection."""

    def encode(self, frame: FrameData) -> bytes:
        """The bytes of a frame."""

    def feed(self, data: bytes) -> None:
        """Take bytes as they came."""

    def take(self) -> bytes | None:
        """The next whole piece, or None: more bytes are needed.

        Raises:
            FrameError: the frame is larger than allowed.
        """

    def finish(self) -> bytes | None:
        """No more bytes come: what they ended with, if it may be a whole piece.

        Raises:
            FrameError: they ended inside a frame.
        """

    def decode(self, piece: bytes) -> tuple[FrameData | None, str]:
        """A piece's frame, if it is one, and the text in it that is none: the runner's log.

        Raises:
            FrameError: where everything must be a frame, this is none.
        """


class LengthPrefixed:
    """For sockets: u32 big-endian length, then that many bytes of UTF-8 JSON."""

    def __init__(self, max_frame: int = MAX_FRAME) -> None:
        self._max = max_frame
        self._buffer = bytearray()

    def encode(self, frame: FrameData) -> bytes:
        body = _to_json(frame)
        return len(body).to_bytes(_PREFIX, "big") + body

    def feed(self, data: bytes) -> None:
        self._buffer += data

    def take(self) -> bytes | None:
        if len(self._buffer) < _PREFIX:
            return None
        size = int.from_bytes(self._buffer[:_PREFIX], "big")
        if size > self._max:
            raise _too_large(size, self._max)
        end = _PREFIX + size
        if len(self._buffer) < end:
            return None
        piece = bytes(self._buffer[_PREFIX:end])
        del self._buffer[:end]
        return piece

    def finish(self) -> bytes | None:
        if self._buffer:
            raise FrameError("the connection ended inside a frame")
        return None

    def decode(self, piece: bytes) -> tuple[FrameData | None, str]:
        return _from_json(piece), ""


class _Lines:
    """Takes bytes apart into lines of at most `max_line` bytes, which a frame of `max_frame` bytes needs."""

    def __init__(self, max_frame: int, max_line: int) -> None:
        self._max = max_frame
        self._max_line = max_line
        self._buffer = bytearray()
        self._searched = 0

    def feed(self, data: bytes) -> None:
        self._buffer += data

    def take(self) -> bytes | None:
        end = self._buffer.find(b"\n", self._searched)
        if end < 0:
            self._searched = len(self._buffer)
        if max(end, self._searched) > self._max_line:
            raise _too_large(max(end, self._searched) * self._max // self._max_line, self._max)
        if end < 0:
            return None
        piece = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        self._searched = 0
        return piece

    def finish(self) -> bytes | None:
        piece = bytes(self._buffer)
        self._buffer.clear()
        self._searched = 0
        return piece or None


class JsonLines(_Lines):
    """For programs that write a JSON object a line, as MCP servers do; a line that is none is their log."""

    def __init__(self, max_frame: int = MAX_FRAME) -> None:
        super().__init__(max_frame, max_frame)

    def encode(self, frame: FrameData) -> bytes:
        return _to_json(frame) + b"\n"

    def decode(self, piece: bytes) -> tuple[FrameData | None, str]:
        try:
            return _from_json(piece), ""
        except FrameError:
            return None, _text(piece.rstrip(b"\r"))


class Base64Lines(_Lines):
    """For stdio, which other text may cross: a line that is no frame is the runner's log.

    Text without a line end in front of a frame is told apart from it, so that the frame is not lost.
    """

    def __init__(self, max_frame: int = MAX_FRAME) -> None:
        super().__init__(max_frame, (max_frame + 2) // 3 * 4)

    def encode(self, frame: FrameData) -> bytes:
        return base64.b64encode(_to_json(frame)) + b"\n"

    def decode(self, piece: bytes) -> tuple[FrameData | None, str]:
        line = piece.rstrip(b"\r")
        frame = _from_base64(line)
        if frame is not None:
            return frame, ""
        start = line.find(_OBJECT)
        # Each try reads the whole line, so only the first few places are tried.
        for _ in range(_TRIES):
            if start < 0:
                break
            frame = _from_base64(line[start:])
            if frame is not None and isinstance(frame.get("type"), str):
                return frame, _text(line[:start])
            start = line.find(_OBJECT, start + 1)
        return None, _text(line)


def _to_json(frame: FrameData) -> bytes:
    return json.dumps(frame, separators=(",", ":"), allow_nan=False).encode()


def _from_json(body: bytes) -> FrameData:
    try:
        data = json.loads(body)
    except RecursionError:
        raise FrameError("a frame is nested too deeply") from None
    except ValueError as error:
        raise FrameError(f"a frame is no JSON: {error}") from None
    if not isinstance(data, dict):
        raise FrameError("a frame is a JSON object with a `type`")
    return data


def _from_base64(line: bytes) -> FrameData | None:
    if not line:
        return None
    try:
        return _from_json(base64.b64decode(line, validate=True))
    except (binascii.Error, FrameError):
        return None


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace")


def _too_large(size: int, allowed: int) -> FrameError:
    mib, setting = 1 << 20, "setting runner.max_frame"
    return FrameError(
        f"a frame of {size / mib:.1f} MiB or more; allowed are {allowed / mib:g} MiB ({setting})"
    )
