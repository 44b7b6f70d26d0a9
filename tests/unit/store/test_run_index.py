"""The run index: what it says of each session, and that it is true whatever happens to files and database."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path

import pytest

from agentscope_tui.datasets.expression import parse_expression
from agentscope_tui.event_lines import event_to_json
from agentscope_tui.events import Paused
from agentscope_tui.session.state import SessionState
from agentscope_tui.store import run_index
from agentscope_tui.store.housekeeping import rename_session
from agentscope_tui.store.lock import FolderLock
from agentscope_tui.store.run_index import RunIndex, Wanted
from agentscope_tui.store.session_row import SessionRow, check_names
from agentscope_tui.store.summary import Summary
from fakes.listed_sessions import BEGUN, recorded_events, write_recording

DATA = "/data/rows.jsonl"


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    return tmp_path / "sessions"


def synced(state: Path, /, **wanted: object) -> list[SessionRow]:
    """What an index finds that is opened, brought up to date and closed again."""
    index = RunIndex(state)
    try:
        index.sync()
        return index.find(Wanted(**wanted))  # type: ignore[arg-type]
    finally:
        index.close()


class Watched(RunIndex):
    """Tells news."""

    version: object = None

    def news(self, *, thorough: bool = True) -> bool:
        """Whether a sync finds the index other than the sync before did."""
        before, self.version = self.version, self.sync(thorough=thorough)
        return before != self.version


def names(rows: list[SessionRow]) -> list[str]:
    return [row.id for row in rows]


def test_it_says_of_a_session_what_its_recording_says(tmp_path: Path, sessions: Path) -> None:
    facts = {"row": 3, "calls": 2, "reward": 0.5, "prompt": "\n\n  add up \nthese", "dataset": DATA}
    write_recording(
        sessions / "a", identity="i1", name="mine", parent="p", parent_call=2, change="c", **facts
    )
    (row,) = synced(tmp_path)
    assert asdict(row) == {
        "id": "a",
        "name": "mine",
        "dataset": DATA,
        "identity": "i1",
        "row": 3,
        "model": "scripted:one",
        "agent": "builtin",
        "status": "ended",
        "state": "done",
        "outcome": "completed",
        "calls": 2,
        "input_tokens": 20,
        "output_tokens": 4,
        "cost": 0.02,
        "reward": 0.5,
        "created": BEGUN.timestamp() + 1,
        "ended": BEGUN.timestamp() + 15,
        "parent": "p",
        "parent_call": 2,
        "change": "c",
        "prompt": "add up",
        "size": sum(file.stat().st_size for file in (sessions / "a").iterdir()),
        "metrics": "{}",
    }


def test_what_is_passed_over_makes_no_difference(sessions: Path) -> None:
    events = recorded_events(calls=3, reward=1.0)
    write_recording(sessions / "a", events=events)
    summary, whole, state = Summary(), Summary(), SessionState()
    summary.read_on(sessions / "a" / "events.jsonl")
    for event in events:
        whole.apply(event)
        state.apply(event)
    whole.read = (sessions / "a" / "events.jsonl").stat().st_size
    assert summary.to_json() == whole.to_json()
    assert vars(state).items() >= vars(summary.tally).items()


@pytest.mark.parametrize("lines", range(1, 13))
def test_read_in_two_parts_it_is_the_same(sessions: Path, lines: int) -> None:
    """Also when the first part ends within a line."""
    file = write_recording(sessions / "a", calls=2, reward=1.0) / "events.jsonl"
    whole = Summary()
    whole.read_on(file)
    data = file.read_bytes()
    cut = len(b"".join(data.splitlines(keepends=True)[:lines])) + 7
    file.write_bytes(data[:cut])
    summary = Summary()
    summary.read_on(file)
    assert summary.read == cut - 7
    file.write_bytes(data)
    again = Summary.from_json(summary.to_json())
    again.read_on(file)
    assert again.to_json() == whole.to_json()


def test_states_tell_running_from_cut_off_and_ended(tmp_path: Path, sessions: Path) -> None:
    write_recording(sessions / "ended")
    write_recording(sessions / "cut", ended=False)
    events = recorded_events(ended=False)
    held = Paused(hold=1, step="completion", call=1, seq=len(events) + 1, at=events[-1].at, session_id="s")
    write_recording(sessions / "live", events=[*events, held])
    lock = FolderLock(sessions / "live")
    index = Watched(tmp_path)
    index.news()

    def states() -> dict[str, tuple[str, str]]:
        return {row.id: (row.status, row.state) for row in index.find(Wanted())}

    assert states() == {
        "ended": ("ended", "done"),
        "cut": ("cut off", "cut off"),
        "live": ("running", "paused"),
    }
    assert not index.news(thorough=False)
    lock.release()
    assert index.news(thorough=False)
    assert states()["live"] == ("cut off", "cut off")


def test_a_session_that_goes_on_is_read_on(tmp_path: Path, sessions: Path) -> None:
    folder = write_recording(sessions / "a", calls=1, ended=False)
    lock = FolderLock(folder)
    index = Watched(tmp_path)
    index.news()
    # What was read is not read again: to be seen by making it unreadable.
    data = folder.joinpath("events.jsonl").read_bytes()
    events = recorded_events(calls=1, reward=1.0)[-3:]
    lines = "".join(event_to_json(event) + "\n" for event in events)
    (folder / "events.jsonl").write_bytes(b"x" * (len(data) - 1) + b"\n" + lines.encode())
    assert index.news(thorough=False)
    lock.release()
    assert index.news(thorough=False)
    (row,) = index.find(Wanted())
    assert (row.status, row.calls, row.reward) == ("ended", 1, 1.0)
    assert not index.news()


def test_sessions_come_and_go(tmp_path: Path, sessions: Path) -> None:
    index = Watched(tmp_path)
    assert index.find(Wanted()) == []
    index.news()
    assert not index.news()
    write_recording(sessions / "a")
    (sessions / "no-recording").mkdir()
    assert index.news(thorough=False)
    assert names(index.find(Wanted())) == ["a"]
    shutil.rmtree(sessions / "a")
    assert index.news(thorough=False)
    assert index.find(Wanted()) == []
    write_recording(sessions / "b")
    index.news()
    (sessions / "b" / "events.jsonl").unlink()
    assert index.news()
    assert index.find(Wanted()) == []


def test_a_name_is_in_the_folder_and_found_anew(tmp_path: Path, sessions: Path) -> None:
    folder = write_recording(sessions / "a", identity="i")
    index = Watched(tmp_path)
    index.news()
    rename_session(folder, "  the good one ")
    assert index.news()
    (row,) = index.find(Wanted())
    assert (row.name, row.identity) == ("the good one", "i")
    index.close()
    (tmp_path / "sessions.db").unlink()
    (row,) = synced(tmp_path)
    assert row.name == "the good one"


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, ["d", "c", "b", "a"]),
        ({"dataset": "MORE"}, ["d"]),
        ({"row": 1}, ["d", "b"]),
        ({"model": "gpt"}, ["c"]),
        ({"agent": "mine"}, ["b"]),
        ({"state": "ended"}, ["c", "b", "a"]),
        ({"state": "cut off"}, ["d"]),
        ({"state": "done"}, ["c", "b", "a"]),
        ({"since": BEGUN.timestamp() + 7200}, ["d", "c"]),
        ({"words": ("TASK", "b")}, ["b"]),
        ({"words": ("straße",)}, ["a"]),
        ({"words": ("%",)}, []),
        ({"where": parse_expression("reward < 1 and calls > 1")}, ["b"]),
        ({"where": parse_expression("row == 1 and tokens > 15")}, ["d", "b"]),
        ({"where": parse_expression("state == 'cut off' or 'GRÜN' in lower(prompt)")}, ["d"]),
        ({"rows_of": (DATA, "")}, ["c", "a"]),
        ({"rows_of": ("/elsewhere", "i2")}, ["b"]),
        ({"rows_of": ("rows.jsonl", "")}, []),
    ],
)
def test_what_is_wanted_is_found_newest_first(
    tmp_path: Path, sessions: Path, wanted: dict[str, object], found: list[str]
) -> None:
    hour = timedelta(hours=1)
    write_recording(sessions / "a", prompt="task STRASSE", reward=1.0, dataset=DATA)
    write_recording(
        sessions / "b", prompt="task b", row=1, calls=2, reward=0.0, runner="mine:run", begun=BEGUN + hour,
        identity="i2", dataset="rows.jsonl",
    )  # fmt: skip
    write_recording(sessions / "c", model="openai:GPT-5", begun=BEGUN + 2 * hour, dataset=DATA)
    write_recording(
        sessions / "d", row=1, calls=3, ended=False, begun=BEGUN + 3 * hour, dataset="/data/more.jsonl"
    )
    assert names(synced(tmp_path, **wanted)) == found


def test_a_limit_counts_what_passes(tmp_path: Path, sessions: Path) -> None:
    for number in range(6):
        begun = BEGUN + timedelta(minutes=number)
        write_recording(sessions / f"s{number}", calls=1 + number % 2, begun=begun)
    index = Watched(tmp_path)
    index.news()
    assert names(index.find(Wanted(), 2)) == ["s5", "s4"]
    assert names(index.find(Wanted(where=parse_expression("calls == 1")), 2)) == ["s4", "s2"]


def test_a_name_that_sessions_do_not_have_is_said() -> None:
    with pytest.raises(run_index.UserError, match=r"^sessions have no rewards: there are agent, calls, "):
        check_names(parse_expression("rewards < 1"))
    check_names(parse_expression("reward < 1 and row == 2 and tokens > 1 and duration < 3 and name == 'x'"))


def test_the_sessions_of_each_row_are_counted_and_the_newest_is_known(tmp_path: Path, sessions: Path) -> None:
    for number, (row, reward) in enumerate([(0, 1.0), (2, 0.0), (0, 0.5), (None, 0.0)]):
        begun = BEGUN + timedelta(minutes=number)
        write_recording(sessions / f"s{number}", row=row, reward=reward, begun=begun, dataset=DATA)
    write_recording(sessions / "other", row=0, dataset="/other.jsonl")
    index = Watched(tmp_path)
    index.news()
    found = index.of_rows(DATA, "")
    assert {row: (of.total, of.newest.id, of.newest.reward) for row, of in found.items()} == {
        0: (2, "s2", 0.5),
        2: (1, "s1", 0.0),
    }


def test_progress_is_told_and_a_stop_keeps_what_was_read(
    tmp_path: Path, sessions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_index, "_BATCH", 2)
    for number in range(5):
        write_recording(sessions / f"s{number}", begun=BEGUN + timedelta(minutes=number))
    index = Watched(tmp_path)
    stop, told = threading.Event(), []

    def on_progress(done: int, total: int) -> None:
        told.append((done, total))
        if done == 2:
            stop.set()

    index.sync(stop, on_progress)
    assert told == [(0, 5), (2, 5)]
    assert names(index.find(Wanted())) == ["s4", "s3"]
    index.sync(on_progress=lambda done, total: told.append((done, total)))
    assert told[2:] == [(0, 3), (2, 3), (3, 3)]
    assert len(index.find(Wanted())) == 5


def test_a_stop_within_a_long_recording_goes_on_from_there(
    tmp_path: Path, sessions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentscope_tui.store.summary._PASSED_OVER", 4)
    write_recording(sessions / "a", calls=5, reward=1.0)
    index = Watched(tmp_path)

    class StopsThen(threading.Event):
        asked = 0

        def is_set(self) -> bool:
            self.asked += 1
            return self.asked > 3

    index.sync(StopsThen())
    (row,) = index.find(Wanted())
    assert 0 < row.calls < 5
    index.news()
    (row,) = index.find(Wanted())
    assert (row.calls, row.status) == (5, "ended")


@pytest.mark.parametrize(
    "junk", [b"this is no database at all, and long enough", b"SQLite format 3\0" + b"\xff" * 5000]
)
def test_a_damaged_database_is_made_anew(tmp_path: Path, sessions: Path, junk: bytes) -> None:
    write_recording(sessions / "a")
    (tmp_path / "sessions.db").write_bytes(junk)
    assert names(synced(tmp_path)) == ["a"]
    with sqlite3.connect(tmp_path / "sessions.db") as db:
        assert db.execute("SELECT id FROM sessions").fetchall() == [("a",)]


def test_one_that_is_damaged_while_it_is_open_is_made_anew(tmp_path: Path, sessions: Path) -> None:
    for number in range(50):
        write_recording(sessions / f"s{number}")
    synced(tmp_path)
    index = Watched(tmp_path)
    with (tmp_path / "sessions.db").open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 40_000)
    assert len(index.find(Wanted())) == 50
    index.news()
    assert not index.news()


def test_an_older_one_is_made_anew_and_a_newer_one_left_alone(tmp_path: Path, sessions: Path) -> None:
    write_recording(sessions / "a")
    with sqlite3.connect(tmp_path / "sessions.db") as db:
        db.executescript("CREATE TABLE sessions (old TEXT); CREATE INDEX of_rows ON sessions (old);")
    assert names(synced(tmp_path)) == ["a"]
    with sqlite3.connect(tmp_path / "sessions.db") as db:
        db.executescript(f"DROP TABLE sessions; PRAGMA user_version = {run_index.VERSION + 1}")
    assert names(synced(tmp_path)) == ["a"]
    with sqlite3.connect(tmp_path / "sessions.db") as db:
        assert db.execute("SELECT name FROM sqlite_master").fetchall() == []


def test_without_a_place_to_keep_it_it_is_in_memory(tmp_path: Path, sessions: Path) -> None:
    write_recording(sessions / "a")
    (tmp_path / "sessions.db").mkdir()
    assert names(synced(tmp_path)) == ["a"]
    assert synced(tmp_path / "not-there") == []
    assert not (tmp_path / "not-there").exists()


def test_only_the_user_may_read_it(tmp_path: Path, sessions: Path) -> None:
    write_recording(sessions / "a")
    index = Watched(tmp_path)
    index.news()
    modes = {file.name: file.stat().st_mode & 0o777 for file in tmp_path.glob("sessions.db*")}
    assert modes == dict.fromkeys(modes, 0o600)
    assert "sessions.db-wal" in modes
    index.close()


def test_several_processes_at_once(tmp_path: Path, sessions: Path) -> None:
    for number in range(40):
        write_recording(sessions / f"s{number:02}", begun=BEGUN + timedelta(minutes=number))
    code = (
        "import sys; from pathlib import Path; from agentscope_tui.store.run_index import *\n"
        "index = RunIndex(Path(sys.argv[1])); index.sync(); print(len(index.find(Wanted())))"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(4)]
    assert [process.communicate(timeout=60)[0].strip() for process in processes] == [b"40"] * 4
    index = Watched(tmp_path)
    index.news()
    write_recording(sessions / "new")
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=60)
    # Another process has read it: that is a change for this one too.
    assert index.news(thorough=False)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"no json\n",
        b"[" * 100_000 + b"\n",
        b'{"seq":2,"at":"2026-99-99T00:00:00Z","session_id":"s","kind":"assistant_delta","call":1}\n',
        b'{"seq":2,"at":"0001-01-01T00:00:00","session_id":"s","kind":"state","status":"idle"}\n',
        b'{"seq":2,"kind":"usage","call":1,"input_tokens":' + b"9" * 60 + b',"cost":NaN}\n',
        b'{"seq":2,"kind":"graded","grader":"g","turn":0,"reward":Infinity}\n',
        b'{"seq":2,"kind":"user_message","msg_id":"m","turn":1,"text":"\\u0000 \\ud83d\\ude00"}\n',
    ],
)
def test_hostile_recordings_are_listed_all_the_same(tmp_path: Path, sessions: Path, line: bytes) -> None:
    folder = write_recording(sessions / "a", events=[])
    (folder / "events.jsonl").write_bytes(line)
    (folder / "meta.json").write_text('{"name": 7, "dataset_identity": [1]}')
    os.mkdir(os.fsencode(sessions) + b"/\xff\xfe")
    (row,) = synced(tmp_path)
    assert (row.id, row.name, row.identity) == ("a", "", "")
    assert row.when
    assert row.fact("duration") is not None or row.ended is None
