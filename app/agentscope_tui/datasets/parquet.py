"""Parquet files, by row group; large groups in pieces, so that their first rows are there at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa

_WHOLE_BYTES = 32 << 20
"""A row group of more bytes is decoded in pieces."""
_PIECE_ROWS = 4096


class _Piece(NamedTuple):
    """Rows of a group: its `number`th piece, or the whole group where there is one piece."""

    group: int
    number: int
    rows: int
    whole: bool


class ParquetBlocks:
    """`Blocks` of a Parquet file."""

    def __init__(self, path: Path) -> None:
        """Reads the file's footer (OSError, pyarrow.ArrowException)."""
        from pyarrow.parquet import ParquetFile

        self._file = ParquetFile(path)
        self.schema: pa.Schema = self._file.schema_arrow
        self._pieces = list(_plan(self._file.metadata))
        self._told = 0
        self._batches: Iterator[pa.RecordBatch] = iter(())
        self._next = (-1, 0)

    def next_size(self) -> int | None:
        if self._told == len(self._pieces):
            return None
        self._told += 1
        return self._pieces[self._told - 1].rows

    def load(self, block: int) -> pa.Table:
        piece = self._pieces[block]
        return self._file.read_row_group(piece.group) if piece.whole else self._decode(piece)

    def _decode(self, piece: _Piece) -> pa.Table:
        """A piece; those before it in its group are passed over, unless they were the last to be decoded."""
        import pyarrow as pa

        group, number = self._next
        if group != piece.group or number > piece.number:
            self._batches = self._file.iter_batches(_PIECE_ROWS, row_groups=[piece.group])
            number = 0
        for batch in self._batches:
            number += 1
            if number > piece.number:
                self._next = (piece.group, number)
                return pa.Table.from_batches([batch])
        raise pa.ArrowInvalid("the file was changed since it was opened")

    def close(self) -> None:
        self._file.close()


def _plan(metadata: pa.parquet.FileMetaData) -> Iterator[_Piece]:
    for group in range(metadata.num_row_groups):
        about = metadata.row_group(group)
        if about.total_byte_size <= _WHOLE_BYTES:
            yield _Piece(group, 0, about.num_rows, whole=True)
        else:
            for number, first in enumerate(range(0, about.num_rows, _PIECE_ROWS)):
                yield _Piece(group, number, min(_PIECE_ROWS, about.num_rows - first), whole=False)
