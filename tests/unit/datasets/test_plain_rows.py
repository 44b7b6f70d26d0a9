"""The quick way to read a row of JSON gives what the exact one gives, or leaves the row to it."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_tui.datasets import json_row
from agentscope_tui.datasets.json_row import parse_row
from agentscope_tui.datasets.task import RowProblem
from unit.datasets.odd_json import LETTERS, NUMBERS, Number, written

texts = st.text(st.sampled_from(LETTERS + "\ud800"), max_size=6)
values = st.recursive(
    st.none() | st.booleans() | st.sampled_from(NUMBERS).map(Number) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=8,
)


def read(text: bytes) -> str:
    """The value with its types, or why there is none."""
    try:
        return repr(parse_row(text, 1, cut_off=False))
    except RowProblem as problem:
        return f"problem: {problem}"


def read_exactly(text: bytes) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_row, "_plain_row", lambda text: None)
        return read(text)


@settings(max_examples=300, deadline=None)
@given(row=st.dictionaries(texts, values, max_size=5), seed=st.integers(0, 1 << 30))
def test_both_ways_give_the_same(row: dict[str, Any], seed: int) -> None:
    text = written(row, random.Random(seed), twice=True).encode("utf-8", "surrogatepass")
    assert read(text) == read_exactly(text)


@pytest.mark.parametrize(
    "text",
    [
        b'{"a": 1, "a": 2}',
        b'{"a" : 1, "a": 2}',
        b'{"a": {"b": "x", "b": ":\\""}}',
        b'{"a\\\\": 1, "a\\\\": ":"}',
        b'{"a": "\\"", "a": 1, "b": "\\\\"}',
        b'{"\\u0061": 1, "a": 2}',
        b'{"a": 18446744073709551616}',
        b'{"a": [-9223372036854775809]}',
        b'{"a": 9223372036854775808}',
        b'{"a": NaN}',
        b'{"a": %b}' % (b"9" * 5_000),
        b'{"a": "\\ud800"}',
        b'{"a": "\xff"}',
        b'{"a": "\x01"}',
        b'\xef\xbb\xbf{"a": 1}',
        b'{"a": 1} ',
        b'{"a": 1} {}',
        b'{"a": 1\x0c}',
        b'{"a": 01}',
        b'{"a": 1,}',
        b'{"a": "cut',
        b"[]",
        b'"{}"',
    ],
)
def test_rows_that_are_not_plain_are_read_exactly(text: bytes) -> None:
    assert read(text) == read_exactly(text)


def test_depth_does_not_matter() -> None:
    for depth in (50, 99, 100, 101, 500):
        text = b'{"a":[' * depth + b'"deep"' + b"]}" * depth
        assert read(text) == read_exactly(text)


def test_plain_rows_take_the_quick_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(json_row, "_DECODER")
    chat = [{"role": "user", "content": 'He said "so":\nand {"a": "b"}, C:/x'}, {"n": 1.5, "m": [None, True]}]
    for row in ({"messages": chat}, {"a": "é\u2028中😀", "b": -7, "c": {}}, {}):
        for is_ascii in (True, False):
            text = json.dumps(row, ensure_ascii=is_ascii).encode()
            assert parse_row(text, 1, cut_off=False) == row
