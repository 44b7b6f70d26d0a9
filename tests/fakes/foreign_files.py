"""Files of other tools: written, opened, and what of them is shown."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import zstandard

from agentscope_tui.events import Event, SessionEvent
from agentscope_tui.session.state import SessionState
from agentscope_tui.store.imports import Trajectories, open_trajectories
from fakes.session_rig import check_promises


@dataclass
class Opened:
    """One trajectory as it is shown."""

    events: list[SessionEvent]
    state: SessionState

    def kinds(self, *without: str) -> list[str]:
        return [event.kind for event in self.events if event.kind not in without]

    def of(self, *types: type[Event]) -> list[Any]:
        return [event for event in self.events if isinstance(event, types)]

    def shown(self) -> list[tuple[str, str]]:
        """The transcript as (kind, text), without extras; a tool call is told as its name and result."""
        lines = []
        for entry in self.state.entries:
            call = self.state.call_view(entry.call_id or "")
            text = f"{call.name}: {call.content}" if call is not None else entry.text
            if entry.kind != "extra":
                lines.append((entry.kind, text))
        return lines

    def extras(self) -> dict[str, Any]:
        """What was kept, by what it is about."""
        return {event.about: event.data for event in self.events if event.kind == "extra"}

    def problems(self) -> list[str]:
        return [event.message for event in self.events if event.kind == "error"]


def shown(trajectories: Trajectories, number: int = 0) -> Opened:
    """A trajectory that keeps the promises of every session that is over."""
    state = SessionState()
    past = trajectories.session(number)
    for event in past.events:
        state.apply(event)
    check_promises(past.events, state)
    assert {event.session_id for event in past.events} == {past.session_id}
    times = [event.at for event in past.events]
    assert times == sorted(times)
    assert trajectories.summary(number) is not None
    return Opened(past.events, state)


def open_file(path: Path, data: bytes | str | Any, number: int = 0) -> Opened:
    """Write a file, bytes or text as they are, anything else as JSON, and open a trajectory in it."""
    write(path, data)
    return shown(open_trajectories(path), number)


def write(path: Path, data: bytes | str | Any) -> Path:
    if isinstance(data, bytes):
        path.write_bytes(data)
    else:
        path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return path


def lines(*values: Any) -> str:
    """JSON lines; a string is a line as it is."""
    return "".join((value if isinstance(value, str) else json.dumps(value)) + "\n" for value in values)


def archive(parts: Mapping[str, Any], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A ZIP archive of JSON parts. One of method 93, zstd, is put together by hand."""
    packed: dict[str, bytes] = {}
    for name, value in parts.items():
        packed[name] = value if isinstance(value, bytes) else json.dumps(value).encode()
    if method != 93:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", method) as file:
            for name, data in packed.items():
                file.writestr(name, data)
        return buffer.getvalue()
    return _zstd_archive(packed)


def _zstd_archive(parts: Mapping[str, bytes]) -> bytes:
    body, directory = b"", b""
    for name, data in parts.items():
        squeezed = zstandard.compress(data)
        sizes = b"".join(
            number.to_bytes(4, "little") for number in (zlib.crc32(data), len(squeezed), len(data))
        )
        common = (93).to_bytes(2, "little") + b"\0\0\0\0" + sizes + len(name).to_bytes(2, "little") + b"\0\0"
        place = len(body)
        body += b"PK\3\4" + b"\x3f\0\0\0" + common + name.encode() + squeezed
        directory += b"PK\1\2" + b"\x3f\0\x3f\0\0\0" + common + b"\0" * 10
        directory += place.to_bytes(4, "little") + name.encode()
    count = len(parts).to_bytes(2, "little")
    end = b"PK\5\6\0\0\0\0" + count + count + len(directory).to_bytes(4, "little")
    return body + directory + end + len(body).to_bytes(4, "little") + b"\0\0"
