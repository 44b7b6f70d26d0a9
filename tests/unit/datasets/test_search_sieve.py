"""Searching by bytes finds what parsing each row finds, however the rows are written."""

from __future__ import annotations

import csv
import gzip
import json
import random
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_tui.datasets.json_row import parse_row
from agentscope_tui.datasets.needle import Needle
from agentscope_tui.datasets.query import search
from agentscope_tui.datasets.raw import RawRow
from agentscope_tui.datasets.sieve import csv_sieve, json_sieve
from agentscope_tui.datasets.source import open_dataset
from agentscope_tui.datasets.task import RowProblem
from unit.datasets.odd_json import LETTERS, NUMBERS, Number, written

texts = st.text(st.sampled_from(LETTERS), max_size=12)
numbers = st.sampled_from(NUMBERS).map(Number)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
rows = st.dictionaries(texts, values, max_size=4)
needles = st.text(st.sampled_from(LETTERS), min_size=1, max_size=4)


def strings(value: Any) -> list[str]:
    """All that a search could look at in a value."""
    match value:
        case dict():
            return [text for item in value.values() for text in strings(item)]
        case list():
            return [text for item in value for text in strings(item)]
        case _:
            return [str(value)]


def part_of(value: Any, chance: random.Random) -> str:
    """Some letters of it, in another case perhaps."""
    text = chance.choice([*strings(value), "x"]) or "x"
    start = chance.randrange(len(text))
    part = text[start : start + chance.randint(1, 5)]
    return chance.choice([part, part.lower(), part.casefold(), part.upper().lower()])


@settings(max_examples=400, deadline=None)
@given(row=rows, needle=needles, seed=st.integers(0, 1 << 30))
def test_what_has_the_needle_is_never_held_back(row: dict[str, Any], needle: str, seed: int) -> None:
    chance = random.Random(seed)
    text = written(row, chance, twice=True).encode("utf-8", "surrogatepass")
    try:
        value: Any = parse_row(text, 1, cut_off=False)
    except RowProblem:
        value = text.decode("utf-8", "replace")
    for sought in (needle, part_of(value, chance)):
        if Needle(sought).is_in(value):
            assert json_sieve(Needle(sought))(text), sought


CASES = [
    ('{"a": "Stra\\u00dfe"}', "strasse", True),
    ('{"a": "STRASSE"}', "straße", True),
    ('{"a": "t\\u0061x"}', "tax", True),
    ('{"a": "t\\u0041x"}', "tax", True),
    ('{"a": "t\\u0041x"}', "tAx", True),
    ('{"a": "t\\u0041x"}', "Tax", False),
    ('{"a": "t\\u2019x"}', "tax", False),
    ('{"a": "\u212ailo"}', "kilo", True),
    ('{"a": "\\uD83D\\uDE00"}', "😀", True),
    ('{"a": "a\\/b c"}', "a/b", True),
    ('{"a": "ПРИВЕТ"}', "привет", True),
    ('{"a": "привет"}', "Привет", False),
    ('{"a": "中文"}', "中", True),
    ('{"a": 1e5}', "100000", True),
    ('{"a": 0.00001}', "1e-05", True),
    ('{"a": 12345}', "234", True),
    ('{"a": 12345}', "235", False),
    ('{"a": "x1e5"}', "tax", False),
    ('{"a": [1,\t-15e1]}', "150", True),
    ('{"a": "1e5, 12"}', "100", False),
]


@pytest.mark.parametrize(("text", "needle", "passes"), CASES)
def test_what_a_sieve_lets_through(text: str, needle: str, passes: bool) -> None:
    assert json_sieve(Needle(needle))(text.encode()) is passes


@pytest.mark.parametrize(
    ("text", "needle", "passes"),
    [
        ('a,"b"cd', "bcd", True),
        ('a,"b""cd"', 'b"cd', True),
        ('a,"b""cd"', "bcd", True),
        ("a,\\u0074ax", "tax", False),
        ("a,\\u0074ax", "\\u0074", True),
        ("a,1e5", "100000", False),
        ("a,STRAẞE", "strasse", True),
        ("a,b", '"', True),
    ],
)
def test_what_a_sieve_of_csv_lets_through(text: str, needle: str, passes: bool) -> None:
    assert csv_sieve(Needle(needle))(text.encode()) is passes


