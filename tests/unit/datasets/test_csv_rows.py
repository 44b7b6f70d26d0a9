"""CSV: the rows that Python's own reader finds, quoted line ends and all; and rows that are none."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_tui.datasets import text_rows
from agentscope_tui.errors import UsageError
from unit.datasets.reading import told, values

CELLS = st.text(st.sampled_from('ab ",\n;é\u2028\0'), max_size=12)


@pytest.mark.parametrize("window", [16, 64 << 10])
@settings(deadline=None, max_examples=50)
@given(rows=st.lists(st.tuples(CELLS, CELLS, CELLS.map(lambda cell: cell + "x")), min_size=1, max_size=40))
def test_rows_are_those_that_were_written(tmp_path_factory, rows, window):
    path = tmp_path_factory.mktemp("csv") / "rows.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("a", "b", "c"), *rows])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_rows, "_WINDOW", window)
        found = values(path)
    assert found == [{"a": a or None, "b": b or None, "c": c} for a, b, c in rows]


@settings(deadline=None, max_examples=120)
@given(body=st.text(st.sampled_from('xy",\n'), max_size=80))
def test_stray_quotation_marks_are_read_as_the_standard_reader_does(tmp_path_factory, body):
    path = tmp_path_factory.mktemp("csv") / "rows.csv"
    path.write_text("a,b\nx,y\n" + body + '"' * _within_quotes(body))
    expected = list(csv.reader(io.StringIO(path.read_text(), newline="")))[1:]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_rows, "_WINDOW", 16)
        found = [value if isinstance(value, str) else list(value.values()) for _, value in told(path)]
    assert len(found) == len([row for row in expected if row])
    for row, cells in zip([row for row in expected if row], found, strict=True):
        if len(row) == 2:
            assert cells == [cell or None for cell in row]
        else:
            assert "columns than the header" in cells


def _within_quotes(body: str) -> bool:
    """Whether the standard reader is still within quotes at the end."""
    rows = list(csv.reader(io.StringIO("a,b\nx,y\n" + body + "\nend,end", newline="")))
    return rows[-1] != ["end", "end"]


def test_lines_are_those_of_the_file(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text('\ufeffq,a\r\n\r\n"one\r\ntwo",1\r\n\r\nthree,3', encoding="utf-8")
    assert told(path) == [(3, {"q": "one\r\ntwo", "a": "1"}), (6, {"q": "three", "a": "3"})]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (b"1,2,3", "more columns than the header: 3 cells, the header has 2"),
        (b"1", "fewer columns than the header: 1 cells, the header has 2"),
        (b"\xff,2", "not UTF-8: byte 0xff at column 1"),
        (b"a\rb,2", "invalid CSV: new-line character seen in unquoted field"),
    ],
)
def test_a_bad_row_is_one_row(tmp_path, row, reason):
    path = tmp_path / "rows.csv"
    path.write_bytes(b"q,a\nx,1\n" + row + b"\ny,2\n")
    assert told(path) == [(2, {"q": "x", "a": "1"}), (3, reason), (4, {"q": "y", "a": "2"})]


def test_a_file_that_ends_within_quotes_has_one_bad_row_at_its_end(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text('q,a\nx,1\ny,"2\nz,3\n')
    assert told(path) == [
        (2, {"q": "x", "a": "1"}),
        (3, "the file ends within quotes: the last quotation mark is missing"),
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.tsv", "q\ta,b\nx\ty,z\n"),
        ("a.csv", "q;a,b\nx;y,z\n".replace(",b", "").replace(",z", "")),
        ("noname", "q|a\nx|y\n"),
        ("lies.csv", "q\ta\nx\ty\n"),
    ],
)
def test_the_delimiter_is_that_of_the_header(tmp_path, name, content):
    path = tmp_path / name
    path.write_text(content)
    assert [next(iter(value.values())) for value in values(path)] == ["x"]
    assert len(values(path)[0]) == 2


def test_a_header_that_names_a_column_twice_is_refused(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("q,a,q\n1,2,3\n")
    with pytest.raises(UsageError, match=r"rows\.csv: the header names the column 'q' twice"):
        values(path)


@pytest.mark.parametrize("content", ["", "q,a\n", "\n\n", "q,a"])
def test_a_file_without_rows_is_refused(tmp_path, content):
    path = tmp_path / "rows.csv"
    path.write_text(content)
    with pytest.raises(UsageError, match=r"rows\.csv has no rows"):
        values(path)
