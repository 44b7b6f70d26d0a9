"""`agentscope sessions`: the table that fits, filters, JSON, the tree; rename and delete."""

from __future__ import annotations

import json
import os
import pty
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agentscope_tui import sessions_report
from agentscope_tui.cli import main
from agentscope_tui.session_table import model_name, table_of
from agentscope_tui.sessions_command import moment
from agentscope_tui.store.lock import FolderLock
from agentscope_tui.store.run_index import RunIndex, Wanted
from agentscope_tui.store.session_tree import Branch, tree_of
from fakes.listed_sessions import BEGUN, write_recording

HOSTILE = "[/nope] \x1b[2J\x9b31m \u202e日本"


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder with a session, a fork of it, and one that was cut off."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("AGENTSCOPE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    minute = timedelta(minutes=1)
    sessions = tmp_path / "state" / "sessions"
    write_recording(
        sessions / "s1", row=3, reward=0.5, name="base", prompt="sum it", dataset="/d/tasks.jsonl"
    )
    write_recording(
        sessions / "s2",
        row=3,
        calls=2,
        reward=1.0,
        parent="s1",
        parent_call=2,
        change=HOSTILE,
        begun=BEGUN + minute,
    )
    write_recording(sessions / "s3", row=4, ended=False, prompt=HOSTILE, begun=BEGUN + 2 * minute)
    return tmp_path / "state"


def printed(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    assert main(["sessions", *words]) == code
    return capsys.readouterr().out


def first_words(table: str, column: int = 2) -> list[str]:
    """What stands in a column of the lines below the header."""
    return [line.split()[column] for line in table.splitlines()[1:]]


def test_they_are_listed_newest_first_with_all_that_is_known(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = printed(capsys)
    assert first_words(table) == ["s3", "s2", "s1"]
    assert table.splitlines()[0].split()[:8] == [
        "when",
        "session",
        "name",
        "row",
        "state",
        "calls",
        "tokens",
        "reward",
    ]
    assert table.splitlines()[3].split()[3:8] == ["base", "3", "done", "1", "12"]
    assert "cut off" in table.splitlines()[1]
    assert not set(table) & {"\x1b", "\x9b", "\u202e"}


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["sum"], ["s1"]),
        (["--row", "3"], ["s2", "s1"]),
        (["--dataset", "TASKS"], ["s1"]),
        (["--state", "cut off"], ["s3"]),
        (["--where", "reward < 1 and calls == 1"], ["s1"]),
        (["--limit", "1"], ["s3"]),
        (["--since", "2026-01-01T12:01:00+00:00"], ["s3", "s2"]),
        (["--model", "scripted", "--agent", "built"], ["s3", "s2", "s1"]),
    ],
)
def test_filters(state: Path, capsys: pytest.CaptureFixture[str], words: list[str], found: list[str]) -> None:
    lines = printed(capsys, *words).splitlines()[1:]
    assert [line.split()[2] for line in lines if not line.startswith("…")] == found