def searched(path: Path, needle: str, start: int) -> tuple[list[int], list[int]]:
    """What a search finds, and what parsing finds."""
    dataset = open_dataset(path)
    try:
        dataset.scan(threading.Event(), lambda count: None)
        reports = list(search(dataset, needle, threading.Event(), start=min(start, len(dataset) - 1)))
        sought = Needle(needle)
        lines = path.read_bytes().split(b"\n")
        if path.suffix == ".json":
            lines = [line.removesuffix(b",") for line in lines]
        expected = [
            position
            for position, raw in dataset.walk()
            if sought.is_in(
                raw.value if isinstance(raw, RawRow) else lines[raw.line - 1].decode("utf-8", "replace")
            )
        ]
        assert reports[-1].looked_at == len(dataset)
        return sorted(hit for report in reports for hit in report.positions), expected
    finally:
        dataset.close()


def write_csv(path: Path, table: Sequence[dict[str, Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_MINIMAL)
        writer.writerow(["a", "b"])
        writer.writerows([*strings(row), "", ""][:2] for row in table)


@settings(max_examples=40, deadline=None)
@given(
    table=st.lists(rows.filter(bool), min_size=1, max_size=6), needle=needles, seed=st.integers(0, 1 << 30)
)
def test_a_search_finds_what_parsing_finds_in_each_format(
    table: list[dict[str, Any]], needle: str, seed: int
) -> None:
    chance = random.Random(seed)
    lines = [written(row, chance, twice=True) for row in table]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = "\n".join(line[: chance.choice([len(line), len(line), 5])] for line in lines)
        (folder / "a.jsonl").write_text(text + "\n", encoding="utf-8", newline="")
        (folder / "b.json").write_text(
            "[\n" + ",\n".join(written(row, chance) for row in table) + "\n]", encoding="utf-8"
        )
        write_csv(folder / "c.csv", table)
        for file in ("a.jsonl", "b.json", "c.csv"):
            for sought in (needle, part_of(table, chance)):
                found, expected = searched(folder / file, sought, chance.randrange(6))
                assert found == expected, (file, sought)


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.parquet", "folder"])
def test_a_search_counts_all_rows_of_packed_columnar_and_several_files(tmp_path: Path, name: str) -> None:
    table = [{"prompt": f"row {number} " + "x" * 300, "n": number} for number in range(3_000)]
    lines = "".join(json.dumps(row) + "\n" for row in table).encode()
    path = tmp_path / name
    if name == "folder":
        path.mkdir()
        cut = lines.index(b"\n", len(lines) // 2) + 1
        (path / "a.jsonl").write_bytes(lines[:cut])
        (path / "b.jsonl").write_bytes(lines[cut:])
    elif name == "a.parquet":
        pa = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(
            pa.Table.from_pylist(table), path, row_group_size=700
        )
    else:
        path.write_bytes(gzip.compress(lines) if path.suffix == ".gz" else lines)
    dataset = open_dataset(path)
    try:
        dataset.scan(threading.Event(), lambda count: None)
        for needle, positions in (
            ("ROW 2", []),
            ("row 29", [29, *range(290, 300), *range(2_900, 3_000)]),
            ("2999", [2_999]),
        ):
            reports = list(search(dataset, needle, threading.Event(), start=1_500))
            found = sorted(hit for report in reports for hit in report.positions)
            assert (found, reports[-1].looked_at) == (positions, 3_000)
    finally:
        dataset.close()


def test_rows_without_the_text_are_not_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        "".join(f'{{"prompt": "row {number} é \\n"}}\n' for number in range(5_000)), encoding="utf-8"
    )
    dataset = open_dataset(path)
    dataset.scan(threading.Event(), lambda count: None)
    parsed: list[bytes] = []

    def parse(text: bytes, line: int, *, cut_off: bool) -> dict[str, Any]:
        parsed.append(text)
        return parse_row(text, line, cut_off=cut_off)

    monkeypatch.setattr("agentscope_tui.datasets.json_lines.parse_row", parse)
    reports = list(search(dataset, "ROW 4321".lower(), threading.Event()))
    dataset.close()
    assert [list(report.positions) for report in reports if report.positions] == [[4_321]]
    assert parsed == ['{"prompt": "row 4321 é \\n"}'.encode()]


def test_a_search_goes_on_with_rows_that_are_counted_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(f'{{"prompt": "{"q" * 100}{number}"}}\n' for number in range(20_000)))
    dataset = open_dataset(path)
    assert not dataset.complete
    counting = threading.Thread(target=dataset.scan, args=(threading.Event(), lambda count: None))
    reports = search(dataset, "q19999", threading.Event())
    first = next(reports)
    counting.start()
    rest = list(reports)
    counting.join()
    dataset.close()
    assert (list(first.positions), first.looked_at < 20_000) == ([], True)
    assert [hit for report in rest for hit in report.positions] == [19_999]
    assert rest[-1].looked_at == 20_000
