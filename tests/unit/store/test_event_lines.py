"""Events as lines of a recording: every kind, also of other versions and with text from hell."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_tui.event_lines import KINDS, event_from_json, event_to_json
from agentscope_tui.events import (
    AssistantMessage,
    Event,
    LlmRequestSent,
    SessionEvent,
    ToolCallStarted,
    UnknownEvent,
)
from agentscope_tui.models.chat import FunctionCall, ToolCallPart

AT = datetime(2026, 1, 2, 3, 4, 5, 678900, tzinfo=UTC)
PART = ToolCallPart(id="c1", function=FunctionCall(name="bash", arguments="{}"))

FIELDS: dict[str, dict[str, Any]] = {
    "session_started": {
        "version": "1",
        "dataset": "d.jsonl",
        "row": 3,
        "tools": [{"name": "bash"}],
        "limits": {"calls": 60},
        "temperature": 0.7,
        "grader": "exact",
    },
    "user_message": {"msg_id": "m", "text": "hé\n", "turn": 1},
    "steer": {"msg_id": "m", "status": "queued", "text": "x", "position": 0, "call": 2},
    "llm_request": {
        "call": 2,
        "turn": 1,
        "req_id": "r",
        "attempt": 2,
        "base": 1,
        "kept": 4,
        "messages": [{"role": "assistant", "content": None, "x": [1, 2.5, True, {}]}],
        "digest": "d",
        "tools": ["bash"],
        "params": {"temperature": None},
        "repairs": ["left out"],
    },
    "assistant_delta": {"call": 1, "text": "a", "reasoning": "b", "tool_calls": [{"index": 0}]},
    "assistant_message": {
        "call": 1,
        "text": "a",
        "tool_calls": [PART],
        "finish_reason": "stop",
        "partial": True,
        "first_token": 0.25,
    },
    "usage": {"call": 1, "input_tokens": 1, "output_tokens": 2, "cost": 0.5, "partial": True},
    "gate_mode": {"mode": "step", "fine": True},
    "paused": {"hold": 1, "step": "tool_call", "call": 1, "call_id": "c", "allows": ["pass", "edit"]},
    "resumed": {"hold": 1, "decision": None, "reason": ""},
    "tool_call": {"call_id": "c", "call": 1, "req_id": "r", "name": "bash", "arguments": {"a": None}},
    "tool_output": {"call_id": "c", "stream": "stderr", "file": "0001.out", "offset": 5, "length": 9},
    "tool_result": {
        "call_id": "c",
        "call": 1,
        "name": "bash",
        "status": "failed",
        "content": "x",
        "exit_code": 1,
    },
    "submit": {"call_id": "c", "answer": "42"},
    "limit": {"limit": "calls", "value": 60, "reason": "r"},
    "interrupted": {"reason": "r", "model_call": 3, "finished": ["a"], "killed": ["b"]},
    "state": {"status": "idle", "turn": 1, "outcome": "completed"},
    "retry": {"call": 1, "attempt": 2, "of": 5, "seconds": 1.5, "reason": "busy"},
    "model": {"model": "openai:other"},
    "note": {"text": "three files\nfound"},
    "extra": {"about": "scores of the sample", "data": {"a": [1, None]}, "call": 2},
    "runner_connected": {"hello": {"pi_version": "1", "deep": [{}]}, "profile": "pi", "patience": 285.0},
    "runner_health": {"answering": False, "seconds": 10.0},
    "runner_log": {"stream": "stderr", "text": "a\nb\n"},
    "recording": {"status": "resumed", "lost_first": 3, "lost_last": 9},
    "error": {"source": "model", "message": "m", "detail": "d", "call": 1},
    "graded": {"grader": "exact", "turn": 1, "reward": 0.0, "error": None},
    "session_ended": {"status": "failed", "reason": "r"},
}


def made(kind: str) -> Event:
    cls = KINDS[kind]
    return cls(seq=7, at=AT, session_id="s", **FIELDS[kind])


def test_there_is_an_example_of_every_kind() -> None:
    assert set(FIELDS) == set(KINDS)
    assert len(get_args(SessionEvent)) == len(FIELDS) + 1


@pytest.mark.parametrize("kind", sorted(FIELDS))
def test_every_kind_comes_back_as_it_was(kind: str) -> None:
    event = made(kind)
    line = event_to_json(event)
    assert "\n" not in line
    assert event_from_json(line) == event
    assert event_from_json(line.encode()) == event
    assert json.loads(line)["kind"] == kind


@pytest.mark.parametrize("kind", sorted(FIELDS))
def test_a_new_field_does_not_break_reading(kind: str) -> None:
    data = {**json.loads(event_to_json(made(kind))), "of_a_newer_version": {"x": 1}}
    assert event_from_json(json.dumps(data)) == made(kind)


def test_a_kind_of_a_newer_version_keeps_its_place_and_fields() -> None:
    line = '{"seq":5,"at":"2026-01-02T03:04:05Z","session_id":"s","kind":"telepathy","to":["you"]}'
    event = event_from_json(line)
    assert isinstance(event, UnknownEvent)
    assert (event.seq, event.kind) == (5, "telepathy")
    assert json.loads(event_to_json(event)) == json.loads(line)


@pytest.mark.parametrize(
    "line",
    ["", "no json", "[]", "7", "null", "{}", '{"kind": 5}', '{"kind":"submit","seq":1}', '{"kind":"state"'],
)
def test_what_is_no_event_is_a_value_error(line: str) -> None:
    with pytest.raises(ValueError):
        event_from_json(line)


def test_lone_surrogates_become_question_marks_everywhere() -> None:
    event = LlmRequestSent(
        call=1,
        turn=1,
        req_id="r",
        messages=[{"role": "user", "content": "a\ud800b", "\udfff": ["\ud800", None, 1.5]}],
    )
    again = event_from_json(event_to_json(event))
    assert isinstance(again, LlmRequestSent)
    assert again.messages == [{"role": "user", "content": "a?b", "?": ["?", None, 1.5]}]
    part = PART.model_copy(update={"function": FunctionCall(name="x\udc80", arguments="")})
    text = event_to_json(AssistantMessage(call=1, text="\ud83d", tool_calls=[part], at=AT))
    message = event_from_json(text)
    assert isinstance(message, AssistantMessage)
    assert (message.text, message.tool_calls[0].function.name, message.at) == ("?", "x?", AT)


def test_what_is_nested_too_deeply_is_cut_not_lost() -> None:
    deep: Any = "bottom"
    for _ in range(2000):
        deep = {"a": deep}
    line = event_to_json(ToolCallStarted(call_id="c", call=1, req_id="r", name="bash", arguments=deep))
    assert "…" in line
    assert event_from_json(line).kind == "tool_call"


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), json_values, max_size=4)
)
def test_any_arguments_come_back(arguments: dict[str, Any]) -> None:
    event = ToolCallStarted(call_id="c", call=1, req_id="r", name="bash", arguments=arguments)
    assert event_from_json(event_to_json(event)) == event


@given(st.text(st.characters()))
def test_any_text_is_one_line_that_can_be_read(text: str) -> None:
    line = event_to_json(AssistantMessage(call=1, text=text))
    assert len(line.encode().splitlines()) == 1
    again = event_from_json(line)
    assert isinstance(again, AssistantMessage)
    assert len(again.text) == len(text)
