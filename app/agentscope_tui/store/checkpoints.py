"""Checkpoints of a fold: the state at a place of a recording, so that what comes before need not be read.

A checkpoint is JSON, never pickle: a recording may come from a stranger. Texts that the recording says are
not copied: where they stand is kept, and they are read when somebody looks at them.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import Literal, TypeVar

from pydantic import TypeAdapter

from agentscope_tui.events import (
    AssistantDelta,
    AssistantMessage,
    LlmRequestSent,
    SessionEvent,
    SessionStarted,
    ToolOutput,
)
from agentscope_tui.session.saved_state import SavedState, exchanges_of, restored, saved
from agentscope_tui.session.state import SessionState
from agentscope_tui.session.views import CallView, Entry
from agentscope_tui.store.event_source import EventSource, Place, PlacedEvent
from agentscope_tui.store.far import (
    FAR_FIELDS,
    FarCall,
    FarEntry,
    FarEvents,
    FarPieces,
    FarText,
    Reading,
    Run,
)

LONG = 400
"""Characters of a text from which on it stays in the recording."""

_TEXTS = {"text", "reasoning", "content", "message", "detail", "reason"}
"""The fields of events that become texts of a state."""

V = TypeVar("V", Entry, CallView)


@dataclass
class _FarPlace:
    """One text of an entry or a tool call, by its position, and where it stands."""

    of: Literal["entry", "call"]
    position: int
    name: str
    place: Place
    path: tuple[str | int, ...]


@dataclass
class _Checkpoint:
    """What is written down."""

    last: Place
    state: SavedState
    started: Place | None
    requests: dict[int, Place]
    replies: dict[int, Place]
    outputs: dict[int, list[Run]]
    texts: list[_FarPlace] = field(default_factory=list)


@cache
def _adapter() -> TypeAdapter[_Checkpoint]:
    return TypeAdapter(_Checkpoint)


@cache
def _text_fields(kind: type[SessionEvent]) -> list[str]:
    return [name for name in kind.model_fields if name in _TEXTS]


class PlacedFold:
    """The state at a place of a recording: after the event that is from `start` to before `end`."""

    def __init__(self, source: EventSource) -> None:
        self._reading = Reading(source)
        self._at = datetime.fromtimestamp(0, UTC)
        self._take_over(SessionState(), Place(0, 0), None, {}, {})

    def _take_over(
        self,
        state: SessionState,
        last: Place,
        started: Place | None,
        requests: dict[int, Place],
        replies: dict[int, Place],
    ) -> None:
        self.state, self._started = state, started
        self.start, self.end = last
        self._texts: dict[int, tuple[str, Place, tuple[str | int, ...]]] = {}
        """The long texts of the events taken: by identity, for the state has the very same."""
        exchanges = exchanges_of(state)
        self._requests = exchanges.requests = FarEvents(self._reading, LlmRequestSent, requests)
        self._replies = exchanges.replies = FarEvents(self._reading, AssistantMessage, replies)

    @property
    def at(self) -> datetime:
        """The time of the last event taken."""
        return self._at

    @property
    def seq(self) -> int:
        """The number of the last event taken."""
        return self.state.last_seq

    def apply(self, placed: PlacedEvent) -> None:
        """Take one event."""
        event, place = placed
        self._reading.place, self._at = place, event.at
        match event:
            case SessionStarted():
                self._started = place
            case AssistantDelta():
                # Its text is only a piece of one.
                pass
            case ToolOutput():
                view = self.state.call_view(event.call_id)
                if view is not None and not isinstance(view.output, FarPieces):
                    view.output = FarPieces(self._reading)
            case _:
                self._note_texts(event, place)
        self.state.apply(event)
        if place.start >= 0:
            self.start, self.end = place

    def _note_texts(self, event: SessionEvent, place: Place) -> None:
        for name in _text_fields(type(event)):
            text = getattr(event, name)
            if len(text) >= LONG:
                self._texts[id(text)] = text, place, (name,)
        if isinstance(event, AssistantMessage):
            for number, part in enumerate(event.tool_calls):
                if len(text := part.function.arguments) >= LONG:
                    self._texts[id(text)] = text, place, ("tool_calls", number, "function", "arguments")

    def save(self) -> bytes:
        """The state as one line of JSON, without a line end."""
        texts: list[_FarPlace] = []
        state = saved(self.state)
        outputs = {
            position: call.output.runs
            for position, call in enumerate(state.calls)
            if isinstance(call.output, FarPieces)
        }
        state.entries = [self._without_texts("entry", at, one, texts) for at, one in enumerate(state.entries)]
        state.calls = [self._without_texts("call", at, one, texts) for at, one in enumerate(state.calls)]
        checkpoint = _Checkpoint(
            Place(self.start, self.end),
            state,
            self._started,
            self._requests.places,
            self._replies.places,
            outputs,
            texts,
        )
        return _adapter().dump_json(checkpoint, exclude_defaults=True)

    def _without_texts(
        self, of: Literal["entry", "call"], position: int, view: V, texts: list[_FarPlace]
    ) -> V:
        """A view without the texts that stand in the recording; where those are is added to `texts`."""
        without: V | None = None
        if isinstance(view, CallView) and view.output:
            without = copy.copy(view)
            without.output = []
        for name in FAR_FIELDS[Entry if of == "entry" else CallView]:
            value = vars(view)[name]
            if isinstance(value, FarText):
                place, path = value.place, value.path
            elif len(value) < LONG or (known := self._texts.get(id(value))) is None:
                continue
            else:
                _, place, path = known
            texts.append(_FarPlace(of, position, name, place, path))
            without = without or copy.copy(view)
            vars(without)[name] = ""
        return without or view

    @classmethod
    def load(cls, data: bytes, source: EventSource) -> PlacedFold:
        """The fold that was saved.

        Raises:
            ValueError: it was not saved by this version, or does not fit together.
            OSError: the recording cannot be read.
        """
        checkpoint = _adapter().validate_json(data)
        fold = cls(source)
        reading = fold._reading
        entries: list[Entry] = [*checkpoint.state.entries]
        calls: list[CallView] = [*checkpoint.state.calls]
        for far in checkpoint.texts:
            text = FarText(source, far.place, far.path)
            if far.of == "entry":
                _put_far(entries, FarEntry, far, text)
            else:
                _put_far(calls, FarCall, far, text)
        for position, runs in checkpoint.outputs.items():
            if position not in range(len(calls)) or not all(_is_within(run, checkpoint.last) for run in runs):
                raise ValueError("an output of no call, or from nowhere")
            calls[position].output = FarPieces(reading, runs)
        checkpoint.state.entries, checkpoint.state.calls = entries, calls
        state = restored(checkpoint.state)
        if checkpoint.started is not None:
            started = source.event(checkpoint.started)
            if not isinstance(started, SessionStarted):
                raise ValueError("the recording begins otherwise")
            state.started = started
        fold._at = source.event(checkpoint.last).at
        fold._take_over(state, checkpoint.last, checkpoint.started, checkpoint.requests, checkpoint.replies)
        return fold


def _is_within(run: Run, last: Place) -> bool:
    return 0 <= run.start < run.end <= last.end and 0 < run.count <= run.end - run.start


def _put_far(views: list[V], kind: type[V], far: _FarPlace, text: FarText) -> None:
    if far.position not in range(len(views)) or far.name not in FAR_FIELDS[kind.__bases__[0]]:
        raise ValueError("a text of nothing")
    view = views[far.position]
    if not isinstance(view, kind):
        view = views[far.position] = kind(**vars(view))
    vars(view)[far.name] = text
