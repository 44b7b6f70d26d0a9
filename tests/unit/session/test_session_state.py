"""The fold: what a table of events shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from agentscope_tui import events as ev
from agentscope_tui.bus import EventBus
from agentscope_tui.models.chat import FunctionCall, ToolCallPart
from agentscope_tui.session.state import SessionState


def part(call_id: str, name: str = "bash", arguments: str = "{}") -> ToolCallPart:
    return ToolCallPart(id=call_id, function=FunctionCall(name=name, arguments=arguments))


def fold(*events: ev.Event) -> SessionState:
    bus, state = EventBus("s"), SessionState()
    bus.subscribe(state.apply)
    for event in events:
        bus.publish(event)
    return state


def request(call: int = 1, attempt: int = 1, **fields: Any) -> ev.LlmRequestSent:
    return ev.LlmRequestSent(call=call, turn=1, req_id="r", attempt=attempt, **fields)


def started(call_id: str = "c1", name: str = "bash", **fields: Any) -> ev.ToolCallStarted:
    return ev.ToolCallStarted(call_id=call_id, call=1, req_id="r", name=name, **fields)


def result(call_id: str = "c1", status: Any = "done", **fields: Any) -> ev.ToolResult:
    return ev.ToolResult(call_id=call_id, call=1, name="bash", status=status, **{"content": "x", **fields})


USER = ev.UserMessageSent(msg_id="m", text="go", turn=1)
RUNNING = ev.StateChanged(status="running", turn=1)
IDLE = ev.StateChanged(status="idle", turn=1, outcome="completed")


def delta(text: str = "", **fields: Any) -> ev.AssistantDelta:
    return ev.AssistantDelta(call=1, text=text, **fields)


def said(text: str, *parts: ToolCallPart, **fields: Any) -> ev.AssistantMessage:
    return ev.AssistantMessage(call=1, text=text, tool_calls=list(parts), **fields)


def steer(status: Any, msg_id: str = "m1", text: str = "hey", **fields: Any) -> ev.Steer:
    return ev.Steer(msg_id=msg_id, status=status, text=text, **fields)


ENTRIES: list[tuple[str, Sequence[ev.Event], list[tuple[str, str]]]] = [
    ("a message", [USER], [("user", "go")]),
    ("a live reply", [request(), delta("hel"), delta("lo")], [("assistant", "hello")]),
    (
        "a whole reply replaces the pieces",
        [request(), delta("hel"), said("hello!")],
        [("assistant", "hello!")],
    ),
    (
        "reasoning stands before the reply",
        [request(), delta(reasoning="hm"), delta("x"), delta(reasoning="m"), said("x", reasoning="hmm.")],
        [("reasoning", "hmm."), ("assistant", "x")],
    ),
    (
        "reasoning that did not stream",
        [request(), said("x", reasoning="hm")],
        [("reasoning", "hm"), ("assistant", "x")],
    ),
    (
        "a tool call follows the reply that proposes it",
        [request(), said("look", part("c1"))],
        [("assistant", "look"), ("tool", "c1")],
    ),
    (
        "a steer stands before the answer of the call that took it",
        [request(), steer("in_call", call=1), said("yes")],
        [("steer", "hey"), ("assistant", "yes")],
    ),
    (
        "a retry is a reply of its own",
        [
            request(),
            ev.ErrorOccurred(source="model", message="gone", call=1),
            request(attempt=2),
            said("here"),
        ],
        [("assistant", ""), ("error", "gone"), ("assistant", "here")],
    ),
    (
        "what was mended",
        [request(repairs=["left out a result"])],
        [("repair", "left out a result"), ("assistant", "")],
    ),
    ("a limit", [ev.LimitReached(limit="calls", value=60, reason="reached")], [("limit", "reached")]),
    ("a reward", [ev.Graded(grader="exact", turn=0, reward=1.0, reason="same")], [("reward", "same")]),
    ("a grader's error", [ev.Graded(grader="exact", turn=0, error="no truth")], [("reward", "no truth")]),
    ("the end", [ev.SessionEnded(status="failed", reason="died")], [("ended", "died")]),
    ("an interrupt", [ev.Interrupted(reason="by the user")], [("interrupted", "by the user")]),
    ("events of a newer version", [ev.UnknownEvent(kind="telepathy")], []),
    ("a reply to a call that never was", [said("x"), delta("y")], []),
]


@pytest.mark.parametrize(
    ("events", "shown"), [case[1:] for case in ENTRIES], ids=[case[0] for case in ENTRIES]
)
def test_entries(events: Sequence[ev.Event], shown: list[tuple[str, str]]) -> None:
    state = fold(*events)
    assert [(entry.kind, entry.text or entry.call_id or "") for entry in state.entries] == shown


CALLS: list[tuple[str, Sequence[ev.Event], list[str]]] = [
    ("streaming", [request(), delta(tool_calls=[{"index": 0, "name": "bash"}])], ["streaming"]),
    ("proposed", [request(), said("", part("c1"), part("c2"))], ["proposed", "proposed"]),
    ("running", [request(), said("", part("c1")), started()], ["running"]),
    ("done", [request(), said("", part("c1")), started(), result()], ["done"]),
    ("failed", [request(), said("", part("c1")), started(), result(status="failed")], ["failed"]),
    ("refused", [request(), said("", part("c1")), result(status="refused")], ["refused"]),
    ("interrupted", [request(), said("", part("c1")), ev.Interrupted(not_run=["c1"])], ["interrupted"]),
    (
        "streamed, then cut off",
        [request(), delta(tool_calls=[{"index": 0, "name": "b"}]), said("", partial=True)],
        ["interrupted"],
    ),
    ("never run", [request(), said("", part("c1")), IDLE], ["refused"]),
    ("made up by the runner", [started("runner_1")], ["running"]),
    ("output of no known call", [ev.ToolOutput(call_id="zzz", stream="stdout", text="x")], []),
]


@pytest.mark.parametrize(("events", "states"), [case[1:] for case in CALLS], ids=[case[0] for case in CALLS])
def test_the_state_of_tool_calls(events: Sequence[ev.Event], states: list[str]) -> None:
    assert [call.state for call in fold(*events).calls] == states


def test_a_tool_call_that_streamed_gets_its_id_and_final_form_with_the_message() -> None:
    pieces = [{"index": 0, "name": "ba", "arguments": '{"a'}]
    more = [{"index": 0, "name": "sh", "arguments": '": 1}'}]
    state = fold(request(), delta(tool_calls=pieces), delta(tool_calls=more))
    assert (state.calls[0].name, state.calls[0].arguments) == ("bash", '{"a": 1}')
    state = fold(
        request(), delta(tool_calls=pieces), delta(tool_calls=more), said("", part("c9", "bash", '{"a": 1}'))
    )
    assert [(call.call_id, call.state) for call in state.calls] == [("c9", "proposed")]
    assert state.call_view("c9") is state.calls[0]
    assert [entry.call_id for entry in state.entries if entry.kind == "tool"] == ["c9"]


def test_output_gathers_at_its_call_in_order() -> None:
    outputs = [ev.ToolOutput(call_id="c1", stream="stdout", text=text) for text in "ab"]
    state = fold(request(), said("", part("c1")), started(), *outputs, result(exit_code=3, duration=1.5))
    call = state.calls[0]
    assert [output.text for output in call.output] == ["a", "b"]
    assert (call.exit_code, call.duration, call.content) == (3, 1.5, "x")


def test_an_edited_result_replaces_the_first() -> None:
    state = fold(request(), said("", part("c1")), started(), result(), result(content="y", edited=True))
    assert (state.calls[0].content, state.calls[0].edited) == ("y", True)


def test_edited_arguments_are_the_ones_shown() -> None:
    state = fold(request(), said("", part("c1")), started(arguments={"b": "ü"}, edited=True))
    assert (state.calls[0].arguments, state.calls[0].edited) == ('{"b": "ü"}', True)


def test_an_edited_reply_changes_text_and_calls_in_place() -> None:
    state = fold(
        request(), said("rm", part("c1"), duration=2.0), said("ls", part("c1", "bash", "[]"), edited=True)
    )
    assert [(entry.kind, entry.text) for entry in state.entries] == [("assistant", "ls"), ("tool", "")]
    assert (state.entries[0].edited, state.entries[0].duration) == (True, 2.0)
    assert state.calls[0].arguments == "[]"


def test_status_outcome_and_counts_follow_a_turn() -> None:
    turn = [USER, RUNNING, request(), said("", part("c1")), started(), result(), started("c2", "submit")]
    state = fold(*turn)
    assert (state.status, state.turn, state.calls_used, state.actions_used) == ("running", 1, 1, 1)
    assert state.turn_started is not None
    assert state.turn_ended is None
    state = fold(*turn, ev.Submitted(call_id="c2", answer="42"), IDLE)
    assert (state.status, state.outcome, state.answer) == ("idle", "completed", "42")
    assert state.turn_ended is not None
    state = fold(*turn, IDLE, USER, ev.StateChanged(status="running", turn=2))
    assert (state.outcome, state.answer, state.calls_used, state.actions_used) == (None, None, 0, 0)


@pytest.mark.parametrize(("count_by", "used"), [("message", 0), ("turn", 1)])
def test_a_steer_that_is_handed_over_starts_the_counts_again(count_by: str, used: int) -> None:
    begin = ev.SessionStarted(version="1", limits={"count_by": count_by, "calls": 60})
    state = fold(begin, USER, RUNNING, request(), started(), steer("queued"), steer("handed_over"))
    assert (state.calls_used, state.actions_used) == (used, used)
    assert state.limit("calls") == 60
    assert state.limit("cost") is None


def test_holds_come_and_go() -> None:
    holds = [ev.Paused(hold=number, step="tool_call", call=1) for number in (1, 2)]
    assert [hold.hold for hold in fold(*holds).holds] == [1, 2]
    assert [hold.hold for hold in fold(*holds, ev.Resumed(hold=1, decision="pass")).holds] == [2]
    assert fold(*holds, ev.SessionEnded(status="ended")).holds == []


def test_tokens_and_cost_add_up() -> None:
    usages = [
        ev.UsageReported(call=1, input_tokens=10, output_tokens=4, cost=cost) for cost in (None, 0.5, 0.25)
    ]
    state = fold(request(), *usages)
    assert (state.input_tokens, state.output_tokens, state.cost) == (30, 12, 0.75)
    assert state.entries[0].tokens == 4
    assert fold(usages[0]).cost is None


def test_the_graders_reward_stands_over_the_agents_own() -> None:
    own, graded = ev.Graded(grader="agent", turn=1, reward=0.9), ev.Graded(grader="exact", turn=1, reward=0.0)
    assert fold(RUNNING, own, IDLE, graded).reward == 0.0
    assert fold(RUNNING, graded, own).reward == 0.0
    assert fold(RUNNING, own).reward == 0.9
    assert fold(RUNNING, ev.Graded(grader="exact", turn=1, error="no truth")).grade_error == "no truth"


def test_a_reward_of_an_earlier_turn_is_told_but_is_not_the_reward_of_this_one() -> None:
    late = ev.Graded(grader="exact", turn=1, reward=1.0)
    state = fold(RUNNING, IDLE, ev.StateChanged(status="running", turn=2), late)
    assert state.reward is None
    assert state.entries[-1].reward == 1.0


def test_steers_are_in_the_order_of_their_delivery() -> None:
    queue = [steer("queued", "m1", "a"), steer("queued", "m2", "b"), steer("queued", "m3", "c")]
    state = fold(*queue, steer("edited", "m3", "C", position=0), steer("withdrawn", "m2", "b"))
    assert [(view.text, view.status) for view in state.steers] == [
        ("C", "queued"),
        ("a", "queued"),
        ("b", "withdrawn"),
    ]


def test_a_steer_that_starts_a_turn_is_no_steer_any_more() -> None:
    state = fold(steer("queued", "m1"), ev.UserMessageSent(msg_id="m1", text="hey", turn=2))
    assert state.steers == []
    assert [(entry.kind, entry.text) for entry in state.entries] == [("user", "hey")]


def test_changes_are_told_once() -> None:
    bus, state = EventBus("s"), SessionState()
    bus.subscribe(state.apply)
    for event in (USER, request(), said("", part("c1"), part("c2"))):
        bus.publish(event)
    assert state.take_changes() == ({0, 1, 2, 3}, {0, 1})
    assert state.take_changes() == (set(), set())
    bus.publish(started("c2"))
    assert state.take_changes() == ({3}, {1})


def test_a_call_keeps_its_key_when_it_gets_its_id() -> None:
    """So a call that the user unfolded while it streamed stays unfolded."""
    piece = delta(tool_calls=[{"index": 0, "name": "bash"}])
    streaming = fold(request(), piece)
    whole = fold(request(), piece, said("", part("c1"), part("c2")), started())
    keys = [entry.key for entry in whole.entries if entry.kind == "tool"]
    number = streaming.entries[-1].key.split()[1]
    assert [key.split()[:2] for key in keys] == [["tool", number], ["tool", "1"]]
    assert len({*keys}) == 2


def test_a_call_that_failed_is_not_streaming_any_more() -> None:
    state = fold(request(), delta("hal"), ev.ErrorOccurred(source="model", message="gone", call=1))
    assert state.streaming_call is None
    assert (state.entries[0].live, state.entries[0].partial) == (False, True)
