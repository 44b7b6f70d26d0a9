"""A run's folder: results are kept as they come, and only the same run goes on in it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agentscope_tui.batch.results import RolloutResult, read_results
from agentscope_tui.batch.run_folder import RunFolder, RunInfo, newest_like, read_run
from agentscope_tui.errors import UserError

INFO = RunInfo(
    name="today",
    version="1",
    created=datetime(2026, 1, 2, tzinfo=UTC),
    dataset="rows.jsonl",
    dataset_identity="d1",
    runner="builtin",
    model="openai:a",
    settings={"model.temperature": 0.5},
)


def result(row: int, state: Any = "done", rollout: int = 0, **more: Any) -> RolloutResult:
    return RolloutResult(row=row, rollout=rollout, state=state, **more)


def test_results_come_back_and_newer_ones_count(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", INFO)
    for one in (result(0, reward=1.0, metrics={"speed": 2.0}), result(1, "failed", error="no"), result(1)):
        folder.add(one)
    folder.close()
    again = RunFolder(tmp_path / "run", INFO, goes_on=True)
    assert again.results == {(0, 0): result(0, reward=1.0, metrics={"speed": 2.0}), (1, 0): result(1)}
    assert again.info == INFO == read_run(tmp_path / "run")
    again.close()


def test_a_line_that_was_cut_off_is_run_again_and_the_next_line_is_whole(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, INFO)
    folder.add(result(0))
    folder.close()
    with (tmp_path / "results.jsonl").open("a") as file:
        file.write('{"row":1,"sta')
    again = RunFolder(tmp_path, INFO, goes_on=True)
    assert set(again.results) == {(0, 0)}
    again.add(result(2))
    again.close()
    assert set(read_results(tmp_path)) == {(0, 0), (2, 0)}
    assert (tmp_path / "results.jsonl").read_text().count("\n") == 2


@pytest.mark.parametrize(
    ("retry", "due"), [(False, [(1, 0), (1, 1), (3, 0)]), (True, [(1, 0), (1, 1), (2, 0), (3, 0)])]
)
def test_what_is_still_due(tmp_path: Path, retry: bool, due: list[tuple[int, int]]) -> None:
    folder = RunFolder(tmp_path, INFO)
    for one in (result(0), result(1, "stopped"), result(2, "failed")):
        folder.add(one)
    keys = [(0, 0), (1, 0), (1, 1), (2, 0), (3, 0)]
    assert [*folder.due(keys, retry_failed=retry)] == due
    folder.close()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"dataset_identity": "d2"}, "the dataset has changed"),
        ({"model": "openai:b"}, 'the model was "openai:a" and is "openai:b"'),
        ({"runner": "python a.py"}, 'the runner was "builtin" and is "python a.py"'),
        ({"settings": {}}, "model.temperature was 0.5 and is not set"),
        (
            {"settings": {"model.temperature": 0.5, "tools.net": True}},
            "tools.net was not set and is true",
        ),
    ],
)
def test_another_run_does_not_go_on_there(tmp_path: Path, change: dict[str, Any], problem: str) -> None:
    RunFolder(tmp_path, INFO).close()
    with pytest.raises(UserError) as caught:
        RunFolder(tmp_path, replace(INFO, **change), goes_on=True)
    assert str(caught.value) == f"{tmp_path} holds another run, it cannot be resumed: {problem}"


def test_a_run_is_not_written_over(tmp_path: Path) -> None:
    RunFolder(tmp_path, INFO).close()
    with pytest.raises(
        UserError, match="holds a run already: go on with --resume, or name another folder with --out"
    ):
        RunFolder(tmp_path, INFO)


def test_the_newest_run_of_the_same_kind_goes_on(tmp_path: Path) -> None:
    for name, model in (("1-a", "openai:a"), ("2-a", "openai:a"), ("3-b", "openai:b")):
        RunFolder(tmp_path / name, replace(INFO, name=name, model=model)).close()
    (tmp_path / "4-no-run").mkdir()
    assert newest_like(INFO, tmp_path) == tmp_path / "2-a"
    with pytest.raises(UserError, match="name its folder with --out"):
        newest_like(replace(INFO, model="openai:c"), tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"created": "never"}'])
def test_a_damaged_run_is_said(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(UserError, match=r"run\.json cannot be read"):
        read_run(tmp_path)


def test_a_full_disk_is_said(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, INFO)
    (tmp_path / "results.jsonl").unlink()
    with pytest.raises(UserError, match=r"cannot write results to .*: its file was deleted"):
        folder.add(result(0))
    folder.close()
