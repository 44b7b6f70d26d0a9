"""Events as lines of JSON and back: what a recording holds, and what `run --events` prints."""

from __future__ import annotations

from typing import Any, get_args

from pydantic import BaseModel
from pydantic_core import from_json, to_json

from agentscope_tui.events import Event, SessionEvent, UnknownEvent
from agentscope_tui.secrets import MAX_DEPTH

KINDS: dict[str, type[SessionEvent]] = {
    get_args(cls.model_fields["kind"].annotation)[0]: cls
    for cls in get_args(SessionEvent)
    if cls is not UnknownEvent
}
"""The classes by their kind."""


_last: tuple[Event | None, str | None] = None, None
"""The event that was last told, and how: each is looked through for secrets, and then recorded."""


def plain_json(event: Event) -> str | None:
    """The event as JSON; None where that cannot be: it has lone surrogates, or is nested too deeply."""
    global _last
    known, told = _last
    if known is not event:
        try:
            told = event.model_dump_json(exclude_none=True)
        except ValueError:
            told = None
        _last = event, told
    return told


def event_to_json(event: Event) -> str:
    """The event as one line of a recording, without the newline. Lone surrogates become `?`, and what is
    nested too deeply for JSON readers becomes `…`."""
    told = plain_json(event)
    return to_json(_well_formed(event)).decode() if told is None else told


def event_from_json(line: str | bytes) -> SessionEvent:
    """An event from one line of a recording; a kind of a newer version becomes `UnknownEvent`.

    Raises:
        ValueError: no JSON, or fields that do not fit the kind.
    """
    data = from_json(line)
    kind = data.get("kind") if isinstance(data, dict) else None
    return KINDS.get(str(kind), UnknownEvent).model_validate(data)


def _well_formed(value: Any, depth: int = 0) -> Any:
    if depth > MAX_DEPTH:
        return "…"
    match value:
        case BaseModel():
            return {key: _well_formed(item, depth + 1) for key, item in value if item is not None}
        case str():
            return value.encode("utf-8", "replace").decode()
        case dict():
            return {_well_formed(key): _well_formed(item, depth + 1) for key, item in value.items()}
        case list() | tuple():
            return [_well_formed(item, depth + 1) for item in value]
        case _:
            return value
