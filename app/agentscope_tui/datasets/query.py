"""Looking through many rows: which pass a test, and in which order they come by a column. For threads."""

from __future__ import annotations

import heapq
import math
import struct
import threading
import time
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from agentscope_tui.datasets.dataset import Dataset
from agentscope_tui.datasets.expression import FACTS, METRIC, Expression
from agentscope_tui.datasets.fields import as_text, is_missing
from agentscope_tui.datasets.needle import Needle
from agentscope_tui.datasets.raw import RawRow
from agentscope_tui.datasets.record import BAD_ROW, NO_SESSION, Record, Standing
from agentscope_tui.datasets.task import RowError

Standings: TypeAlias = Mapping[int, Standing]
"""How sessions stand, by the index of their row."""
Positions: TypeAlias = "array[int]"
"""Positions of rows, four bytes each."""
Test: TypeAlias = Callable[[Record], bool]

OF_SESSIONS = frozenset({"calls", "tokens", "reward", "duration", "sessions"})
"""Facts that only a row with a session has."""

_FIRST_REPORT_SECONDS, _LAST_REPORT_SECONDS = 0.05, 0.4
"""Reports come soon at first. Each is drawn, which takes from the work: so they come ever less often."""
_WAIT_SECONDS = 0.05
_WORK_SECONDS = 0.003
_REST_SECONDS = 0.0002
_RUN = 10_000
"""Keys sorted at once: the interpreter does nothing else meanwhile, so it is a few milliseconds."""
_KEY_LETTERS = 48
_LAST = 0xFFFF_FFFF
_SIGN = 1 << 63
_ALL_BITS = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Found:
    """What was found since the last report: positions, and how many rows were looked at in all."""

    positions: Sequence[int]
    looked_at: int


class Turn:
    """A thread's turn at work, until it should report. It rests now and then: keys are answered meanwhile."""

    def __init__(self) -> None:
        now = time.perf_counter()
        self._every = _FIRST_REPORT_SECONDS
        self._report_at, self._rest_at = now + self._every, now + _WORK_SECONDS

    def over(self) -> bool:
        """Whether it is time to report, which begins the next turn; rests if it is time for that."""
        if time.perf_counter() < self._rest_at:
            return False
        time.sleep(_REST_SECONDS)
        now = time.perf_counter()
        self._rest_at = now + _WORK_SECONDS
        if now < self._report_at:
            return False
        self._every = min(1.5 * self._every, _LAST_REPORT_SECONDS)
        self._report_at = now + self._every
        return True


def place_among(ascending: Sequence[int], position: int) -> int | None:
    """Where a position is among ascending ones, if it is."""
    place = bisect_left(ascending, position)
    return place if place < len(ascending) and ascending[place] == position else None


def record_at(dataset: Dataset, position: int, standings: Standings) -> Record:
    """One row, read now."""
    index = dataset.offset + position
    standing = standings.get(index, NO_SESSION)
    return Record(index, dataset.raw_at(position), standing, dataset.task_of)


def find(
    dataset: Dataset,
    test: Test,
    standings: Standings,
    stop: threading.Event,
    *,
    start: int = 0,
    among: Positions | None = None,
) -> Iterator[Found]:
    """The rows that pass, in reports some times a second, the last one when all were looked at.

    Looks from position `start` to the end and then from the first; while the dataset is still being counted
    it goes on with what is found. `among` are the only positions to look at, ascending.

    Raises:
        UserError: the dataset cannot be read.
    """
    found: list[int] = []
    looked_at = 0
    turn = Turn()
    for row in _records(dataset, standings, stop, start, among):
        if row is not None:
            looked_at += 1
            if test(row[1]):
                found.append(row[0])
        if turn.over():
            yield Found(found, looked_at)
            found = []
        if stop.is_set():
            return
    yield Found(found, looked_at)


