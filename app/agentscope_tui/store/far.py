"""What a state leaves in the recording, and reads from there when somebody looks at it."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, SupportsIndex, TypeVar, cast, overload

from agentscope_tui.events import Event, ToolOutput
from agentscope_tui.session.views import CallView, Entry, OutputPiece
from agentscope_tui.store.event_source import EventSource, Place

_LONGEST_RUN = 256 * 1024
LOST = "[this part of the recording cannot be read any more]"

E = TypeVar("E", bound=Event)


class Reading:
    """A recording that is being folded: `place` is that of the event which is applied now."""

    def __init__(self, source: EventSource) -> None:
        self.source = source
        self.place = Place(0, 0)


@dataclass(frozen=True, slots=True)
class FarText:
    """A text of an event: `path` leads to it, through fields and positions."""

    source: EventSource
    place: Place
    path: tuple[str | int, ...]

    def read(self) -> str:
        """The text; where it is no more, words that say so."""
        try:
            value: Any = self.source.values(self.place)
            for step in self.path:
                value = value[step]
        except (OSError, ValueError, LookupError, TypeError):
            return LOST
        return value if isinstance(value, str) else LOST


class _FarField:
    """A text field of a view that may be a `FarText` until it is asked for."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, view: object, owner: type) -> str:
        value = vars(view)[self._name]
        if isinstance(value, FarText):
            value = vars(view)[self._name] = value.read()
        return cast(str, value)

    def __set__(self, view: object, value: str) -> None:
        vars(view)[self._name] = value


class FarEntry(Entry):
    """An entry with texts that are in the recording."""

    text: str = cast(str, _FarField())
    detail: str = cast(str, _FarField())


class FarCall(CallView):
    """A tool call with texts that are in the recording."""

    arguments: str = cast(str, _FarField())
    content: str = cast(str, _FarField())
    reason: str = cast(str, _FarField())


FAR_FIELDS = {Entry: ("text", "detail"), CallView: ("arguments", "content", "reason")}


@dataclass(slots=True)
class Run:
    """Neighbouring events of one call's output: `count` of them from `start` to before `end`."""

    start: int
    end: int
    count: int


class FarPieces(list[OutputPiece]):
    """The output of a call, of which only is known where it is; what is looked at is read, a run at a time.

    A list, as far as states and panes use one: it grows, has a length, and its items can be asked for.
    """

    def __init__(self, reading: Reading, runs: Sequence[Run] = ()) -> None:
        super().__init__()
        self.runs = list(runs)
        self._reading = reading
        self._count = sum(run.count for run in self.runs)
        self._kept: tuple[int, list[OutputPiece]] = (0, [])
        """The position of the first piece of the run that was read last, and its pieces."""

    def append(self, piece: OutputPiece) -> None:
        start, end = self._reading.place
        last = self.runs[-1] if self.runs else None
        if last is not None and last.end == start and end - last.start <= _LONGEST_RUN:
            last.end, last.count = end, last.count + 1
        else:
            self.runs.append(Run(start, end, 1))
        self._count += 1

    def __len__(self) -> int:
        return self._count

    def __bool__(self) -> bool:
        return self._count > 0

    def __iter__(self) -> Iterator[OutputPiece]:
        return (self[position] for position in range(self._count))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, list) and [*self] == [*other]

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None

    @overload
    def __getitem__(self, position: SupportsIndex) -> OutputPiece: ...
    @overload
    def __getitem__(self, position: slice) -> list[OutputPiece]: ...
    def __getitem__(self, position: SupportsIndex | slice) -> OutputPiece | list[OutputPiece]:
        if isinstance(position, slice):
            return [self[number] for number in range(*position.indices(self._count))]
        number = range(self._count)[position]
        first, pieces = self._kept
        if not first <= number < first + len(pieces):
            first, pieces = self._kept = self._read_run(number)
        return pieces[number - first]

    def _read_run(self, number: int) -> tuple[int, list[OutputPiece]]:
        first = 0
        for run in self.runs:
            if number < first + run.count:
                break
            first += run.count
        pieces = [_piece(event) for event in self._events(run)]
        lost = [OutputPiece("stderr", f"{LOST}\n")] * (run.count - len(pieces))
        return first, [*pieces[: run.count], *lost]

    def _events(self, run: Run) -> list[ToolOutput]:
        source = self._reading.source
        found: list[ToolOutput] = []
        try:
            for batch in source.read(run.start, run.end):
                found += [event for event, _ in batch if isinstance(event, ToolOutput)]
        except (OSError, ValueError):
            # What is missing is said in the place of each piece.
            return found
        return found


class FarEvents(MutableMapping[int, E], Generic[E]):
    """Events by the number of their call, of which only is known where they are."""

    def __init__(self, reading: Reading, kind: type[E], places: dict[int, Place]) -> None:
        self.places = places
        self._reading = reading
        self._kind = kind
        self._kept: tuple[int, E] | None = None

    def __getitem__(self, call: int) -> E:
        if self._kept is not None and self._kept[0] == call:
            return self._kept[1]
        try:
            event = self._reading.source.event(self.places[call])
        except (OSError, ValueError):
            raise KeyError(call) from None
        if not isinstance(event, self._kind):
            raise KeyError(call)
        self._kept = call, event
        return event

    def __setitem__(self, call: int, event: E) -> None:
        self.places[call] = self._reading.place
        self._kept = None

    def __delitem__(self, call: int) -> None:
        del self.places[call]

    def __iter__(self) -> Iterator[int]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)


def _piece(event: ToolOutput) -> OutputPiece:
    return OutputPiece(event.stream, event.text, event.file, event.offset, event.length)
