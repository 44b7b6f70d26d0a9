"""Which rows a run names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agentscope_tui.batch.selection import selected
from agentscope_tui.datasets.dataset import Dataset
from agentscope_tui.datasets.source import open_dataset
from agentscope_tui.errors import UsageError
from agentscope_tui.options import parse_rows


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        (None, ()),
        ("3", ((3, 3),)),
        ("0-99,120", ((0, 99), (120, 120))),
        (" 5 , 7- ", ((5, 5), (7, None))),
        ("0-", ((0, None),)),
    ],
)
def test_ranges(text: str | None, spans: tuple[tuple[int, int | None], ...]) -> None:
    assert parse_rows(text) == spans


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "--rows '': name rows as in 0-99,120,500-"),
        ("a", "--rows 'a': name rows as in 0-99,120,500-"),
        ("1,,2", "--rows '': name rows as in 0-99,120,500-"),
        ("-3", "--rows '-3': name rows as in 0-99,120,500-"),
        ("9-3", "--rows '9-3': it ends before it begins"),
    ],
)
def test_what_names_no_rows(text: str, problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_rows(text)
    assert str(caught.value) == problem


@pytest.fixture
def dataset(tmp_path: Path) -> Iterator[Dataset]:
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(f'{{"user_prompt": "task {n}"}}\n' for n in range(20)))
    opened = open_dataset(file, offset=5, limit=10)
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("text", "indices"),
    [
        (None, [*range(5, 15)]),
        ("5", [5]),
        ("14,5-7,6", [14, 5, 6, 7]),
        ("12-", [12, 13, 14]),
    ],
)
def test_each_row_is_named_once_and_in_order(dataset: Dataset, text: str | None, indices: list[int]) -> None:
    assert [*selected(dataset, parse_rows(text), lambda: None)] == indices


@pytest.mark.parametrize("text", ["4", "15", "5-15", "15-", "20-"])
def test_a_row_that_is_not_there_is_said(dataset: Dataset, text: str) -> None:
    with pytest.raises(UsageError, match="valid rows are 5 to 14"):
        [*selected(dataset, parse_rows(text), lambda: None)]


def test_rows_are_counted_only_where_their_number_matters(dataset: Dataset) -> None:
    scans: list[str] = []
    [*selected(dataset, parse_rows("5-9"), lambda: scans.append("ranges"))]
    [*selected(dataset, parse_rows("5-"), lambda: scans.append("to the end"))]
    [*selected(dataset, (), lambda: scans.append("all"))]
    assert scans == ["to the end", "all"]
