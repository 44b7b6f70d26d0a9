"""The events of a session inside an HTML page: gzip in base64, in a script element that no browser runs.

Output that is in files beside the recording comes with it, as far as `KEPT` goes for a call.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

from agentscope_tui.event_lines import event_from_json, event_to_json
from agentscope_tui.events import SessionEvent, ToolOutput
from agentscope_tui.secrets import MASKER
from agentscope_tui.store.export.source import Source

OPENING = b'<script type="application/gzip" id="agentscope-events" data-format="1">'
CLOSING = b"</script>"
MARK = b'<meta name="generator" content="agentscope'
"""At the beginning of a page of ours."""

KEPT = 1024 * 1024
"""Bytes of a call's output that come from files."""
LARGEST = 1 << 30
"""Bytes of events that a page may hold: a stranger's small page may unpack to more than there is room for."""
_GZIP = 16 + zlib.MAX_WBITS
_CHUNK = 1 << 16


def embedded(source: Source) -> Iterator[str]:
    """The element with all events, piece by piece."""
    yield OPENING.decode()
    packer = zlib.compressobj(6, zlib.DEFLATED, _GZIP)
    waiting = b""
    kept: dict[str, int] = {}
    for event in source.events():
        told = _with_text(event, source, kept) if isinstance(event, ToolOutput) else event
        waiting += packer.compress(event_to_json(told).encode() + b"\n")
        # Base64 of pieces joins to that of the whole where each has a multiple of three bytes.
        whole = len(waiting) - len(waiting) % 3
        if whole >= _CHUNK:
            yield base64.b64encode(waiting[:whole]).decode()
            waiting = waiting[whole:]
    yield base64.b64encode(waiting + packer.flush()).decode()
    yield CLOSING.decode() + "\n"


def _with_text(event: ToolOutput, source: Source, kept: dict[str, int]) -> ToolOutput:
    """The output itself instead of where it is; what is too much of it is counted."""
    if event.file is None:
        return event
    text = text_of_file(event, source, KEPT - kept.get(event.call_id, 0))
    kept[event.call_id] = kept.get(event.call_id, 0) + (event.length or 0)
    return event.model_copy(update={"text": text, "file": None, "offset": None, "length": None})


def text_of_file(event: ToolOutput, source: Source, room: int) -> str:
    """The first `room` bytes of what an event of output points to, masked; and how much more there is."""
    length, offset = event.length or 0, event.offset or 0
    data = b""
    if room > 0 and source.folder is not None:
        try:
            with (source.folder.outputs / Path(event.file or "").name).open("rb") as file:
                file.seek(offset)
                data = file.read(min(length, room))
        except OSError as error:
            return f"[this part of the output cannot be read: {error.strerror or error}]\n"
    more = f"\n[{length - len(data):,} bytes more are not in this file]\n" if len(data) < length else ""
    return MASKER.mask(data.decode("utf-8", "replace")) + more


def events_of(page: bytes) -> list[SessionEvent]:
    """The events in a page.

    Raises:
        ValueError: it holds none, or they are damaged.
    """
    match = re.search(re.escape(OPENING) + rb"([A-Za-z0-9+/=\s]*)" + re.escape(CLOSING), page)
    if match is None:
        raise ValueError("the page holds no session: it may have been saved by a program that left it out")
    try:
        unpacker = zlib.decompressobj(_GZIP)
        data = unpacker.decompress(base64.b64decode(match[1]), LARGEST)
    except (binascii.Error, zlib.error) as error:
        raise ValueError(f"the session in the page is damaged: {error}") from error
    if not unpacker.eof:
        raise ValueError("the session in the page is cut off, or too large")
    return [event_from_json(line) for line in data.splitlines() if line]
