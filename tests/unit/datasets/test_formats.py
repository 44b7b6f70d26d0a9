"""Each format, by its name and by its content, and what is refused."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from pathlib import Path

import pytest
import zstandard

from agentscope_tui.datasets.source import open_dataset
from agentscope_tui.errors import UsageError, UserError
from unit.datasets.reading import everything, values

ROWS = [{"question": f"What is {n}?", "answer": str(n)} for n in range(300)]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
ARRAY = json.dumps(ROWS).encode()
CSV = ("question,answer\n" + "".join(f"{row['question']},{row['answer']}\n" for row in ROWS)).encode()
TSV = CSV.replace(b",", b"\t")


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", LINES),
        ("a.ndjson", LINES),
        ("a.json", ARRAY),
        ("a.csv", CSV),
        ("a.TSV", TSV),
        ("lines.json", LINES),
        ("array.jsonl", ARRAY),
        ("lines.csv", LINES),
        ("array.csv", ARRAY),
        ("noname", LINES),
        ("array.txt", ARRAY),
        ("table.txt", CSV),
        ("table.data", TSV),
        ("text.parquet", LINES),
    ],
)
def test_text_is_read_by_name_and_by_content(tmp_path, name, content, pack):
    path = tmp_path / (name + {gzip.compress: ".gz", zstandard.compress: ".zst"}.get(pack, ""))
    path.write_bytes(pack(content))
    assert values(path) == ROWS


def test_packed_files_may_have_several_parts_and_any_name(tmp_path):
    half = LINES.index(b"\n", len(LINES) // 2) - 5
    for pack in (gzip.compress, zstandard.compress):
        path = tmp_path / "rows.jsonl"
        path.write_bytes(pack(LINES[:half]) + pack(LINES[half:]))
        assert values(path) == ROWS


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_packed_file_that_is_damaged_says_so_and_keeps_the_rows_before(tmp_path, pack):
    path = tmp_path / "rows.jsonl.packed"
    many = b"".join(json.dumps({"prompt": str(n) * 20}).encode() + b"\n" for n in range(60_000))
    packed = pack(many)
    path.write_bytes(packed[: len(packed) * 2 // 3])
    dataset = open_dataset(path)
    with pytest.raises(UserError, match="data is damaged or cut short") as caught:
        dataset.row(59_999)
    assert "\n" not in str(caught.value)
    assert 10_000 < len(dataset) < 59_999
    assert dataset.complete
    dataset.close()


def test_a_limit_unpacks_no_more_than_it_needs(tmp_path):
    path = tmp_path / "rows.jsonl.gz"
    packed = gzip.compress(LINES * 400)
    path.write_bytes(packed[:-2000])
    dataset = open_dataset(path, limit=100)
    assert (len(dataset), dataset.complete) == (100, True)
    dataset.close()


def test_a_wrong_first_row_does_not_make_json_lines_an_array(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"[1]\n" + LINES)
    assert len(everything(path)) == 301


def test_chats_one_a_line_are_json_lines_under_any_name(tmp_path):
    rows = [{"messages": [{"role": "user", "content": "hi"}]}] * 3
    path = tmp_path / "chats.json"
    path.write_text("\n".join(map(json.dumps, rows)))
    assert values(path) == rows


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "q,a\n1,2\n".encode("utf-16"), "is UTF-16 text: save it as UTF-8"),
        ("a.xlsx", b"PK\x03\x04rest", "is a zip file or a spreadsheet"),
        ("a.jsonl.bz2", bz2.compress(LINES), "is bzip2: unpack it first"),
        ("a.jsonl.xz", lzma.compress(LINES), "is xz: unpack it first"),
        ("a.txt", b"just words\n", "cannot tell the format of .*: name it .jsonl, .json, .csv or .tsv"),
        ("empty", b"", "has no rows"),
        ("a.gz", gzip.compress(b"", mtime=0), "has no rows"),
    ],
)
def test_what_is_no_dataset_is_refused_with_what_to_do(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UsageError, match=message):
        open_dataset(path)


def test_a_folder_or_a_pattern_is_one_dataset_in_the_order_of_names(tmp_path):
    folder = tmp_path / "rows"
    folder.mkdir()
    (folder / "b.csv").write_bytes(CSV)
    (folder / "a.jsonl").write_bytes(LINES)
    (folder / "c.json.gz").write_bytes(gzip.compress(b"[]", mtime=0))
    (folder / "d.jsonl").write_bytes(b'{"question": "last"}\n{oops}\n')
    (folder / ".hidden.jsonl").write_bytes(LINES)
    (folder / "notes.md").write_text("no rows")
    rows = everything(folder)
    assert [row.value for row in rows[:-1]] == [*ROWS, *ROWS, {"question": "last"}]  # type: ignore[union-attr]
    assert str(rows[-1]).startswith("row 601 (d.jsonl, line 2): invalid JSON at line 2")
    dataset = open_dataset(folder, offset=599, limit=2)
    assert [str(dataset.row(index).row["question"]) for index in (599, 600)] == ["What is 299?", "last"]  # type: ignore[union-attr]
    dataset.close()
    assert values(folder / "[ab]*") == [*ROWS, *ROWS]
    with pytest.raises(UsageError, match="no file matches"):
        open_dataset(folder / "*.parquet")


def test_a_file_whose_name_looks_like_a_pattern_is_itself(tmp_path):
    path = tmp_path / "rows[1].jsonl"
    path.write_bytes(LINES)
    assert values(path) == ROWS


def test_a_damaged_file_of_a_folder_is_named(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(LINES)
    (tmp_path / "b.json").write_bytes(b'{\n"one": 1}')
    dataset = open_dataset(tmp_path)
    with pytest.raises(UsageError, match=r"b\.json is one JSON object"):
        dataset.row(400)
    assert (len(dataset), dataset.complete) == (300, True)
    dataset.close()


def test_the_names_of_columns_are_those_of_the_first_rows(tmp_path):
    path = Path(tmp_path / "a.jsonl")
    path.write_text('{"b": 1, "a": 2}\n{oops}\n{"c": 3, "a": 4}\n')
    dataset = open_dataset(path)
    assert list(dataset.fields) == ["b", "a", "c"]
    dataset.close()
