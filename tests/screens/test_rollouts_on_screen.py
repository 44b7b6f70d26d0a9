"""All sessions of a row side by side: numbers above, a strip each, and ways to open and compare them."""

from __future__ import annotations

import pytest
from textual.widgets import Static

from agentscope_tui.tui.screens.compare import CompareScreen
from agentscope_tui.tui.screens.rollouts import RolloutsScreen
from agentscope_tui.tui.screens.sessions import SessionsScreen
from agentscope_widgets.row_list import RowList
from fakes.small_sessions import Did, past_session, recording_of
from screens.stage import Stage, View
from widgets.pane_app import shown

LOOK = Did("I look", "bash", '{"command": "ls"}', "notes.txt")
FAIL = Did("I add up", "bash", '{"command": "sum"}', "no", status="failed", exit_code=1)
SUBMIT = Did("", "submit", '{"answer": "4"}')


@pytest.fixture
def some(stage: Stage) -> Stage:
    """A row with four sessions, and another row with one."""
    sessions = [
        ("a", 0, 0.0, (LOOK, FAIL)),
        ("b", 0, 1.0, (LOOK, LOOK, SUBMIT)),
        ("c", 0, None, (LOOK, Did("so what"))),
        ("d", 0, 1.0, (LOOK, SUBMIT)),
        ("e", 1, 0.5, (SUBMIT,)),
    ]
    stage.rows = [{"user_prompt": "do the task"}] * 2
    for name, row, reward, did in sessions:
        past = past_session(
            *did, session_id=name, reward=reward, row=row, dataset=str(stage.folder / "tasks.jsonl")
        )
        folder = stage.state / "sessions" / name
        folder.mkdir(parents=True)
        (folder / "events.jsonl").write_text(recording_of(past))
    return stage


async def opened(view: View) -> None:
    """Row 0's sessions, then side by side."""
    await view.press("h")
    await view.until(lambda: isinstance(view.app.screen, SessionsScreen) and lines(view), "the sessions")
    await view.press("equals_sign")
    await view.until(lambda: isinstance(view.app.screen, RolloutsScreen) and lines(view), "the rollouts")


def lines(view: View) -> list[str]:
    """The lines of the list, without its header."""
    found = [shown(one).split("\n")[1:] for one in view.app.screen.query(RowList)]
    return [line.strip() for one in found for line in one if line.strip()]


def facts(view: View) -> str:
    return shown(view.app.screen.query_one("#facts", Static))


async def test_the_sessions_of_a_row_stand_below_each_other_the_best_first(some: Stage):
    async with some.running(size=(120, 30)) as view:
        await opened(view)
        told = [(line.split()[1], line.split()[-1]) for line in lines(view)]
        assert told == [("b", "▪│▪◆"), ("d", "▪│◆"), ("a", "▪│✗"), ("c", "▪│○")]
        said = "4 sessions · 3 graded · 2 passed · mean 0.667 ± 0.577"
        await view.until(lambda: said in facts(view), "the numbers")
        assert "pass@1 0.67 · pass@2 1.00 · pass@3 1.00 · best b · worst a" in facts(view)
        assert "row 0" in view.picture()


async def test_two_marked_ones_are_compared_and_else_the_best_with_the_chosen_one(some: Stage):
    async with some.running(size=(120, 30)) as view:
        await opened(view)
        await view.press("D")
        assert isinstance(view.app.screen, RolloutsScreen)
        await view.press("down", "down", "D")
        await view.until(lambda: isinstance(view.app.screen, CompareScreen), "the best with the chosen one")
        await view.until(lambda: "- b" in facts(view) and "+ a" in facts(view), "both")
        await view.press("escape")
        await view.press("space", "down", "space", "D")
        await view.until(lambda: isinstance(view.app.screen, CompareScreen), "the two marked ones")
        await view.until(lambda: "- a" in facts(view) and "+ c" in facts(view), "both")


async def test_enter_opens_one(some: Stage):
    async with some.running(size=(120, 30)) as view:
        await opened(view)
        await view.press("down", "enter")
        await view.until(lambda: view.app.screen is view.debugger, "the debugger")
        await view.until(lambda: view.debugger.current, "the recording")
        assert view.debugger.current is not None
        assert view.debugger.current.session_id == "d"


async def test_a_session_that_cannot_be_read_is_said_and_the_others_are_shown(some: Stage):
    async with some.running(size=(120, 30)) as view:
        await opened(view)
        (some.state / "sessions" / "b" / "events.jsonl").unlink()
        await view.press("ctrl+l")
        await view.until(lambda: len(lines(view)) == 3, "the others")
        assert lines(view)[0].split()[1] == "d"
        await view.press("escape")
        await view.until(lambda: isinstance(view.app.screen, SessionsScreen), "back")
