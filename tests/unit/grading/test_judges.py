"""A judge's session: recorded like any other, corrected by its tool's errors, and never in the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentscope_tui.errors import UserError
from agentscope_tui.events import (
    AssistantMessage,
    Graded,
    LlmRequestSent,
    SessionEvent,
    SessionStarted,
    ToolResult,
)
from agentscope_tui.store.find import find_session
from agentscope_tui.store.folders import read_meta
from agentscope_tui.store.past import PastSession
from agentscope_tui.store.reopen import recover
from agentscope_tui.store.run_index import RunIndex
from fakes.graded_rows import GradedRows

RUBRIC = "- clear (3): easy to read\n- honest: nothing false"


def verdict(clear: Any, honest: Any, **more: Any) -> dict[str, Any]:
    arguments = {"scores": {"clear": clear, "honest": honest, **more}, "reason": "as I\nsee it"}
    return {"tool_calls": [{"name": "verdict", "arguments": arguments}]}


@pytest.fixture
def rows(tmp_path: Path) -> GradedRows:
    made = GradedRows(tmp_path)
    (tmp_path / "style.md").write_text(RUBRIC)
    return made


def reward(events: list[SessionEvent]) -> Graded:
    (found,) = [event for event in events if isinstance(event, Graded)]
    return found


def judge_of(graded: Graded, folder: Path) -> PastSession:
    (name,) = graded.sessions
    return recover(folder.parent / name)


def of(past: PastSession, kind: type) -> list[Any]:
    return [event for event in past.events if isinstance(event, kind)]


async def test_a_verdict_is_the_reward_and_its_session_is_recorded(rows: GradedRows) -> None:
    rows.judge = [verdict(1, 0.5)]
    folder, events = await rows.ran("rubric:style.md")
    graded = reward(events)
    assert (graded.reward, graded.metrics) == (3.5 / 4, {"clear": 1.0, "honest": 0.5})
    assert graded.reason == "as I see it"
    past = judge_of(graded, folder)
    assert past.meta["judge_of"] == folder.name
    assert past.meta["judged_row"] == 0
    (asked,) = of(past, LlmRequestSent)
    assert asked.params["temperature"] == 0.0
    assert asked.tools == ["verdict"]
    assert "easy to read" in asked.messages[0]["content"]
    assert "It is 4." in asked.messages[1]["content"]
    assert past.events[-1].kind == "session_ended"


async def test_the_session_is_of_no_row_and_never_the_last(rows: GradedRows) -> None:
    rows.judge = [verdict(1, 1)]
    folder, _ = await rows.ran("rubric:style.md")
    index = RunIndex(rows.state)
    index.sync()
    path = str((rows.folder / "rows.jsonl").absolute())
    of_rows = index.of_rows(path, read_meta(folder)["dataset_identity"])
    index.close()
    assert (of_rows[0].total, of_rows[0].newest.id) == (1, folder.name)
    assert of_rows[0].newest.numbers == {"clear": 1.0, "honest": 1.0}
    assert find_session("last", folder.parent).name == folder.name


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (verdict(2, 1), "the score of 'clear' must be a number from 0 to 1"),
        (verdict("1", 1), "the score of 'clear' must be a number from 0 to 1"),
        (verdict(True, 1), "the score of 'clear' must be a number from 0 to 1"),
        (verdict(1, 1, polite=1), "there is no criterion 'polite'"),
        ({"tool_calls": [{"name": "verdict", "arguments": {"reason": "x"}}]}, "`scores` is an object"),
        ({"tool_calls": [{"name": "other", "arguments": {}}]}, "other"),
    ],
)
async def test_a_judge_may_put_right_what_it_got_wrong(rows: GradedRows, wrong: Any, said: str) -> None:
    rows.judge = [wrong, verdict(0, 1)]
    folder, events = await rows.ran("rubric:style.md")
    graded = reward(events)
    assert graded.reward == 0.25
    first, last = of(judge_of(graded, folder), ToolResult)
    assert first.is_error
    assert said in first.content
    assert not last.is_error


async def test_a_judge_that_only_talks_is_reminded(rows: GradedRows) -> None:
    rows.judge = [{"text": "It is fine."}, verdict(1, 1)]
    _, events = await rows.ran("rubric:style.md")
    assert reward(events).reward == 1.0


async def test_a_judge_that_comes_to_no_verdict_is_the_graders_error(rows: GradedRows) -> None:
    rows.judge = [{"text": "It is fine."}, {"text": "I said so."}]
    folder, events = await rows.ran("rubric:style.md")
    graded = reward(events)
    assert graded.reward is None
    assert "came to no verdict: it never called its tool with all scores" in str(graded.error)
    name = str(graded.error).rpartition("(session ")[2].rstrip(")")
    assert len(of(recover(folder.parent / name), AssistantMessage)) == 2


async def test_a_judge_that_gets_it_wrong_too_often_is_stopped(rows: GradedRows) -> None:
    rows.judge = [verdict(7, 7)] * 20
    folder, events = await rows.ran("rubric:style.md")
    graded = reward(events)
    assert "limit reached" in str(graded.error)
    name = str(graded.error).rpartition("(session ")[2].rstrip(")")
    assert len(of(recover(folder.parent / name), LlmRequestSent)) == 4


async def test_a_judge_whose_model_fails_is_the_graders_error(rows: GradedRows) -> None:
    rows.judge = [{"error": {"kind": "authentication", "message": "wrong key"}}]
    _, events = await rows.ran("rubric:style.md")
    assert "wrong key" in str(reward(events).error)


async def test_a_judge_that_hangs_is_the_graders_error(rows: GradedRows) -> None:
    rows.judge = [{"text": "I think", "stall": {"after": 1}}]
    folder, events = await rows.ran("rubric:style.md", grading__timeout=2.0)
    assert "took longer than 2 s (setting grading.timeout)" in str(reward(events).error)
    (judge,) = [path for path in folder.parent.iterdir() if "judge" in path.name]
    assert recover(judge).closed == 0


async def test_two_rubrics_are_judged_in_two_sessions(rows: GradedRows) -> None:
    rows.judge = [verdict(1, 0)]
    folder, events = await rows.ran("a=rubric:style.md", "b=rubric:style.md")
    graded = reward(events)
    assert graded.metrics["b.clear"] == 1.0
    assert len({*graded.sessions}) == 2
    assert all((folder.parent / name).is_dir() for name in graded.sessions)


async def test_a_row_may_bring_a_text_but_name_no_file(rows: GradedRows) -> None:
    rows.rows = [{"user_prompt": "2 + 2?", "grader": "rubric:style.md"}]
    rows.judge = [{"tool_calls": [{"name": "verdict", "arguments": {"scores": {"score": 1}, "reason": ""}}]}]
    folder, events = await rows.ran()
    started = judge_of(reward(events), folder).events[0]
    assert isinstance(started, SessionStarted)
    assert "easy to read" not in started.system
    assert "- score: style.md" in started.system


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"grading__judge": None}, "--judge PROVIDER:NAME"),
        ({"grading__judge": "nobody:x"}, "nobody"),
        ({"grading__judge": "scripted:/missing.yaml"}, "missing.yaml"),
    ],
)
def test_a_judge_that_cannot_be_had_is_told_at_the_start(
    rows: GradedRows, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        rows.launcher("rubric:style.md", **settings)


async def test_the_judge_gets_neither_address_nor_key_of_another_provider(rows: GradedRows) -> None:
    rows.judge = [verdict(1, 1)]
    secret = {"model__name": "openai:gpt-5-mini", "model__base_url": "http://localhost:9/v1"}
    config = rows.config("rubric:style.md", **secret)
    from agentscope_tui.session.judging import _for_judge

    other = _for_judge(config, "anthropic:claude-sonnet-4-5").settings.model
    assert (other.base_url, other.api_key_env, other.name) == (None, None, "openai:gpt-5-mini")
    assert _for_judge(config, "openai:gpt-5").settings.model.base_url == "http://localhost:9/v1"
