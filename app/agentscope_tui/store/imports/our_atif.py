"""ATIF that agentscope wrote itself: the very events of the session, put together again."""

from __future__ import annotations

import json
from typing import Any

from agentscope_tui.event_lines import event_from_json
from agentscope_tui.events import SessionEvent, SessionStarted
from agentscope_tui.store.export.atif_fields import Object, Trajectory, ours


def restored(trajectory: Object) -> list[SessionEvent] | None:
    """The events of a session that was exported by us.

    None: it was not, or what was changed since makes them not fit together: then it is one like any other.
    """
    try:
        return _restored(trajectory)
    except (ValueError, KeyError, TypeError, AttributeError):
        # Whatever a stranger put there: JSON of any shape.
        return None


def _restored(trajectory: Object) -> list[SessionEvent] | None:
    steps = trajectory["steps"]
    session_id = trajectory["session_id"]
    by_name = Trajectory(trajectory["agent"], steps)
    events: list[SessionEvent] = []
    for step in steps:
        for kept in ours(step)["events"]:
            data: dict[str, Any] = by_name.fields(kept, step) | kept
            data |= {"seq": len(events) + 1, "session_id": session_id}
            if "messages" in data:
                data["messages"] = [by_name.referred(message) for message in data["messages"]]
            events.append(event_from_json(json.dumps({name: v for name, v in data.items() if v is not None})))
    return events if events and isinstance(events[0], SessionStarted) else None
