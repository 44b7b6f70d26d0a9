"""All of a session's state as plain values, what is private too: two states that fold alike look alike."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from pydantic import BaseModel

from agentscope_tui.session.state import SessionState
from agentscope_tui.session.views import CallView, Entry

_NOT_OF_THE_FOLD = {"_changed_entries", "_changed_calls"}


def deep_picture(value: Any) -> Any:
    """Plain values that are equal when the states are. What a state left in the recording is read."""
    match value:
        case Entry() | CallView():
            return {field.name: deep_picture(getattr(value, field.name)) for field in fields(value)}
        case BaseModel():
            return value.model_dump()
        case Mapping():
            return {key: deep_picture(item) for key, item in sorted(value.items(), key=repr)}
        case list() | tuple() | deque():
            return [deep_picture(item) for item in value]
        case set():
            return sorted(value)
        case str() | int() | float() | None:
            return value
        case _ if hasattr(value, "__slots__"):
            return [deep_picture(getattr(value, name)) for name in value.__slots__]
        case _ if type(value).__module__.startswith("agentscope_tui"):
            inside = {name: item for name, item in vars(value).items() if name not in _NOT_OF_THE_FOLD}
            return {name: deep_picture(item) for name, item in inside.items()}
        case _:
            return value


def folded(events: list[Any]) -> SessionState:
    """The state after these events, folded as a live session is."""
    state = SessionState()
    for event in events:
        state.apply(event)
    return state
