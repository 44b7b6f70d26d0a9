"""`agentscope report`: what it prints and writes, and its exit codes."""

from __future__ import annotations

import csv
import json
import sys
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from agentscope_tui.cli import main
from agentscope_tui.secrets import MASKER
from fakes.run_folders import failed, result, write_recording, write_run
from fakes.small_sessions import Did, past_session, recording_of

SECRET = "sk-canary-0123456789abcdefghijklmnop"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The state folder, and a config folder without settings."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("AGENTSCOPE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(home: Path) -> Path:
    """Two rows that ran twice each, and one that failed."""
    write_recording(home / "runs" / "20261129-120000-tasks" / "sessions", "s1-1", "How many apples?\nCount!")
    write_recording(home / "sessions", "s2-0", "How many pears?")
    return _written(home / "runs" / "20261129-120000-tasks")


def _written(folder: Path) -> Path:
    shelf = folder.with_name("shelf")
    write_run(
        shelf,
        result(0, 1.0, answer="4", metrics={"style": 0.5}, ended="2026-11-29T12:00:01Z"),
        result(0, 1.0, 1, answer="4, four", metrics={"style": 1.0}),
        result(1, 1.0),
        result(1, 0.0, 1, answer=f"the key is {SECRET}"),
        failed(2, "the model is\x1b[2J tired"),
    )
    for file in shelf.iterdir():
        file.rename(folder / file.name)
    shelf.rmdir()
    return folder