def test_nothing_found_is_said(
    state: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert printed(capsys, "nowhere") == "no session is like that\n"
    monkeypatch.setenv("AGENTSCOPE_HOME", str(tmp_path / "new"))
    assert printed(capsys) == "no session was recorded yet\n"
    assert json.loads(printed(capsys, "--json")) == []
    assert not (tmp_path / "new").exists()


def test_a_state_that_there_is_not_is_no_empty_list(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sessions", "--state", "runing"]) == 2
    assert "'runing' is no state: use one of starting, running, paused" in capsys.readouterr().err
    assert printed(capsys, "--state", "completed", "--json").count('"id"') == 2


def test_json_has_everything(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(printed(capsys, "--json", "--row", "3"))
    assert [row["id"] for row in rows] == ["s2", "s1"]
    assert rows[0]["change"] == HOSTILE
    facts = ("name", "reward", "tokens", "parent", "state", "created")
    assert [rows[1][name] for name in facts] == ["base", 0.5, 12, "", "done", "2026-01-01T12:00:01+00:00"]


def test_the_tree_has_forks_below_and_the_difference(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "--tree", "--row", "3").splitlines()
    assert lines[1].split()[2] == "s1"
    assert lines[2].split()[2:4] == ["└", "s2"]
    assert " +0.5 " in lines[2]
    assert "#2 [/nope]" in lines[2]


@pytest.mark.parametrize("width", [20, 40, 80, 100, 120, 200, 400])
def test_a_table_is_never_wider_than_the_terminal(state: Path, width: int) -> None:
    from rich.cells import cell_len

    index = RunIndex(state)
    index.sync()
    branches = list(tree_of(index.find(Wanted())))
    for as_tree in (True, False):
        lines = list(table_of(branches, width, as_tree=as_tree))
        assert max(map(cell_len, lines)) <= width
        assert all("base" in line or "base" not in line for line in lines)
        assert "base" in "\n".join(lines)
        assert "reward" in lines[0] or width < 60


def test_on_a_terminal_it_fits_and_not_all_are_shown(
    state: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions_report, "SHOWN", 2)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    lines = printed(capsys).splitlines()
    assert lines[-1] == "… 1 more (--limit 3 shows them)"
    assert len(lines) == 4
    assert all(len(line) <= 60 for line in lines)
    assert len(printed(capsys, "--limit", "3").splitlines()) == 4


def test_rename_and_delete(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "rename", "s3", "the odd one") == "s3 is called the odd one\n"
    assert printed(capsys, "rename", "the odd one", "") == "s3 has no name any more\n"
    assert printed(capsys, "delete", "base", "s3", "--yes").startswith("deleted 2 sessions (")
    assert first_words(printed(capsys)) == ["s2"]


def refused(capsys: pytest.CaptureFixture[str], *words: str, code: int) -> str:
    assert main(["sessions", *words]) == code
    return capsys.readouterr().err


def test_what_cannot_be_is_refused(state: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    lock = FolderLock(state / "sessions" / "s2")
    assert "the session s2 is open in another agentscope: end it there first" in refused(
        capsys, "delete", "s1", "s2", "--yes", code=1
    )
    lock.release()
    assert "there is no session 'nope'" in refused(capsys, "delete", "nope", "--yes", code=1)
    other = write_recording(tmp_path / "mine")
    assert "is not among the sessions" in refused(capsys, "delete", str(other), "--yes", code=1)
    assert "is not among the sessions" in refused(capsys, "rename", str(other), "x", code=1)
    assert "use --yes" in refused(capsys, "delete", "s1", code=2)
    assert "sessions have no rewards" in refused(capsys, "--where", "rewards < 1", code=2)
    assert "is no time: write 2h" in refused(capsys, "--since", "yesterday", code=2)
    assert (state / "sessions" / "s1").exists()
    assert other.exists()


@pytest.mark.parametrize(("answer", "code", "left"), [("y\n", 0, 2), ("\n", 1, 3)])
def test_delete_asks(
    state: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    answer: str,
    code: int,
    left: int,
) -> None:
    ours, theirs = pty.openpty()
    os.write(ours, answer.encode())
    with open(theirs, encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        said = printed(capsys, "delete", "s1", code=code)
    os.close(ours)
    assert "Delete this session with all files? [y/N]" in said
    assert len(list((state / "sessions").iterdir())) == left


def test_moments() -> None:
    now = datetime.now(UTC).timestamp()
    assert now - moment("2h") == pytest.approx(7200, abs=60)
    assert now - moment("3d") == pytest.approx(3 * 86400, abs=60)
    assert moment("2026-01-01T00:00:00+00:00") == datetime(2026, 1, 1, tzinfo=UTC).timestamp()


def test_forks_of_each_other_are_listed_all_the_same(state: Path) -> None:
    write_recording(state / "sessions" / "x", parent="y")
    write_recording(state / "sessions" / "y", parent="x")
    write_recording(state / "sessions" / "z", parent="z")
    index = RunIndex(state)
    index.sync()
    branches: Sequence[Branch] = list(tree_of(index.find(Wanted())))
    assert sorted(branch.row.id for branch in branches) == ["s1", "s2", "s3", "x", "y", "z"]


def test_a_model_that_is_a_file_is_told_by_its_name() -> None:
    assert model_name("scripted:/a/b/script.yaml") == "scripted:script.yaml"
    assert model_name("openrouter:meta/llama") == "openrouter:meta/llama"
