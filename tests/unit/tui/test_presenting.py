"""Session state as rows, calls, blocks and status: pure functions over states that events made."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agentscope_tui.datasets.raw import RawRow
from agentscope_tui.datasets.record import Standing
from agentscope_tui.datasets.task import RowError, Task
from agentscope_tui.events import (
    AssistantDelta,
    AssistantMessage,
    ErrorOccurred,
    Event,
    Graded,
    LlmRequestSent,
    Paused,
    Resumed,
    SessionEnded,
    SessionStarted,
    StateChanged,
    ToolCallStarted,
    ToolResult,
    UsageReported,
    UserMessageSent,
)
from agentscope_tui.figures import clock, dollars, seconds, thousands
from agentscope_tui.models.chat import FunctionCall, ToolCallPart
from agentscope_tui.session.state import SessionState
from agentscope_tui.session.views import CallView
from agentscope_tui.tui.present.calls import item_of
from agentscope_tui.tui.present.rows import cells_of, row_state, standing_of
from agentscope_tui.tui.present.status import segments_of
from agentscope_tui.tui.present.transcript import RESULT_SHOWN, block_of
from agentscope_tui.tui.present.words import argument_summary, pretty_arguments
from agentscope_widgets.blocks import RESULT_RULE
from agentscope_widgets.row_list import RowCells

START = datetime(2026, 1, 1, tzinfo=UTC)
TASK = Task(index=3, line=4, prompt="do it")


def state_of(*events: Event) -> SessionState:
    """The fold over these events, a second apart."""
    state = SessionState()
    for number, event in enumerate(events, start=1):
        at = START + timedelta(seconds=number)
        state.apply(event.model_copy(update={"seq": number, "at": at}))  # type: ignore[arg-type]
    return state


def begun(**limits: Any) -> list[Event]:
    return [
        SessionStarted(version="1", limits={"calls": 60, "tool_actions": 40, **limits}, confinement="bwrap"),
        UserMessageSent(msg_id="m", text="do it", turn=1),
        StateChanged(status="running", turn=1),
        LlmRequestSent(call=1, turn=1, req_id="r"),
    ]


def answered(*calls: tuple[str, str]) -> AssistantMessage:
    parts = [
        ToolCallPart(id=f"c{number}", function=FunctionCall(name=name, arguments=arguments))
        for number, (name, arguments) in enumerate(calls, start=1)
    ]
    return AssistantMessage(call=1, text="I act", tool_calls=parts, duration=1.25, finish_reason="stop")


def status(state: SessionState, after: float = 10) -> list[str]:
    return [text for text, _ in segments_of(state, START + timedelta(seconds=after))]


def test_the_status_line_is_of_the_step_that_keys_act_on():
    first = Paused(hold=1, step="completion", call=1, allows=["pass"])
    second = Paused(hold=2, step="completion", call=2, allows=["pass", "edit"])
    state = state_of(*begun(), first, second)
    told = [text for text, _ in segments_of(state, START + timedelta(seconds=1), state.holds[1])]
    assert told[0] == "PAUSED after call #2 (+1)"
    assert "can pass, edit" in told
    assert status(state)[0] == "PAUSED after call #1 (+1)"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0.0 s"), (9.94, "9.9 s"), (9.96, "10 s"), (59.4, "59 s"), (187, "3:07"), (3727, "1:02:07")],
)
def test_durations(value: float, text: str):
    assert seconds(value) == text


@pytest.mark.parametrize(("value", "text"), [(950, "950"), (12_345, "12.3k"), (1_234_567, "1.2M")])
def test_counts(value: int, text: str):
    assert thousands(value) == text


def test_costs():
    assert (dollars(0.0042), dollars(1.251)) == ("$0.0042", "$1.25")


@pytest.mark.parametrize(
    ("arguments", "summary"),
    [
        ('{"command": "ls -la"}', "ls -la"),
        ('{"path": "a", "content": "b"}', 'path="a" content="b"'),
        ('{"number": 3}', "3"),
        ('{"path": "a', '{"path": "a'),
        ("[1]", "[1]"),
        ("", ""),
    ],
)
def test_arguments_on_one_line(arguments: str, summary: str):
    assert argument_summary(CallView("c", 1, "bash", arguments)) == summary


def test_broken_arguments_are_shown_as_they_are():
    assert pretty_arguments(CallView("c", 1, "bash", '{"a')) == '{"a'
    assert pretty_arguments(CallView("c", 1, "bash", '{"a": "ü"}')) == '{\n  "a": "ü"\n}'


@pytest.mark.parametrize(
    ("events", "word"),
    [
        ([], "starting"),
        ([StateChanged(status="idle")], "idle"),
        (begun(), "running"),
        ([*begun(), answered(), Paused(hold=1, step="completion", call=1)], "paused"),
        ([*begun(), Paused(hold=1, step="failed_call", call=1)], "waiting"),
        ([*begun(), StateChanged(status="interrupting", turn=1)], "stopping"),
        ([*begun(), StateChanged(status="idle", turn=1, outcome="completed")], "done"),
        ([*begun(), StateChanged(status="idle", turn=1, outcome="failed")], "failed"),
        ([*begun(), StateChanged(status="idle", turn=1, outcome="interrupted")], "stopped"),
        ([*begun(), StateChanged(status="idle", turn=1, outcome="limit")], "limit"),
        ([*begun(), SessionEnded(status="failed", reason="the runner died")], "failed"),
    ],
)
def test_a_row_tells_its_sessions_state(events: list[Event], word: str):
    glyph, shown, _ = row_state(state_of(*events))
    assert shown == word
    assert glyph


KEYS = ("state", "calls", "reward", "duration", "prompt")


def cells(row: Task | RowError, *events: Event, problem: bool = False) -> RowCells:
    """The cells of a row whose session had these events, or could not be opened."""
    session = state_of(*events) if events else None
    standing = standing_of(session, START + timedelta(seconds=9)) if session else None
    standing = Standing("error") if problem else standing
    raw = row if isinstance(row, RowError) else RawRow(row.line, row.row, 10, None)
    return cells_of(row, raw, KEYS, session=session, standing=standing, marked=False)


def test_the_cells_of_a_row():
    bad = cells(RowError(2, 3, "no prompt"))
    assert (bad.texts["state"], bad.texts["prompt"], bad.tone) == ("✗ bad row", "no prompt", "error")
    fresh = cells(TASK)
    assert (fresh.index, fresh.texts["prompt"]) == (3, "do it")
    assert "state" not in fresh.texts
    assert cells(TASK, problem=True).texts["state"] == "✗ error"
    done = cells(TASK, *begun(), answered(), Graded(grader="exact", turn=1, reward=0.5))
    assert (done.texts["calls"], done.texts["reward"], done.texts["duration"]) == ("1", "0.5", "7.0 s")
    broken = cells(TASK, *begun(), Graded(grader="exact", turn=1, error="no ground truth"))
    assert broken.texts["reward"] == "error"


def test_a_running_call_shows_the_time_since_it_began():
    call = ToolCallStarted(call_id="c1", call=1, req_id="r", name="bash", arguments={"command": "x"})
    state = state_of(*begun(), answered(("bash", '{"command": "x"}')), call)
    item = item_of(state.calls[0], START + timedelta(seconds=8.5))
    assert (item.state, item.duration, item.arguments) == ("running", "2.5 s", "x")
    assert status(state, after=8.5)[0] == "RUNNING bash 2.5 s"


def test_the_status_line_says_what_it_waits_for_and_what_was_used():
    usage = UsageReported(call=1, input_tokens=12_345, output_tokens=50, cost=0.02)
    hold = Paused(hold=1, step="completion", call=1, allows=["pass", "edit"])
    texts = status(state_of(*begun(), answered(), usage, hold))
    assert texts[0] == "PAUSED after call #1"
    wanted = ["calls 1/60", "actions 0/40", "sandbox bwrap", "12.3k in 50 out tok", "$0.0200", "turn 1"]
    assert [text for text in wanted if text not in texts] == []
    assert "8.0 s" in texts


def test_a_long_replay_tells_how_far_it_is():
    started, *rest = begun()
    fork = started.model_copy(update={"parent": "before", "parent_call": 8})
    replayed = UsageReported(call=1, input_tokens=1, output_tokens=1, replayed=True)
    assert status(state_of(fork, *rest, answered(), replayed))[0] == "REPLAYING, call #1 of 7"
    assert status(state_of(fork, *rest, answered()))[0] == "RUNNING"
    nearly = started.model_copy(update={"parent": "before", "parent_call": 2})
    assert status(state_of(nearly, *rest, answered(), replayed))[0] == "RUNNING"


@pytest.mark.parametrize(
    ("step", "text"),
    [
        ("tool_call", "PAUSED before bash"),
        ("tool_result", "PAUSED after bash"),
        ("failed_call", "CALL #1 FAILED, r retries, x gives up"),
    ],
)
def test_the_status_line_names_the_step(step: Any, text: str):
    hold = Paused(hold=1, step=step, call=1, call_id="c1")
    assert status(state_of(*begun(), answered(("bash", "{}")), hold))[0] == text


def test_an_unconfined_session_says_so_and_unlimited_ones_no_limit():
    state = state_of(SessionStarted(version="1"), UserMessageSent(msg_id="m", text="x", turn=1))
    texts = status(state)
    assert "NO SANDBOX" in texts
    assert "calls 0" in texts


def test_a_failed_turn_says_why():
    state = state_of(*begun(), StateChanged(status="idle", turn=1, outcome="failed", reason="no\nkey"))
    assert status(state)[0] == "FAILED: no⏎key"


def test_an_answer_is_markdown_with_its_facts_at_the_right():
    state = state_of(*begun(), answered(), UsageReported(call=1, output_tokens=7))
    user, answer = (block_of(state, position) for position in range(2))
    assert (user.kind, user.body, user.format) == ("user", "do it", "plain")
    assert (answer.format, answer.call) == ("markdown", 1)
    assert answer.margin == ("1.2 s", "7 tok", clock(START + timedelta(seconds=4)))
    assert (user.call, user.margin) == (None, (clock(START + timedelta(seconds=2)),))


def test_a_cut_off_answer_is_marked():
    cut = answered().model_copy(update={"partial": True, "finish_reason": "length"})
    title = block_of(state_of(*begun(), cut), 1).title
    assert title == "assistant · cut off · cut off at the output limit"


def test_a_tool_call_folds_to_a_line_and_its_long_result_is_cut():
    long = "x" * (RESULT_SHOWN + 5)
    result = ToolResult(
        call_id="c1", call=1, name="bash", status="failed", content=long, exit_code=7, duration=2
    )
    state = state_of(*begun(), answered(("bash", '{"command": "x"}')), result)
    block = block_of(state, 2)
    assert (block.title, block.summary, block.folded) == ("✗ bash", "x", True)
    assert (block.call, block.margin[:3]) == (1, ("failed", "2.0 s", "exit 7"))
    arguments, rule, shown = block.body.partition(RESULT_RULE)
    assert (block.format, arguments, bool(rule)) == ("call", '{\n  "command": "x"\n}', True)
    assert shown == f"{'x' * RESULT_SHOWN}\n… 5 more characters: see the output pane"


def test_a_call_without_a_result_says_why():
    refused = ToolResult(call_id="c1", call=1, name="bash", status="refused", content="", reason="not now")
    streamed = state_of(*begun(), answered(("bash", '{"command": "x"}')))
    assert block_of(streamed, 2).body == '{\n  "command": "x"\n}'
    state = state_of(*begun(), answered(("bash", '{"command": "x"}')), refused)
    assert block_of(state, 2).body == f'{{\n  "command": "x"\n}}{RESULT_RULE}not now'


@pytest.mark.parametrize(
    ("step", "decision", "title"),
    [
        ("completion", "pass", "‖ paused after call #1"),
        ("completion", "edit", "‖ paused after call #1 · edited"),
        ("tool_call", "refuse", "‖ paused before bash · refused"),
        ("tool_result", None, "‖ paused after bash · interrupted"),
        ("failed_call", "pass", "‖ paused after the failed call"),
    ],
)
def test_a_pause_says_where_how_long_and_what_was_decided(step: Any, decision: Any, title: str):
    hold = Paused(hold=1, step=step, call=1, call_id=None if step == "completion" else "c1")
    events = [*begun(), answered(("bash", "{}")), hold]
    waiting = block_of(state_of(*events), 3)
    assert (waiting.title, waiting.tone) == (title.partition(" · ")[0], "warning")
    over = block_of(state_of(*events, Resumed(hold=1, decision=decision, reason="why")), 3)
    assert (over.title, over.tone, over.body, over.call) == (title, "muted", "why", 1)
    assert over.margin[0] == "1.0 s"


def test_reasoning_folds_to_its_first_line_when_it_is_over():
    thought = AssistantDelta(call=1, reasoning="first\nsecond")
    live = block_of(state_of(*begun(), thought), 1)
    assert (live.kind, live.live, live.folded) == ("reasoning", True, False)
    whole = answered().model_copy(update={"reasoning": "first\nsecond"})
    over = block_of(state_of(*begun(), thought, whole), 1)
    assert (over.live, over.folded, over.summary, over.call) == (False, True, "first", 1)


def test_errors_and_rewards_have_blocks_of_their_own():
    state = state_of(
        ErrorOccurred(source="model", message="no key", detail="401"),
        Graded(grader="exact", turn=1, reward=0.0, reason="not equal"),
        Graded(grader="exact", turn=1, error="it broke", reason="line 3"),
    )
    error, reward, broken = (block_of(state, position) for position in range(3))
    assert (error.title, error.body) == ("✗ model error", "no key\n401")
    assert (reward.title, reward.tone) == ("☆ reward 0 · exact", "error")
    assert (broken.title, broken.body) == ("✗ grader error (exact)", "it broke\nline 3")
