"""Recordings on the screen of live sessions: open at the end, player, timeline, following, other datasets."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agentscope_tui.config import load_settings
from agentscope_tui.events import SessionEvent
from agentscope_tui.options import Options
from agentscope_tui.tui.app import AgentScopeApp
from agentscope_tui.tui.recorded_session import RecordedRow
from agentscope_tui.tui.start import app_of
from agentscope_widgets.composer import Composer
from agentscope_widgets.row_list import RowList
from agentscope_widgets.timeline_bar import TimelineBar
from fakes.long_recordings import write_long
from screens.stage import UNTIL_GO, Stage, View, bash, reply

RUN = {"session.mode": "run"}
SIZE = 100_000


def app_on(stage: Stage, name: str, settings: Mapping[str, object] | None = None) -> AgentScopeApp:
    """The app as `agentscope open NAME` makes it: without a model."""
    config = load_settings(settings or {}, cwd=stage.folder, environ={"AGENTSCOPE_HOME": str(stage.state)})
    return app_of(config, Options(recording=name))


@asynccontextmanager
async def opened(
    stage: Stage, name: str = "last", *, size: tuple[int, int] = (112, 24)
) -> AsyncIterator[View]:
    async with stage.running(app_on(stage, name), size=size) as view:
        await view.until(lambda: isinstance(view.debugger.current, RecordedRow), "the recording")
        yield view


def recorded(view: View) -> RecordedRow:
    row = view.debugger.current
    assert isinstance(row, RecordedRow)
    return row


def timeline(view: View) -> str:
    return view.text(TimelineBar)


async def record(stage: Stage, index: int = 0) -> str:
    """Run a row to its end in a live app; what the screen showed of it at the end."""
    async with stage.running(stage.app(RUN)) as view:
        await view.open(index)
        await view.until(lambda: view.state.status == "idle" and view.state.outcome, "the end of the turn")
        await view.until(lambda: "the end" in view.transcript, "the last words")
    (folder,) = (stage.state / "sessions").iterdir()
    return folder.name


@pytest.fixture
def session(stage: Stage) -> list[SessionEvent]:
    """A recording of a dataset that is gone, called `gone`."""
    return write_long(stage.state / "sessions" / "gone", SIZE)


async def test_a_recording_looks_as_its_session_did_and_runs_nothing(stage: Stage) -> None:
    stage.rows = [{"user_prompt": "first task"}, {"user_prompt": "do the task"}]
    stage.says(reply("I look.", bash("echo some output")), reply("This is the end."))
    name = await record(stage, 1)
    async with opened(stage) as view:
        row = recorded(view)
        assert (row.session_id, view.debugger.index) == (name, 1)
        assert "RECORDING · ENDED" in view.status
        for text in ("do the task", "I look.", "This is the end.", "session ended"):
            assert text in view.transcript
        await view.until(lambda: "some output" in view.output, "the output")
        assert "#2" in view.row_line(1)
        assert "first task" in view.row_line(0)
        assert view.pane(Composer).disabled
        assert row.session is None
        assert view.app.workspace.active() == []
        for act in ("edit", "refuse", "retry", "interrupt", "compose", "model"):
            assert not view.debugger.check_action(act, ())
        await view.press("m")
        await view.until(lambda: "call #2" in view.picture() or "next call" in view.picture(), "the messages")
        await view.press("escape")
    assert len(list((stage.state / "sessions").iterdir())) == 1


async def test_without_its_dataset_the_recording_is_the_only_row(
    stage: Stage, session: list[SessionEvent]
) -> None:
    async with opened(stage, "gone") as view:
        assert view.pane(RowList).row_count == 1
        assert "read al" in view.row_line(0)
        await view.press("q")
        await view.until(lambda: view.debugger.current is None, "the rows")
        await view.open(0)
        assert recorded(view).at_end


async def test_the_keys_of_the_debugger_move_the_playhead(stage: Stage, session: list[SessionEvent]) -> None:
    count = len(session)
    answers = [event.seq for event in session if event.kind == "assistant_message"]
    async with opened(stage, "gone") as view:
        row = recorded(view)
        assert f"event {count}/{count}" in timeline(view)

        async def at(seq: int) -> None:
            await view.until(lambda: not row.moving and row.at == seq, f"event {seq}")
            await view.until(lambda: f"event {seq}/{count}" in timeline(view), "the timeline")

        assert not view.debugger.check_action("step", ())
        for keys, seq in (
            ("b", answers[-1]),
            ("b", answers[-2]),
            ("n", answers[-1]),
            ("B", answers[-1] - 1),
            ("N", answers[-1]),
            ("comma", 1),
            ("n", answers[0]),
            ("full_stop", count),
        ):
            await view.press(keys)
            await at(seq)
        await view.press("comma")
        await at(1)
        assert "read all files" not in view.transcript
        await view.press("n")
        await at(answers[0])
        assert "○ bash" in view.transcript
        assert "RUNNING" in view.status


async def test_the_playhead_goes_to_errors_and_to_the_chosen_call(stage: Stage) -> None:
    stage.says(reply("I try.", bash("exit 3")), reply("again", bash("exit 4")), reply("This is the end."))
    await record(stage)
    async with opened(stage) as view:
        row = recorded(view)
        errors = [mark.seq for mark in row.tape.marks if mark.kind == "error"]
        assert len(errors) == 2
        for seq in (*errors, errors[0]):
            await view.press("exclamation_mark")
            await view.until(lambda seq=seq: not row.moving and row.at == seq, f"error {seq}")
        await view.press("full_stop")
        await view.until(lambda: not row.moving and row.at_end, "the end")
        await view.press("g", "1", "enter", "equals_sign")
        first = next(mark.seq for mark in row.tape.marks if mark.kind == "answer")
        await view.until(lambda: not row.moving and row.at == first, "the first call")
        assert "again" not in view.transcript
        await view.press("g", "2", "enter")
        await view.until(lambda: not row.moving and "again" in view.transcript, "a call further on")
        assert "This is the end." not in view.transcript


async def test_it_plays_pauses_and_changes_its_speed(stage: Stage, session: list[SessionEvent]) -> None:
    async with opened(stage, "gone") as view:
        row = recorded(view)
        seconds = 0.0
        row._clock = lambda: seconds
        await view.press("c")
        await view.until(lambda: "PLAYING 1x" in view.status and row.player.ahead, "the player")
        assert row.at == 1
        seconds += 0.41
        await view.until(lambda: row.at == 11, "what is due")
        await view.press("plus", "plus")
        await view.until(lambda: "PLAYING 4x" in view.status, "the speed")
        seconds += 0.4
        await view.until(lambda: row.at == 51, "what is due")
        await view.press("p")
        await view.until(lambda: "RECORDING" in view.status, "the pause")
        seconds += 100
        await view.press("plus", "plus", "plus", "plus", "c")
        await view.until(lambda: row.at_end and not row.player.playing, "the end")
        assert "file 4" in view.transcript


async def test_the_timeline_takes_the_mouse(stage: Stage, session: list[SessionEvent]) -> None:
    async with opened(stage, "gone") as view:
        row, bar = recorded(view), view.pane(TimelineBar)
        assert "┼" in timeline(view)
        await view.pilot.click(bar, offset=(8, 0))
        await view.until(lambda: not row.moving and row.at < row.tape.last // 4, "the start")
        assert row.at > 1
        await view.pilot.mouse_down(bar, offset=(8, 0))
        await view.pilot.hover(bar, offset=(60, 0))
        await view.pilot.mouse_up(bar, offset=(60, 0))
        await view.until(lambda: not row.moving and row.at > row.tape.last // 2, "further on")


async def test_a_live_session_has_no_timeline_and_stays_while_another_is_looked_at(stage: Stage) -> None:
    folder = stage.state / "sessions" / "other"
    write_long(folder, SIZE)
    stage.says(reply("", bash(UNTIL_GO)), reply("This is the end."))
    async with stage.running(stage.app(RUN)) as view:
        await view.open(0)
        await view.until(lambda: view.state.running_calls, "the tool")
        live = view.row
        assert not view.pane(TimelineBar).display
        view.debugger.show_recording(folder)
        await view.until(lambda: isinstance(view.debugger.current, RecordedRow), "the recording")
        assert view.pane(TimelineBar).display
        assert view.debugger.index is None
        assert "file 4" in view.transcript
        assert "● running" in view.row_line(0)
        await view.open(0)
        assert view.row is live
        assert not view.pane(TimelineBar).display
        view.let_go()
        await view.until(lambda: view.state.outcome == "completed", "the end")


async def test_what_cannot_be_opened_is_said_on_the_screen(stage: Stage, session: list[SessionEvent]) -> None:
    async with opened(stage, "gone") as view:
        view.debugger.show_recording(stage.folder / "nowhere")
        await view.until(lambda: "there is no recording to read" in view.transcript, "why")
        (stage.folder / "damaged").mkdir()
        (stage.folder / "damaged" / "events.jsonl").write_text("[/x] \x1b[31m\n")
        view.debugger.show_recording(stage.folder / "damaged")
        await view.until(lambda: "damaged from its beginning" in view.transcript, "why")


async def test_a_narrow_terminal_has_room_for_it(stage: Stage, session: list[SessionEvent]) -> None:
    async with opened(stage, "gone", size=(80, 24)) as view:
        count = len(session)
        assert f"event {count}/{count}" in timeline(view)
        assert "RECORDING · ENDED" in view.status
        await view.press("b")
        await view.until(lambda: not recorded(view).at_end, "a call back")


async def test_a_file_of_another_tool_shows_its_trajectories_as_rows(stage: Stage) -> None:
    file = stage.folder / "chats.jsonl"
    chats = [
        [
            {"role": "user", "content": f"question {number}"},
            {"role": "assistant", "content": f"answer {number}"},
        ]
        for number in range(3)
    ]
    file.write_text("".join(json.dumps({"messages": chat}) + "\n" for chat in chats))
    async with stage.running(app_on(stage, str(file))) as view:
        await view.until(lambda: view.pane(RowList).row_count == 3, "the rows")
        assert view.debugger.current is None
        assert "question 2" in view.row_line(2)
        await view.open(1)
        assert "answer 1" in view.transcript
        assert "RECORDING" in view.status
        await view.press("comma")
        await view.until(lambda: "answer 1" not in view.transcript, "the start")


FOLLOWED = """
import sys, time
from pathlib import Path
from agentscope_tui.event_lines import event_to_json
from agentscope_tui.store.lock import FolderLock
from fakes.long_recordings import long_events

