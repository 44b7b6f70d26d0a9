"""`agentscope check`: what it counts, what it calls bad, its two outputs and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_tui.cli import main
from agentscope_tui.datasets.check import MOST_COLUMNS, check_dataset
from agentscope_tui.datasets.columns import Columns
from agentscope_tui.datasets.seen import Seen
from agentscope_tui.datasets.source import open_dataset

ROWS: list[Any] = [
    {"question": "What?", "answer": "a", "n": 1},
    {"question": "What?", "answer": "b", "n": 1.5},
    {"question": None, "answer": "", "n": None},
    {"question": "x" * 396, "answer": [], "n": True, "extra": {"a": 1}},
    "no object",
]


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("AGENTSCOPE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "rows.jsonl"
    file.write_text("\n" + "".join(json.dumps(row) + "\n" for row in ROWS))
    return file


def test_the_report_counts_columns_tokens_duplicates_and_bad_rows(rows: Path) -> None:
    dataset = open_dataset(rows)
    progress: list[int] = []
    report = check_dataset(dataset, progress.append, bad_kept=1)
    dataset.close()
    assert (report.rows, report.bad_rows, progress) == (5, 2, [5])
    assert [(row.index, row.line, row.reason) for row in report.bad] == [
        (2, 4, "'question' cannot be null"),
    ]
    columns = {name: (column.filled, column.types) for name, column in report.columns.items()}
    assert columns == {
        "question": (3, {"string": 3, "null": 1}),
        "answer": (2, {"string": 3, "list": 1}),
        "n": (3, {"integer": 1, "number": 1, "null": 1, "boolean": 1}),
        "extra": (1, {"object": 1}),
    }
    assert (report.duplicate_rows, report.duplicates) == (1, [(1, 0)])
    assert report.largest is not None
    assert report.largest[1] == 3
    assert 99 <= report.largest[0] < report.tokens < 115


def test_rows_that_differ_in_what_they_ask_are_no_duplicates(tmp_path: Path) -> None:
    asked: list[dict[str, Any]] = [
        {"messages": [{"role": "user", "content": "go"}]},
        {"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "go"}]},
        {"messages": [{"role": "assistant", "content": "s"}, {"role": "user", "content": "go"}]},
        {"messages": [{"role": "user", "content": "go"}, {"role": "assistant", "content": "other answer"}]},
    ]
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in asked))
    dataset = open_dataset(file)
    report = check_dataset(dataset, lambda count: None, bad_kept=None)
    dataset.close()
    assert report.duplicates == [(3, 0)]


def test_a_row_with_too_many_columns_is_no_problem(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps({"prompt": "p", **{f"c{n}": n for n in range(2 * MOST_COLUMNS)}}) + "\n")
    dataset = open_dataset(file, columns=Columns())
    report = check_dataset(dataset, lambda count: None, bad_kept=None)
    dataset.close()
    assert len(report.columns) == MOST_COLUMNS


@given(st.lists(st.integers(0, 40) | st.integers(0, 2**64 - 1), max_size=3000))
def test_a_digest_is_found_with_its_first_number(digests: list[int]) -> None:
    seen, known = Seen(), dict[int, int]()
    for number, digest in enumerate(digests):
        # 0 and 1 are one digest here: the table writes 0 for a free place.
        expected = known.get(digest or 1)
        assert seen.first(digest, number) == expected
        known.setdefault(digest or 1, number)


def test_bad_rows_are_printed_and_the_exit_code_says_so(
    rows: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "rows.jsonl"]) == 1
    shown = capsys.readouterr()
    assert shown.err == ""
    lines = shown.out.splitlines()
    assert lines[0] == "rows.jsonl: 5 rows, 2 bad"
    assert "question   60.0%  string 3, null 1" in lines
    assert "task: question → user_prompt, answer → ground_truth (guessed; --map changes it)" in lines
    assert "duplicates: 1 (row 1 asks what row 0 does)" in lines
    assert lines[-2:] == [
        "bad row 2 (line 4): 'question' cannot be null",
        "bad row 4 (line 6): expected an object, got a string",
    ]


def test_the_report_as_json(rows: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "rows.jsonl", "--json", "--offset", "1", "--limit", "2"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["rows"] == 2
    assert report["bad"] == [{"line": 4, "row": 2, "reason": "'question' cannot be null"}]
    assert report["columns"][1] == {"name": "answer", "filled": 1, "types": {"string": 2}}
    assert report["guessed"] == {"user_prompt": "question", "ground_truth": "answer"}
    assert report["duplicates"] == {"rows": 0, "first": []}
    assert report["tokens"]["largest_row"] == 1


def test_a_dataset_without_bad_rows(rows: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "rows.jsonl", "--limit", "2"]) == 0
    assert main(["check", "rows.jsonl", "--prompt", "Row: {n}", "--limit", "2", "--json"]) == 0
    assert '"bad": []' in capsys.readouterr().out
    assert main(["check"]) == 0
    assert ": 13 rows, 0 bad" in capsys.readouterr().out


def test_only_the_first_bad_rows_are_printed(
    tmp_path: Path, rows: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.jsonl").write_text(json.dumps({"prompt": "p"}) + "\n" + "[]\n" * 150)
    assert main(["check", "bad.jsonl"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("bad row") for line in lines) == 100
    assert lines[-1] == "… 50 more bad rows (--all shows them)"
    assert main(["check", "bad.jsonl", "--all"]) == 1
    assert "bad row 150 (line 151): expected an object, got a list" in capsys.readouterr().out
    assert main(["check", "bad.jsonl", "--json"]) == 1
    assert len(json.loads(capsys.readouterr().out)["bad"]) == 150


def test_hostile_names_are_made_printable(
    tmp_path: Path, rows: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "hostile.jsonl").write_text(json.dumps({"prompt": "p", "\x1b[2J\n": 1}) + "\n")
    assert main(["check", "hostile.jsonl"]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_no_such_dataset_is_wrong_usage(rows: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "none.jsonl"]) == 2
    assert "none.jsonl" in capsys.readouterr().err
