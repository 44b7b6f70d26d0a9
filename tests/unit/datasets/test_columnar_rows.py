"""Parquet and Arrow files, and folders that `datasets` saved."""

from __future__ import annotations

import datetime
import decimal
import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from agentscope_tui.datasets import parquet
from agentscope_tui.datasets.source import open_dataset
from agentscope_tui.datasets.task import RowError
from agentscope_tui.errors import UsageError, UserError
from unit.datasets.reading import everything, values

ROWS = [
    {"question": f"What is {n}?", "messages": [{"role": "user", "content": str(n)}], "score": n / 2}
    for n in range(1000)
]
TABLE = pa.Table.from_pylist(ROWS)


def save(folder: Path, *sizes: int) -> Path:
    """The layout of `Dataset.save_to_disk`: streams of batches, and two files about them."""
    folder.mkdir(parents=True)
    names, first = [], 0
    for number, size in enumerate(sizes):
        names.append(f"data-{number:05}-of-{len(sizes):05}.arrow")
        part = TABLE.slice(first, size)
        with pa.ipc.new_stream(str(folder / names[-1]), TABLE.schema) as stream:
            stream.write_table(part, max_chunksize=100)
        first += size
    state = {
        "_data_files": [{"filename": name} for name in names],
        "_fingerprint": "0123456789abcdef",
        "_format_columns": None,
        "_format_kwargs": {},
        "_format_type": None,
        "_output_all_columns": False,
        "_split": "train",
    }
    (folder / "state.json").write_text(json.dumps(state))
    (folder / "dataset_info.json").write_text(json.dumps({"features": {}}))
    return folder


@pytest.mark.parametrize(("group", "whole_bytes"), [(300, 32 << 20), (1000, 32 << 20), (700, 0)])
def test_parquet_rows_are_read_by_group_and_by_piece(tmp_path, monkeypatch, group, whole_bytes):
    path = tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(TABLE, path, row_group_size=group)
    monkeypatch.setattr(parquet, "_WHOLE_BYTES", whole_bytes)
    monkeypatch.setattr(parquet, "_PIECE_ROWS", 64)
    assert values(path) == ROWS


def test_a_parquet_file_without_its_name_is_known_by_its_content(tmp_path):
    path = tmp_path / "rows.csv"
    pyarrow.parquet.write_table(TABLE.slice(0, 5), path)
    assert values(path) == ROWS[:5]


def test_values_that_json_has_not_become_text(tmp_path):
    path = tmp_path / "rows.parquet"
    row = {
        "day": datetime.date(2026, 1, 2),
        "at": datetime.datetime(2026, 1, 2, 3, 4, 5),
        "price": decimal.Decimal("1.50"),
        "text": b"text",
        "bytes": b"\xff\x00",
        "inner": [{"day": datetime.date(2026, 1, 2)}],
    }
    pyarrow.parquet.write_table(pa.Table.from_pylist([row]), path)
    assert values(path) == [
        {
            "day": "2026-01-02",
            "at": "2026-01-02T03:04:05",
            "price": "1.50",
            "text": "text",
            "bytes": "/wA=",
            "inner": [{"day": "2026-01-02"}],
        }
    ]


def test_rows_of_a_damaged_part_are_bad_and_the_others_work(tmp_path):
    path = tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(TABLE, path, row_group_size=500, compression="zstd")
    about = pyarrow.parquet.ParquetFile(path).metadata.row_group(1).column(0)
    content = bytearray(path.read_bytes())
    start = about.dictionary_page_offset or about.data_page_offset
    content[start : start + about.total_compressed_size] = bytes(about.total_compressed_size)
    path.write_bytes(content)
    rows = everything(path)
    assert [type(row) is RowError for row in rows] == [False] * 500 + [True] * 500
    assert str(rows[700]).startswith("row 700 (line 701): cannot be read: ")
    assert "\n" not in str(rows[700])


def test_a_parquet_file_cut_short_is_refused(tmp_path):
    path = tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(TABLE, path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(UserError, match=r"cannot read .*rows\.parquet: ") as caught:
        open_dataset(path)
    assert "\n" not in str(caught.value)


def test_without_pyarrow_the_error_says_how_to_install_it(tmp_path):
    path = tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(TABLE, path)
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from pathlib import Path\n"
        "from agentscope_tui.datasets.source import open_dataset\n"
        "from agentscope_tui.errors import UserError\n"
        "try: open_dataset(Path(sys.argv[1]))\n"
        "except UserError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, timeout=60)
    assert done.stdout == f"{path} needs pyarrow: pip install 'agentscope-tui[parquet]'\n"


def test_a_folder_saved_by_datasets_has_its_rows_in_order(tmp_path):
    folder = save(tmp_path / "saved", 400, 350, 250)
    (folder / "cache-0123.arrow").write_bytes(b"\xff\xff\xff\xffno part of it")
    rows = everything(folder)
    assert [row.value for row in rows] == ROWS  # type: ignore[union-attr]
    assert (rows[400].line, rows[400].file.name) == (1, "data-00001-of-00003.arrow")  # type: ignore[union-attr]


def test_a_folder_of_splits_says_which_there_are(tmp_path):
    for split in ("train", "test"):
        save(tmp_path / "splits" / split, 10)
    (tmp_path / "splits" / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    with pytest.raises(UsageError, match=r"has the splits train, test: name one, as in .*/splits/train"):
        open_dataset(tmp_path / "splits")
    assert values(tmp_path / "splits" / "test") == ROWS[:10]


@pytest.mark.parametrize(
    "state", ["{", "[]", '{"_data_files": []}', '{"_data_files": [{"filename": "../x"}]}']
)
def test_a_saved_folder_that_names_no_files_is_refused(tmp_path, state):
    folder = save(tmp_path / "saved", 10)
    (folder / "state.json").write_text(state)
    with pytest.raises(UsageError, match=r"state\.json (is not JSON|names no files of rows)"):
        open_dataset(folder)


def test_an_arrow_file_with_a_footer_is_read(tmp_path):
    path = tmp_path / "rows.feather"
    with pa.ipc.new_file(str(path), TABLE.schema) as file:
        file.write_table(TABLE, max_chunksize=300)
    assert values(path) == ROWS


def test_an_arrow_stream_cut_short_keeps_the_rows_before(tmp_path):
    path = save(tmp_path / "saved", 1000) / "data-00000-of-00001.arrow"
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    dataset = open_dataset(path)
    with pytest.raises(UserError, match="is damaged or cut short"):
        dataset.row(999)
    assert 300 <= len(dataset) < 600
    assert dataset.complete
    dataset.close()
