"""Step, continue, pause and leave: what the keys do to the session, and what the screen says of it."""

from __future__ import annotations

import pytest

from agentscope_tui.tui.screens.confirm import ConfirmScreen
from agentscope_widgets.key_bar import KeyBar
from screens.stage import UNTIL_GO, Stage, View, bash, reply


def works(view: View) -> set[str]:
    """The words in the bar of keys."""
    return {hint.word for hint in view.pane(KeyBar).hints}


async def test_step_stops_at_the_next_completion(stage: Stage):
    stage.says(reply("one", bash("echo hi")), reply("two", bash("true")), reply("three"))
    async with stage.running() as view:
        await view.opened_and_paused()
        assert {"step", "continue", "edit", "refuse", "interrupt"} <= works(view)
        assert "pause" not in works(view)
        await view.press("n")
        await view.paused(2)
        assert "✓ done" in view.calls
        assert "calls 2/60" in view.status
        assert "actions 1/40" in view.status
        await view.press("f10")
        await view.paused(3)
        await view.press("n")
        await view.until(lambda: view.status.startswith("DONE") or " DONE" in view.status)
        assert "✓ done" in view.row_line(0)


async def test_fine_step_also_stops_at_calls_and_results(stage: Stage):
    stage.says(reply("one", bash("echo hi")), reply("two"))
    async with stage.running() as view:
        await view.opened_and_paused()
        await view.press("N")
        await view.until(lambda: "PAUSED before bash" in view.status)
        assert "step fine" in view.status
        assert "hi" not in view.output
        await view.press("N")
        await view.until(lambda: "PAUSED after bash" in view.status)
        await view.until(lambda: "hi" in view.output)
        await view.press("N")
        await view.paused(2)


async def test_continue_runs_on_and_pause_stops_again(stage: Stage):
    stage.says(reply("one", bash(UNTIL_GO)), reply("two", bash("true")), reply("three"))
    async with stage.running() as view:
        await view.opened_and_paused()
        await view.press("c")
        await view.until(lambda: "RUNNING bash" in view.status)
        await view.until(lambda: "pause" in works(view))
        assert "continue" not in works(view)
        await view.press("p")
        await view.until(lambda: view.state.mode == "step")
        view.let_go()
        await view.paused(2)
        await view.press("c")
        await view.until(lambda: "DONE" in view.status)


async def test_enter_on_an_empty_composer_steps(stage: Stage):
    stage.says(reply("one", bash("true")), reply("two"))
    async with stage.running() as view:
        await view.opened_and_paused()
        await view.press("s")
        await view.until(lambda: view.focus() == "composer")
        assert "Enter steps" in str(view.composer.placeholder)
        await view.press("enter")
        await view.paused(2)
        assert view.state.steers == []


async def test_keys_of_the_screen_work_while_a_message_is_written(stage: Stage):
    stage.says(reply("one", bash("true")), reply("two"))
    async with stage.running() as view:
        await view.opened_and_paused()
        await view.press("s")
        await view.type("nc")
        await view.press("f10")
        await view.paused(2)
        assert view.composer.text == "nc"


async def test_rewards_show_in_the_row_and_in_the_transcript(stage: Stage):
    stage.rows = [
        {"user_prompt": "right", "ground_truth": "42", "grader": "exact"},
        {"user_prompt": "wrong", "ground_truth": "42", "grader": "exact"},
        {"user_prompt": "broken", "grader": "command:exit 300; ${"},
    ]
    stage.says(reply("", ("submit", {"answer": "42"})), reply("sent"), match="right")
    stage.says(reply("43"))
    async with stage.running(stage.app({"session.mode": "run"})) as view:
        await view.open(0)
        await view.until(lambda: "★ reward 1" in view.transcript)
        await view.until(lambda: "reward 1" in view.status)
        assert view.row_line(0).split()[3:5] == ["#1", "1"]
        await view.open(1)
        await view.until(lambda: "☆ reward 0" in view.transcript)
        assert view.row_line(1).split()[3:5] == ["#1", "0"]


async def test_a_graders_own_error_is_shown_as_such(stage: Stage):
    stage.rows = [{"user_prompt": "x", "ground_truth": None, "grader": "numeric"}]
    stage.says(reply("42"))
    async with stage.running(stage.app({"session.mode": "run"})) as view:
        await view.open()
        await view.until(lambda: "grader error (numeric)" in view.transcript)
        assert "error" in view.row_line(0)


@pytest.mark.parametrize("answer", ["b", "i", "escape"])
async def test_back_to_the_rows_asks_what_becomes_of_what_runs(stage: Stage, answer: str):
    stage.says(reply("", bash("sleep 600")), reply("after"))
    async with stage.running() as view:
        await view.opened_and_paused()
        await view.press("n")
        await view.until(lambda: "RUNNING bash" in view.status)
        row = view.row
        await view.press("q")
        await view.answer(answer)
        await view.until(lambda: view.app.screen is view.debugger)
        if answer == "escape":
            assert view.row is row
            return
        await view.until(lambda: view.focus() == "rows" and "NO SESSION" in view.status)
        word = "● running" if answer == "b" else "■ stopped"
        await view.until(lambda: word in view.row_line(0))
        assert row.active is (answer == "b")


async def test_back_from_an_idle_session_asks_nothing(stage: Stage):
    async with stage.running() as view:
        await view.opened_and_paused()
        await view.press("n")
        await view.until(lambda: "DONE" in view.status)
        await view.press("q")
        await view.until(lambda: view.focus() == "rows")
        assert "✓ done" in view.row_line(0)
        await view.press("enter")
        await view.until(lambda: "hello" in view.transcript)


async def test_quitting_asks_while_something_runs(stage: Stage):
    stage.says(reply("", bash("sleep 600")))
    async with stage.running() as view:
        await view.opened_and_paused()
        await view.press("ctrl+q")
        await view.until(lambda: isinstance(view.app.screen, ConfirmScreen))
        await view.press("escape")
        await view.until(lambda: view.app.screen is view.debugger)
        row = view.row
        await view.press("ctrl+q")
        await view.answer("y")
        await view.until(lambda: not view.app.is_running)
    assert row.session.status == "ended"


async def test_messages_tools_and_help(stage: Stage):
    stage.rows = [{"user_prompt": "the task", "system_prompt": "be brief"}]
    stage.says(reply("I look.", bash("echo found")), reply("done"))
    async with stage.running() as view:
        await view.opened_and_paused()

        def detail() -> str:
            from agentscope_widgets.detail_view import DetailView
            from widgets.pane_app import shown

            panes = view.app.screen.query(DetailView)
            return shown(panes.first()) if panes else ""

        await view.press("m")
        await view.until(lambda: "[0] system" in detail() and "[2] assistant" in detail())
        for text in (
            "be brief",
            "[1] user",
            "the task",
            "→ bash · call_1",
            "echo found",
            "comes in",
        ):
            assert text in detail(), text
        await view.press("j")
        await view.until(lambda: '"role": "system"' in detail())
        await view.press("escape", "t")
        await view.until(lambda: "command · string · required" in detail())
        await view.press("j")
        await view.until(lambda: '"parameters": {' in detail())
        await view.press("q", "question_mark")
        await view.until(lambda: "Let the waiting step go" in detail())
        await view.press("escape")
        await view.until(lambda: view.app.screen is view.debugger)
        await view.press("n")
        await view.paused(2)
        await view.press("m")
        await view.until(lambda: "[3] tool · call_1" in detail())
        await view.press("end")
        await view.until(lambda: "[4] assistant" in detail() and "found" in detail())
