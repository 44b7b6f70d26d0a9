"""Which session a name means."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_tui.errors import UserError
from agentscope_tui.store.find import find_session


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    for name in ("20260101-120000-row3-aa11", "20260101-120000-row3-bb22", "20260102-080000-row0-cc33"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "events.jsonl").touch()
    (tmp_path / "20260109-no-recording").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    "name",
    ["20260102-080000-row0-cc33", "20260102", "last", "{sessions}/20260102-080000-row0-cc33/events.jsonl"],
)
def test_one_that_is_there_is_found(sessions: Path, name: str) -> None:
    assert find_session(name.format(sessions=sessions), sessions).name == "20260102-080000-row0-cc33"


def test_a_folder_elsewhere_is_one_too(sessions: Path, tmp_path: Path) -> None:
    folder = sessions / "20260102-080000-row0-cc33"
    assert find_session(str(folder), tmp_path / "nowhere") == folder


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("nope", "there is no session 'nope': `agentscope sessions` lists those that there are"),
        (
            "20260101",
            "2 sessions begin with '20260101': 20260101-120000-row3-aa11, 20260101-120000-row3-bb22 …",
        ),
    ],
)
def test_one_that_is_not_is_said(sessions: Path, name: str, problem: str) -> None:
    with pytest.raises(UserError) as caught:
        find_session(name, sessions)
    assert str(caught.value) == problem
