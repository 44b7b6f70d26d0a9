"""A file that changes while it is open: said, never a crash; and what tells one dataset from another."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from agentscope_tui.datasets.raw import RawRow
from agentscope_tui.datasets.source import open_dataset
from agentscope_tui.datasets.task import RowError

ROWS = "".join(json.dumps({"prompt": f"row {n}"}) + "\n" for n in range(50_000))


def _replace(path: Path) -> None:
    other = path.with_suffix(".new")
    other.write_text('{"prompt": "another"}\n')
    other.rename(path)


def _append(path: Path) -> None:
    with path.open("a") as file:
        file.write('{"prompt": "one more"}\n')


def _rewrite(path: Path) -> None:
    before = path.stat()
    with path.open("r+") as file:
        file.write(ROWS.replace("row", "ROW"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))


CHANGES: dict[str, Callable[[Path], object]] = {
    "was replaced": _replace,
    "was appended to": _append,
    "was cut short": lambda path: os.truncate(path, 100),
    "is gone": Path.unlink,
    "was rewritten": _rewrite,
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_happened_to_the_file_is_said(tmp_path, change):
    path = tmp_path / "rows.jsonl"
    path.write_text(ROWS)
    dataset = open_dataset(path)
    assert dataset.changed() == ""
    CHANGES[change](path)
    assert dataset.changed() == change
    dataset.close()


@pytest.mark.parametrize("change", ["was replaced", "is gone"])
def test_a_replaced_file_is_read_to_its_end(tmp_path, change):
    path = tmp_path / "rows.jsonl"
    path.write_text(ROWS)
    dataset = open_dataset(path)
    CHANGES[change](path)
    dataset.scan(threading.Event(), lambda count: None)
    raw = dataset.raw_at(49_999)
    assert isinstance(raw, RawRow)
    assert (len(dataset), raw.value) == (50_000, {"prompt": "row 49999"})
    dataset.close()


def test_rows_of_a_file_cut_short_are_bad_rows_however_they_are_read(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(ROWS)
    dataset = open_dataset(path)
    dataset.scan(threading.Event(), lambda count: None)
    os.truncate(path, len(ROWS) // 2)
    walked = [raw for _, raw in dataset.walk()]
    last = dataset.raw_at(49_999)
    assert isinstance(last, RowError)
    assert last.reason == "is gone: the file was changed since it was opened"
    assert len(walked) == 50_000
    good = [raw for raw in walked if isinstance(raw, RawRow)]
    assert 20_000 < len(good) < 30_000
    assert isinstance(dataset.raw_at(100), RawRow)
    dataset.close()


def test_a_file_of_a_folder_is_named(tmp_path):
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text('{"prompt": "x"}\n')
    dataset = open_dataset(tmp_path)
    dataset.scan(threading.Event(), lambda count: None)
    _append(tmp_path / "b.jsonl")
    assert dataset.changed() == "was appended to (b.jsonl)"
    dataset.close()


def test_an_identity_is_the_same_for_the_same_file_and_another_for_any_other(tmp_path):
    def identity(path: Path) -> str:
        dataset = open_dataset(path)
        try:
            return dataset.identity()
        finally:
            dataset.close()

    path = tmp_path / "rows.jsonl"
    path.write_text(ROWS)
    os.utime(path, ns=(1, 1))
    seen = [identity(path)]
    assert identity(path) == seen[0]
    assert len(seen[0]) == 32
    for content in (ROWS.replace("row 1", "row 2", 1), ROWS[:-3] + "x}\n", ROWS + ROWS):
        path.write_text(content)
        os.utime(path, ns=(1, 1))
        seen.append(identity(path))
    os.utime(path, ns=(2, 2))
    seen += [identity(path), identity(tmp_path)]
    assert len(set(seen)) == 6


def test_a_row_of_50_mb_is_a_row(tmp_path):
    path = tmp_path / "rows.jsonl"
    text = "x" * (50 << 20)
    path.write_text(f'{{"prompt": "a"}}\n{{"prompt": "{text}"}}\n{{"prompt": "b"}}\n')
    dataset = open_dataset(path)
    dataset.scan(threading.Event(), lambda count: None)
    sizes = [raw.size if isinstance(raw, RawRow) else None for _, raw in dataset.walk()]
    last = dataset.raw_at(2)
    dataset.close()
    assert sizes == [15, len(text) + 14, 15]
    assert isinstance(last, RawRow)
    assert (last.line, last.value) == (3, {"prompt": "b"})
