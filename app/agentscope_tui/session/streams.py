"""Joining what streams: deltas and tool output become at most 30 events a second each.

Everyone (recorder, panes, other subscribers) then sees the same events, never thousands a second. A secret
that comes in pieces is masked here, where the pieces are still one text.
"""

from __future__ import annotations

import asyncio
import codecs
import os
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from agentscope_tui.events import AssistantDelta, Event, ToolOutput
from agentscope_tui.models.chat import Delta, Usage
from agentscope_tui.secrets import MASKER, MaskedStream
from agentscope_tui.tools.spec import Stream

INTERVAL = 1 / 30
MAX_JOINED = 64 * 1024
"""Characters that are joined at most before an event is published at once."""
MAX_INLINE = 1024 * 1024
"""Bytes of a call's output that events carry as text; what is beyond is only in its file."""

Publish = Callable[[Event], Event]


class Joiner(ABC):
    """Calls `flush` at most 1/30 s after the first piece that waits."""

    def __init__(self) -> None:
        self._timer: asyncio.TimerHandle | None = None
        self._size = 0
        self.closed = False
        """What comes after the end shows nothing any more."""

    def grew(self, size: int) -> None:
        self._size += size
        if self._size >= MAX_JOINED:
            self.flush()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(INTERVAL, self.flush)

    def flush(self) -> None:
        """Publish what waits, now."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._size = 0
        self._publish_joined()

    def close(self) -> None:
        """Publish what waits; nothing follows."""
        self.flush()
        self.closed = True

    @abstractmethod
    def _publish_joined(self) -> None:
        """Publish what waits and forget it."""


class DeltaStream(Joiner):
    """The deltas of one model call, and what they added up to."""

    def __init__(self, publish: Publish, call: int, monotonic: Callable[[], float]) -> None:
        super().__init__()
        self._publish = publish
        self._call = call
        self._monotonic = monotonic
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._pieces: dict[int, dict[str, object]] = {}
        self._masked_text = MASKER.stream()
        self._masked_reasoning = MASKER.stream()
        self._masked_arguments: defaultdict[int, MaskedStream] = defaultdict(MASKER.stream)
        self.text = ""
        self.reasoning = ""
        self.pieces = 0
        self.usage: Usage | None = None
        self.first_at: float | None = None

    def add(self, delta: Delta) -> None:
        if self.closed:
            return
        if self.first_at is None:
            self.first_at = self._monotonic()
        self.pieces += 1
        self.usage = delta.usage or self.usage
        size = len(delta.text) + len(delta.reasoning)
        if delta.text:
            self._text.append(delta.text)
        if delta.reasoning:
            self._reasoning.append(delta.reasoning)
        for piece in delta.tool_calls:
            waiting = self._pieces.setdefault(piece.index, _piece(piece.index, ""))
            for name in ("id", "name", "arguments"):
                waiting[name] = f"{waiting[name]}{getattr(piece, name)}"
            size += len(piece.arguments)
        self.grew(size)

    def partial_usage(self, prompt_characters: int) -> Usage:
        """Tokens of a call that was cut off: what the provider told until then; what it did not tell is
        guessed, a piece as a token and four characters of prompt too."""
        if self.usage is not None:
            told = self.usage.output_tokens
            return self.usage.model_copy(update={"partial": True, "output_tokens": max(told, self.pieces)})
        return Usage(input_tokens=prompt_characters // 4, output_tokens=self.pieces, partial=True)

    def close(self) -> None:
        super().close()
        rests = {index: masked.rest() for index, masked in self._masked_arguments.items()}
        pieces = [_piece(index, rest) for index, rest in rests.items() if rest]
        self._tell(self._masked_text.rest(), self._masked_reasoning.rest(), pieces)

    def _publish_joined(self) -> None:
        text, reasoning = "".join(self._text), "".join(self._reasoning)
        pieces = [
            piece | {"arguments": self._masked_arguments[index].take(str(piece["arguments"]))}
            for index, piece in self._pieces.items()
        ]
        self.text += text
        self.reasoning += reasoning
        self._text, self._reasoning, self._pieces = [], [], {}
        self._tell(self._masked_text.take(text), self._masked_reasoning.take(reasoning), pieces)

    def _tell(self, text: str, reasoning: str, pieces: list[dict[str, object]]) -> None:
        if text or reasoning or pieces:
            self._publish(AssistantDelta(call=self._call, text=text, reasoning=reasoning, tool_calls=pieces))


def _piece(index: int, arguments: str) -> dict[str, object]:
    """A piece of a tool call, as `AssistantDelta` has it."""
    return {"index": index, "id": "", "name": "", "arguments": arguments}


class OutputStream(Joiner):
    """The output of one tool call, masked: all of it to a file, joined pieces of it to events."""

    def __init__(self, publish: Publish, call_id: str, file: Path | None) -> None:
        """`file` is where the whole output is kept; None keeps none (and events carry all text)."""
        super().__init__()
        self._publish = publish
        self._call_id = call_id
        self._path = file
        self._descriptor: int | None = None
        self._total = 0
        self._joined: list[tuple[Stream, list[bytes]]] = []
        self._decoders = {
            name: codecs.getincrementaldecoder("utf-8")("replace") for name in ("stdout", "stderr")
        }
        self._masked = {name: MASKER.stream() for name in ("stdout", "stderr")}
        self.file_error: OSError | None = None

    def write(self, stream: Stream, data: bytes) -> None:
        if self.closed:
            return
        if not self._joined or self._joined[-1][0] != stream:
            self._joined.append((stream, []))
        self._joined[-1][1].append(data)
        self.grew(len(data))

    def close(self) -> None:
        super().close()
        for stream in ("stdout", "stderr"):
            self._keep_and_publish(stream, self._masked[stream].rest().encode("latin-1"))
            self._publish_text(stream, b"", final=True)
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _publish_joined(self) -> None:
        joined, self._joined = self._joined, []
        for stream, pieces in joined:
            # Latin-1 makes a character of each byte and back.
            text = self._masked[stream].take(b"".join(pieces).decode("latin-1"))
            self._keep_and_publish(stream, text.encode("latin-1"))

    def _keep_and_publish(self, stream: Stream, data: bytes) -> None:
        if not data:
            return
        offset, self._total = self._total, self._total + len(data)
        self._keep(data)
        if self._path is None or self.file_error is not None or self._total <= MAX_INLINE:
            self._publish_text(stream, data)
        else:
            self._publish_text(stream, b"", final=True)
            self._publish(
                ToolOutput(
                    call_id=self._call_id,
                    stream=stream,
                    file=self._path.name,
                    offset=offset,
                    length=len(data),
                )
            )

    def _publish_text(self, stream: Stream, data: bytes, *, final: bool = False) -> None:
        """`final`: no more text of this stream follows, so half a character shows as a broken one."""
        text = self._decoders[stream].decode(data, final)
        if text:
            self._publish(ToolOutput(call_id=self._call_id, stream=stream, text=text))

    def _keep(self, data: bytes) -> None:
        if self._path is None or self.file_error is not None:
            return
        try:
            if self._descriptor is None:
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
                self._descriptor = os.open(self._path, flags, 0o600)
            view = memoryview(data)
            while view:
                view = view[os.write(self._descriptor, view) :]
        except OSError as error:
            self.file_error = error
