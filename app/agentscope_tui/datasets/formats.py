"""Which format a file is in: by content where that is plain, else by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from agentscope_tui.datasets.arrow import FOOTER_MAGIC, ArrowFile, ArrowStream
from agentscope_tui.datasets.byte_source import ByteSource, PlainFile
from agentscope_tui.datasets.csv_rows import DELIMITERS, open_csv
from agentscope_tui.datasets.file_state import FileState
from agentscope_tui.datasets.json_array import JsonArray, array_start
from agentscope_tui.datasets.json_lines import JsonLines
from agentscope_tui.datasets.parquet import ParquetBlocks
from agentscope_tui.datasets.raw import RawRows
from agentscope_tui.datasets.spool import Spool, Stream
from agentscope_tui.datasets.standard_input import NAME, PipedInput
from agentscope_tui.datasets.tables import Blocks, TableRows, opening
from agentscope_tui.datasets.text_rows import TextRows
from agentscope_tui.datasets.unpacked import GzipStream, ZstdStream
from agentscope_tui.errors import UsageError

T = TypeVar("T")

_HEAD = 64 << 10
_BOM = b"\xef\xbb\xbf"
_PACKED: dict[bytes, Callable[[Path], Stream]] = {b"\x1f\x8b": GzipStream, b"\x28\xb5\x2f\xfd": ZstdStream}
_COLUMNAR: dict[bytes, Callable[[Path], Blocks]] = {
    b"PAR1": ParquetBlocks,
    FOOTER_MAGIC: ArrowFile,
    b"\xff\xff\xff\xff": ArrowStream,
}
_OTHERS = {
    b"\xff\xfe": "UTF-16 text: save it as UTF-8",
    b"\xfe\xff": "UTF-16 text: save it as UTF-8",
    b"PK\x03\x04": "a zip file or a spreadsheet: save its rows as CSV or JSON lines",
    b"BZh": "bzip2: unpack it first",
    b"\xfd7zXZ": "xz: unpack it first",
    b"SQLite format 3": "a database: save its rows as CSV or JSON lines",
}


def open_file(path: Path, *, several: bool = False) -> RawRows:
    """The rows of one file; `several`: it is one of many, and rows say so.

    Raises:
        UserError: no rows can be read from it.
        OSError: it cannot be read.
    """
    file = path if several else None
    plain = PlainFile(path)
    try:
        head = plain.read(16, 0)
        make_blocks = _by_magic(_COLUMNAR, head)
        make_stream = _by_magic(_PACKED, head)
        if make_blocks is None and make_stream is None:
            return _text(plain, path.suffix, str(path), file)
    except BaseException:
        plain.close()
        raise
    plain.close()
    if make_blocks is not None:
        with opening(path):
            return TableRows(path, make_blocks(path), file)
    assert make_stream is not None
    spool = Spool(make_stream(path), str(path), FileState.of(path))
    try:
        return _text(spool, Path(path.stem).suffix, str(path), file)
    except BaseException:
        spool.close()
        raise


def open_pipe() -> RawRows:
    """The rows that are piped in (UserError)."""
    piped = PipedInput()
    if _by_magic(_PACKED, piped.head) or _by_magic(_COLUMNAR, piped.head):
        raise UsageError(f"{NAME} is not text: unpack it first, or name the file")
    return _text(Spool(piped, NAME, None), "", NAME, None)


def _text(source: ByteSource, suffix: str, name: str, file: Path | None) -> RawRows:
    head, final = _head(source)
    if what := _by_magic(_OTHERS, head):
        raise UsageError(f"{name} is {what}")
    start = len(_BOM) if head.startswith(_BOM) else 0
    text = head[start:]
    kind = _kind(text, suffix.lower(), final)
    if kind == "lines":
        return TextRows(source, JsonLines(), name=name, start=start, file=file)
    if kind == "array":
        begin = array_start(text)
        if begin is None:
            raise UsageError(f"{name} is one JSON object: a dataset is an array of objects, or one a line")
        array = JsonArray(wrapped=not text.lstrip().startswith(b"["))
        line = 1 + text.count(b"\n", 0, begin)
        return TextRows(source, array, name=name, start=start + begin, line=line, file=file)
    if kind == "":
        raise UsageError(f"cannot tell the format of {name}: name it .jsonl, .json, .csv or .tsv")
    csv, begin, line = open_csv(source, start, kind, name)
    return TextRows(source, csv, name=name, start=begin, line=line, file=file)


def _head(source: ByteSource) -> tuple[bytes, bool]:
    """The first bytes, with a whole line if they can have one; whether they are all there are."""
    while True:
        head, final = source.more(_HEAD, 0)
        if final or len(head) == _HEAD or b"\n" in head:
            return head, final


def _kind(text: bytes, suffix: str, final: bool) -> str:
    """ "lines" or "array" of JSON; the delimiter of CSV; empty: cannot be told."""
    start = text.lstrip()
    json_name = suffix in (".jsonl", ".ndjson", ".json")
    if start.startswith(b"["):
        # A list may also be the bad first row of JSON lines.
        inner = start[1:].lstrip()
        return "array" if suffix not in (".jsonl", ".ndjson") or inner[:1] in (b"{", b"]") else "lines"
    if start.startswith(b"{"):
        return "lines" if suffix in (".jsonl", ".ndjson") or _begins_lines(start, final) else "array"
    if json_name or (not start and suffix not in (".csv", ".tsv")):
        return "lines"
    return _delimiter(start.partition(b"\n")[0], suffix)


def _begins_lines(text: bytes, final: bool) -> bool:
    """Whether an object stands on a line by itself, and is not the only one, around an array."""
    line, _, rest = text.partition(b"\n")
    if not rest.strip() and array_start(text) is not None:
        return False
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return not rest and not final


def _delimiter(header: bytes, suffix: str) -> str:
    own = {".csv": ",", ".tsv": "\t"}.get(suffix, "")
    found = {delimiter: header.count(delimiter.encode()) for delimiter in DELIMITERS}
    if own and found[own]:
        return own
    most = max(found, key=lambda delimiter: found[delimiter])
    return most if found[most] else own


def _by_magic(table: dict[bytes, T], head: bytes) -> T | None:
    return next((value for magic, value in table.items() if head.startswith(magic)), None)
