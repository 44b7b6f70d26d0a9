"""When the events of a recording are due while it plays: real time, long gaps cut short, at a given clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from agentscope_tui.events import AgentNote
from agentscope_tui.store.event_source import Place, PlacedEvent
from agentscope_tui.tui.player import MOST_AT_ONCE, MOST_GAP, SPEEDS, Player, speed_word

BEGUN = datetime(2026, 1, 1, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return BEGUN + timedelta(seconds=seconds)


def player(*times: float) -> Player:
    """A player at second 0 of a recording with events at these seconds, at second 100 of the clock."""
    made = Player()
    for number, time in enumerate(times):
        event = AgentNote(text=f"{time}", at=at(time))
        made.ahead.append(PlacedEvent(event, Place(number, number + 1)))
    made.play(100)
    return made


def texts(due: list[PlacedEvent]) -> list[str]:
    return [one.event.text for one in due]  # type: ignore[union-attr]


def test_events_are_due_when_they_were() -> None:
    play = player(0.5, 0.6, 1.0)
    assert play.due(100.4, at(0)) == []
    assert texts(play.due(100.7, at(0))) == ["0.5", "0.6"]
    assert play.due(100.9, at(0.6)) == []
    assert texts(play.due(101.01, at(0.6))) == ["1.0"]


def test_a_long_gap_is_cut_short() -> None:
    play = player(3600, 3600.5)
    assert play.due(100 + MOST_GAP - 0.01, at(0)) == []
    assert texts(play.due(100 + MOST_GAP + 0.01, at(0))) == ["3600"]
    assert play.due(100 + MOST_GAP + 0.4, at(3600)) == []
    assert texts(play.due(100 + MOST_GAP + 0.6, at(3600))) == ["3600.5"]


@pytest.mark.parametrize(("steps", "seconds"), [(1, 0.25), (2, 0.125), (-1, 1.0), (-9, 1.0)])
def test_it_plays_faster_and_slower(steps: int, seconds: float) -> None:
    play = player(0.5)
    play.change_speed(steps)
    assert play.due(100 + seconds - 0.01, at(0)) == []
    assert texts(play.due(100 + seconds + 0.01, at(0))) == ["0.5"]


def test_at_its_fastest_it_waits_for_nothing_but_the_screen() -> None:
    play = player(*range(MOST_AT_ONCE + 5))
    play.change_speed(len(SPEEDS))
    assert play.speed == 0
    assert len(play.due(100, at(0))) == MOST_AT_ONCE
    assert len(play.due(100, at(0))) == 5


def test_time_while_nothing_was_read_is_none_of_the_recording() -> None:
    play = player(0.1)
    assert len(play.due(160, at(0))) == 1
    play.ahead.append(PlacedEvent(AgentNote(text="next", at=at(5)), Place(9, 10)))
    play.ahead.append(PlacedEvent(AgentNote(text="later", at=at(10)), Place(10, 11)))
    assert texts(play.due(160.01, at(0.1))) == ["next"]


def test_a_pause_stops_it_and_time_that_went_by_is_not_made_up() -> None:
    play = player(0.5)
    play.due(100.4, at(0))
    play.pause()
    assert not play.playing
    assert play.due(200, at(0)) == []
    play.play(300)
    assert play.due(300.4, at(0)) == []
    assert texts(play.due(300.6, at(0))) == ["0.5"]


def test_a_clock_of_the_recording_that_goes_back_is_no_gap() -> None:
    play = player(-5, -4.9)
    assert texts(play.due(100.05, at(0))) == ["-5"]


def test_speeds_in_words() -> None:
    assert [speed_word(speed) for speed in (0.5, 1, 16, 0)] == ["0.5x", "1x", "16x", "max"]
