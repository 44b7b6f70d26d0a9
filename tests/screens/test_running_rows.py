"""Rows that are run in the background: started, watched, stopped, gone on with, and looked at one by one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from textual.widgets import Input, Static

from agentscope_tui.tui.recorded_session import RecordedRow
from agentscope_tui.tui.screens.edit import EditScreen
from agentscope_tui.tui.screens.fork import ForkScreen
from agentscope_tui.tui.screens.rollouts import RolloutsScreen
from agentscope_tui.tui.screens.run_start import RunStartScreen
from agentscope_tui.tui.screens.runs import RunsScreen
from agentscope_tui.tui.workspace import RowSession
from agentscope_widgets.row_list import RowList
from screens.stage import UNTIL_GO, Stage, View, bash, reply
from widgets.pane_app import shown

BROKEN = {"error": {"kind": "bad_request", "message": "no such thing"}}
SUBMIT = reply("", ("submit", {"answer": "4"}))


@pytest.fixture
def many(stage: Stage) -> Stage:
    """Twenty rows: 0 to 17 look and answer, 18 answers wrong, 19 has no answer that a grader takes."""
    stage.rows = [{"user_prompt": f"task {n} of the day", "ground_truth": "4"} for n in range(20)]
    stage.says(reply("", bash("echo 5")), reply("", ("submit", {"answer": "5"})), match="task 18 ")
    stage.says(reply("", bash("true")), BROKEN, match="task 19 ")
    stage.says(reply("", bash("echo 4")), SUBMIT)
    return stage


@pytest.fixture
def waiting(stage: Stage) -> Stage:
    """Twenty rows whose tool waits until it is told to go."""
    stage.rows = [{"user_prompt": f"task {n} of the day", "ground_truth": "4"} for n in range(20)]
    stage.says(reply("I wait", bash(UNTIL_GO)), SUBMIT)
    return stage


GRADED = {"grading.grader": "exact"}


async def started(view: View, **fields: object) -> None:
    """Run what is marked or shown, with these answers to the dialog."""
    await view.until(lambda: view.debugger._rows_pane.rows.dataset.complete, "all rows")
    await view.press("R")
    await view.until(lambda: isinstance(view.app.screen, RunStartScreen), "the question")
    for name, value in fields.items():
        view.app.screen.query_one(f"#{name}", Input).value = str(value)
    await view.press("enter")
    await view.until(lambda: batches(view).run is not None, "the run")


def batches(view: View):
    return view.app.workspace.batches


async def ended(view: View) -> None:
    await view.until(lambda: batches(view).running is None, "the end of the run")


def results(view: View) -> list[dict[str, object]]:
    lines = (batches(view).run.path / "results.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def folders(view: View) -> list[Path]:
    """Those of the sessions that run, by row."""
    opened = batches(view).opened.values()
    return [one.folder.files for one in sorted(opened, key=lambda one: one.task.index)]


async def working(view: View, count: int) -> None:
    """Wait until this many sessions have their tool running."""
    await view.until(
        lambda: (
            sum(account.tally.call == 1 for account in batches(view).run.progress.running.values()) == count
        ),
        f"{count} at work",
    )


def facts(view: View) -> str:
    return shown(view.app.screen.query_one("#facts", Static))


async def test_all_rows_run_and_each_shows_what_came_of_it(many: Stage):
    async with many.running(many.app(GRADED), size=(160, 40)) as view:
        await started(view, concurrency=5)
        await ended(view)
        run = batches(view).run
        assert (run.progress.done, run.progress.failed, run.state) == (19, 1, "done")
        await view.until(lambda: "✓ done" in view.row_line(0) and "✗ failed" in view.row_line(19))
        assert view.row_line(0).split()[:5] == ["0", "✓", "done", "2", "1"]
        assert "0" in view.row_line(18).split()
        assert len(results(view)) == 20
        meta = json.loads(
            (many.state / "sessions" / str(results(view)[0]["session"]) / "meta.json").read_text()
        )
        assert (meta["run"], meta["rollout"]) == (run.info.name, 0)


async def test_only_what_the_filter_shows_is_run(many: Stage):
    async with many.running(many.app(GRADED)) as view:
        await view.until(lambda: view.debugger._rows_pane.rows.dataset.complete, "all rows")
        await view.press("f")
        await view.until(lambda: view.debugger.query_one("#rows-pane PromptLine").has_focus_within)
        await view.type("index >= 17")
        await view.press("enter")
        await view.until(lambda: len(view.debugger._rows_pane.rows) == 3, "the filter")
        await started(view, rows=2)
        await ended(view)
        assert sorted(result["row"] for result in results(view)) == [17, 18]
        assert batches(view).run.info.rows == "17-18"


async def test_marked_rows_go_before_what_is_shown(many: Stage):
    async with many.running(many.app(GRADED)) as view:
        await view.until(lambda: view.debugger._rows_pane.rows.dataset.complete, "all rows")
        await view.press("down", "space", "down", "space", "R")
        await view.until(lambda: isinstance(view.app.screen, RunStartScreen), "the question")
        assert "The 2 marked rows" in view.picture()
        await view.press("enter")
        await view.until(lambda: batches(view).run is not None, "the run")
        await ended(view)
        assert sorted(result["row"] for result in results(view)) == [1, 3]


async def test_numbers_that_make_no_sense_are_refused(many: Stage):
    async with many.running(many.app(GRADED)) as view:
        await view.until(lambda: view.debugger._rows_pane.rows.dataset.complete, "all rows")
        await view.press("R")
        await view.until(lambda: isinstance(view.app.screen, RunStartScreen), "the question")
        view.app.screen.query_one("#rows", Input).value = "21"
        await view.press("enter")
        await view.until(lambda: "rows: a number from 1 to 20" in view.picture(), "the reason")
        await view.press("escape")
        assert batches(view).run is None


async def test_a_row_that_runs_is_attached_to_paused_steered_and_goes_on(waiting: Stage):
    async with waiting.running(waiting.app(GRADED), size=(120, 40)) as view:
        await started(view, concurrency=4)
        await working(view, 4)
        await view.open(2)
        await view.until(lambda: "I wait" in view.transcript, "what it has done so far")
        assert isinstance(view.row, RowSession)
        await view.press("p")
        await view.say("be quick")
        await view.until(lambda: "be quick" in view.queue, "the steer")
        view.let_go()
        await view.paused(2)
        assert batches(view).run.progress.done == 0
        await view.until(lambda: "‖ paused" in view.row_line(2), "the row says so")
        await view.press("escape", "n")
        await view.until(lambda: view.state.reward == 1.0, "its end")
        await view.until(lambda: [result["row"] for result in results(view)] == [2], "the run has its result")
        assert "be quick" in view.transcript
        batches(view).run.batch.interrupt("test")
        await ended(view)


async def test_an_attached_row_that_is_interrupted_is_stopped_and_the_run_goes_on(waiting: Stage):
    async with waiting.running(waiting.app(GRADED), size=(120, 40)) as view:
        await started(view, rows=2, concurrency=2)
        await working(view, 2)
        await view.open(0)
        await view.press("i")
        await view.until(lambda: batches(view).run.progress.stopped == 1, "its end")
        [other] = folders(view)
        (other / "go").touch()
        await ended(view)
        assert [(result["row"], result["state"]) for result in results(view)] == [(0, "stopped"), (1, "done")]
        assert batches(view).run.progress.left == 1


async def test_a_run_is_stopped_interrupted_and_gone_on_with(waiting: Stage):
    async with waiting.running(waiting.app(GRADED), size=(120, 40)) as view:
        await started(view, rows=3, concurrency=2)
        await working(view, 2)
        await view.press("u")
        await view.until(
            lambda: isinstance(view.app.screen, RunsScreen) and "2 running" in facts(view), "the page"
        )
        await view.press("x")
        await view.until(lambda: "no more rows" in facts(view), "it says so")
        [first, _] = folders(view)
        (first / "go").touch()
        await view.until(lambda: batches(view).run.progress.done == 1, "one has ended")
        assert len(batches(view).opened) == 1
        await view.press("i")
        await view.answer("y")
        await ended(view)
        await view.until(lambda: "stopped" in facts(view) and "2 to come" in facts(view), "the end")
        run = batches(view).run
        await view.press("R")
        await view.until(lambda: batches(view).run is not run and batches(view).running, "it goes on")
        await working(view, 2)
        for folder in folders(view):
            (folder / "go").touch()
        await ended(view)
        await view.until(lambda: "3 done" in facts(view), "all")
        assert batches(view).run.path == run.path
        assert [result["state"] for result in results(view)] == ["done", "stopped", "done", "done"]


async def test_the_next_failed_row_is_a_key_away_and_is_forked_where_it_failed(many: Stage):
    async with many.running(many.app(GRADED), size=(120, 40)) as view:
        await started(view)
        await ended(view)
        view.debugger.action_pane("rows")
        rows = view.pane(RowList)
        await view.until(lambda: "✗ failed" in view.row_line(19), "the rows as they ended")
        await view.press("E")
        await view.until(lambda: rows.cursor == 19, "the one that failed")
        await view.press("E")
        await view.until(lambda: rows.cursor == 18, "the one with no reward")
        await view.press("enter")
        await view.until(lambda: isinstance(view.debugger.current, RecordedRow), "its recording")
        await view.until(
            lambda: (entry := view.debugger.entry_under_cursor()) and entry.kind == "tool", "the call"
        )
        await view.press("f")
        await view.until(lambda: isinstance(view.app.screen, ForkScreen), "the fork")
        place = view.app.screen._place
        assert place.choices[place.likely].title == "result of bash"
        await view.press("enter")
        await view.until(lambda: isinstance(view.app.screen, EditScreen), "the result")
        await view.press("ctrl+s")
        await view.until(lambda: isinstance(view.debugger.current, RowSession), "the fork")
        await view.until(lambda: "‖ paused" in view.row_line(18), "the row is the fork's now")
        view.debugger.action_pane("rows")
        await view.press("E")
        await view.until(lambda: rows.cursor == 19, "around to the first")
        await view.press("enter")
        await view.until(
            lambda: (entry := view.debugger.entry_under_cursor()) and entry.kind == "error", "the failed call"
        )


async def test_several_rollouts_of_a_row_are_told_and_stand_side_by_side(many: Stage):
    async with many.running(many.app(GRADED), size=(200, 40)) as view:
        await started(view, rows=1, rollouts=4)
        await ended(view)
        await view.until(lambda: "✓ 4/4" in view.row_line(0) and "1±0" in view.row_line(0), "the row")
        await view.until(lambda: "@1 1 @4 1" in view.row_line(0), "the chances")
        await view.until(
            lambda: "mean 1±0 · pass@1 1 · pass@4 1" in view.picture(), "the same below the rows"
        )
        await view.press("enter")
        await view.until(lambda: isinstance(view.app.screen, RolloutsScreen), "side by side")
        await view.until(lambda: "4 sessions · 4 graded" in view.picture(), "all four")
        await view.press("enter")
        await view.until(lambda: isinstance(view.debugger.current, RecordedRow), "one of them")


async def test_quitting_asks_while_rows_run_and_what_ran_is_run_again_later(waiting: Stage):
    app = waiting.app(GRADED)
    async with waiting.running(app, size=(120, 40)) as view:
        await started(view, rows=5, concurrency=2)
        await working(view, 2)
        run = batches(view).run
        await view.press("ctrl+q")
        await view.until(lambda: "5 of 5 are left" in view.picture(), "the question")
        await view.answer("y")
        await view.until(lambda: not app.is_running, "the end")
    lines = [json.loads(line) for line in (run.path / "results.jsonl").read_text().splitlines()]
    assert [line["state"] for line in lines] == ["stopped", "stopped"]
    async with waiting.running(waiting.app(GRADED), size=(120, 40)) as view:
        await view.press("u")
        await view.until(lambda: "not complete" in facts(view), "the run of before")
        await view.press("R")
        await working(view, 5)
        assert batches(view).run.path == run.path
        batches(view).run.batch.interrupt("test")
        await ended(view)


async def test_an_earlier_run_is_shown_in_the_rows(many: Stage):
    async with many.running(many.app(GRADED), size=(120, 40)) as view:
        await started(view)
        await ended(view)
    async with many.running(many.app(GRADED), size=(120, 40)) as view:
        await view.press("u")
        await view.until(lambda: "19 done" in facts(view), "the run of before")
        await view.press("enter")
        await view.until(lambda: batches(view).run is not None, "its rows")
        await view.until(lambda: "tokens" in [column.key for column in view.pane(RowList).columns], "columns")
        await view.press("E", "enter")
        await view.until(lambda: isinstance(view.debugger.current, RecordedRow), "the recording")
        assert view.debugger.index == 19


async def test_a_small_terminal_has_room_for_all_of_it(many: Stage):
    async with many.running(many.app(GRADED), size=(80, 24)) as view:
        await view.until(lambda: view.debugger._rows_pane.rows.dataset.complete, "all rows")
        await view.press("R")
        await view.until(lambda: isinstance(view.app.screen, RunStartScreen), "the question")
        assert "20 sessions" in view.picture()
        await view.press("enter")
        await view.until(lambda: batches(view).run is not None, "the run")
        await ended(view)
        await view.press("u")
        await view.until(
            lambda: isinstance(view.app.screen, RunsScreen) and "19 done" in facts(view), "the page"
        )
        await view.until(
            lambda: "most 18" in view.picture() and "✓ done" in view.picture(), "figures and list"
        )


async def test_a_filter_follows_what_comes_of_the_rows(waiting: Stage):
    async with waiting.running(waiting.app(GRADED), size=(120, 40)) as view:
        await started(view, rows=3, concurrency=3)
        await working(view, 3)
        await view.press("f")
        await view.until(lambda: view.debugger.query_one("#rows-pane PromptLine").has_focus_within)
        await view.type('state == "running"')
        await view.press("enter")
        rows = view.debugger._rows_pane.rows
        await view.until(lambda: len(rows) == 3, "all that run")
        for number, folder in enumerate(folders(view), start=1):
            (folder / "go").touch()
            await view.until(lambda number=number: len(rows) == 3 - number, "one less")
        await ended(view)


async def test_an_error_that_all_rows_would_meet_ends_the_run(stage: Stage):
    stage.rows = [{"user_prompt": f"task {n}"} for n in range(20)]
    stage.says({"error": {"kind": "authentication", "message": "that key is not ours"}})
    async with stage.running(size=(120, 40)) as view:
        await started(view, concurrency=2)
        await ended(view)
        await view.until(
            lambda: any(
                note.severity == "error" and "that key is not ours" in note.message
                for note in view.app._notifications
            ),
            "the reason",
        )
        assert batches(view).run.progress.left == 20


async def test_an_attached_row_that_has_ended_can_be_gone_on_with(waiting: Stage):
    async with waiting.running(waiting.app(GRADED), size=(120, 40)) as view:
        await started(view, rows=1)
        await working(view, 1)
        await view.open(0)
        before = view.row
        view.let_go()
        await ended(view)
        await view.until(lambda: view.state.status == "ended", "its end")
        await view.press("R")
        await view.until(lambda: view.debugger.current not in (before, None), "one that goes on")
        await view.until(lambda: view.state.status == "idle", "where it ended")
        await view.say("and now?")
        await view.until(lambda: view.state.turn == 2, "the next turn")


async def test_a_second_run_is_not_begun_beside_the_first(waiting: Stage):
    async with waiting.running(waiting.app(GRADED), size=(120, 40)) as view:
        await started(view, rows=1)
        await working(view, 1)
        await view.press("R")
        await view.until(lambda: isinstance(view.app.screen, RunsScreen), "the run that is under way")
        batches(view).run.batch.interrupt("test")
        await ended(view)


async def test_what_is_typed_at_once_goes_to_each_field(many: Stage):
    async with many.running(many.app(GRADED)) as view:
        await view.until(lambda: view.debugger._rows_pane.rows.dataset.complete, "all rows")
        await view.press("R")
        await view.until(lambda: isinstance(view.app.screen, RunStartScreen), "the question")
        await view.press("3", "tab", "2", "tab", "1", "enter")
        await view.until(lambda: batches(view).run is not None, "the run")
        run = batches(view).run
        assert (run.info.rows, run.info.rollouts, batches(view).concurrency) == ("0-2", 2, 1)
        await ended(view)


async def test_what_rows_cost_so_far_tells_what_more_of_them_will(many: Stage):
    name = f"scripted:{many.folder / 'script.yaml'}"
    prices = {"model.prices": {name: {"input": 1000.0, "output": 1000.0}}}
    async with many.running(many.app({**GRADED, **prices}), size=(120, 40)) as view:
        await started(view, rows=2)
        await ended(view)
        cost = batches(view).run.progress.cost
        assert cost
        await view.press("R")
        await view.until(lambda: isinstance(view.app.screen, RunStartScreen), "the question")
        assert f"20 sessions · about ${10 * cost:.2f}, as one cost ${cost / 2:.2f} so far" in view.picture()
