"""A pause as an entry of the transcript: where a step waited, for how long, and what was decided."""

from __future__ import annotations

from agentscope_tui.events import Paused, Resumed
from agentscope_tui.session.views import Entry


def entry_of(event: Paused) -> Entry:
    """The entry of a step that waits: `status` is the kind of step, `duration` is None until it goes on."""
    entry = Entry(f"paused {event.hold}", "paused", event.at, call=event.call, call_id=event.call_id)
    entry.status = event.step
    return entry


def end(entry: Entry, event: Resumed) -> None:
    """The step went on: `detail` is the decision, `text` its reason."""
    entry.duration = (event.at - entry.at).total_seconds()
    entry.detail = event.decision or "interrupted"
    entry.text = event.reason
