"""Renaming and deleting sessions: what is the user's goes at once and whole, what runs stays."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentscope_tui.errors import UserError
from agentscope_tui.store.find import find_session
from agentscope_tui.store.folders import read_meta
from agentscope_tui.store.housekeeping import delete_session, rename_session, size_of
from agentscope_tui.store.lock import FolderLock, SessionInUse, is_locked
from fakes.listed_sessions import write_recording


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_recording(tmp_path / "20260101-120000-row0-aaaa", identity="i")


def test_a_name_is_given_and_taken_away(folder: Path) -> None:
    assert rename_session(folder, " a good one ") == "a good one"
    assert read_meta(folder)["name"] == "a good one"
    assert find_session("a good one", folder.parent) == folder
    assert (folder / "meta.json").stat().st_mode & 0o777 == 0o600
    rename_session(folder, "")
    assert read_meta(folder) == {"session_id": folder.name, "dataset_identity": "i"}
    assert sorted(path.name for path in folder.iterdir()) == ["events.jsonl", "lock", "meta.json"]


def test_a_name_that_cannot_be_written_is_a_users_error(folder: Path) -> None:
    with pytest.raises(UserError, match="cannot rename"):
        rename_session(folder / "events.jsonl", "a good one")


@pytest.mark.parametrize("name", ["last", "a/b", "two\nlines", "\x1b[2J", "x" * 101, "\u202e"])
def test_what_is_no_name_is_refused(folder: Path, name: str) -> None:
    before = (folder / "meta.json").read_bytes()
    with pytest.raises(UserError):
        rename_session(folder, name)
    assert (folder / "meta.json").read_bytes() == before


def test_a_name_that_two_have_is_said(folder: Path) -> None:
    other = write_recording(folder.parent / "20260101-120000-row0-bbbb")
    for one in (folder, other):
        rename_session(one, "twin")
    with pytest.raises(UserError, match=r"2 sessions are called 'twin': 20260101-120000-row0-aaaa, 2026"):
        find_session("twin", folder.parent)


def test_a_name_like_the_beginning_of_ids_means_the_one_that_has_it(folder: Path) -> None:
    other = write_recording(folder.parent / "20260101-120000-row0-bbbb")
    rename_session(other, "20260101")
    assert find_session("20260101", folder.parent) == other


def test_a_session_is_deleted_with_whatever_its_tools_left(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    closed = folder / "files" / "closed"
    (closed / "deep").mkdir(parents=True)
    (closed / "deep" / "file").touch(mode=0o400)
    (folder / "files" / "link").symlink_to(outside)
    (folder / "link").symlink_to(outside)
    os.mkfifo(folder / "files" / "pipe")
    (closed / "deep").chmod(0)
    closed.chmod(0o500)
    delete_session(folder)
    assert not folder.exists()
    assert (outside / "kept").exists()


def test_one_that_runs_is_not_deleted(folder: Path) -> None:
    lock = FolderLock(folder)
    assert is_locked(folder)
    with pytest.raises(SessionInUse, match="end it there first"):
        delete_session(folder)
    assert (folder / "events.jsonl").exists()
    lock.release()
    assert not is_locked(folder)
    delete_session(folder)
    with pytest.raises(UserError, match=r"cannot delete the session 2026.*: No such file"):
        delete_session(folder)


def test_what_cannot_be_deleted_is_still_a_session(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "outputs").mkdir()

    def refuse(path: str) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("shutil.rmtree", refuse)
    with pytest.raises(UserError, match="Operation not permitted"):
        delete_session(folder)
    assert find_session(folder.name, folder.parent) == folder
    monkeypatch.undo()
    delete_session(folder)
    assert not folder.exists()


def test_a_size_counts_files_and_no_links(folder: Path, tmp_path: Path) -> None:
    before = size_of(folder)
    (tmp_path / "big").write_bytes(b"x" * 10_000)
    (folder / "files").mkdir()
    (folder / "files" / "ten").write_bytes(b"x" * 10)
    (folder / "files" / "link").symlink_to("ten")
    assert size_of(folder) == before + 10 + len("ten")
    assert size_of(tmp_path / "nowhere") == 0
