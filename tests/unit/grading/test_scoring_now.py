"""Score now: what there is in the middle of a turn is graded on a copy, and the session notices nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentscope_tui.errors import UserError
from agentscope_tui.events import Graded, Paused, SessionEvent, StateChanged, ToolCallStarted
from agentscope_tui.session.recorded_turns import recorded_turns
from agentscope_tui.session.state import SessionState
from agentscope_tui.tui.present.transcript import block_of
from fakes.graded_rows import SUBMIT, GradedRows
from waiting import wait_until

GRADERS = """
import os, pathlib, time

def slow(answer, workdir, transcript):
    here = pathlib.Path(__file__).parent
    folder = pathlib.Path(workdir)
    found = sorted(path.name for path in folder.iterdir())
    (folder / "graded.txt").write_text("by the grader")
    (folder / "made.txt").write_text("changed")
    (here / "began").write_text(str(os.getpid()))
    while not (here / "go-on").exists():
        time.sleep(0.02)
    return {"reward": 0.25, "reason": f"{answer!r} {' '.join(found)}", "metrics": {"files": len(found)}}
"""
WORK = (
    "echo by the agent > made.txt; mkdir sub; ln -s /etc/passwd out; while [ ! -e go ]; do sleep 0.02; done"
)
DEADLINE = 30


@pytest.fixture
def rows(tmp_path: Path) -> GradedRows:
    rows = GradedRows(tmp_path)
    (tmp_path / "graders.py").write_text(GRADERS)
    bash = {"name": "bash", "arguments": {"command": WORK}}
    rows.agent = [{"text": "I begin.", "tool_calls": [bash]}, {"text": "It is 4.", "tool_calls": [SUBMIT]}]
    return rows


def scores(events: list[SessionEvent]) -> list[Graded]:
    return [event for event in events if isinstance(event, Graded)]


def listed(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


async def until(predicate: Any, what: str = "") -> None:
    await wait_until(predicate, what, seconds=DEADLINE)


async def test_the_agents_work_is_graded_on_a_copy_while_it_goes_on(rows: GradedRows) -> None:
    async with rows.opened("graders:slow", "right=exact") as (opened, events):
        files = opened.folder.files
        await until(lambda: (files / "out").is_symlink(), "the agent's files")
        before = listed(files)
        kinds = [event.kind for event in events]
        assert opened.session.score()
        await until((rows.folder / "began").exists, "the grader")
        assert (listed(files), (files / "made.txt").read_text()) == (before, "by the agent\n")
        assert [event.kind for event in events] == kinds
        assert not any(isinstance(event, Graded | StateChanged) for event in events[len(kinds) :])
        (rows.folder / "go-on").touch()
        await until(lambda: scores(events), "the score")
        (score,) = scores(events)
        assert (score.provisional, score.turn, score.error) == (True, 1, None)
        assert score.metrics == {"slow": 0.25, "slow.files": 4.0, "right": 0.0}
        assert "'I begin.' made.txt out row.json sub" in score.reason
        assert (listed(files), (files / "made.txt").read_text()) == (before, "by the agent\n")
        assert [path for path in opened.folder.path.iterdir() if path.name.startswith(".scoring")] == []
        (files / "go").touch()
        await opened.session.settled()
    _, final = scores(events)
    assert (final.provisional, final.metrics["right"]) == (False, 1.0)
    state = SessionState()
    for event in events:
        state.apply(event)
    assert (state.reward, state.metrics["right"]) == ((0.25 + 1) / 2, 1.0)
    assert [reward.provisional for turn in recorded_turns(events) for reward in turn.rewards] == [False]


async def test_it_does_not_become_the_reward(rows: GradedRows) -> None:
    (rows.folder / "go-on").touch()
    async with rows.opened("graders:slow") as (opened, events):
        state = SessionState()
        opened.bus.subscribe(state.apply)
        await until((opened.folder.files / "out").is_symlink, "the agent's files")
        opened.session.score()
        await until(lambda: scores(events))
        assert (state.reward, state.metrics, state.grade_error) == (None, {}, None)
        (place,) = [place for place, entry in enumerate(state.entries) if entry.kind == "reward"]
        block = block_of(state, place)
        assert block.title == "★ score now 0.25 · graders:slow"
        assert block.body.endswith(f"\nfiles {len(listed(opened.folder.files)):g}")


async def test_a_paused_and_an_idle_session_can_be_scored(rows: GradedRows) -> None:
    (rows.folder / "go-on").touch()
    rows.agent = [{"text": "It is 4.", "tool_calls": [SUBMIT]}]
    async with rows.opened("exact", mode="step") as (opened, events):
        await until(lambda: any(isinstance(event, Paused) for event in events))
        opened.session.score()
        await until(lambda: len(scores(events)) == 1)
        assert opened.session.gate.waiting
        opened.session.run_on()
        await opened.session.settled()
        opened.session.score()
        await until(lambda: len(scores(events)) == 3)
        assert [(one.provisional, one.reward) for one in scores(events)] == [
            (True, 0.0),
            (False, 1.0),
            (True, 1.0),
        ]


async def test_a_second_time_stops_it(rows: GradedRows) -> None:
    async with rows.opened("graders:slow") as (opened, events):
        await until(lambda: any(isinstance(event, ToolCallStarted) for event in events))
        assert opened.session.score()
        await until((rows.folder / "began").exists, "the grader")
        assert not opened.session.score()
        pid = int((rows.folder / "began").read_text())
        await until(lambda: not Path(f"/proc/{pid}").exists(), "the end of the grader")
        assert scores(events) == []
        assert opened.session.status == "running"


async def test_the_end_of_the_session_ends_it(rows: GradedRows) -> None:
    async with rows.opened("graders:slow") as (opened, events):
        await until(lambda: any(isinstance(event, ToolCallStarted) for event in events))
        opened.session.score()
        await until((rows.folder / "began").exists, "the grader")
    assert scores(events) == []
    assert not [path for path in opened.folder.path.iterdir() if path.name.startswith(".scoring")]
    with pytest.raises(UserError, match="this session is over: `agentscope grade` grades it"):
        opened.session.score()


async def test_without_a_grader_it_says_what_to_do(rows: GradedRows) -> None:
    async with rows.opened() as (opened, events):
        await until(lambda: any(isinstance(event, ToolCallStarted) for event in events))
        with pytest.raises(UserError, match="name one with --grader"):
            opened.session.score()