def printed(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    assert main(["report", *words]) == code
    captured = capsys.readouterr()
    return captured.err if code else captured.out


@pytest.mark.usefixtures("run")
def test_a_run_is_told(capsys: pytest.CaptureFixture[str]):
    out = printed(capsys, "last")
    lines = [line.rstrip() for line in out.splitlines()]
    assert "5 rollouts: 4 done · 1 failed" in lines
    # Rows 1 and 0.5: mean 0.75, error 0.25, t(1) 12.7062.
    assert (
        "mean reward 0.75 ± 0.25 · 95 %: −2.43 to 3.93 (Student's t, 2 rows) · 0.5 if the 1 failed count as 0"
    ) in lines
    assert "pass@1 0.750 · pass@2 1 · passed: reward 1 or more" in lines
    assert "  0  █████████████▍ 1" in lines
    assert "  1 × the model is\\u001b[2J tired" in lines
    assert "  row 2  agentscope open s2-0" in lines
    rows = lines[lines.index("the worst 3 rows") + 2 :]
    assert [line.split()[0] for line in rows] == ["2", "1", "0"]
    assert "How many apples?" in rows[1]
    assert rows[1].endswith("runs/20261129-120000-tasks/sessions/s1-1")
    assert rows[2].split()[:5] == ["0", "1", "1", "1", "0.75"]


def test_a_run_is_told_as_json(capsys: pytest.CaptureFixture[str], run: Path):
    found = json.loads(printed(capsys, str(run), "--json"))
    assert found["counts"] == {"done": 4, "failed": 1, "stopped": 0}
    assert found["measures"]["reward"]["mean"] == 0.75
    assert found["pass_at"] == [{"k": 1, "chance": 0.75, "rows": 2}, {"k": 2, "chance": 1.0, "rows": 2}]
    assert [row["row"] for row in found["worst"]] == [2, 1, 0]
    assert found["worst"][1]["rollouts"][1]["recording"] == str(run / "sessions" / "s1-1")


@pytest.mark.usefixtures("run")
def test_only_the_worst_rows_are_printed_unless_all_are_asked_for(
    home: Path, capsys: pytest.CaptureFixture[str]
):
    write_run(home / "many", *(result(row, row / 100) for row in range(40)))
    assert "… 25 more rows (--all shows them)" in printed(capsys, "many")
    assert "more rows" not in printed(capsys, "many", "--all")


def test_two_runs_are_compared(home: Path, run: Path, capsys: pytest.CaptureFixture[str]):
    other = write_run(home / "other", result(0, 0.0), result(1, 1.0), result(2, 1.0))
    write_recording(other / "sessions", "s1-0")
    out = printed(capsys, str(run), "other")
    assert "1 row worse · 1 better · 1 the same · flipped: 1 pass no more, 1 pass now" in out
    found = json.loads(printed(capsys, str(run), "other", "--json"))
    assert found["reward"]["difference"] == pytest.approx((-1 + 0.5) / 2)
    [better] = found["rows_better"]
    names = "runs/20261129-120000-tasks/sessions/s1-1 other/sessions/s1-0"
    assert better["compare"] == f"agentscope compare {names}"
    assert found["failed"] == {"left": 1, "right": 0}


@pytest.mark.usefixtures("run")
def test_rollouts_are_written_as_csv_without_secrets(home: Path, capsys: pytest.CaptureFixture[str]):
    MASKER.learn([SECRET])
    try:
        text = printed(capsys, "last", "--csv", "-")
    finally:
        MASKER.forget()
    rows = [*csv.DictReader(text.splitlines())]
    assert [(row["row"], row["rollout"], row["reward"]) for row in rows] == [
        ("0", "0", "1.0"),
        ("0", "1", "1.0"),
        ("1", "0", "1.0"),
        ("1", "1", "0.0"),
        ("2", "0", ""),
    ]
    assert (rows[1]["answer"], rows[1]["metrics.style"], rows[2]["metrics.style"]) == ("4, four", "1.0", "")
    assert SECRET not in text
    assert printed(capsys, "last", "--csv", "run.csv") == ""
    assert (home / "run.csv").read_text().count("\n") >= 6


@pytest.mark.usefixtures("run")
def test_rollouts_are_written_as_parquet(home: Path, capsys: pytest.CaptureFixture[str]):
    assert printed(capsys, "last", "--parquet", "run.parquet") == ""
    rows = pq.read_table(home / "run.parquet").to_pylist()
    assert [row["reward"] for row in rows] == [1.0, 1.0, 1.0, 0.0, None]
    assert rows[0]["ended"] == datetime(2026, 11, 29, 12, 0, 1, tzinfo=UTC)
    assert rows[0]["metrics.style"] == 0.5


@pytest.mark.usefixtures("run")
def test_what_parquet_takes_is_told(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    err = printed(capsys, "last", "--parquet", "run.parquet", code=1)
    assert "pip install 'agentscope-tui[parquet]'" in err
    assert [*home.glob("*run.parquet*")] == []


def test_a_page_links_to_recordings_that_are_exported_beside_it(
    home: Path, run: Path, capsys: pytest.CaptureFixture[str]
):
    real = run / "sessions" / "s0-0"
    real.mkdir()
    (real / "events.jsonl").write_text(recording_of(past_session(Did("The sum is 4."), session_id="s0-0")))
    assert main(["report", "last", "--html", "out.html", "--sessions"]) == 0
    err = capsys.readouterr().err
    assert "wrote out.html" in err
    # The recordings that the test made up are none.
    assert err.count("not exported") == 2
    assert "The sum is 4." in (home / "out_files" / "s0-0.html").read_text()
    assert 'href="out_files/s0-0.html"' in (home / "out.html").read_text()


@pytest.mark.parametrize(
    ("words", "code", "complaint"),
    [
        (["nothing"], 1, "there is no run 'nothing'"),
        (["last"], 1, "there is no run 'last'"),
        (["a", "b", "--csv", "x"], 2, "write the rollouts of one run"),
        (["a", "--sessions"], 2, "--sessions goes with --html"),
        (["a", "--html", "-"], 2, "only --csv can be written to standard output"),
        (["a", "--passes", "nan"], 2, "name a reward"),
    ],
)
def test_wrong_words_are_told(
    words: list[str], code: int, complaint: str, capsys: pytest.CaptureFixture[str]
):
    assert complaint in printed(capsys, *words, code=code)


@pytest.mark.usefixtures("run")
def test_a_file_that_cannot_be_written_is_told(capsys: pytest.CaptureFixture[str]):
    assert "cannot write gone/out.html" in printed(capsys, "last", "--html", "gone/out.html", code=1)
