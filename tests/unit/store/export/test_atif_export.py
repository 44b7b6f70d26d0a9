"""ATIF: the steps that others read, and the same session back from the file, also another tool's."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import agentscope_tui.events as ev
from agentscope_tui.models.chat import FunctionCall, ToolCallPart
from agentscope_tui.store.export.atif import VERSION
from agentscope_tui.store.imports import open_trajectories
from agentscope_tui.store.imports.our_atif import restored
from fakes.past_sessions import eventful, exported, past, shown

HARBOR = os.environ.get("AGENTSCOPE_TEST_HARBOR_PYTHON")
VALIDATE = """
import sys
from harbor.models.trajectories import Trajectory
for path in sys.argv[1:]:
    trajectory = Trajectory.model_validate_json(open(path, encoding="utf-8").read())
    assert trajectory.schema_version == Trajectory.model_fields["schema_version"].default, "not the newest"
"""


def atif(*events: ev.SessionEvent) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(exported("atif", events))
    return value


def part(call_id: str, name: str = "bash", arguments: str = "{}") -> ToolCallPart:
    return ToolCallPart(id=call_id, function=FunctionCall(name=name, arguments=arguments))


START = ev.SessionStarted(version="1.2", runner="builtin", model="fake", system="Be brief.")


def answered(call: int, text: str, *calls: ToolCallPart, **fields: Any) -> list[ev.SessionEvent]:
    return [
        ev.LlmRequestSent(call=call, turn=1, req_id=f"r{call}"),
        ev.AssistantMessage(call=call, text=text, tool_calls=list(calls), **fields),
    ]


async def test_the_session_comes_back_from_the_file(tmp_path: Path) -> None:
    events = await eventful()
    path = tmp_path / "run.json"
    path.write_text(exported("atif", events))
    again = open_trajectories(path).session(0)
    assert shown(again.events) == shown(events)
    assert [event.seq for event in again.events] == list(range(1, len(again.events) + 1))


async def test_what_is_written_of_what_came_back_is_the_same(tmp_path: Path) -> None:
    text = exported("atif", await eventful())
    path = tmp_path / "run.json"
    path.write_text(text)
    again = json.loads(exported("atif", open_trajectories(path).session(0).events))
    assert without_numbers(again) == without_numbers(json.loads(text))


def without_numbers(value: dict[str, Any]) -> dict[str, Any]:
    """Events of kinds that are told again by others are left out of a file: those that follow move up."""
    for step in value["steps"]:
        for event in step["extra"]["agentscope"]["events"]:
            event.pop("seq", None)
    return value


async def test_what_is_a_step_and_what_it_says() -> None:
    value = atif(*await eventful())
    assert value["schema_version"] == VERSION
    assert [step["step_id"] for step in value["steps"]] == list(range(1, len(value["steps"]) + 1))
    told = [(step["source"], step["message"]) for step in value["steps"]]
    assert told == [
        ("system", "Be brief."),
        ("user", "Hello"),
        ("agent", ""),
        ("agent", "Hi"),
        ("user", "go"),
        ("agent", "I look at both."),
        ("agent", "Not valid:"),
        ("agent", "so far"),
        ("user", "and be quick"),
        ("agent", "Quick it is."),
        ("user", "once more"),
        ("agent", "rm -rf"),
        ("user", "the last time"),
        ("agent", "I begin"),
    ]
    steps = value["steps"]
    assert [step.get("is_copied_context", False) for step in steps[:5]] == [False, True, True, True, False]
    assert steps[5]["observation"]["results"] == [
        {"source_call_id": "a1", "content": "total 0"},
        {
            "source_call_id": "a2",
            "content": "nothing",
            "extra": {"agentscope": {"status": "failed", "is_error": True}},
        },
    ]
    assert (steps[5]["metrics"]["prompt_tokens"], steps[5]["extra"]["agentscope"]["edited"]) == (10, True)
    assert steps[6]["tool_calls"][0]["arguments"] == {}
    assert steps[6]["tool_calls"][0]["extra"]["agentscope"]["arguments"] == '{"at": '
    assert steps[-1]["extra"]["agentscope"]["partial"] is True
    assert value["extra"]["agentscope"]["outcome"] == "interrupted"


def test_who_changes_a_step_elsewhere_finds_the_change_here() -> None:
    value = atif(*past(START, ev.UserMessageSent(msg_id="m", text="go", turn=1), *answered(1, "Paris")))
    value["steps"][2]["message"] = "Rome"
    events = restored(value)
    assert events is not None
    assert [event.text for event in events if isinstance(event, ev.AssistantMessage)] == ["Rome"]


@pytest.mark.parametrize("damage", ["no events", "no text", "no agent"])
def test_what_is_no_longer_ours_is_imported_like_any_other(damage: str) -> None:
    value = atif(*past(START, ev.UserMessageSent(msg_id="m", text="go", turn=1)))
    match damage:
        case "no events":
            del value["steps"][0]["extra"]
        case "no text":
            value["steps"][1]["message"] = [{"type": "text", "text": "go"}]
        case _:
            value["agent"] = None
    assert restored(value) is None


def test_calls_of_the_parent_are_copied_context() -> None:
    start = START.model_copy(update={"parent": "p", "parent_call": 2, "change": "another result"})
    go = ev.UserMessageSent(msg_id="m", text="go", turn=1)
    value = atif(*past(start, go, *answered(1, "one"), *answered(2, "two")))
    assert [step.get("is_copied_context", False) for step in value["steps"]] == [True, True, True, False]
    assert value["extra"]["agentscope"]["parent_call"] == 2


def test_a_tool_that_no_model_proposed_is_a_step_without_a_model() -> None:
    ran = [
        ev.ToolCallStarted(call_id="own", call=1, req_id="r", name="search", arguments={"for": "x"}),
        ev.ToolResult(call_id="own", call=1, name="search", status="done", content="found"),
    ]
    step = atif(*past(START, *ran))["steps"][1]
    assert (step["llm_call_count"], step["tool_calls"][0]["function_name"]) == (0, "search")
    assert step["observation"]["results"][0] == {"source_call_id": "own", "content": "found"}


def test_what_an_agent_puts_into_its_request_itself_is_said() -> None:
    sent: list[dict[str, Any]] = [
        {"role": "system", "content": "My own prompt."},
        {"role": "user", "content": "An example"},
        {"role": "user", "content": "go"},
    ]
    request = ev.LlmRequestSent(call=1, turn=1, req_id="r1", messages=sent)
    start = START.model_copy(update={"system": ""})
    events = past(start, ev.UserMessageSent(msg_id="m", text="go", turn=1), request)
    value = atif(*events)
    assert [(step["source"], step["message"]) for step in value["steps"]] == [
        ("user", "go"),
        ("system", "My own prompt."),
        ("user", "An example"),
    ]
    assert shown(restored(value) or []) == shown(events)


def test_numbers_that_json_does_not_know_do_not_make_the_file_invalid() -> None:
    call = part("c", arguments='{"x": NaN}')
    value = json.loads(
        exported("atif", past(START, *answered(1, "", call))), parse_constant=lambda word: pytest.fail(word)
    )
    assert value["steps"][1]["tool_calls"][0]["arguments"] == {}


def test_a_session_in_which_nothing_was_said_is_valid() -> None:
    assert [step["source"] for step in atif(*past(ev.SessionStarted(version="1")))["steps"]] == ["system"]


FOREIGN: dict[str, Any] = {
    "schema_version": "ATIF-v1.8",
    "session_id": "run-7",
    "trajectory_id": "t-7",
    "agent": {
        "name": "other",
        "version": "3",
        "model_name": "m",
        "tool_definitions": [{"type": "function", "function": {"name": "bash", "parameters": {}}}],
        "extra": {"flavour": "mild"},
    },
    "notes": "made by hand",
    "steps": [
        {"step_id": 1, "timestamp": "2026-01-01T00:00:00Z", "source": "system", "message": "First."},
        {"step_id": 2, "timestamp": "2026-01-01T00:00:01Z", "source": "system", "message": "Second."},
        {
            "step_id": 3,
            "timestamp": "2026-01-01T00:00:02Z",
            "source": "user",
            "message": [
                {"type": "text", "text": "What is this?"},
                {"type": "image", "source": {"media_type": "image/png", "path": "a.png"}},
            ],
        },
        {
            "step_id": 4,
            "timestamp": "2026-01-01T00:00:03Z",
            "source": "agent",
            "model_name": "m",
            "reasoning_effort": "high",
            "message": "I look.",
            "reasoning_content": "hm",
            "tool_calls": [
                {"tool_call_id": "c1", "function_name": "bash", "arguments": {"command": "ls"}},
                {"tool_call_id": "c2", "function_name": "bash", "arguments": {}, "extra": {"timeout": 3}},
            ],
            "observation": {
                "results": [
                    {"source_call_id": "c1", "content": "a.png"},
                    {"source_call_id": "c2", "content": "b", "extra": {"score": 0.5}},
                ]
            },
            "metrics": {
                "prompt_tokens": 9,
                "completion_tokens": 3,
                "cost_usd": 0.5,
                "logprobs": [-0.5, -1.0],
            },
            "extra": {"mood": "calm"},
        },
        {
            "step_id": 5,
            "timestamp": "2026-01-01T00:00:09Z",
            "source": "agent",
            "model_name": "m",
            "message": "A cat.",
            "llm_call_count": 2,
        },
    ],
    "final_metrics": {"total_prompt_tokens": 9, "total_steps": 5, "extra": {"seen": True}},
    "extra": {"split": "test"},
}


def test_a_trajectory_of_another_tool_keeps_every_field(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text(json.dumps(FOREIGN))
    assert atif(*open_trajectories(path).session(0).events) == FOREIGN


@pytest.mark.skipif(not HARBOR, reason="needs harbor: AGENTSCOPE_TEST_HARBOR_PYTHON")
async def test_harbor_takes_it(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("eventful.json", "empty.json", "other.json")]
    paths[0].write_text(exported("atif", await eventful()))
    paths[1].write_text(exported("atif", past(ev.SessionStarted(version="1"))))
    paths[2].write_text(json.dumps(FOREIGN))
    paths[2].write_text(exported("atif", open_trajectories(paths[2]).session(0).events))
    command = [str(HARBOR), "-c", VALIDATE, *map(str, paths)]
    ran = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, timeout=100)
    assert ran.returncode == 0, ran.stderr
