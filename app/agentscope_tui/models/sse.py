"""Server-sent events: from the bytes of a response to its events, as the HTML standard defines them.

One rule is kinder than the standard: an event that the end of the stream cuts off before its blank line
is delivered, since servers forget that line.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

_LINE_END = re.compile(r"\r\n|\r|\n")
"""Only these end a line; `str.splitlines` would also split at U+2028 and others, inside data."""

MAX_EVENT = 16 * 1024 * 1024
"""Characters that one event may have: what is longer is no token stream."""


class EventTooLong(ValueError):
    """An event, or a line, longer than `MAX_EVENT`."""


@dataclass(frozen=True)
class ServerSentEvent:
    """One event. `id` is the last id the stream has named, so far."""

    data: str
    event: str = "message"
    id: str = ""


class SSEDecoder:
    """Takes bytes as they come, split anywhere, and gives the events that they complete."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._at_start = True
        self._after_cr = False
        self._line: list[str] = []
        self._data: list[str] = []
        self._event = ""
        self._id = ""
        self._size = 0

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        """The events that end in this chunk.

        Raises:
            EventTooLong: what waits for its end is longer than an event may be.
        """
        return self._take(self._decode(chunk))

    def end(self) -> list[ServerSentEvent]:
        """The event that the end of the stream cut off, if one was."""
        return [*self._take(self._decode(b"", True)), *self._take("\n\n")]

    def _take(self, text: str) -> list[ServerSentEvent]:
        if text and self._at_start:
            self._at_start = False
            text = text.removeprefix("\ufeff")
        if text and self._after_cr:
            self._after_cr = False
            text = text.removeprefix("\n")
        self._after_cr = self._after_cr or text.endswith("\r")
        self._size += len(text)
        first, *more = _LINE_END.split(text)
        self._line.append(first)
        events: list[ServerSentEvent] = []
        for next_line in more:
            event = self._end_line("".join(self._line))
            if event is not None:
                events.append(event)
            self._line = [next_line]
        if self._size > MAX_EVENT:
            raise EventTooLong(f"an event has more than {MAX_EVENT} characters")
        return events

    def _end_line(self, line: str) -> ServerSentEvent | None:
        if not line:
            return self._dispatch()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._event = value
        elif name == "id" and "\0" not in value:
            self._id = value
        return None

    def _dispatch(self) -> ServerSentEvent | None:
        data, event = self._data, self._event
        self._data, self._event, self._size = [], "", 0
        if not data:
            return None
        return ServerSentEvent("\n".join(data), event or "message", self._id)
