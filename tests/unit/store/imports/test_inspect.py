"""Logs of Inspect of all ages: with pools and without, with attachments, scores, errors and limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentscope_tui.events import AgentNote, Graded, LlmRequestSent, ToolResult, UsageReported
from agentscope_tui.store.imports import open_trajectories
from agentscope_tui.store.imports.inspect_events import CALL, LOG, SAMPLE
from fakes import foreign_files as foreign
from fakes import foreign_samples as samples


def opened_sample(tmp_path: Path, sample: dict[str, Any]) -> foreign.Opened:
    path = foreign.write(tmp_path / "x.eval", foreign.archive(samples.inspect_parts(sample), 93))
    return foreign.shown(open_trajectories(path))


def test_a_sample_is_shown_whole(tmp_path: Path) -> None:
    opened = opened_sample(tmp_path, samples.inspect_sample())
    assert opened.shown() == [
        ("user", "What is here?"),
        ("reasoning", "I need ls"),
        ("assistant", "Looking."),
        ("tool", "bash: a.txt"),
        ("assistant", "One file."),
        ("reward", "right"),
        ("ended", ""),
    ]
    started = opened.state.started
    assert started is not None
    assert (started.runner, started.dataset, started.model, started.grader) == (
        "Inspect look",
        "files",
        "p/m1",
        "match",
    )
    assert started.tools[0]["name"] == "bash"
    request = opened.of(LlmRequestSent)[0]
    assert (request.tools, request.params) == (["bash"], {"tool_choice": "auto", "temperature": 0.5})
    assert opened.state.request_messages(2)[2] == {
        "role": "tool",
        "content": "a.txt",
        "tool_call_id": "c1",
    }
    usage = opened.of(UsageReported)[0]
    assert (usage.input_tokens, usage.cached_tokens) == (15, 5)
    assert [event.duration for event in opened.of(ToolResult)] == [4.0]
    assert [(event.reward, event.reason) for event in opened.of(Graded)] == [(1.0, "right")]
    kept = opened.extras()
    assert kept[LOG] == samples.INSPECT_HEADER
    assert kept["spans"]["event 1"]["name"] == "solver"
    assert kept["info"][0]["data"] == {"a": 1}
    assert kept["attachments"] == {"bb": "never used"}
    assert kept[SAMPLE]["target"] == "one"
    assert "messages" not in kept[SAMPLE]


def test_samples_are_in_the_order_of_their_numbers_and_each_epoch_is_one(tmp_path: Path) -> None:
    all_of_them = [samples.inspect_sample(number, epoch) for number in (10, 2) for epoch in (2, 1)]
    path = foreign.write(tmp_path / "x.eval", foreign.archive(samples.inspect_parts(*all_of_them)))
    trajectories = open_trajectories(path)
    kept = [foreign.shown(trajectories, place).extras()[SAMPLE] for place in range(4)]
    assert [(one["id"], one["epoch"]) for one in kept] == [(2, 1), (2, 2), (10, 1), (10, 2)]
    assert trajectories.summary(3).reward == 1.0


def test_a_log_that_was_cut_off_opens_as_far_as_it_is(tmp_path: Path) -> None:
    parts = samples.inspect_parts(samples.inspect_sample(1), samples.inspect_sample(2))
    del parts["header.json"], parts["summaries.json"]
    parts["samples/2_epoch_1.json"] = b'{"id": 2, "ev'
    path = foreign.write(tmp_path / "x.eval", foreign.archive(parts))
    trajectories = open_trajectories(path)
    assert trajectories.summary(0).prompt == "sample 1_epoch_1"
    assert foreign.shown(trajectories, 0).state.reward == 1.0
    (problem,) = foreign.shown(trajectories, 1).problems()
    assert "samples/2_epoch_1.json of the archive cannot be read" in problem


def test_a_damaged_list_of_summaries_spoils_no_sample(tmp_path: Path) -> None:
    parts = {**samples.inspect_parts(), "summaries.json": b"[{"}
    opened = foreign.open_file(tmp_path / "x.eval", foreign.archive(parts))
    assert opened.state.reward == 1.0
    assert "summaries.json of the archive cannot be read" in opened.problems()[0]


def test_pools_of_the_first_age_and_messages_without_ids(tmp_path: Path) -> None:
    pooled = samples.inspect_sample()
    pooled["message_pool"] = pooled.pop("events_data")["messages"]
    plain = samples.inspect_sample()
    messages = plain.pop("events_data")["messages"]
    for message in [*messages, *plain["messages"]]:
        message.pop("id", None)
    for event, count in ((plain["events"][1], 1), (plain["events"][4], 3)):
        del event["input_refs"]
        event["input"] = messages[:count]
        event["output"]["choices"][0]["message"].pop("id", None)
    oldest = {**plain, "transcript": {"events": plain["events"], "content": plain["attachments"]}}
    del oldest["events"], oldest["attachments"]
    told = [opened_sample(tmp_path, one) for one in (samples.inspect_sample(), pooled, plain, oldest)]
    assert [one.shown() for one in told[1:]] == [told[0].shown()] * 3
    assert [one.state.request_messages(2) for one in told[1:]] == [told[0].state.request_messages(2)] * 3


def test_the_same_words_said_twice_are_told_twice(tmp_path: Path) -> None:
    sample = samples.inspect_sample()
    again = {"role": "user", "content": "go on"}
    sample["events_data"]["messages"] += [{"role": "user", "content": "go on"}]
    sample["events"][4]["input_refs"] = [[0, 3], [3, 4]]
    sample["events"].append({**sample["events"][4], "input": [again], "input_refs": [[0, 4]]})
    opened = opened_sample(tmp_path, sample)
    steers = [entry.text for entry in opened.state.entries if entry.kind in ("user", "steer")]
    assert steers == ["What is here?", "go on", "go on"]


def test_a_sample_without_model_calls_tells_its_conversation(tmp_path: Path) -> None:
    sample = samples.inspect_sample()
    sample["events"] = []
    opened = opened_sample(tmp_path, sample)
    assert [text for _, text in opened.shown()[:4]] == [
        "What is here?",
        "I need ls",
        "Looking.",
        "bash: a.txt",
    ]


@pytest.mark.parametrize(
    ("value", "reward", "error"),
    [
        ("C", 1.0, None),
        ("I", 0.0, None),
        ("P", 0.5, None),
        (True, 1.0, None),
        (0.25, 0.25, None),
        ({"a": 1, "b": 0.5, "c": "x"}, None, None),
        ("excellent", None, "the score is no number: excellent"),
    ],
)
def test_scores(tmp_path: Path, value: Any, reward: float | None, error: str | None) -> None:
    sample = samples.inspect_sample()
    sample["scores"] = {"first": {"value": value}, "second": {"value": 0.1}}
    if reward is None:
        del sample["scores"]["second"]
    path = foreign.write(tmp_path / "x.eval", foreign.archive(samples.inspect_parts(sample)))
    trajectories = open_trajectories(path)
    opened = foreign.shown(trajectories)
    graded = opened.of(Graded)[-1]
    assert (graded.grader, graded.reward, graded.error) == ("first", reward, error)
    assert opened.state.reward == reward == trajectories.summary(0).reward
    if isinstance(value, dict):
        assert graded.metrics == {"a": 1.0, "b": 0.5}


def test_errors_limits_interrupts_and_calls_that_failed(tmp_path: Path) -> None:
    sample = samples.inspect_sample()
    at = {"timestamp": "2026-01-01T10:00:12+00:00"}
    failed = {**sample["events"][4], **at, "error": "Overloaded\nmore", "traceback": "at line 1"}
    cancelled = {**failed, "error": "Cancelled by operator", "output": {"choices": []}}
    sample["events"] += [
        failed,
        cancelled,
        {"event": "input", **at, "input": "yes", "input_ansi": "yes"},
        {"event": "sample_limit", **at, "type": "token", "message": "too many tokens", "limit": 100},
        {"event": "error", **at, "error": {"message": "no sandbox", "traceback": "at line 2"}},
    ]
    sample["limit"] = {"type": "token", "limit": 100}
    opened = opened_sample(tmp_path, sample)
    assert opened.problems() == ["Overloaded", "no sandbox"]
    (stopped,) = [event for event in opened.events if event.kind == "interrupted"]
    assert (stopped.reason, stopped.model_call) == ("Cancelled by operator", 4)
    (limit,) = [event for event in opened.events if event.kind == "limit"]
    assert (limit.limit, limit.value, limit.reason) == ("token", 100.0, "too many tokens")
    assert [(note.title, note.text) for note in opened.of(AgentNote)] == [("input", "yes")]
    assert opened.state.outcome == "limit"
    sample["error"] = {"message": "boom", "traceback": "at line 3", "traceback_ansi": "x"}
    again = opened_sample(tmp_path, sample)
    assert (again.state.outcome, again.state.outcome_reason) == ("failed", "boom")
    assert again.problems() == ["Overloaded", "no sandbox", "boom"]
    sample["error"]["message"] = "no sandbox"
    assert opened_sample(tmp_path, sample).problems() == ["Overloaded", "no sandbox"]


def test_tools_that_fail_or_are_cancelled_and_those_that_ran_inside_others(tmp_path: Path) -> None:
    sample = samples.inspect_sample()
    tool = sample["events"][2]
    tool |= {"error": {"type": "timeout", "message": "too slow"}, "result": "", "truncated": [10, 5]}
    inner = {**sample["events"][4], "timestamp": "2026-01-01T10:00:04+00:00"}
    tool["events"] = [{**inner, "completed": "2026-01-01T10:00:05+00:00"}]
    opened = opened_sample(tmp_path, sample)
    call, *_ = opened.state.calls
    assert (call.state, call.content, call.duration) == ("failed", "too slow", 4.0)
    assert [entry.call for entry in opened.state.entries if entry.kind == "assistant"] == [1, 2, 3]
    tool["error"] = {"type": "cancelled", "message": "cancelled"}
    assert opened_sample(tmp_path, sample).state.calls[0].state == "interrupted"


def test_what_a_model_call_has_more_is_kept_with_it(tmp_path: Path) -> None:
    sample = samples.inspect_sample()
    sample["events"][1] |= {"retries": 2, "call": {"request": {"x": 1}}, "cache": "read"}
    sample["events"][1]["output"]["choices"].append({"message": {"role": "assistant", "content": "or"}})
    kept = opened_sample(tmp_path, sample).extras()[CALL]
    assert kept["retries"] == 2
    assert kept["call"] == {"request": {"x": 1}}
    assert kept["output"]["choices"][1]["message"]["content"] == "or"
