"""The rows pane: marks, columns, the whole row, the time of turns, and a file that changes while open."""

from __future__ import annotations

import json

import pytest

from agentscope_tui.tui.panes.row_panel import RowPanel
from agentscope_widgets.detail_view import DetailView
from agentscope_widgets.row_list import RowList
from screens.stage import UNTIL_GO, Stage, View, bash, reply
from widgets.pane_app import shown

HOSTILE = "\x1b]52;c;eA==\x07\u202e[/x] 日本語 👩‍👩‍👧 e\u0301\u0301\u0301\u0301\u0301\u0301\nline"


def header(view: View) -> str:
    return view.text(RowList).split("\n")[0]


def subtitle(view: View) -> str:
    return str(view.debugger.query_one("#rows-pane").border_subtitle)


def panel(view: View) -> RowPanel | None:
    return RowPanel.of(view.debugger._rows_pane)


def panel_text(view: View) -> str:
    return shown(view.debugger.query_one("#row-detail", DetailView))


def said(view: View, text: str) -> bool:
    """Whether a notification says this."""
    return any(text in note.message for note in view.app._notifications)


@pytest.fixture
def some(stage: Stage) -> Stage:
    stage.rows = [
        {"id": n, "question": f"task {n}", "answer": {"n": n}, "files": {"a.txt": "x"}} for n in range(20)
    ]
    return stage


async def counted(view: View, rows: int) -> None:
    await view.until(lambda: f"{rows} rows" in subtitle(view) or f"{rows} row" == subtitle(view), "all rows")


async def test_marks_are_counted_and_outlive_a_filter(some: Stage):
    async with some.running(size=(120, 24)) as view:
        await counted(view, 20)
        pane = view.debugger._rows_pane
        await view.press("space", "space", "down", "shift+down", "down", "down", "V")
        await view.until(lambda: subtitle(view) == "20 rows, 6 marked")
        assert pane.marked == [0, 1, 3, 4, 5, 6]
        assert view.row_line(3).startswith("*")
        await view.press("f")
        await view.until(lambda: view.debugger.query_one("#rows-pane PromptLine").has_focus_within)
        await view.type("id >= 18")
        await view.press("enter", "a")
        await view.until(lambda: subtitle(view) == "2 of 20 rows, 8 marked")
        assert pane.marked == [0, 1, 3, 4, 5, 6, 18, 19]
        await view.press("escape")
        await view.until(lambda: subtitle(view) == "20 rows, 8 marked")
        await view.press("A")
        await view.until(lambda: subtitle(view) == "20 rows")
        assert pane.marked == []


async def test_chosen_columns_and_widths_are_remembered(some: Stage):
    async with some.running(size=(200, 30)) as view:
        await counted(view, 20)
        await view.press("C")
        await view.until(lambda: view.app.screen.query("#columns"))
        # Away with `calls`, and `answer` goes before the prompt.
        await view.press("down", "space", *["down"] * 7, "space", "K", "K", "K", "enter")
        now = ["#", "state", "reward", "time", "sess.", "answer", "prompt"]
        await view.until(lambda: header(view).split() == now)
        assert '{"n": 4}' in view.row_line(4)
        await view.press("right", "greater_than_sign")
    async with some.running(size=(200, 30)) as view:
        await counted(view, 20)
        assert header(view).split() == ["#", "state", "reward", "time", "sess.", "answer", "prompt"]
        assert view.pane(RowList).columns[0].width == 9


async def test_a_chooser_that_is_left_changes_nothing(some: Stage):
    async with some.running(size=(120, 30)) as view:
        await counted(view, 20)
        before = view.pane(RowList).columns
        await view.press("C")
        await view.until(lambda: view.app.screen.query("#columns"))
        await view.press("space", "escape")
        await view.until(lambda: view.app.screen is view.debugger)
        assert view.pane(RowList).columns == before


