"""The agent's files are kept at each model call, behind its back: what fails there is told, and no more."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from agentscope_tui.events import AgentNote, Event
from agentscope_tui.session.kept_files import KeptFiles
from agentscope_tui.store import snapshots
from agentscope_tui.store.folders import SessionFolder, make_folder
from agentscope_tui.store.snapshots import Snapshot, Snapshots
from fakes.engine import FakeModel, FakeTools, returns, says
from fakes.session_rig import Rig


@pytest.fixture
def folder(tmp_path: Path) -> SessionFolder:
    return make_folder(tmp_path, "one", {}, lambda files: None)


def always(call: int) -> bool:
    return True


async def test_files_are_kept_before_the_agent_has_its_answer(folder: SessionFolder):
    told: list[Event] = []
    kept = KeptFiles(folder, told.append, wanted=always)

    async def look(arguments: object, on_output: object):
        (folder.files / "made").write_text("x")
        return await returns("seen")({}, on_output)

    model = FakeModel(says("", ("look", "{}")), says("done"))
    async with Rig(model, FakeTools(look=look), keep_files=kept.keep) as rig:
        await rig.run()
    kept.close()
    calls = Snapshots(folder.snapshots).calls()
    assert {call: snapshot.files for call, snapshot in calls.items()} == {1: 0, 2: 1}
    assert told == []


async def test_what_is_too_much_is_told_once_and_the_session_goes_on(
    folder: SessionFolder, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(snapshots, "MOST_FILES", 1)
    for name in "ab":
        (folder.files / name).write_text(name)
    told: list[Event] = []
    kept = KeptFiles(folder, told.append, wanted=always)
    model = FakeModel(says("", ("look", "{}")), says("done"))
    async with Rig(model, FakeTools(look=returns("")), keep_files=kept.keep) as rig:
        await rig.run()
        assert rig.outcomes() == ["completed"]
    (note,) = told
    assert isinstance(note, AgentNote)
    assert note.title == "the files are not kept at each call"
    assert note.text.startswith("the scratch folder has more than 1 files.")
    (folder.files / "a").unlink()
    await kept.keep(3)
    kept.close()
    assert [*Snapshots(folder.snapshots).calls()] == [3]


async def test_an_interrupt_does_not_wait_and_snapshots_follow_each_other(
    folder: SessionFolder, monkeypatch: pytest.MonkeyPatch
):
    entered, let_go = threading.Event(), threading.Event()
    take = Snapshots.take
    at_work = threading.Lock()

    def slow(self: Snapshots, files: Path, call: int) -> Snapshot | None:
        assert at_work.acquire(blocking=False), "two at a time"
        try:
            entered.set()
            let_go.wait(10)
            return take(self, files, call)
        finally:
            at_work.release()

    monkeypatch.setattr(Snapshots, "take", slow)
    told: list[Event] = []
    kept = KeptFiles(folder, told.append, wanted=always)
    async with Rig(FakeModel(says("one"), says("two")), FakeTools(), keep_files=kept.keep) as rig:
        rig.session.send("go")
        await asyncio.to_thread(entered.wait, 10)
        await rig.until(lambda: rig.has("assistant_message"))
        rig.session.interrupt()
        await rig.settled()
        assert rig.outcomes() == ["interrupted"]
        rig.session.send("again")
        await rig.until(lambda: rig.has("assistant_message", call=2))
        let_go.set()
        await rig.settled()
    kept.close()
    assert told == []
    assert sorted(Snapshots(folder.snapshots).calls()) == [1, 2]


async def test_nothing_is_kept_where_a_replay_is_on_or_the_session_is_over(folder: SessionFolder):
    told: list[Event] = []
    kept = KeptFiles(folder, told.append, wanted=lambda call: call > 1)
    await kept.keep(1)
    await kept.keep(2)
    assert [*Snapshots(folder.snapshots).calls()] == [2]
    assert told == []
    kept.close()
