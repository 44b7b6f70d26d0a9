"""Where a session went wrong: the entry to look at, and to fork, first."""

from __future__ import annotations

from agentscope_tui import events as ev
from agentscope_tui.session.blame import blamed_entry
from agentscope_tui.session.comparing import state_of
from agentscope_tui.session.state import SessionState
from fakes.small_sessions import START, Did, past_session

LOOK = Did("I look", "bash", '{"command": "ls"}', "notes.txt")
SUBMIT = Did("", "submit", '{"answer": "4"}')


def blamed(state: SessionState) -> tuple[str, str | None]:
    place = blamed_entry(state)
    assert place is not None
    entry = state.entries[place]
    call = state.call_view(entry.call_id or "")
    return entry.kind, call.arguments if call is not None else None


def test_a_low_reward_is_blamed_on_the_last_tool_call_before_the_answer():
    last = Did("again", "bash", '{"command": "sum"}', "5")
    assert blamed(state_of(past_session(LOOK, last, SUBMIT, reward=0.5).events)) == ("tool", last.arguments)


def test_without_a_tool_call_it_is_what_was_said_last():
    state = state_of(past_session(Did("so what"), reward=0.0).events)
    assert blamed(state)[0] == "assistant"


def test_nothing_is_blamed_where_nothing_went_wrong():
    for reward in (1.0, None):
        assert blamed_entry(state_of(past_session(LOOK, SUBMIT, reward=reward).events)) is None


def test_a_turn_that_failed_is_blamed_on_its_last_error():
    state = state_of(past_session(LOOK, LOOK).events)
    told = (
        ev.ErrorOccurred(source="model", message="too many requests", call=2),
        ev.ErrorOccurred(source="model", message="no such model", call=2),
        ev.StateChanged(status="idle", turn=1, outcome="failed"),
        ev.ErrorOccurred(source="grader", message="it broke"),
    )
    for seq, event in enumerate(told, start=100):
        state.apply(event.model_copy(update={"seq": seq, "at": START}))
    place = blamed_entry(state)
    assert place is not None
    assert state.entries[place].text == "no such model"


def test_a_limit_is_blamed_on_the_last_tool_call():
    state = state_of(past_session(LOOK, LOOK).events)
    state.outcome = "limit"
    assert blamed(state)[0] == "tool"
