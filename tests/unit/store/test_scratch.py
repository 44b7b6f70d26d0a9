"""The scratch folder as a session starts: the row's files, its folder, row.json, and what is refused."""

from __future__ import annotations

import json
import os
import socket
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from agentscope_tui.datasets.task import SeedFolder, Task
from agentscope_tui.errors import UserError
from agentscope_tui.store import scratch
from agentscope_tui.store.folders import make_folder
from agentscope_tui.store.scratch import RowFile, UnusableRow, copy_of, seed_of

ROW = {"question": "é?", "answer": "42", "odd": float("nan"), "half": "\ud800", "day": date(2026, 1, 2)}


def fill(tmp_path: Path, row_file: RowFile = "none", **fields: Any) -> Path:
    task = Task(index=0, line=1, prompt="p", row=ROW, left_out=(("answer",),), **fields)
    target = tmp_path / "scratch"
    target.mkdir()
    seed_of(task, row_file)(target)
    return target


def seed(folder: Path) -> SeedFolder:
    return SeedFolder(str(folder), str(folder.parent))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "tasks" / "7"
    (folder / "deep" / "empty").mkdir(parents=True)
    (folder / "deep" / "data.bin").write_bytes(bytes(range(256)))
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "read_only").write_text("x")
    (folder / "read_only").chmod(0o444)
    (folder / "link").symlink_to("run.sh")
    (folder / "outside").symlink_to("/etc")
    return folder


def test_the_row_is_a_file_without_its_answer(tmp_path):
    file = fill(tmp_path, "without_answer") / "row.json"
    row = json.loads(file.read_text())
    assert row == {"question": "é?", "odd": row["odd"], "half": "?", "day": "2026-01-02"}
    assert file.stat().st_mode & 0o777 == 0o600


def test_the_whole_row_is_a_file_when_asked_for(tmp_path):
    assert json.loads((fill(tmp_path, "full") / "row.json").read_text())["answer"] == "42"


@pytest.mark.parametrize(
    "row", [ROW, {}, {"one": None}, {"a": 1.5, "list": []}, {"deep": {"b": [1, {"c": True}]}, "pair": (1, 2)}]
)
def test_the_row_is_indented_for_people(tmp_path, row):
    seed_of(Task(0, 1, "p", row=row), "full")(tmp_path)
    expected = json.dumps(row, ensure_ascii=False, indent=2, default=str).encode(errors="replace")
    assert (tmp_path / "row.json").read_bytes() == expected + b"\n"


def test_no_row_file_when_asked_for(tmp_path):
    assert list(fill(tmp_path, "none").iterdir()) == []


@pytest.mark.parametrize("name", ["row.json", "row.json/deeper"])
def test_a_file_of_the_row_wins_over_the_row_file(tmp_path, name):
    assert (fill(tmp_path, "full", files={name: "mine"}) / name).read_text() == "mine"


def test_a_row_that_is_nested_too_deeply_says_so(tmp_path):
    row: dict[str, Any] = {}
    for _ in range(5000):
        row = {"deeper": row}
    with pytest.raises(UnusableRow, match="the row is nested too deeply"):
        seed_of(Task(0, 1, "p", row=row), "full")(tmp_path)


def test_a_folder_is_copied_whole(tmp_path, source):
    target = fill(tmp_path, folder=seed(source))
    assert (target / "deep" / "data.bin").read_bytes() == bytes(range(256))
    assert (target / "deep" / "empty").is_dir()
    assert os.access(target / "run.sh", os.X_OK)
    assert (target / "read_only").stat().st_mode & 0o777 == 0o600


def test_links_are_copied_and_not_followed(tmp_path, source):
    target = fill(tmp_path, folder=seed(source))
    assert os.readlink(target / "link") == "run.sh"
    assert os.readlink(target / "outside") == "/etc"


def test_a_file_of_the_column_wins_and_is_never_written_through_a_link(tmp_path, source):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (source / "out").symlink_to(elsewhere)
    target = fill(tmp_path, folder=seed(source), files={"run.sh": "mine", "out/x": "mine"})
    assert (target / "run.sh").read_text() == "mine"
    assert (target / "out" / "x").read_text() == "mine"
    assert not (target / "out").is_symlink()
    assert list(elsewhere.iterdir()) == []


def test_a_folder_that_is_missing_or_none_says_so(tmp_path, source):
    with pytest.raises(UnusableRow, match=r"tasks/8 is missing \(setting dataset.files\)"):
        seed_of(Task(0, 1, "p", folder=seed(source.parent / "8")), "none")(tmp_path)
    with pytest.raises(UnusableRow, match=r"run.sh is not a folder"):
        seed_of(Task(0, 1, "p", folder=seed(source / "run.sh")), "none")(tmp_path)


@pytest.mark.parametrize("inner", ["", "/deep"])
def test_a_folder_that_is_a_link_to_elsewhere_is_refused(tmp_path, source, inner):
    root = tmp_path / "strange"
    root.mkdir()
    (root / "8").symlink_to(source)
    folder = SeedFolder(f"{root}/8{inner}", str(root))
    with pytest.raises(UnusableRow, match=r"8.* is a link that leads out of .*strange"):
        fill(tmp_path, folder=folder)


def test_the_root_itself_may_be_a_link(tmp_path, source):
    (tmp_path / "latest").symlink_to(source.parent)
    target = fill(tmp_path, folder=SeedFolder(f"{tmp_path}/latest/7", f"{tmp_path}/latest"))
    assert (target / "run.sh").exists()


def test_a_file_in_place_of_a_folder_says_so(tmp_path, source):
    with pytest.raises(UnusableRow, match=r"cannot be copied: .*File exists"):
        fill(tmp_path, folder=seed(source), files={"deep": "a file"})


@pytest.mark.parametrize(("limit", "value"), [("MOST_FILES", 6), ("MOST_BYTES", 200)])
def test_a_folder_that_is_too_large_says_so(tmp_path, source, monkeypatch, limit, value):
    monkeypatch.setattr(scratch, limit, value)
    with pytest.raises(UnusableRow, match="is too large to be copied: at most"):
        fill(tmp_path, folder=seed(source))


def test_what_is_no_file_is_refused(tmp_path, source, monkeypatch):
    monkeypatch.chdir(source)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        with pytest.raises(UnusableRow, match="socket is neither a file nor a folder nor a link"):
            fill(tmp_path, folder=seed(source))


def test_a_session_folder_that_cannot_be_filled_is_not_left_behind(tmp_path):
    fill = seed_of(Task(0, 1, "p", folder=seed(tmp_path / "none")), "none")
    with pytest.raises(UserError, match="is missing"):
        make_folder(tmp_path / "sessions", "one", {}, fill)
    assert list((tmp_path / "sessions").iterdir()) == []


def test_a_restarted_session_has_the_files_of_the_one_before(tmp_path, source):
    folder = make_folder(tmp_path / "sessions", "two", {"row": 3}, copy_of(source))
    assert os.readlink(folder.files / "outside") == "/etc"
    assert (folder.files / "deep" / "data.bin").stat().st_size == 256
    assert json.loads((folder.path / "meta.json").read_text()) == {"row": 3}
