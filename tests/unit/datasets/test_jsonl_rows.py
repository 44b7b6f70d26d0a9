"""Rows of a JSON lines file as they are: each kind of bad row is one row, and the others work."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentscope_tui.datasets.columns import Columns
from agentscope_tui.datasets.source import open_dataset
from agentscope_tui.datasets.task import RowError, Task

GOOD = b'{"user_prompt": "fine"}'

BAD_ROWS = {
    "no JSON": (b"{oops}", "invalid JSON at line 2"),
    "two objects": (b"{} {}", "invalid JSON at line 2"),
    "control character": (b'{"user_prompt": "a\x00b"}', "invalid JSON at line 2: Invalid control character"),
    "no UTF-8": (b'{"user_prompt": "\xff"}', "not UTF-8: byte 0xff at column 18"),
    "UTF-16": ('{"user_prompt": "x"}'.encode("utf-16"), "not UTF-8"),
    "a list": (b"[1]", "expected an object, got a list"),
    "null": (b"null", "expected an object, got null"),
    "a number": (b"7", "expected an object, got a number"),
    "a key twice": (b'{"user_prompt": "a", "user_prompt": "b"}', "the key 'user_prompt' is there twice"),
    "a nested key twice": (b'{"user_prompt": "a", "x": {"k": 1, "k": 2}}', "the key 'k' is there twice"),
    "deep nesting": (
        b'{"user_prompt": "a", "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        "nested too deep",
    ),
    "deeper than a search can follow": (
        b'{"user_prompt": "a", "x": ' + b"[" * 600 + b"]" * 600 + b"}",
        "nested too deeply: more than 500 levels",
    ),
    "huge number": (b'{"user_prompt": "a", "x": ' + b"9" * 5000 + b"}", "too many digits"),
    "byte order mark inside": (b'\xef\xbb\xbf{"user_prompt": "a"}', "invalid JSON at line 2"),
    "no prompt": (
        b'{"question": "q", "x": 1}',
        "column 'user_prompt' is missing; columns found: question, x",
    ),
    "empty object": (b"{}", "columns found: none"),
    "null prompt": (b'{"user_prompt": null}', "'user_prompt' cannot be null"),
    "blank prompt": (b'{"user_prompt": " \\n"}', "'user_prompt' cannot be empty"),
    "prompt is a list": (b'{"user_prompt": ["a"]}', "'user_prompt' must be a string, got a list"),
    "prompt is a number": (b'{"user_prompt": 3}', "'user_prompt' must be a string, got a number"),
}

GOOD_ROWS = {
    "line separator": ('{"user_prompt": "a\u2028b\u0085c"}'.encode(), "a\u2028b\u0085c"),
    "escaped NUL": (b'{"user_prompt": "a\\u0000b"}', "a\0b"),
    "half a surrogate pair": (b'{"user_prompt": "a\\ud800b"}', "a\ufffdb"),
    "other half": (b'{"user_prompt": "\\uDC00"}', "\ufffd"),
    "a surrogate pair": (b'{"user_prompt": "\\ud83d\\ude00"}', "\U0001f600"),
    "NaN beside": (b'{"user_prompt": "a", "x": NaN, "y": -Infinity}', "a"),
    "carriage return": (b'{"user_prompt": "a"}\r', "a"),
    "space around": (b'  \t{"user_prompt": "a"}  ', "a"),
    "many megabytes": (b'{"user_prompt": "' + b"x" * 5_000_000 + b'"}', "x" * 5_000_000),
}


def write(tmp_path: Path, *lines: bytes, end: bytes = b"\n") -> Path:
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(b"\n".join(lines) + end)
    return path


@pytest.mark.parametrize("name", BAD_ROWS)
def test_a_bad_row_is_one_row_with_line_and_reason(tmp_path, name):
    line, reason = BAD_ROWS[name]
    dataset = open_dataset(write(tmp_path, GOOD, line, GOOD))
    rows = [dataset.row_at(position) for position in range(len(dataset))]
    dataset.close()
    assert [type(row) for row in rows] == [Task, RowError, Task]
    bad = rows[1]
    assert isinstance(bad, RowError)
    assert reason in bad.reason
    assert str(bad).startswith("row 1 (line 2): ")
    assert "\n" not in str(bad)


@pytest.mark.parametrize("name", GOOD_ROWS)
def test_an_odd_row_is_a_task(tmp_path, name):
    line, prompt = GOOD_ROWS[name]
    dataset = open_dataset(write(tmp_path, GOOD, line, GOOD))
    row = dataset.row(1)
    dataset.close()
    assert len(dataset) == 3
    assert isinstance(row, Task)
    assert row.prompt == prompt
    json.dumps(row.row, ensure_ascii=False).encode()


def test_blank_lines_count_as_lines_and_not_as_rows(tmp_path):
    dataset = open_dataset(write(tmp_path, b"", GOOD, b"  \t", b"\r", b"{}", GOOD))
    rows = [dataset.row_at(position) for position in range(len(dataset))]
    dataset.close()
    assert [(row.index, row.line) for row in rows] == [(0, 2), (1, 5), (2, 6)]


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\n\n"])
def test_a_byte_order_mark_and_any_end_of_file_are_fine(tmp_path, end):
    dataset = open_dataset(write(tmp_path, b"\xef\xbb\xbf" + GOOD, GOOD, end=end))
    rows = [dataset.row(0), dataset.row(1)]
    dataset.close()
    assert len(dataset) == 2
    assert all(isinstance(row, Task) for row in rows)


def test_a_last_line_that_is_cut_off_says_so(tmp_path):
    dataset = open_dataset(write(tmp_path, GOOD, GOOD[:-4], end=b""))
    row = dataset.row(1)
    dataset.close()
    assert isinstance(row, RowError)
    assert "the file ends in the middle of this row" in row.reason


def test_all_columns_of_a_row_become_its_task(tmp_path):
    row = {
        "q": "What?",
        "sys": "Be brief.",
        "answer": 42,
        "grader": "numeric",
        "files": {"a/b.txt": "text", "./c": ""},
        "extra": [1],
    }
    columns = Columns(user_prompt="q", system_prompt="sys", ground_truth="answer")
    dataset = open_dataset(write(tmp_path, json.dumps(row).encode()), columns=columns)
    task = dataset.row(0)
    dataset.close()
    assert task == Task(
        index=0,
        line=1,
        prompt="What?",
        system="Be brief.",
        ground_truth="42",
        grader="numeric",
        files={"a/b.txt": "text", "c": ""},
        row=row,
    )
