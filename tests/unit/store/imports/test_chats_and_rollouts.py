"""OpenAI chats, results of verifiers and rollouts of prime-rl."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentscope_tui.events import Graded, UsageReported
from agentscope_tui.store.imports import open_trajectories
from agentscope_tui.store.imports.openai_chat import CONVERSATION, message_about
from agentscope_tui.store.imports.verifiers import ROLLOUT
from agentscope_tui.store.imports.verifiers_traces import EPISODE, TRACE
from fakes import foreign_files as foreign
from fakes import foreign_samples as samples


@pytest.mark.parametrize(
    "data",
    [
        samples.chat(),
        samples.chat()["messages"],
        [samples.chat(), samples.chat()],
        foreign.lines(samples.chat()),
        json.dumps(samples.chat(), indent=2),
        json.dumps([samples.chat()], indent=2),
    ],
    ids=["object", "messages", "array", "line", "indented object", "indented array"],
)
def test_a_chat_may_be_a_line_an_object_or_in_an_array(tmp_path: Path, data: Any) -> None:
    path = foreign.write(tmp_path / "chat", data)
    trajectories = open_trajectories(path)
    assert trajectories.format == "OpenAI chat"
    opened = foreign.shown(trajectories)
    assert opened.shown()[:3] == [
        ("user", "What is here?"),
        ("assistant", "Looking."),
        ("tool", "bash: a.txt"),
    ]
    assert opened.state.request_messages(2) == samples.chat()["messages"][:4]


def test_what_a_chat_has_more_is_kept(tmp_path: Path) -> None:
    chat = samples.chat()
    chat["messages"][1]["name"] = "ann"
    chat["messages"][4] |= {"refusal": None, "annotations": [{"url": "x"}], "weight": 0}
    chat["tools"].append({"type": "function", "function": {"name": "strict", "strict": True}})
    opened = foreign.open_file(tmp_path / "chat", chat)
    assert opened.extras() == {
        message_about(2): {"name": "ann"},
        message_about(5): {"annotations": [{"url": "x"}], "weight": 0},
        CONVERSATION: {"parallel_tool_calls": False, "tools": chat["tools"]},
    }
    assert opened.state.started is not None
    assert [tool["name"] for tool in opened.state.started.tools] == ["bash"]


def test_reasoning_parts_old_function_calls_and_unknown_roles(tmp_path: Path) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
    messages = [
        {"role": "developer", "content": [{"type": "text", "text": "Rules."}]},
        {"role": "user", "content": [{"type": "text", "text": "See"}, image]},
        {
            "role": "assistant",
            "content": None,
            "reasoning_content": "hm",
            "function_call": {"name": "f", "arguments": "{}"},
        },
        {"role": "function", "name": "f", "content": "42"},
        {"role": "narrator", "content": "meanwhile"},
        "what?",
        {"role": "assistant", "content": "done"},
    ]
    opened = foreign.open_file(tmp_path / "chat", {"messages": messages})
    assert opened.shown()[:4] == [
        ("user", "See\n[image_url]"),
        ("reasoning", "hm"),
        ("assistant", ""),
        ("tool", "f: 42"),
    ]
    assert opened.state.started is not None
    assert opened.state.started.system == "Rules."
    assert len(opened.problems()) == 2
    assert opened.extras()[message_about(2)] == {"content": messages[1]["content"]}
    assert opened.extras()[message_about(5)] == messages[4]
    assert opened.extras()[message_about(6)] == "what?"


def test_a_rollout_has_its_reward_its_tokens_and_what_it_was_made_of(tmp_path: Path) -> None:
    opened = foreign.open_file(tmp_path / "results", foreign.lines(samples.rollout()))
    (graded,) = opened.of(Graded)
    assert (graded.reward, graded.metrics) == (0.5, {"right": 1.0})
    assert opened.state.reward == 0.5
    (usage,) = opened.of(UsageReported)
    assert (usage.input_tokens, usage.output_tokens) == (30, 9)
    assert opened.extras()[ROLLOUT]["answer"] == "one"
    assert opened.state.started is not None
    assert (opened.state.started.dataset, opened.state.started.row) == ("files", 7)


def test_old_results_have_calls_as_text_no_ids_and_the_prompt_again(tmp_path: Path) -> None:
    row = samples.rollout()
    messages = samples.chat()["messages"]
    messages[2]["tool_calls"] = [json.dumps(samples.CALL), "{broken"]
    del messages[3]["tool_call_id"]
    row["completion"] = messages
    row["info"] = {"oai_tools": json.dumps(samples.chat()["tools"])}
    opened = foreign.open_file(tmp_path / "results", foreign.lines(row))
    assert [entry.text for entry in opened.state.entries if entry.kind == "user"] == ["What is here?"]
    first, second = opened.state.calls
    assert (first.name, first.arguments, first.content) == ("bash", '{"command": "ls"}', "a.txt")
    assert (second.arguments, second.state) == ("{broken", "interrupted")
    assert opened.state.started is not None
    assert [tool["name"] for tool in opened.state.started.tools] == ["bash"]


@pytest.mark.parametrize(
    ("fields", "outcome", "reason"),
    [
        ({}, "completed", ""),
        ({"stop_condition": "max_turns_reached"}, "completed", "max_turns_reached"),
        ({"is_truncated": True}, "limit", "the answer was cut off"),
        ({"is_completed": False}, "interrupted", "the rollout did not complete"),
        ({"error": "Boom\nTraceback"}, "failed", "Boom"),
        ({"error": {"error": "Boom", "error_chain_str": "a caused b"}}, "failed", "Boom: a caused b"),
    ],
)
def test_how_a_rollout_ended(tmp_path: Path, fields: Any, outcome: str, reason: str) -> None:
    opened = foreign.open_file(tmp_path / "results", foreign.lines({**samples.rollout(), **fields}))
    assert (opened.state.outcome, opened.state.outcome_reason) == (outcome, reason)


def test_a_prompt_and_a_completion_may_be_bare_text(tmp_path: Path) -> None:
    row = {"example_id": 0, "prompt": "2 + 2?", "completion": "4", "reward": 1}
    opened = foreign.open_file(tmp_path / "results", foreign.lines(row))
    assert opened.shown()[:2] == [("user", "2 + 2?"), ("assistant", "4")]


def test_a_trace_tells_each_call_with_the_path_that_led_to_it(tmp_path: Path) -> None:
    episode = samples.episode()
    trace = episode["traces"][0]
    trace["nodes"] += [
        {"parent": 1, "message": {"role": "assistant", "content": "Another way."}, "sampled": True},
        {"parent": 4, "message": {"role": "user", "content": "Thanks."}},
    ]
    trace["calls"].append({"node": 5, "model": "m2", "finish_reason": "stop", "policy": {"code": "x"}})
    trace["calls"].append({"node": None, "error": {"type": "RateLimit", "message": "slow down"}})
    opened = foreign.open_file(tmp_path / "traces", foreign.lines(episode))
    assert opened.state.request_messages(3) == samples.chat()["messages"][:2]
    assert opened.state.model == "m2"
    assert opened.problems() == ["RateLimit: slow down"]
    assert opened.state.reward == 0.5
    (graded,) = opened.of(Graded)
    assert graded.metrics == {"length": 2.0}
    usage = opened.of(UsageReported)[0]
    assert (usage.input_tokens, usage.cached_tokens) == (12, 2)
    assert [entry.text for entry in opened.state.entries if entry.kind == "user"][-1] == "Thanks."
    assert opened.extras()["calls"]["call 3"] == {"node": 5, "policy": {"code": "x"}}
    assert opened.extras()[TRACE]["task"]["data"] == {"prompt": "What is here?"}
    assert opened.extras()[EPISODE]["id"] == "e1"


def test_every_trace_of_an_episode_is_a_trajectory_and_one_without_is_too(tmp_path: Path) -> None:
    two, none = samples.episode(), samples.episode()
    two["traces"] *= 2
    none["traces"], none["errors"] = [], [{"type": "Boom", "message": "no sandbox"}]
    trace = samples.episode()["traces"][0]
    path = foreign.write(tmp_path / "traces", foreign.lines(two, none, "{broken", trace))
    trajectories = open_trajectories(path)
    assert len(trajectories) == 5
    assert [trajectories.summary(n).reward for n in range(5)] == [0.5, 0.5, None, None, 0.5]
    assert "no trace" in foreign.shown(trajectories, 2).problems()[0]
    assert foreign.shown(trajectories, 2).extras()[EPISODE]["errors"][0]["message"] == "no sandbox"
    assert trajectories.summary(3).problem.startswith("line 3")
    assert foreign.shown(trajectories, 4).state.call == 2
