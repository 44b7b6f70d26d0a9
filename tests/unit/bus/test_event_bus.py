"""The event bus: order, no gaps, nobody waited for, and a tail that stays bounded."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from agentscope_tui.bus import EventBus
from agentscope_tui.clock import Clock
from agentscope_tui.events import ErrorOccurred, SessionEvent, Submitted

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def say(text: str) -> Submitted:
    return Submitted(call_id="c", answer=text)


def answers(events: list[SessionEvent]) -> list[str]:
    return [event.answer for event in events if isinstance(event, Submitted)]


class Records:
    """A backlog that has read everything up to `recorded`."""

    def __init__(self) -> None:
        self.events: list[SessionEvent] = []
        self.recorded = 0
        self.reads: list[tuple[int, int]] = []

    def __call__(self, event: SessionEvent) -> None:
        self.events.append(event)

    def read(self, first: int, last: int) -> list[SessionEvent]:
        self.reads.append((first, last))
        return [event for event in self.events if first <= event.seq <= min(last, self.recorded)]


def recorded_bus(tail: int) -> tuple[EventBus, Records]:
    records = Records()
    bus = EventBus("s", backlog=records, tail=tail)
    bus.subscribe(records)
    return bus, records


def test_events_are_numbered_stamped_and_named() -> None:
    bus = EventBus("s1", clock=Clock(now=lambda: NOW))
    first, second = bus.publish(say("a")), bus.publish(say("b"))
    assert (first.seq, second.seq, bus.last_seq) == (1, 2, 2)
    assert (first.at, first.session_id) == (NOW, "s1")


def test_every_callback_gets_every_event_in_order_also_when_one_raises(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bus, seen = EventBus("s"), list[SessionEvent]()

    def bad(event: SessionEvent) -> None:
        raise ValueError("broken pane")

    bus.subscribe(bad)
    bus.subscribe(seen.append)
    for text in "abc":
        bus.publish(say(text))
    assert answers(seen) == ["a", "b", "c"]
    assert caplog.text.count("an event callback failed") == 3


def test_what_a_callback_publishes_comes_after_for_everyone() -> None:
    bus, before, after = EventBus("s"), list[int](), list[int]()

    def echo(event: SessionEvent) -> None:
        if event.kind == "submit":
            bus.publish(ErrorOccurred(source="session", message="echo"))

    bus.subscribe(lambda event: before.append(event.seq))
    bus.subscribe(echo)
    bus.subscribe(lambda event: after.append(event.seq))
    bus.publish(say("a"))
    bus.publish(say("b"))
    assert before == after == [1, 2, 3, 4]


def test_an_unsubscribed_callback_hears_no_more_also_from_within() -> None:
    bus, seen = EventBus("s"), list[SessionEvent]()
    unsubscribe = bus.subscribe(lambda event: (seen.append(event), unsubscribe()))  # type: ignore[arg-type]
    bus.publish(say("a"))
    bus.publish(say("b"))
    unsubscribe()
    assert answers(seen) == ["a"]


def test_a_subscription_drains_at_its_own_pace() -> None:
    bus = EventBus("s")
    early = bus.subscription()
    for text in "abcde":
        bus.publish(say(text))
    late = bus.subscription(after=3)
    assert (early.pending, late.pending) == (5, 2)
    assert answers(early.drain(2)) == ["a", "b"]
    assert answers(early.drain()) == ["c", "d", "e"]
    assert early.drain() == []
    assert answers(late.drain()) == ["d", "e"]
    assert early.pending == late.pending == 0


def test_a_subscription_behind_the_tail_goes_on_from_the_recording() -> None:
    bus, records = recorded_bus(tail=3)
    slow = bus.subscription()
    for text in "abcdefgh":
        bus.publish(say(text))
        records.recorded = bus.last_seq
    assert answers(slow.drain(2)) == ["a", "b"]
    assert answers(slow.drain()) == list("cdefgh")
    assert records.reads


def test_one_that_keeps_up_never_reads_the_recording() -> None:
    bus, records = recorded_bus(tail=3)
    quick, seen = bus.subscription(), list[SessionEvent]()
    for text in "abcdefgh":
        bus.publish(say(text))
        records.recorded = bus.last_seq
        seen += quick.drain()
    assert answers(seen) == list("abcdefgh")
    assert records.reads == []


def test_what_is_not_recorded_yet_stays_in_memory() -> None:
    bus, records = recorded_bus(tail=2)
    slow = bus.subscription()
    for text in "abcd":
        bus.publish(say(text))
    records.recorded = 2
    for text in "efgh":
        bus.publish(say(text))
    events = slow.drain()
    assert [event.seq for event in events] == [1, 2, 3, 4, 5, 6, 7, 8]


def test_memory_is_bounded_by_the_tail_once_recorded() -> None:
    bus, records = recorded_bus(tail=4)
    for number in range(100):
        bus.publish(say(str(number)))
        records.recorded = bus.last_seq
    assert bus.read(1, 96) == records.read(1, 96)
    assert [event.seq for event in bus.read(90, 1000)] == list(range(90, 101))
    assert len(bus._tail) <= 5


def test_reading_what_is_not_there_gives_nothing() -> None:
    bus = EventBus("s")
    assert bus.read(1, 10) == []
    bus.publish(say("a"))
    assert bus.read(2, 10) == []
    assert bus.read(5, 2) == []