async def test_the_whole_row_lies_beside_the_rows_and_follows_the_cursor(some: Stage):
    some.rows[2] = {"question": HOSTILE, "answer": "x"}
    some.rows[3] = "{broken"
    async with some.running(size=(120, 30)) as view:
        await counted(view, 20)
        await view.press("v")
        await view.until(lambda: panel(view) and '"question": "task 0"' in panel_text(view))
        assert view.focus() == "rows"
        await view.press("down", "down")
        await view.until(lambda: "\\u202e[/x] 日本語" in panel_text(view))
        assert "\x1b" not in view.picture()
        assert "\u202e" not in view.picture()
        await view.press("down")
        await view.until(lambda: "invalid JSON" in panel_text(view))
        rows, beside = view.debugger._rows_pane.region, panel(view).region
        assert not rows.overlaps(beside)
        await view.press("escape")
        await view.until(lambda: panel(view) is None)
        assert view.focus() == "rows"


async def test_in_a_narrow_terminal_the_whole_row_has_the_room_and_its_own_keys(some: Stage):
    async with some.running(size=(80, 24)) as view:
        await counted(view, 20)
        await view.press("v")
        await view.until(lambda: panel(view) and view.focus() == "row-detail")
        await view.press("right", "right", "left")
        await view.until(lambda: '"question": "task 1"' in panel_text(view))
        await view.press("v")
        await view.until(lambda: panel(view) is None)
        assert view.focus() == "rows"
        assert view.pane(RowList).cursor == 1


async def test_another_pane_is_not_hidden_by_the_whole_row(some: Stage):
    async with some.running(size=(120, 30)) as view:
        await counted(view, 20)
        await view.press("v")
        await view.until(lambda: panel(view) is not None)
        await view.press("enter")
        await view.paused()
        await view.until(lambda: panel(view) is None)


async def test_a_row_is_copied_as_json(some: Stage):
    some.rows[0] = {"question": HOSTILE, "n": 1}
    async with some.running(size=(120, 30)) as view:
        await counted(view, 20)
        await view.press("y")
        await view.until(lambda: (some.state / "copied.txt").exists())
        await view.until(lambda: json.loads((some.state / "copied.txt").read_text()) == some.rows[0])


async def test_the_time_of_a_turn_grows_while_it_runs(some: Stage):
    some.says(reply("", bash(UNTIL_GO)), reply("done"))
    async with some.running(size=(200, 30)) as view:
        await counted(view, 20)
        await view.opened_and_paused(0)
        await view.press("c")
        await view.until(lambda: "● running" in view.row_line(0))
        first = view.row_line(0)
        assert " s " in first
        await view.until(lambda: view.row_line(0) != first and "running" in view.row_line(0), "more time")
        view.let_go()
        await view.until(lambda: "✓ done" in view.row_line(0))


async def test_a_file_that_grew_is_told_and_opened_again_with_its_sessions(some: Stage):
    async with some.running(size=(120, 30)) as view:
        await counted(view, 20)
        await view.opened_and_paused(5)
        await view.press("1", "space")
        with (some.folder / "tasks.jsonl").open("a") as file:
            file.write(json.dumps({"question": "task new", "answer": 1}) + "\n")
        await view.until(lambda: "! the dataset was appended to" in view.picture(), "the note")
        await view.press("ctrl+l")
        await view.until(lambda: subtitle(view) == "21 rows, 1 marked")
        assert "! the dataset" not in view.picture()
        assert "‖ paused" in view.row_line(5)
        assert view.pane(RowList).cursor == 6
        await view.press("end")
        await view.until(lambda: "task new" in view.row_line(20))
        await view.until(lambda: said(view, "Its rows are others"))


async def test_a_file_that_is_gone_keeps_its_rows_and_says_so(some: Stage):
    async with some.running(size=(120, 30)) as view:
        await counted(view, 20)
        (some.folder / "tasks.jsonl").unlink()
        await view.until(lambda: "! the dataset is gone" in view.picture(), "the note")
        await view.press("ctrl+l")
        await view.until(lambda: said(view, "no such dataset"))
        assert "task 3" in view.row_line(3)


async def test_a_range_is_told_by_its_indices(some: Stage):
    async with some.running(some.app({"dataset.offset": 5, "dataset.limit": 3})) as view:
        await view.until(lambda: subtitle(view) == "rows 5 to 7")
        assert [line.split()[0] for line in view.text(RowList).split("\n")[1:] if line] == ["5", "6", "7"]
        await view.press("down", "space")
        await view.until(lambda: view.debugger._rows_pane.marked == [6])
