"""ATIF of all versions, with its odd cases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentscope_tui.events import AgentNote, ToolCallStarted, UsageReported
from agentscope_tui.store.imports import open_trajectories
from agentscope_tui.store.imports.atif import OBSERVATION, TRAJECTORY, step_about
from agentscope_tui.store.imports.building import SYSTEM_MESSAGE
from agentscope_tui.store.imports.tool_runs import NO_RESULT
from fakes import foreign_files as foreign
from fakes import foreign_samples as samples


def with_steps(*steps: dict[str, Any], **root: Any) -> dict[str, Any]:
    told = [{"source": "agent", "message": "", **step} for step in steps]
    return {**samples.atif(), "steps": told, **root}


@pytest.mark.parametrize("version", range(9))
def test_every_version_opens(tmp_path: Path, version: int) -> None:
    path = foreign.write(tmp_path / "t", {**samples.atif(), "schema_version": f"ATIF-v1.{version}"})
    assert open_trajectories(path).format == f"ATIF 1.{version}"


def test_a_trajectory_is_shown_whole(tmp_path: Path) -> None:
    opened = foreign.open_file(tmp_path / "t", samples.atif())
    started = opened.state.started
    assert started is not None
    assert (started.system, started.runner, started.model) == ("Be brief.", "tester 2", "m1")
    assert started.tools == [{"name": "bash", "description": "", "parameters": {}}]
    assert opened.shown() == [
        ("user", "What is here?"),
        ("reasoning", "I need ls"),
        ("assistant", "Looking."),
        ("tool", "bash: a.txt"),
        ("assistant", "One file."),
        ("ended", ""),
    ]
    (usage,) = opened.of(UsageReported)
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.cost) == (20, 5, 8, 0.01)
    first = next(event for event in opened.events if event.kind == "assistant_message")
    assert first.duration == 2.0
    assert opened.extras() == {
        TRAJECTORY: {
            "schema_version": "ATIF-v1.8",
            "session_id": "run",
            "agent": {"name": "tester", "version": "2"},
            "final_metrics": {"total_prompt_tokens": 40},
        },
        step_about(4): {"extra": {"mood": "calm"}},
    }


def test_what_a_step_has_more_is_kept_in_its_own_shape(tmp_path: Path) -> None:
    step = {
        "step_id": 9,
        "reasoning_effort": "high",
        "llm_call_count": 2,
        "tool_calls": [
            {"tool_call_id": "a", "function_name": "one", "arguments": {}},
            {"tool_call_id": "b", "function_name": "two", "arguments": {"x": 1}, "extra": {"retries": 2}},
        ],
        "observation": {"results": [{"source_call_id": "b", "content": "B", "extra": {"score": 0.5}}]},
        "metrics": {"completion_tokens": 3, "logprobs": [-0.5], "prompt_token_ids": [1, 2]},
    }
    opened = foreign.open_file(tmp_path / "t", with_steps({"source": "user", "message": "go"}, step))
    assert opened.extras()[step_about(2)] == {
        "step_id": 9,
        "reasoning_effort": "high",
        "llm_call_count": 2,
        "tool_calls": [{}, {"extra": {"retries": 2}}],
        "observation": {"results": [{"extra": {"score": 0.5}}]},
        "metrics": {"logprobs": [-0.5], "prompt_token_ids": [1, 2]},
    }
    assert [(call.state, call.reason) for call in opened.state.calls] == [
        ("interrupted", NO_RESULT),
        ("done", ""),
    ]


def test_parts_that_are_no_text_are_named_and_kept(tmp_path: Path) -> None:
    image = {"type": "image", "source": {"media_type": "image/png", "path": "a.png"}}
    content = [{"type": "text", "text": "Look:"}, image]
    opened = foreign.open_file(
        tmp_path / "t", with_steps({"source": "user", "message": content}, {"message": "A cat."})
    )
    assert opened.shown()[0] == ("user", "Look:\n[image]")
    assert opened.extras()[step_about(1)] == {"message": content}
    assert opened.state.request_messages(1)[-1]["content"] == content


def test_copied_context_is_what_the_session_starts_with(tmp_path: Path) -> None:
    copied = [{**step, "is_copied_context": True} for step in samples.atif()["steps"][1:]]
    steps = [{"source": "system", "message": "S"}, *copied, {"source": "user", "message": "more"}, {}]
    opened = foreign.open_file(tmp_path / "t", with_steps(*steps))
    started = opened.state.started
    assert started is not None
    assert [message["role"] for message in started.history] == ["user", "assistant", "tool", "assistant"]
    assert opened.state.call == 1
    assert opened.state.turn == 1
    assert [message["role"] for message in opened.state.request_messages(1)] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]
    assert opened.extras()[step_about(3)] == {**copied[1], "message": "Looking."}


def test_a_question_that_was_copied_and_not_answered_is_what_the_first_turn_asks(tmp_path: Path) -> None:
    opened = foreign.open_file(
        tmp_path / "t", with_steps({"source": "user", "message": "go", "is_copied_context": True}, {})
    )
    assert opened.shown()[0] == ("user", "go")
    assert opened.extras()[step_about(1)] == {"is_copied_context": True}


def test_a_step_without_a_model_call_is_what_the_agent_did_itself(tmp_path: Path) -> None:
    dispatch = {
        "llm_call_count": 0,
        "message": "checking",
        "tool_calls": [{"tool_call_id": "d", "function_name": "probe", "arguments": {"deep": True}}],
        "observation": {"results": [{"source_call_id": "d", "content": "fine"}]},
    }
    opened = foreign.open_file(
        tmp_path / "t", with_steps({"source": "user", "message": "go"}, dispatch, {"message": "ok"})
    )
    assert opened.state.call == 1
    (ran,) = opened.of(ToolCallStarted)
    assert (ran.name, ran.arguments, ran.own) == ("probe", {"deep": True}, True)
    assert [note.text for note in opened.of(AgentNote)] == ["checking"]
    assert opened.extras()[step_about(2)] == {"llm_call_count": 0}


def test_results_without_an_id_belong_to_the_calls_in_order_or_to_none(tmp_path: Path) -> None:
    calls = [{"tool_call_id": name, "function_name": name, "arguments": {}} for name in ("a", "b")]
    results = [{"content": text} for text in ("A", "B", "more")]
    steps = [
        {"source": "user", "message": "go"},
        {"tool_calls": calls, "observation": {"results": results}},
        {"source": "system", "message": "the disk is full", "observation": {"results": [{"content": "df"}]}},
        {"message": "ok"},
    ]
    opened = foreign.open_file(tmp_path / "t", with_steps(*steps))
    assert [(call.name, call.content) for call in opened.state.calls] == [
        ("a", "A"),
        ("b", "B"),
        (OBSERVATION, "more"),
        (OBSERVATION, "df"),
    ]
    assert opened.extras()[SYSTEM_MESSAGE] == "the disk is full"
    assert opened.state.request_messages(2)[-1] == {"role": "user", "content": "df"}


def test_subagents_are_further_trajectories_and_each_names_the_other(tmp_path: Path) -> None:
    child = {**samples.atif(), "trajectory_id": "child", "subagent_trajectories": []}
    grandchild = {**samples.atif(), "trajectory_id": "grandchild"}
    child["subagent_trajectories"] = [grandchild]
    ref = [{"trajectory_id": "child", "session_id": "run"}]
    parent = samples.atif()
    parent["steps"][2]["observation"]["results"][0]["subagent_trajectory_ref"] = ref
    path = foreign.write(tmp_path / "t", {**parent, "subagent_trajectories": [child, samples.atif()]})
    trajectories = open_trajectories(path)
    assert len(trajectories) == 4
    notes = [[note.text for note in foreign.shown(trajectories, n).of(AgentNote)] for n in range(4)]
    assert notes[0] == ["a subagent ran: trajectory 2 of the file"]
    assert notes[1] == ["this is a subagent of trajectory 1 of the file"]
    assert notes[2] == ["this is a subagent of trajectory 2 of the file"]
    kept = foreign.shown(trajectories, 0).extras()[step_about(3)]
    assert kept == {"observation": {"results": [{"subagent_trajectory_ref": ref}]}}


def test_a_continued_trajectory_and_a_broken_step_are_told(tmp_path: Path) -> None:
    trajectory = with_steps(
        {"source": "user", "message": "go"},
        {"source": "robot", "message": "?"},
        {"source": "agent", "message": {"no": "text"}},
        {"message": "ok"},
        continued_trajectory_ref="part-2.json",
        notes="half of it",
    )
    trajectory["steps"].insert(1, "not a step")
    opened = foreign.open_file(tmp_path / "t", trajectory)
    assert opened.extras()[TRAJECTORY]["continued_trajectory_ref"] == "part-2.json"
    assert [problem.partition(" cannot")[0] for problem in opened.problems()] == [
        "step 2",
        "step 3",
        "step 4",
    ]
    assert opened.extras()[step_about(2)] == "not a step"
    assert opened.extras()[step_about(3)] == {"source": "robot", "message": "?"}
    assert opened.state.outcome == "completed"
