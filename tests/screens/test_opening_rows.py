"""Opening rows: by key and click, several at once, bad rows, and what goes wrong on the way."""

from __future__ import annotations

import pytest

from agentscope_widgets.row_list import RowList
from agentscope_widgets.transcript import Transcript
from screens.stage import UNTIL_GO, Stage, bash, reply


async def test_enter_starts_the_row_in_step_mode(stage: Stage):
    stage.rows = [{"user_prompt": "count the files"}]
    stage.says(reply("I look.", bash("ls")))
    async with stage.running() as view:
        assert "Press Enter on a row" in view.transcript
        assert view.focus() == "rows"
        assert "NO SESSION" in view.status
        await view.press("enter")
        await view.paused()
        assert view.state.mode == "step"
        assert view.focus() == "transcript"
        for text in ("user", "count the files", "assistant", "I look.", "proposed"):
            assert text in view.transcript
        assert "○ proposed bash" in view.calls
        assert "‖ paused" in view.row_line(0)
        assert [file.name for file in view.files.iterdir()] == ["row.json"]


async def test_a_click_opens_the_row(stage: Stage):
    stage.rows = [{"user_prompt": "first"}, {"user_prompt": "second"}]
    stage.says(reply("done"))
    async with stage.running() as view:
        await view.until(lambda: view.pane(RowList).row_count == 2)
        await view.pilot.click(RowList, offset=(10, 2))
        await view.paused()
        assert view.row.index == 1
        assert "second" in view.transcript


async def test_a_row_named_on_the_command_line_opens_at_once(stage: Stage):
    stage.rows = [{"user_prompt": "first"}, {"user_prompt": "second"}]
    async with stage.running(stage.app(row=1)) as view:
        await view.paused()
        assert view.row.index == 1


async def test_another_row_leaves_the_first_one_running(stage: Stage):
    stage.rows = [
        {"user_prompt": "slow"},
        {"user_prompt": "quick", "ground_truth": "42", "grader": "exact"},
    ]
    stage.says(reply("", bash(UNTIL_GO)), reply("slow is done"), match="slow")
    stage.says(reply("", ("submit", {"answer": "42"})), reply("sent"), match="quick")
    async with stage.running() as view:
        await view.opened_and_paused(0)
        slow = view.row
        await view.press("c")
        await view.until(lambda: "● running" in view.row_line(0))
        await view.opened_and_paused(1)
        await view.press("c")
        await view.until(lambda: "✓ done" in view.row_line(1) and " 1 " in view.row_line(1))
        assert "● running" in view.row_line(0)
        assert slow.active
        (slow.opened.folder.files / "go").touch()
        await view.until(lambda: "✓ done" in view.row_line(0), "the first row's end")
        assert "slow is done" not in view.transcript
        await view.open(0)
        await view.until(lambda: "slow is done" in view.transcript)


async def test_rows_show_calls_where_there_is_room(stage: Stage):
    stage.says(reply("one", bash("true")), reply("two"))
    async with stage.running(size=(200, 40)) as view:
        await view.opened_and_paused()
        await view.press("n")
        await view.paused(2)
        assert view.row_line(0).split()[:4] == ["0", "‖", "paused", "2"]
        assert "calls" in view.text(RowList).split("\n")[0]


async def test_a_bad_row_says_why_and_the_others_work(stage: Stage):
    stage.rows = [{"user_prompt": 42}, "{broken", {"user_prompt": "good"}]
    async with stage.running() as view:
        await view.until(lambda: view.pane(RowList).row_count == 3)
        assert "✗ bad row" in view.row_line(0)
        assert "✗ bad row" in view.row_line(1)
        await view.press("enter")
        await view.until(lambda: "✗ this row was not opened" in view.transcript)
        assert "user_prompt" in view.transcript
        assert "ROW 0" in view.status
        await view.opened_and_paused(2)
        assert "hello" in view.transcript


async def test_a_session_that_cannot_start_says_why_in_its_row(stage: Stage):
    app = stage.app()
    (stage.state / "sessions").rmdir()
    (stage.state / "sessions").write_text("in the way")
    async with stage.running(app) as view:
        await view.until(lambda: view.pane(RowList).row_count == 1)
        await view.press("enter")
        await view.until(lambda: "✗ this row was not opened" in view.transcript)
        assert "AGENTSCOPE_HOME" in view.transcript
        assert "✗ error" in view.row_line(0)
        assert view.focus() == "rows"
        (stage.state / "sessions").unlink()
        await view.press("enter")
        await view.paused()


async def test_where_panes_are_alone_the_reason_is_in_sight(stage: Stage):
    app = stage.app()
    (stage.state / "sessions").rmdir()
    (stage.state / "sessions").write_text("in the way")
    async with stage.running(app, size=(80, 24)) as view:
        await view.until(lambda: view.pane(RowList).row_count == 1)
        await view.press("enter")
        await view.until(lambda: "✗ this row was not opened" in view.transcript)
        await view.until(lambda: view.focus() == "transcript")
        (stage.state / "sessions").unlink()
        await view.press("ctrl+r")
        await view.paused()


async def test_run_again_starts_from_nothing(stage: Stage):
    stage.says(reply("first words", bash("touch made")), reply("end"))
    async with stage.running() as view:
        await view.opened_and_paused()
        await view.press("c")
        await view.until(lambda: "DONE" in view.status)
        before = view.row
        await view.press("ctrl+r")
        await view.until(lambda: view.debugger.current not in (before, None))
        await view.paused()
        assert "end" not in view.transcript
        assert before.session.status == "ended"
        assert view.files != before.opened.folder.files


@pytest.mark.parametrize("answer", ["y", "escape"])
async def test_run_again_asks_while_the_row_runs(stage: Stage, answer: str):
    stage.says(reply("", bash("sleep 600")))
    async with stage.running() as view:
        await view.opened_and_paused()
        await view.press("n")
        await view.until(lambda: "RUNNING bash" in view.status)
        before = view.row
        await view.press("ctrl+r")
        await view.until(lambda: view.app.screen.query("#question"))
        await view.answer(answer)
        if answer == "y":
            await view.paused()
            assert view.row is not before
            assert before.session.status == "ended"
        else:
            await view.until(lambda: view.app.screen is view.debugger)
            assert view.row is before
            assert before.active


async def test_rows_are_found_again_by_their_index(stage: Stage):
    stage.rows = [{"user_prompt": f"task {number}"} for number in range(300)]
    stage.says(reply("ok"))
    async with stage.running() as view:
        await view.until(lambda: view.debugger.query_one("#rows-pane").border_subtitle == "300 rows")
        await view.press("end", "enter")
        await view.paused()
        assert view.row.index == 299
        assert "task 299" in view.text(Transcript)
