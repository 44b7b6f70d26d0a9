"""Scanning: what is known at once, what comes later, ranges, and files that are none."""

from __future__ import annotations

import os
import threading
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_tui.datasets import text_rows
from agentscope_tui.datasets.byte_source import PlainFile
from agentscope_tui.datasets.dataset import Dataset
from agentscope_tui.datasets.json_lines import JsonLines
from agentscope_tui.datasets.raw import RawRow
from agentscope_tui.datasets.row_cache import RowCache
from agentscope_tui.datasets.source import open_dataset
from agentscope_tui.datasets.task import RowError, Task
from agentscope_tui.datasets.text_rows import TextRows
from agentscope_tui.errors import UsageError, UserError


def numbered(path: Path, rows: int) -> Path:
    path.write_text("".join(f'{{"user_prompt": "row {n}"}}\n' for n in range(rows)))
    return path


def scan(dataset: Dataset) -> list[int]:
    seen: list[int] = []
    dataset.scan(threading.Event(), seen.append)
    return seen


def prompt(row: Task | RowError) -> str:
    assert isinstance(row, Task)
    return row.prompt


def test_the_first_rows_are_there_before_any_scan(tmp_path):
    dataset = open_dataset(numbered(tmp_path / "a.jsonl", 30_000))
    assert 200 <= len(dataset) < 30_000
    assert not dataset.complete
    assert prompt(dataset.row_at(199)) == "row 199"
    with pytest.raises(IndexError):
        dataset.row_at(len(dataset))
    seen = scan(dataset)
    assert dataset.complete
    assert len(dataset) == 30_000
    assert seen[-1] == 30_000
    assert all(a < b for a, b in pairwise(seen))
    assert prompt(dataset.row_at(29_999)) == "row 29999"
    dataset.close()


def test_a_small_file_is_complete_at_once(tmp_path):
    dataset = open_dataset(numbered(tmp_path / "a.jsonl", 3))
    assert (len(dataset), dataset.complete, scan(dataset)) == (3, True, [])
    dataset.close()


def test_a_scan_stops_when_told(tmp_path):
    dataset = open_dataset(numbered(tmp_path / "a.jsonl", 60_000))
    stop = threading.Event()
    dataset.scan(stop, lambda known: stop.set())
    assert not dataset.complete
    dataset.close()