def search(dataset: Dataset, text: str, stop: threading.Event, *, start: int = 0) -> Iterator[Found]:
    """The rows that have a text in them, as `find`; case counts when the text has capitals.

    Much faster than a test of each row: what cannot have it is not parsed.

    Raises:
        UserError: the dataset cannot be read.
    """
    needle = Needle(text)
    found: list[int] = []
    looked_at = 0
    turn = Turn()
    for span in _spans(dataset, stop, start):
        before = span.start
        for following, hits in dataset.search(needle, span.start, span.stop):
            looked_at += following - before
            before = following
            found += hits
            if turn.over():
                yield Found(found, looked_at)
                found = []
            if stop.is_set():
                return
        if not span:
            yield Found(found, looked_at)
            found = []
    yield Found(found, looked_at)


def needs_no_rows(expression: Expression) -> bool:
    """Whether only rows with a session can pass, so that no other need be read."""
    if expression.columns or not expression.facts <= OF_SESSIONS | {"state"}:
        return False
    states = (None, BAD_ROW) if "state" in expression.facts else (None,)
    return not any(expression.matches(_NoRow(state)) for state in states)


@dataclass(frozen=True)
class Order:
    """By the values of a fact, of the metric after `reward.`, or of the column after `row.` (a dotted path);
    what has none comes last."""

    by: str
    descending: bool = False

    @property
    def facts(self) -> frozenset[str]:
        """The fact that the order depends on."""
        return frozenset({METRIC if self._metric else self.by} & FACTS)

    @property
    def _metric(self) -> str:
        """The metric that it is by; empty: it is by none."""
        return self.by.removeprefix(f"{METRIC}.") if self.by.startswith(f"{METRIC}.") else ""

    def value(self, record: Record) -> Any:
        """What a row is ordered by; None: it has no such thing."""
        if self._metric:
            return record.metric(self._metric)
        return record.fact(self.by) if self.by in FACTS else record.column(self.by.removeprefix("row."))

    def of_session(self, standing: Standing) -> Any:
        """The same of a row's session, for an order by what only those have."""
        return standing.metrics.get(self._metric) if self._metric else getattr(standing, self.by)

    def key(self, record: Record, position: int) -> bytes:
        """A key that sorts as this order does (from the end, when descending); the position breaks ties."""
        return _key(self.value(record), position, self.descending)

    def place(self, positions: Positions, key: bytes, key_of: Callable[[int], bytes]) -> int:
        """Where a row with this key belongs among sorted positions."""
        low, high = 0, len(positions)
        while low < high:
            middle = (low + high) // 2
            other = key_of(positions[middle])
            if other > key if self.descending else other < key:
                low = middle + 1
            else:
                high = middle
        return low


@dataclass(frozen=True, slots=True)
class Sorted:
    """How far ordering is: rows looked at, and at last their positions in order."""

    looked_at: int
    positions: Positions | None = None


def ordered(
    dataset: Dataset,
    order: Order,
    standings: Standings,
    stop: threading.Event,
    *,
    among: Positions | None,
) -> Iterator[Sorted]:
    """The positions in order, all or `among` (ascending); reports some times a second, the last one has them.

    Stable; mixed types come in groups of one type; texts are told apart by their first letters, whatever the
    case. Nothing more comes once `stop` is set.

    Raises:
        UserError: the dataset cannot be read.
    """
    if order.facts & OF_SESSIONS:
        result = _ordered_sessions(dataset, order, standings, among)
        yield Sorted(len(result), result)
        return
    runs: list[list[bytes]] = [[]]
    looked_at = 0
    turn = Turn()
    for row in _records(dataset, standings, stop, 0, among):
        if row is not None:
            looked_at += 1
            runs[-1].append(order.key(row[1], row[0]))
            if len(runs[-1]) == _RUN:
                runs[-1].sort(reverse=order.descending)
                runs.append([])
        if turn.over():
            yield Sorted(looked_at)
        if stop.is_set():
            return
    runs[-1].sort(reverse=order.descending)
    result = array("I")
    for key in heapq.merge(*runs, reverse=order.descending):
        result.append(_position(key, order.descending))
        if turn.over():
            yield Sorted(looked_at)
        if stop.is_set():
            return
    yield Sorted(looked_at, result)