folder = Path(sys.argv[1])
lock = FolderLock(folder)
events = long_events()
with (folder / "events.jsonl").open("w", buffering=1) as file:
    for line in sys.stdin:
        for _ in range(int(line)):
            file.write(event_to_json(next(events)) + "\\n")
        print("written", flush=True)
    time.sleep(600)
"""


def started_writer(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", FOLLOWED, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": str(Path(__file__).parents[1]), "PATH": ""},
    )


async def test_the_session_of_another_process_is_followed_until_that_dies(stage: Stage) -> None:
    folder = stage.state / "sessions" / "theirs"
    folder.mkdir(parents=True)
    writer = started_writer(folder)
    try:
        assert writer.stdin is not None
        assert writer.stdout is not None

        def write(count: int) -> None:
            assert writer.stdin is not None
            assert writer.stdout is not None
            writer.stdin.write(f"{count}\n")
            writer.stdin.flush()
            assert writer.stdout.readline() == "written\n"

        write(30)
        async with opened(stage, "theirs") as view:
            row = recorded(view)
            assert "FOLLOWING" in view.status
            assert row.at == 30
            write(60)
            await view.until(lambda: row.at == 90 and "event 90/90" in timeline(view), "what came")
            assert "file 2" in view.transcript
            await view.press("b")
            await view.until(lambda: "FOLLOWED, not at its end" in view.status, "a place before")
            write(10)
            await view.until(lambda: row.tape.last == 100, "what came meanwhile")
            await view.press("full_stop")
            await view.until(lambda: "FOLLOWING" in view.status and row.at == 100, "the end")
            writer.kill()
            writer.wait()
            await view.until(lambda: "RECORDING" in view.status, "the writer's end")
            await view.until(lambda: "SESSION FAILED" in view.status, "the session's end")
            assert "agentscope ended before this session did" in view.transcript
    finally:
        writer.kill()
        writer.wait()


async def test_rows_of_a_file_tell_their_rewards_before_one_is_opened(stage: Stage) -> None:
    lines = [
        {
            "prompt": [{"role": "user", "content": f"task {number}"}],
            "completion": [{"role": "assistant", "content": "so it is"}],
            "reward": reward,
        }
        for number, reward in enumerate((0.25, 1.0, 0.0))
    ]
    file = stage.folder / "results.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    async with stage.running(app_on(stage, str(file)), size=(112, 24)) as view:
        await view.until(lambda: "0.25" in view.row_line(0), "the rewards")
        assert "was recorded of it is shown" in view.transcript
        assert "an agent works on it" not in view.transcript
        await view.press("f", *"reward<0.5", "enter")
        await view.until(lambda: "task 1" not in view.text(RowList), "those that pass are gone")
        assert "task 0" in view.text(RowList)
        assert "task 2" in view.text(RowList)


async def test_it_is_said_that_a_strangers_settings_do_not_count(stage: Stage) -> None:
    stage.says(reply("I look.", bash("true")), reply("This is the end."))
    name = await record(stage)
    theirs = stage.folder / "download"
    (stage.state / "sessions" / name).rename(theirs)
    meta = json.loads((theirs / "meta.json").read_text())
    meta["settings"]["runner"] = {"command": "evil"}
    (theirs / "meta.json").write_text(json.dumps(meta))
    config = {"model.name": meta["model"]}
    async with stage.running(app_on(stage, str(theirs), config), size=(112, 24)) as view:
        await view.until(lambda: isinstance(view.debugger.current, RecordedRow), "the recording")
        await view.press("R")
        said = "Your settings count for model.name, runner.command, not the recording's"
        notes = view.app._notifications
        await view.until(lambda: any(said in note.message for note in notes), "what does not count")
