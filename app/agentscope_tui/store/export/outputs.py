"""What tools printed, for a page: the beginning and the end of each call's output, however long it was."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from agentscope_tui.events import ToolOutput
from agentscope_tui.store.export.embedded import text_of_file
from agentscope_tui.store.export.source import Source
from agentscope_tui.tools.spec import Stream

ROOM = 30_000
"""Characters (bytes of what is in files) that are kept of the beginning, and of the end."""


@dataclass
class _Output:
    head: list[ToolOutput] = field(default_factory=list)
    head_size: int = 0
    tail: deque[ToolOutput] = field(default_factory=deque)
    tail_size: int = 0
    left_out: int = 0


class Outputs:
    """Takes the events of output of a session, gives what is to be shown of each call."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._outputs: dict[str, _Output] = {}

    def take(self, event: ToolOutput) -> None:
        """The next output of its call."""
        output = self._outputs.setdefault(event.call_id, _Output())
        size = _size(event)
        if output.head_size < ROOM:
            output.head.append(event)
            output.head_size += size
            return
        output.tail.append(event)
        output.tail_size += size
        while output.tail_size - _size(output.tail[0]) >= ROOM:
            gone = _size(output.tail.popleft())
            output.tail_size -= gone
            output.left_out += gone

    def shown(self, call_id: str) -> list[tuple[Stream | None, str]]:
        """The output as text of streams, in order; None: a remark of ours on what is left out."""
        output = self._outputs.get(call_id)
        if output is None:
            return []
        parts: list[tuple[Stream | None, str]] = []
        for event in output.head:
            _add(parts, event.stream, self._text(event))
        if output.left_out:
            parts.append((None, f"\n[… {output.left_out:,} bytes are left out here …]\n"))
        for event in output.tail:
            _add(parts, event.stream, self._text(event))
        return parts

    def _text(self, event: ToolOutput) -> str:
        return event.text if event.file is None else text_of_file(event, self._source, event.length or 0)


def _size(event: ToolOutput) -> int:
    return len(event.text) if event.file is None else event.length or 0


def _add(parts: list[tuple[Stream | None, str]], stream: Stream, text: str) -> None:
    """Pieces of the same stream are one text: a colour may go on in the next piece."""
    if parts and parts[-1][0] == stream:
        parts[-1] = (stream, parts[-1][1] + text)
    else:
        parts.append((stream, text))
