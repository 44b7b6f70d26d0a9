"""Frames: what is taken, what is ignored, and what is a fault."""

from __future__ import annotations

from typing import Any

import pytest

from agentscope_tui.wire.arguments import MAX_DEPTH, BadArguments, deeper_than, parse_arguments
from agentscope_tui.wire.frames import (
    Abort,
    FrameError,
    LlmResponse,
    Ping,
    RunnerState,
    SessionStart,
    Shutdown,
    ToolRequest,
    ToolResponse,
    UserMessage,
    parse_host_frame,
    parse_runner_frame,
)


def test_a_runner_frame_is_read_and_its_unknown_fields_are_ignored() -> None:
    frame = parse_runner_frame(
        {"type": "tool_request", "req_id": "r1", "name": "bash", "arguments": {"a": 1}, "tool_call_id": "x"}
    )
    assert frame == ToolRequest(req_id="r1", name="bash", arguments={"a": 1})


@pytest.mark.parametrize("kind", ["telemetry", "transport_ack", "", "user_message"])
def test_a_type_that_is_not_known_is_none(kind: str) -> None:
    assert parse_runner_frame({"type": kind, "x": 1}) is None


@pytest.mark.parametrize(
    "frame",
    [
        UserMessage(msg_id="m", text="t"),
        LlmResponse(req_id="r", error="e"),
        ToolResponse(req_id="r", content="c", is_error=True),
        SessionStart(session_id="s", tools=[{"name": "bash"}], context_window=4096),
        Abort(reason="why"),
        Ping(nonce="n"),
        Shutdown(),
    ],
)
def test_host_frames_go_over_the_wire_and_back(frame: Any) -> None:
    assert parse_host_frame(frame.model_dump(mode="json", exclude_none=True)) == frame


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (None, "a frame is a JSON object"),
        ([], "a frame is a JSON object"),
        ({}, "a frame is a JSON object"),
        ({"type": 5}, "a frame is a JSON object"),
        ({"type": "tool_request", "name": "bash"}, "bad tool_request frame: tool_request.req_id"),
        ({"type": "state", "status": "asleep"}, "bad state frame: state.status"),
        ({"type": "llm_request", "req_id": "r", "openai_body": []}, "llm_request.openai_body"),
    ],
)
def test_a_bad_frame_says_what_is_wrong(data: object, reason: str) -> None:
    with pytest.raises(FrameError) as raised:
        parse_runner_frame(data)
    assert reason in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_frame_that_is_nested_too_deeply_is_refused() -> None:
    with pytest.raises(FrameError, match="bad tool_request frame: nested too deeply"):
        parse_runner_frame({"type": "tool_request", "req_id": "r", "name": "x", "arguments": nested(5000)})


def test_an_idle_may_say_little_or_much() -> None:
    assert parse_runner_frame({"type": "state", "status": "idle"}) == RunnerState(status="idle")
    full = {"status": "idle", "turns": 3, "reason": "completed", "cleared_steers": ["m"], "msg_id": "m"}
    assert parse_runner_frame({"type": "state", **full}) == RunnerState(**full)


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


def test_arguments_are_a_json_object_or_nothing_at_all() -> None:
    assert parse_arguments('{"a": [1, null]}') == {"a": [1, None]}
    assert parse_arguments("") == parse_arguments(" \n") == {}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": ', "not valid JSON"),
        ("rm -rf", "not valid JSON"),
        ("[1]", "must be a JSON object"),
        ("null", "must be a JSON object"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * (MAX_DEPTH + 1) + "1" + "}" * (MAX_DEPTH + 1), "nested too deeply"),
    ],
)
def test_other_arguments_are_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(BadArguments, match=reason):
        parse_arguments(text)


def test_depth_is_counted_in_levels() -> None:
    assert not deeper_than(3, nested(3))
    assert deeper_than(3, nested(4))
    assert not deeper_than(1, "text")
    assert deeper_than(2, {"a": [[]]})