def test_rows_are_read_while_a_thread_scans(tmp_path):
    dataset = open_dataset(numbered(tmp_path / "a.jsonl", 60_000))
    thread = threading.Thread(target=scan, args=(dataset,))
    thread.start()
    while thread.is_alive():
        for position in (0, len(dataset) // 2, len(dataset) - 1):
            assert prompt(dataset.row_at(position)) == f"row {position}"
        assert prompt(dataset.row(300)) == "row 300"
    thread.join()
    assert len(dataset) == 60_000
    dataset.close()


def test_a_row_further_on_is_found_without_a_scan(tmp_path):
    dataset = open_dataset(numbered(tmp_path / "a.jsonl", 60_000))
    row = dataset.row(20_000)
    assert (row.index, row.line, prompt(row)) == (20_000, 20_001, "row 20000")
    assert not dataset.complete
    dataset.close()


def test_offset_and_limit_hide_rows_and_renumber_none(tmp_path):
    dataset = open_dataset(numbered(tmp_path / "a.jsonl", 12), offset=5, limit=3)
    assert (len(dataset), dataset.offset, dataset.complete) == (3, 5, True)
    assert [dataset.row_at(position).index for position in range(3)] == [5, 6, 7]
    for hidden in (0, 4, 8, 99, -1):
        with pytest.raises(UsageError, match=f"row {hidden} is out of range: valid rows are 5 to 7"):
            dataset.row(hidden)
    dataset.close()


def test_a_limit_reads_no_more_than_it_needs(tmp_path):
    dataset = open_dataset(numbered(tmp_path / "a.jsonl", 200_000), limit=10_000)
    scan(dataset)
    assert len(dataset) == 10_000
    assert dataset._rows.count < 40_000  # type: ignore[attr-defined]
    dataset.close()


def test_an_offset_beyond_what_is_known_comes_with_the_scan(tmp_path):
    dataset = open_dataset(numbered(tmp_path / "a.jsonl", 20_000), offset=15_000)
    assert len(dataset) == 0
    scan(dataset)
    assert len(dataset) == 5_000
    assert prompt(dataset.row_at(0)) == "row 15000"
    dataset.close()


def test_an_offset_past_the_end_is_said(tmp_path):
    with pytest.raises(UsageError, match=r"offset 12 is past the end of .*: its rows are 0 to 11"):
        open_dataset(numbered(tmp_path / "a.jsonl", 12), offset=12)
    dataset = open_dataset(numbered(tmp_path / "b.jsonl", 20_000), offset=50_000)
    with pytest.raises(UsageError, match=r"offset 50000 is past the end of .*: its rows are 0 to 19999"):
        scan(dataset)
    dataset.close()


def test_a_row_out_of_range_names_the_valid_ones(tmp_path):
    dataset = open_dataset(numbered(tmp_path / "a.jsonl", 12))
    with pytest.raises(UsageError, match="row 99 is out of range: valid rows are 0 to 11"):
        dataset.row(99)
    dataset.close()


@pytest.mark.parametrize("content", [b"", b"\n\n", b" \t\r\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
def test_a_dataset_without_rows_is_refused(tmp_path, content):
    path = tmp_path / "empty.jsonl"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"empty\.jsonl has no rows"):
        open_dataset(path)


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("missing.jsonl", UsageError, "no such dataset"),
        ("missing.csv", UsageError, "no such dataset"),
        ("empty", UsageError, "has no files of rows"),
        ("pipe", UsageError, "is not a regular file"),
        ("table.txt", UsageError, "cannot tell the format"),
        ("file/below", UserError, "cannot read .*: Not a directory"),
        ("n\0ul", UserError, "cannot read"),
        ("x" * 300, UserError, "cannot read"),
    ],
)
def test_what_is_not_a_dataset_is_refused(tmp_path, name, kind, message):
    (tmp_path / "table.txt").write_text("a")
    (tmp_path / "file").write_text("{}")
    (tmp_path / "empty").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(kind, match=message) as caught:
        open_dataset(tmp_path / name)
    assert type(caught.value) is kind
    assert "\n" not in str(caught.value)


def test_a_file_that_became_shorter_is_a_row_error(tmp_path):
    path = numbered(tmp_path / "a.jsonl", 100)
    dataset = open_dataset(path)
    os.truncate(path, 10)
    row = dataset.row(90)
    assert isinstance(row, RowError)
    assert "changed since it was opened" in row.reason
    dataset.close()


@settings(deadline=None, max_examples=100)
@given(
    st.lists(
        st.sampled_from([b"{}", b"", b" ", b"\r", b"x\ry", b" {}", b"{\xe2\x80\xa8}", b"y" * 300]),
        max_size=60,
    ),
    st.sampled_from([16, 1000]),
)
def test_rows_are_the_lines_that_are_not_blank_wherever_windows_end(tmp_path_factory, lines, window):
    path = tmp_path_factory.mktemp("index") / "lines"
    path.write_bytes(b"\n".join(lines))
    expected = [(n, len(line)) for n, line in enumerate(lines, 1) if line.strip()]
    rows = TextRows(PlainFile(path), JsonLines(), name="lines")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_rows, "_WINDOW", window)
        while not rows.complete:
            rows.advance()
    found = [
        (row.line, row.size) if isinstance(row, RawRow) else (row.line, None)
        for row in rows.walk(0, rows.count)
    ]
    rows.close()
    assert [line for line, _ in found] == [line for line, _ in expected]
    assert all(size in (None, known) for (_, size), (_, known) in zip(found, expected, strict=True))


def test_a_cache_is_bounded_in_rows_and_bytes():
    cache: RowCache[RowError] = RowCache()
    for index in range(2000):
        cache.put(index, RowError(index, 1, ""), 10)
    kept = [index for index in range(2000) if cache.get(index)]
    assert kept == list(range(2000 - len(kept), 2000))
    assert 100 <= len(kept) <= 1000
    for index in range(3000, 3010):
        cache.put(index, RowError(index, 1, ""), 40 << 20)
    assert [index for index in range(3010) if cache.get(index)] == [3009]


def test_a_row_is_parsed_once_while_it_is_cached(tmp_path):
    dataset = open_dataset(numbered(tmp_path / "a.jsonl", 3))
    assert dataset.row(1) is dataset.row_at(1)
    dataset.close()
