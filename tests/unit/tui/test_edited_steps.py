"""What the user edits of a waiting step, and the decision that the text becomes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentscope_tui.events import AssistantMessage, LlmRequestSent, Paused, ToolResult
from agentscope_tui.models.chat import FunctionCall, ToolCallPart
from agentscope_tui.session.state import SessionState
from agentscope_tui.tui.editing import EditError, decision_of, editable_text


def state_of(arguments: str | None = '{"command": "ls"}') -> SessionState:
    """One answered call, with or without a tool call."""
    state = SessionState()
    part = ToolCallPart(id="c1", function=FunctionCall(name="bash", arguments=arguments or ""))
    calls = [] if arguments is None else [part]
    state.apply(LlmRequestSent(call=1, turn=1, req_id="r"))
    state.apply(AssistantMessage(call=1, text="I act", tool_calls=calls))
    return state


def hold(step: Any) -> Paused:
    return Paused(hold=1, step=step, call=1, call_id=None if step == "completion" else "c1")


def test_a_reply_without_calls_is_edited_as_text():
    state = state_of(None)
    assert editable_text(state, hold("completion")) == "I act"
    decision = decision_of(state, hold("completion"), "I do not")
    assert decision.completion is not None
    assert (decision.kind, decision.completion.text) == ("edit", "I do not")
    assert decision.completion.tool_calls == ()


def test_a_reply_with_calls_is_edited_as_json_and_comes_back_the_same():
    state = state_of()
    text = editable_text(state, hold("completion"))
    assert json.loads(text)["tool_calls"] == [{"id": "c1", "name": "bash", "arguments": {"command": "ls"}}]
    completion = decision_of(state, hold("completion"), text).completion
    assert completion is not None
    assert completion.tool_calls[0].id == "c1"
    assert json.loads(completion.tool_calls[0].function.arguments) == {"command": "ls"}
    assert completion.finish_reason == "tool_calls"


def test_calls_can_be_taken_out_and_added():
    state = state_of()
    completion = decision_of(state, hold("completion"), '{"text": "no"}').completion
    assert completion is not None
    assert (completion.tool_calls, completion.finish_reason) == ((), "stop")
    more = '{"tool_calls": [{"name": "a"}, {"name": "b", "arguments": "{"}]}'
    completion = decision_of(state, hold("completion"), more).completion
    assert completion is not None
    assert [part.function.arguments for part in completion.tool_calls] == ["{}", "{"]


def test_broken_arguments_can_be_put_right():
    state = state_of('{"command": "ls')
    text = editable_text(state, hold("completion"))
    assert json.loads(text)["tool_calls"][0]["arguments"] == '{"command": "ls'
    assert editable_text(state, hold("tool_call")) == '{"command": "ls'


def test_arguments_and_results():
    state = state_of()
    assert json.loads(editable_text(state, hold("tool_call"))) == {"command": "ls"}
    assert decision_of(state, hold("tool_call"), '{"command": "pwd"}').arguments == {"command": "pwd"}
    state.apply(ToolResult(call_id="c1", call=1, name="bash", status="done", content="a b"))
    assert editable_text(state, hold("tool_result")) == "a b"
    assert decision_of(state, hold("tool_result"), "").content == ""


@pytest.mark.parametrize(
    ("step", "text", "said"),
    [
        ("completion", "{", "not valid JSON"),
        ("completion", "[]", "a JSON object is needed"),
        ("completion", '{"txt": "x"}', "txt"),
        ("completion", '{"tool_calls": [{}]}', "tool_calls.0.name"),
        ("completion", '{"tool_calls": [{"name": "a", "arguments": 3}]}', "tool_calls.0.arguments"),
        ("tool_call", '"ls"', "a JSON object is needed"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_place(step: Any, text: str, said: str):
    with pytest.raises(EditError, match=said):
        decision_of(state_of(), hold(step), text)
