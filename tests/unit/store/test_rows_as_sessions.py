"""What a session gets of its row, opened as the app opens it: history, files and row.json."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentscope_tui.config import load_settings
from agentscope_tui.datasets.task import SeedFolder, Task
from agentscope_tui.errors import UsageError, UserError
from agentscope_tui.event_lines import event_from_json
from agentscope_tui.events import LlmRequestSent, SessionStarted
from agentscope_tui.options import Options
from agentscope_tui.session.forking import Fork
from agentscope_tui.session.launch import Launcher, open_rows
from agentscope_tui.session.open_session import OpenSession
from agentscope_tui.session.state import SessionState
from waiting import wait_until

ROW: dict[str, Any] = {
    "id": 7,
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hi"},
        {"role": "user", "content": "2 + 2?"},
        {"role": "assistant", "content": "4"},
    ],
}


def rows_of(folder: Path, **flags: object) -> tuple[Launcher, Task]:
    replies = [{"text": "4"}, {"text": "I said 4."}]
    (folder / "script.yaml").write_text(yaml.safe_dump({"scripts": [{"replies": replies}]}))
    (folder / "rows.jsonl").write_text(json.dumps(ROW) + "\n")
    all_flags = {
        "model.name": f"scripted:{folder / 'script.yaml'}",
        "sandbox.mode": "none",
        "grading.grader": "exact",
        **flags,
    }
    environ = {**os.environ, "AGENTSCOPE_HOME": str(folder / "state")}
    config = load_settings(all_flags, cwd=folder, environ=environ)
    launcher, dataset = open_rows(config, Options(folder / "rows.jsonl"))
    row = dataset.row(0)
    dataset.close()
    assert isinstance(row, Task)
    return launcher, row


async def run(launcher: Launcher, row: Task, fork: Fork | None = None) -> tuple[OpenSession, SessionState]:
    opened = await launcher.open(row, mode="run", fork=fork)
    state = SessionState()
    opened.bus.subscribe(state.apply)
    await opened.start()
    await wait_until(lambda: state.reward is not None)
    await opened.aclose()
    return opened, state


def recorded(opened: OpenSession, kind: type) -> list[Any]:
    lines = (opened.folder.path / "events.jsonl").read_bytes().splitlines()
    return [event for event in map(event_from_json, lines) if isinstance(event, kind)]


async def test_a_chat_is_recorded_graded_and_kept_by_a_restart(tmp_path: Path) -> None:
    launcher, row = rows_of(tmp_path)
    first, state = await run(launcher, row)
    assert state.reward == 1.0
    again, state = await run(launcher, row, fork=Fork(first.past()))
    assert state.reward == 1.0
    await launcher.aclose()
    for opened in (first, again):
        (started,) = recorded(opened, SessionStarted)
        assert (started.system, started.history) == ("Be brief.", ROW["messages"][1:3])
        (request,) = recorded(opened, LlmRequestSent)
        assert request.messages == ROW["messages"][:4]
        seen = json.loads((opened.folder.files / "row.json").read_text())
        assert seen == {"id": 7, "messages": ROW["messages"][:4]}


async def test_the_folder_of_the_row_is_copied(tmp_path: Path) -> None:
    (tmp_path / "tasks" / "7").mkdir(parents=True)
    (tmp_path / "tasks" / "7" / "data.bin").write_bytes(b"\xff\x00")
    launcher, row = rows_of(
        tmp_path, **{"dataset.files": f"{tmp_path}/tasks/{{id}}", "dataset.row_file": "none"}
    )
    opened = await launcher.open(row)
    await opened.aclose()
    await launcher.aclose()
    assert [(file.name, file.read_bytes()) for file in opened.folder.files.iterdir()] == [
        ("data.bin", b"\xff\x00")
    ]


async def test_a_row_without_its_folder_is_not_opened(tmp_path: Path) -> None:
    launcher, row = rows_of(tmp_path, **{"dataset.files": "nowhere/{id}"})
    with pytest.raises(UserError, match=r"the row's folder nowhere/7 is missing"):
        await launcher.open(row)
    await launcher.aclose()


def test_a_prompt_that_is_no_template_is_refused_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--prompt: dataset\.prompt: the '\{' at column 7"):
        rows_of(tmp_path, **{"dataset.prompt": "Solve {question"})


def test_a_home_folder_is_the_users_own_and_no_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    _, row = rows_of(tmp_path, **{"dataset.files": "~/tasks/{id}"})
    assert row.folder == SeedFolder("/home/me/tasks/7", "/home/me/tasks")