def _ordered_sessions(
    dataset: Dataset, order: Order, standings: Standings, among: Positions | None
) -> Positions:
    """The few rows with a session in order, and the others as they come."""
    everything = range(len(dataset)) if among is None else among
    values = {
        index - dataset.offset: value
        for index, standing in standings.items()
        if (value := order.of_session(standing)) is not None
    }
    keys = [
        _key(value, position, order.descending)
        for position, value in values.items()
        if place_among(everything, position) is not None
    ]
    keys.sort(reverse=order.descending)
    first = array("I", (_position(key, order.descending) for key in keys))
    return first + array("I", (position for position in everything if position not in values))


def _records(
    dataset: Dataset, standings: Standings, stop: threading.Event, start: int, among: Positions | None
) -> Iterator[tuple[int, Record] | None]:
    """Each row from `start` on and then those before it; None while more rows have yet to be counted."""
    offset, task_of, standing = dataset.offset, dataset.task_of, standings.get
    for row in _all(dataset, stop, start) if among is None else _some(dataset, among):
        if row is None:
            yield None
        else:
            position, raw = row
            index = offset + position
            yield position, Record(index, raw, standing(index, NO_SESSION), task_of)


def _all(
    dataset: Dataset, stop: threading.Event, start: int
) -> Iterator[tuple[int, RawRow | RowError] | None]:
    for span in _spans(dataset, stop, start):
        yield from dataset.walk(span.start, span.stop)
        if not span:
            yield None


def _spans(dataset: Dataset, stop: threading.Event, start: int) -> Iterator[range]:
    """The positions from `start` on, then those before it; an empty one while more have yet to be counted."""
    following = start
    complete = False
    while not complete:
        complete = dataset.complete
        known = len(dataset)
        if known > following:
            yield range(following, known)
            following = known
        elif not complete:
            stop.wait(_WAIT_SECONDS)
            yield range(0)
    if start:
        yield range(min(start, following))


def _some(dataset: Dataset, among: Positions) -> Iterator[tuple[int, RawRow | RowError]]:
    if len(among) * 8 < len(dataset):
        for position in among:
            # Not `raw_at`: what it keeps is the screen's.
            yield from dataset.walk(position, position + 1)
        return
    wanted = iter(among)
    following = next(wanted, None)
    for position, raw in dataset.walk(0):
        if position == following:
            yield position, raw
            following = next(wanted, None)


@dataclass(frozen=True)
class _NoRow:
    """A row without a session, of which nothing is known but its state."""

    state: str | None

    def fact(self, name: str) -> Any:
        return self.state if name == "state" else None

    def metric(self, name: str) -> float | None:
        return None

    def column(self, path: str) -> Any:
        return None


def _key(value: Any, position: int, descending: bool) -> bytes:
    """Kind, value and position as bytes that sort as they do: a third of what tuples would take."""
    match None if is_missing(value) else value:
        case None:
            kind, content = b"\x00" if descending else b"\xff", b""
        case bool() | int() | float():
            kind, content = b"\x01", _number(value)
        case str():
            kind, content = b"\x02", _letters(value)
        case _:
            kind, content = b"\x03", _letters(as_text(value))
    return kind + content + struct.pack(">I", _LAST - position if descending else position)


def _position(key: bytes, descending: bool) -> int:
    position = int.from_bytes(key[-4:])
    return _LAST - position if descending else position


def _letters(text: str) -> bytes:
    # The end mark sorts a text before all that go on from it.
    return text[:_KEY_LETTERS].casefold().encode("utf-8", "surrogatepass") + b"\x00"


def _number(value: float) -> bytes:
    """Eight bytes that sort as the numbers do."""
    try:
        number = float(value)
    except OverflowError:
        number = math.inf if value > 0 else -math.inf
    bits = int.from_bytes(struct.pack(">d", number))
    return (bits ^ (_ALL_BITS if bits >> 63 else _SIGN)).to_bytes(8)
