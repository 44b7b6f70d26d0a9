"""A recording and its playhead: the marks of the timeline, the words beside it and in the status line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agentscope_tui.store.marks import Mark, MarkKind
from agentscope_tui.tui.player import speed_word
from agentscope_tui.tui.present.status import Segment
from agentscope_tui.tui.recorded_session import RecordedRow
from agentscope_widgets.look import Tone
from agentscope_widgets.timeline_bar import TimelineMark

_LOOKS: Mapping[MarkKind, tuple[str, Tone, int]] = {
    "answer": ("┼", "muted", 0),
    "turn": ("┃", "normal", 1),
    "reward": ("★", "success", 2),
    "steer": ("◆", "accent", 3),
    "limit": ("▲", "warning", 4),
    "interrupted": ("■", "warning", 5),
    "error": ("✗", "error", 6),
}
"""Glyph, tone and weight; what is not here is not shown."""


def timeline_marks(marks: Iterable[Mark]) -> list[TimelineMark]:
    """What the timeline shows of a recording's marks."""
    return [TimelineMark(mark.seq, *_LOOKS[mark.kind]) for mark in marks if mark.kind in _LOOKS]


def last_call(row: RecordedRow) -> int:
    """The number of the last model call in a recording; 0: there is none."""
    requests = (mark for mark in reversed(row.tape.marks) if mark.kind == "request")
    return next((mark.call or 0 for mark in requests), 0)


def playing_word(row: RecordedRow) -> str:
    """Before the timeline: what the player does, and how fast."""
    glyph = "▶" if row.player.playing else "●" if row.live and row.at_end else "‖"
    speed = row.player.speed
    return glyph if speed == 1 and not row.player.playing else f"{glyph} {speed_word(speed)}"


def position_word(row: RecordedRow) -> str:
    """After the timeline: the call and the event that the playhead is after, and how many there are."""
    calls = last_call(row)
    call = f"call {row.state.call}/{calls} · " if calls else ""
    return f"{call}event {row.at}/{row.tape.last}"


def recording_segments(row: RecordedRow) -> list[Segment]:
    """What the status line says before all else: that it is a recording, and what becomes of it."""
    segments: list[Segment] = []
    if row.problem:
        segments.append((row.problem, "error"))
    if row.seeking is not None:
        segments.append((f"MOVING {row.seeking:.0%}, esc stops", "accent"))
    if row.live:
        segments.append(("FOLLOWING" if row.at_end else "FOLLOWED, not at its end", "accent"))
    else:
        playing = row.player.playing
        segments.append((f"PLAYING {speed_word(row.player.speed)}" if playing else "RECORDING", "primary"))
    return segments
