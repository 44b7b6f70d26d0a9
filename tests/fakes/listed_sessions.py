"""Folders of sessions made of given facts: for what only reads how each stands."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from agentscope_tui.event_lines import event_to_json
from agentscope_tui.events import (
    AssistantDelta,
    AssistantMessage,
    Event,
    Graded,
    LlmRequestSent,
    SessionEnded,
    SessionStarted,
    StateChanged,
    UsageReported,
    UserMessageSent,
)

BEGUN = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)


def recorded_events(
    *,
    row: int | None = 0,
    calls: int = 1,
    reward: float | None = None,
    prompt: str = "do the task",
    ended: bool = True,
    begun: datetime = BEGUN,
    **started: Any,
) -> list[Event]:
    """One turn of `calls` model calls, each of 10 tokens in and 2 out, numbered and timed a second apart."""
    start = {"version": "1", "runner": "builtin", "model": "scripted:one", **started}
    events: list[Event] = [
        SessionStarted(row=row, **start),
        StateChanged(status="idle"),
        UserMessageSent(msg_id="m", text=prompt, turn=1),
        StateChanged(status="running", turn=1),
    ]
    for call in range(1, calls + 1):
        events += [
            LlmRequestSent(call=call, turn=1, req_id=f"r{call}", messages=[{"role": "user", "content": "x"}]),
            AssistantDelta(call=call, text="word " * 20),
            AssistantMessage(call=call, text="word " * 20),
            UsageReported(call=call, input_tokens=10, output_tokens=2, cost=0.01),
        ]
    if reward is not None:
        events.append(Graded(grader="exact", turn=1, reward=reward))
    if ended:
        events += [
            StateChanged(status="idle", turn=1, outcome="completed"),
            SessionEnded(status="ended", reason="quit"),
        ]
    return [
        event.model_copy(update={"seq": number, "at": begun + timedelta(seconds=number), "session_id": "s"})
        for number, event in enumerate(events, start=1)
    ]


def write_recording(
    folder: Path, *, identity: str = "", name: str = "", events: Sequence[Event] | None = None, **facts: Any
) -> Path:
    """Write a session's folder; `facts` are those of `recorded_events`."""
    folder.mkdir(parents=True, exist_ok=True)
    recorded = recorded_events(**facts) if events is None else events
    lines = "".join(
        event_to_json(event.model_copy(update={"session_id": folder.name})) + "\n" for event in recorded
    )
    (folder / "events.jsonl").write_text(lines, encoding="utf-8")
    meta = {"session_id": folder.name, "dataset_identity": identity, **({"name": name} if name else {})}
    (folder / "meta.json").write_text(json.dumps(meta), encoding="utf-8")
    (folder / "lock").touch()
    return folder
