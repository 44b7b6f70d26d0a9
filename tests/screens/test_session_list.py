"""The list of recorded sessions: whose, what is done to them there; and the rows that have some."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agentscope_tui.store.folders import read_meta
from agentscope_tui.tui.screens.compare import CompareScreen
from agentscope_tui.tui.screens.sessions import SessionsScreen
from agentscope_widgets.prompt_line import PromptLine
from agentscope_widgets.row_list import RowList
from fakes.listed_sessions import write_recording
from screens.stage import Stage, View, bash, reply
from widgets.pane_app import shown

HOSTILE = "[/nope] \x1b[2J\x9b31m \u202e日本"
BEGUN = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def some(stage: Stage) -> Stage:
    """Five rows; row 0 with a session and two forks of it, row 1 with one, and one of another dataset."""
    stage.rows = [{"user_prompt": f"task {number}"} for number in range(5)]
    stage.says(reply("one", bash("true")), reply("two"))
    made = [
        ("a", {"row": 0, "reward": 0.0, "prompt": "task 0", "name": "root"}),
        ("b", {"row": 0, "reward": 1.0, "parent": "a", "parent_call": 2, "change": "another result"}),
        ("c", {"row": 1, "reward": 0.5, "calls": 3, "prompt": HOSTILE, "ended": False}),
        ("d", {"row": 0, "reward": 0.0, "parent": "a", "parent_call": 1, "change": HOSTILE}),
        ("e", {"row": 0, "dataset": "/elsewhere/rows.jsonl", "prompt": "of others"}),
    ]
    for number, (name, facts) in enumerate(made):
        facts = {"dataset": str(stage.folder / "tasks.jsonl"), **facts}
        begun = BEGUN + timedelta(minutes=number)
        write_recording(stage.state / "sessions" / name, begun=begun, **facts)
    return stage


def the_list(view: View) -> RowList:
    return view.app.screen.query_one("#sessions", RowList)


def listed(view: View) -> list[str]:
    """The lines of the list, without its header."""
    if not isinstance(view.app.screen, SessionsScreen):
        return []
    return [line.strip() for line in shown(the_list(view)).split("\n")[1:] if line.strip()]


async def opened(view: View, count: int) -> None:
    await view.press("h")
    await view.until(lambda: len(listed(view)) == count, f"{count} sessions")


async def test_a_row_has_its_sessions_as_a_tree_with_what_each_fork_brought(some: Stage):
    async with some.running(size=(140, 30)) as view:
        await opened(view, 3)
        lines = listed(view)
        assert [line.split()[:2] for line in lines] == [["0", "root"], ["0", "└"], ["0", "└"]]
        assert lines[0].split()[2:5] == ["✓", "done", "0"]
        assert " d " in lines[1]
        assert " = #1 [/nope] " in lines[1]
        assert lines[2].split()[2:7] == ["b", "✓", "done", "1", "+1"]
        assert " #2 another result " in lines[2]
        assert not set(shown(the_list(view))) & {"\x1b", "\x9b", "\u202e"}
        assert "Sessions · row 0" in view.picture()
        assert "3 sessions" in view.picture()


async def test_its_scope_grows_to_the_dataset_and_to_all(some: Stage):
    async with some.running(size=(140, 30)) as view:
        await opened(view, 3)
        await view.press("s")
        await view.until(lambda: len(listed(view)) == 4)
        assert "Sessions · tasks.jsonl" in view.picture()
        assert "■ cut off" in listed(view)[0]
        await view.press("s")
        await view.until(lambda: len(listed(view)) == 5)
        assert listed(view)[0].split()[:2] == ["0", "e"]
        await view.press("s")
        await view.until(lambda: len(listed(view)) == 3)


async def test_search_finds_as_it_is_typed_and_escape_goes_back_by_steps(some: Stage):
    async with some.running(size=(140, 30)) as view:
        await opened(view, 3)
        await view.press("s", "/")
        await view.type("another RES")
        await view.until(lambda: len(listed(view)) == 1)
        # Its parent is not in the list: it is named.
        assert "#2 of a another result" in listed(view)[0]
        await view.press("enter", "escape")
        await view.until(lambda: len(listed(view)) == 4)
        await view.press("/")
        await view.type("nothing like it")
        await view.until(lambda: "no session is like that" in shown(the_list(view)))
        await view.press("escape")
        await view.until(lambda: len(listed(view)) == 4)
        await view.press("escape")
        await view.until(lambda: view.app.screen is view.debugger)


async def test_enter_opens_a_recording(some: Stage):
    async with some.running(size=(140, 30)) as view:
        await opened(view, 3)
        await view.press("down", "down", "enter")
        await view.until(lambda: view.debugger.current and view.row.session_id == "b")
        assert view.row.session is None
        assert "word word" in view.transcript


async def test_enter_goes_to_a_session_that_runs_here(some: Stage):
    async with some.running(size=(140, 30)) as view:
        await view.opened_and_paused(0)
        session_id = view.row.session_id
        await view.open(1)
        await view.paused()
        view.debugger.action_pane("rows")
        view.pane(RowList).cursor = 0
        await opened(view, 4)
        line = listed(view)[0]
        assert f"▸ {session_id}" in line
        assert "‖ paused" in line
        await view.press("home", "enter")
        await view.until(lambda: view.debugger.current and view.row.session_id == session_id)
        assert "PAUSED after call #1" in view.status
        assert view.row.session is not None


async def test_a_session_that_goes_on_is_told_as_it_goes(some: Stage):
    some.scripts.clear()
    some.says(reply("one", bash("true")), reply("two"))
    async with some.running(size=(140, 30)) as view:
        await view.opened_and_paused(2)
        await opened(view, 1)
        assert "‖ paused" in listed(view)[0]
        view.row.session.run_on()
        await view.until(lambda: listed(view) and "✓ done" in listed(view)[0])


async def test_one_that_another_process_records_appears(some: Stage):
    async with some.running(size=(140, 30)) as view:
        await opened(view, 3)
        write_recording(
            some.state / "sessions" / "f", row=0, dataset=str(some.folder / "tasks.jsonl"), begun=BEGUN
        )
        await view.until(lambda: len(listed(view)) == 4)


async def test_rename_is_kept_in_the_folder_and_a_bad_name_is_said(some: Stage):
    async with some.running(size=(140, 30)) as view:
        await opened(view, 3)
        await view.press("r")
        prompt = view.app.screen.query_one(PromptLine)
        await view.until(lambda: prompt.value == "root")
        await view.press(*["backspace"] * 4)
        await view.type("last")
        await view.press("enter")
        await view.until(lambda: "always the newest session" in prompt.note)
        await view.press("2", "enter")
        await view.until(lambda: "last2" in listed(view)[0])
        assert not prompt.display
        assert read_meta(some.state / "sessions" / "a")["name"] == "last2"


async def test_delete_asks_and_takes_what_is_marked(some: Stage):
    sessions = some.state / "sessions"
    async with some.running(size=(140, 30)) as view:
        await opened(view, 3)
        await view.press("d")
        await view.answer("escape")
        await view.until(lambda: isinstance(view.app.screen, SessionsScreen))
        assert (sessions / "a").exists()
        await view.press("down", "space", "space")
        await view.until(lambda: "2 marked" in view.picture())
        await view.press("d")
        await view.answer("y")
        await view.until(lambda: len(listed(view)) == 1)
        assert sorted(path.name for path in sessions.iterdir()) == ["a", "c", "e"]
        assert "marked" not in view.picture()


async def test_one_that_runs_is_not_deleted(some: Stage):
    async with some.running(size=(140, 30)) as view:
        await view.opened_and_paused(3)
        await opened(view, 1)
        await view.press("d")
        await view.answer("y")
        said = "is open in another agentscope: end it there first"
        await view.until(lambda: any(said in note.message for note in view.app._notifications))
        assert len(listed(view)) == 1


async def test_two_are_compared_and_a_fork_with_what_it_was_forked_from(some: Stage):
    async with some.running(size=(140, 30)) as view:
        await opened(view, 3)
        await view.press("D")
        assert isinstance(view.app.screen, SessionsScreen)
        await view.press("down", "D")
        await view.until(lambda: isinstance(view.app.screen, CompareScreen))
        await view.press("escape")
        await view.until(lambda: isinstance(view.app.screen, SessionsScreen))
        await view.press("space", "space", "home", "D")
        await view.until(lambda: isinstance(view.app.screen, CompareScreen))


async def test_it_is_sorted_by_a_column_and_is_a_tree_again(some: Stage):
    async with some.running(size=(140, 30)) as view:
        await opened(view, 3)
        await view.press("right", "right", "right", "S")
        await view.until(lambda: "▲reward" in shown(the_list(view)))
        assert [line.split()[1] for line in listed(view)] == ["root", "d", "b"]
        await view.press("S")
        await view.until(lambda: [line.split()[1] for line in listed(view)] == ["b", "root", "d"])
        await view.press("S")
        await view.until(lambda: [line.split()[1] for line in listed(view)] == ["root", "└", "└"])


async def test_it_works_in_a_small_terminal(some: Stage):
    async with some.running(size=(80, 24)) as view:
        await opened(view, 3)
        assert "└ b" in view.picture()
        assert "+1" in view.picture()


async def test_rows_show_their_newest_recording_and_how_many_there_are(some: Stage):
    async with some.running(size=(200, 30)) as view:
        await view.until(lambda: view.row_line(1).split()[1:6] == ["■", "cut", "off", "3", "0.5"])
        assert view.row_line(0).split()[1:6] == ["✓", "done", "1", "0", "3"]
        assert view.row_line(2).split() == ["2", "task", "2"]
        await view.open(0)
        await view.paused()
        await view.until(lambda: view.row_line(0).split()[1:4] == ["‖", "paused", "1"])
        await view.until(lambda: " 4 " in view.row_line(0))


async def test_filters_see_recordings(some: Stage):
    async with some.running(size=(140, 30)) as view:
        await view.until(lambda: "done" in view.row_line(0))
        await view.press("f")
        await view.type("sessions > 2")
        await view.press("enter")
        await view.until(lambda: view.pane(RowList).row_count == 1)
        await view.press("f", *["backspace"] * 12)
        await view.type("reward < 1 and state == 'cut off'")
        await view.press("enter")
        await view.until(lambda: view.pane(RowList).row_count == 1 and "cut off" in view.text(RowList))
        write_recording(
            some.state / "sessions" / "g",
            row=4,
            ended=False,
            reward=0.0,
            dataset=str(some.folder / "tasks.jsonl"),
        )
        await view.until(lambda: view.pane(RowList).row_count == 2)


async def test_many_rows_that_get_sessions_at_once_move_a_filter_too(stage: Stage):
    stage.rows = [{"user_prompt": f"task {number}"} for number in range(80)]
    async with stage.running(size=(140, 30)) as view:
        await view.press("f")
        await view.type("sessions == 1")
        await view.press("enter")
        await view.until(lambda: view.pane(RowList).row_count == 0)
        for row in range(70):
            folder: Path = stage.state / "sessions" / f"s{row}"
            write_recording(folder, row=row, dataset=str(stage.folder / "tasks.jsonl"))
        await view.until(lambda: view.pane(RowList).row_count == 70)
