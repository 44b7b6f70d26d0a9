"""What every importer relies on: turns, steers, requests, tool calls and times, built from what is told."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from agentscope_tui.events import StateChanged, Steer, ToolCallStarted, ToolResult, UserMessageSent
from agentscope_tui.session.history import digest
from agentscope_tui.session.state import SessionState
from agentscope_tui.store.imports.building import NO_ANSWER, EventBuilder
from agentscope_tui.store.imports.parts import Action, Answer, Beginning, Outcome, ProposedCall
from agentscope_tui.store.imports.tool_runs import NO_CALL, NO_RESULT
from fakes.foreign_files import Opened
from fakes.session_rig import check_promises

START = datetime(2026, 1, 1, tzinfo=UTC)


def builder() -> EventBuilder:
    made = EventBuilder("s", START)
    made.start(Beginning(system=[{"role": "system", "content": "Be brief."}]))
    return made


def finished(made: EventBuilder) -> Opened:
    events = made.finished()
    state = SessionState()
    for event in events:
        state.apply(event)
    check_promises(events, state)
    return Opened(events, state)


def calls(*ids: str) -> list[ProposedCall]:
    return [ProposedCall(call_id, "bash", '{"command": "ls"}') for call_id in ids]


def outcomes(opened: Opened) -> list[str | None]:
    return [event.outcome for event in opened.of(StateChanged) if event.outcome is not None]


def test_a_user_message_after_an_answer_starts_a_turn_and_one_at_work_is_a_steer() -> None:
    made = builder()
    made.user("first")
    made.answer(Answer("", calls=calls("a")))
    made.tool_result(Outcome("a", "done"))
    made.user("and hurry")
    made.answer(Answer("ready"))
    made.user("second")
    made.answer(Answer("ready again"))
    opened = finished(made)
    assert [event.text for event in opened.of(UserMessageSent)] == ["first", "second"]
    steers = [(event.status, event.call) for event in opened.of(Steer)]
    assert steers == [("queued", None), ("handed_over", None), ("in_call", 2), ("answered", 2)]
    assert outcomes(opened) == ["completed", "completed"]
    assert opened.state.request_messages(2)[-1] == {"role": "user", "content": "and hurry"}


def test_a_steer_that_no_request_took_starts_a_turn_that_is_never_answered() -> None:
    made = builder()
    made.user("first")
    made.answer(Answer("", calls=calls("a")))
    made.tool_result(Outcome("a", "done"))
    made.user("hello?")
    opened = finished(made)
    assert [event.text for event in opened.of(UserMessageSent)] == ["first", "hello?"]
    assert outcomes(opened) == ["completed", "interrupted"]
    assert opened.state.outcome_reason == NO_ANSWER
    assert opened.state.steers == []


def test_a_call_before_any_user_message_has_a_turn_of_its_own() -> None:
    made = builder()
    made.answer(Answer("hello"))
    opened = finished(made)
    assert [event.text for event in opened.of(UserMessageSent)] == [""]
    assert opened.state.request_messages(1) == [{"role": "system", "content": "Be brief."}]


def test_each_request_is_told_as_what_it_adds_and_its_digest_is_that_of_the_whole() -> None:
    made = builder()
    made.user("go")
    for number in range(30):
        made.answer(Answer(f"text {number}", calls=calls(f"c{number}")))
        made.tool_result(Outcome(f"c{number}", "ok"))
    kept = made.messages[:3]
    made.ask(kept)
    made.answer(Answer("from the beginning"))
    made.ask([*made.messages[:10]])
    made.answer(Answer("from further on"))
    opened = finished(made)
    requests = [event for event in opened.events if event.kind == "llm_request"]
    for event in requests:
        assert digest(opened.state.request_messages(event.call)) == event.digest
    assert all(len(event.messages) == 2 for event in requests[1:30])
    assert opened.state.request_messages(31) == kept
    assert (requests[30].kept, requests[31].kept) == (3, 10)


def test_ids_that_come_again_are_made_unique_and_each_call_gets_its_own_result() -> None:
    made = builder()
    made.user("go")
    for text in ("one", "two"):
        made.answer(Answer("", calls=calls("same", "same", "")))
        made.tool_result(Outcome("same", f"{text} a"))
        made.tool_result(Outcome("same", f"{text} b"))
        made.tool_result(Outcome("", f"{text} c"))
    opened = finished(made)
    views = [(call.call_id, call.content) for call in opened.state.calls]
    assert views == [
        ("same", "one a"),
        ("same#2", "one b"),
        ("call-3", "one c"),
        ("same#3", "two a"),
        ("same#4", "two b"),
        ("call-6", "two c"),
    ]
    assert opened.state.request_messages(2)[-1]["tool_call_id"] == ""


def test_a_call_without_a_result_a_result_without_a_call_and_a_second_result_are_told() -> None:
    made = builder()
    made.user("go")
    made.answer(Answer("", calls=calls("a", "b")))
    made.tool_result(Outcome("a", "first"))
    made.tool_result(Outcome("a", "again"))
    made.tool_result(Outcome("nobody", "?", name="mystery"))
    opened = finished(made)
    results = {event.call_id: (event.status, event.reason) for event in opened.of(ToolResult)}
    assert results == {"a": ("done", ""), "b": ("interrupted", NO_RESULT), "nobody": ("done", NO_CALL)}
    assert [event.call_id for event in opened.of(ToolCallStarted)] == ["a"]
    assert opened.extras()["a second result of a"] == "again"


def test_arguments_that_are_no_json_are_shown_as_they_are() -> None:
    made = builder()
    made.user("go")
    made.answer(Answer("", calls=[ProposedCall("a", "bash", '{"command": ')]))
    made.tool_result(Outcome("a", "bad arguments", failed=True))
    opened = finished(made)
    assert opened.state.calls[0].arguments == '{"command": '
    assert opened.state.calls[0].state == "failed"


def test_what_ran_without_a_call_is_shown_and_is_no_action_of_ours() -> None:
    made = builder()
    made.user("go")
    made.answer(Answer("```bash\nls\n```"))
    made.action(Action("bash", {"command": "ls"}, Outcome("", "a.txt")), {"role": "user", "content": "a.txt"})
    made.answer(Answer("one"))
    opened = finished(made)
    (call,) = opened.state.calls
    assert (call.own, call.arguments, call.content) == (True, '{"command": "ls"}', "a.txt")
    assert opened.state.request_messages(2)[-1] == {"role": "user", "content": "a.txt"}
    assert outcomes(opened) == ["completed"]


def test_an_interrupt_closes_what_ran_and_ends_the_turn() -> None:
    made = builder()
    made.user("go")
    made.answer(Answer("", calls=calls("a", "b", "c")))
    made.tool_result(Outcome("a", "done"))
    made.tool_began("b")
    made.interrupted("the user pressed escape")
    made.user("go on")
    made.ask()
    made.interrupted("again", in_call=True)
    opened = finished(made)
    first, second = [event for event in opened.events if event.kind == "interrupted"]
    assert (first.finished, first.killed, first.not_run) == (["a"], ["b"], ["c"])
    assert (first.model_call, second.model_call) == (None, 2)
    assert outcomes(opened) == ["interrupted", "interrupted"]
    assert opened.state.calls[2].state == "interrupted"


def test_a_failed_call_is_told_with_what_came_of_it_and_the_turn_goes_on() -> None:
    made = builder()
    made.user("go")
    made.model_error("too many requests")
    made.model_error("the line broke", partial=Answer("I th", partial=True))
    made.answer(Answer("I think so"))
    opened = finished(made)
    assert [entry.text for entry in opened.state.entries if entry.kind == "assistant"] == [
        "",
        "I th",
        "I think so",
    ]
    assert opened.problems() == ["too many requests", "the line broke"]
    assert outcomes(opened) == ["completed"]


def test_times_never_go_back_and_what_is_between_two_of_them_took_that_long() -> None:
    made = builder()
    made.user("go")
    made.at(START - timedelta(days=1))
    made.answer(Answer("", calls=calls("a")))
    made.at(START - timedelta(days=1) + timedelta(seconds=3))
    made.tool_result(Outcome("a", "done"))
    made.at(START - timedelta(days=2))
    made.answer(Answer("ready"))
    opened = finished(made)
    assert opened.events[0].at == START - timedelta(days=1)
    assert [event.duration for event in opened.of(ToolResult)] == [3.0]
    assert opened.events[-1].at == START - timedelta(days=1) + timedelta(seconds=3)


def test_tools_that_run_at_once_have_their_own_times() -> None:
    made = builder()
    made.at(START)
    made.user("go")
    made.answer(Answer("", calls=calls("a", "b")))
    for call_id in ("a", "b"):
        made.tool_began(call_id)
    for seconds, call_id in ((2, "b"), (5, "a")):
        made.at(START + timedelta(seconds=seconds))
        made.tool_result(Outcome(call_id, "done"))
    opened = finished(made)
    assert {event.call_id: event.duration for event in opened.of(ToolResult)} == {"a": 5.0, "b": 2.0}


def test_the_model_of_a_call_is_told_where_it_changes() -> None:
    made = builder()
    made.user("go")
    made.answer(Answer("a"), model="one")
    made.answer(Answer("b"), model="one")
    made.answer(Answer("c"), model="two")
    opened = finished(made)
    assert [event.model for event in opened.events if event.kind == "model"] == ["one", "two"]
