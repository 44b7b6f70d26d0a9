"""Events without secrets: what everyone sees of a session, on disk and on screen."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel

from agentscope_tui.event_lines import plain_json
from agentscope_tui.events import Event
from agentscope_tui.secrets import Masker

E = TypeVar("E", bound=Event)
M = TypeVar("M", bound=BaseModel)


def masked_event(event: E, masker: Masker) -> E:
    """The event with every text in it masked; itself where there is nothing to mask."""
    told = plain_json(event)
    return _masked_model(event, masker) if told is None or masker.may_change(told) else event


def _masked_model(model: M, masker: Masker) -> M:
    changed = {name: new for name, value in model if (new := _masked_value(value, masker)) is not value}
    return model.model_copy(update=changed) if changed else model


def _masked_value(value: Any, masker: Masker) -> Any:
    match value:
        case str():
            return masker.mask(value)
        case BaseModel():
            return _masked_model(value, masker)
        case [BaseModel(), *_]:
            items = [_masked_value(item, masker) for item in value]
            return value if all(new is old for new, old in zip(items, value, strict=True)) else items
        case _:
            return masker.masked(value)
