"""asciicast: a header and events as players read them, and what a terminal shows after them."""

from __future__ import annotations

import json

import pyte

import agentscope_tui.events as ev
from fakes.past_sessions import eventful, exported, past


async def test_players_can_read_it_and_a_terminal_shows_the_transcript() -> None:
    lines = [json.loads(line) for line in exported("asciicast", await eventful(), width=90).splitlines()]
    header, *events = lines
    assert (header["version"], header["width"], header["idle_time_limit"]) == (2, 90, 2.0)
    times = [time for time, _, _ in events]
    assert times == sorted(times)
    assert {kind for _, kind, _ in events} == {"o"}
    screen = pyte.HistoryScreen(90, 500)
    stream = pyte.Stream(screen)
    for _, _, text in events:
        assert "\n" not in text.replace("\r\n", "")
        stream.feed(text)
    shown = "\n".join(line.rstrip() for line in screen.display)
    for said in ("I look at both.", "and be quick", "reward (exact): 0.5", "turn 3 interrupted"):
        assert said in shown


def test_the_times_are_those_of_the_session_also_where_a_clock_was_set_back() -> None:
    first, second, third = past(
        ev.SessionStarted(version="1"),
        ev.UserMessageSent(msg_id="m", text="one", turn=1),
        ev.UserMessageSent(msg_id="n", text="two", turn=2),
    )
    third = third.model_copy(update={"at": first.at})
    lines = exported("asciicast", [first, second, third]).splitlines()
    assert [json.loads(line)[0] for line in lines[1:]] == [0, 1, 1]


def test_text_from_outside_moves_no_cursor() -> None:
    output = ev.ToolOutput(call_id="c", stream="stdout", text="\x1b[2J\x1b]0;owned\x07 done\n")
    (line,) = exported("asciicast", past(output)).splitlines()[1:]
    assert "\x1b[2J" not in json.loads(line)[2]
    assert "\x1b]" not in json.loads(line)[2]
