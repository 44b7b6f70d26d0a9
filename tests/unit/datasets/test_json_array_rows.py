"""JSON arrays: elements found without parsing the file, however they are laid out or broken."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_tui.datasets import text_rows
from agentscope_tui.datasets.dataset import Dataset
from agentscope_tui.datasets.source import open_dataset
from agentscope_tui.errors import UsageError, UserError
from unit.datasets.reading import everything, told, values

TEXTS = st.text(st.sampled_from('a"\\{}[],\n é\u2028'), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=12,
)


@pytest.mark.parametrize("window", [16, 64 << 10])
@settings(deadline=None, max_examples=50)
@given(
    rows=st.lists(st.dictionaries(TEXTS, VALUES, max_size=4), min_size=1, max_size=20),
    indent=st.sampled_from([None, 0, 3]),
    ascii=st.booleans(),
    wrapped=st.booleans(),
)
def test_rows_are_those_that_were_written(tmp_path_factory, rows, indent, ascii, wrapped, window):
    path = tmp_path_factory.mktemp("json") / "rows.json"
    whole = {"version": "1 [", "data": rows, "after": [{}]} if wrapped else rows
    path.write_text(json.dumps(whole, indent=indent, ensure_ascii=ascii), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_rows, "_WINDOW", window)
        assert values(path) == rows


def test_deep_nesting_is_followed(tmp_path):
    rows = [{"a": [[{"b": {"c": {"d": {"e": {"f": {"g": "}"}}}}}}]]}, {"h": 1}]
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(rows))
    assert values(path) == rows


def test_lines_are_those_of_the_file(tmp_path):
    path = tmp_path / "rows.json"
    path.write_text('\ufeff\n[\n  {"a": 1},\n  {\n    "a": 2\n  }, {"a": 3}\n]\n', encoding="utf-8")
    assert told(path) == [(3, {"a": 1}), (4, {"a": 2}), (6, {"a": 3})]


@pytest.mark.parametrize(
    ("element", "reason"),
    [
        ("{oops}", "invalid JSON at line 2: Expecting property name"),
        ('{"a": "x}', "invalid JSON at line 2"),
        ("7", "expected an object, got a number"),
        ('"text"', "expected an object, got a string"),
        ("null", "expected an object, got null"),
        ("[1, {}]", "expected an object, got a list"),
        ('{"a": 1, "a": 2}', "the key 'a' is there twice"),
    ],
)
def test_a_bad_element_is_one_row(tmp_path, element, reason):
    path = tmp_path / "rows.json"
    path.write_text('[{"a": 1},\n' + element + ',\n{"a": 3}\n]')
    rows = told(path)
    assert reason in str(rows[1][1])
    assert [rows[0], *rows[2:]] == [(1, {"a": 1}), (3, {"a": 3})]


def test_the_line_of_an_error_is_the_one_within_the_element(tmp_path):
    path = tmp_path / "rows.json"
    path.write_text('[\n{\n"a": 1,\n"b" 2\n}\n]')
    assert told(path) == [(2, "invalid JSON at line 4: Expecting ':' delimiter at column 5")]


def _opened(tmp_path, content: str) -> Dataset:
    path = tmp_path / "rows.json"
    path.write_text(content)
    return open_dataset(path)


def test_a_file_cut_short_says_so_and_keeps_its_rows(tmp_path):
    for content, count in (('[{"a": 1},\n{"a": 2}', 2), ('[{"a": 1},\n', 1), ('[{"a": 1},\n{"a": "', 2)):
        dataset = _opened(tmp_path, content)
        assert len(dataset) == count
        with pytest.raises(UserError, match=r"rows\.json, line 2: the file ends before its array does"):
            dataset.row(count)
        assert (len(dataset), dataset.complete) == (count, True)
        dataset.close()


def test_what_follows_an_array_is_not_passed_over_in_silence(tmp_path):
    dataset = _opened(tmp_path, '[{"a": 1}]\n[{"a": 2}]')
    assert len(dataset) == 1
    with pytest.raises(UserError, match="what follows the array is not read"):
        dataset.row(1)
    dataset.close()


def test_one_object_is_not_a_dataset(tmp_path):
    path = tmp_path / "rows.json"
    path.write_text('{\n"a": 1\n}')
    with pytest.raises(UsageError, match="is one JSON object: a dataset is an array of objects"):
        everything(path)


@pytest.mark.parametrize("content", ["", "[]", "[\n]\n", " "])
def test_a_file_without_rows_is_refused(tmp_path, content):
    path = tmp_path / "rows.json"
    path.write_text(content)
    with pytest.raises(UsageError, match=r"rows\.json has no rows"):
        everything(path)
