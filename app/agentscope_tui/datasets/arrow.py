"""Arrow files, by record batch: streams, as `datasets` saves them, and files with a footer (Feather).

Read, not mapped: see `byte_source`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

FOOTER_MAGIC = b"ARROW1"


class ArrowStream:
    """`Blocks` of a stream: where each batch begins is found by reading on."""

    def __init__(self, path: Path) -> None:
        """Reads the columns (OSError, pyarrow.ArrowException)."""
        import pyarrow as pa

        self._file = pa.OSFile(str(path))
        self.schema: pa.Schema = pa.ipc.read_schema(self._file)
        self._offsets: list[int] = []
        self._at: int = self._file.tell()

    def next_size(self) -> int | None:
        try:
            batch = self._batch(self._at)
        except EOFError:
            return None
        self._offsets.append(self._at)
        self._at = self._file.tell()
        return int(batch.num_rows)

    def load(self, block: int) -> pa.Table:
        import pyarrow as pa

        return pa.Table.from_batches([self._batch(self._offsets[block])])

    def _batch(self, offset: int) -> pa.RecordBatch:
        import pyarrow as pa

        self._file.seek(offset)
        message = pa.ipc.read_message(self._file)
        if message.type != "record batch":
            raise pa.ArrowInvalid(f"a {message.type} in an Arrow stream is not supported: save it as Parquet")
        return pa.ipc.read_record_batch(message, self.schema)

    def close(self) -> None:
        self._file.close()


class ArrowFile:
    """`Blocks` of a file with a footer."""

    def __init__(self, path: Path) -> None:
        """Reads the footer (OSError, pyarrow.ArrowException)."""
        import pyarrow as pa

        self._file = pa.OSFile(str(path))
        self._reader = pa.ipc.open_file(self._file)
        self.schema: pa.Schema = self._reader.schema
        self._told = 0

    def next_size(self) -> int | None:
        if self._told == self._reader.num_record_batches:
            return None
        size = int(self._reader.get_batch(self._told).num_rows)
        self._told += 1
        return size

    def load(self, block: int) -> pa.Table:
        import pyarrow as pa

        return pa.Table.from_batches([self._reader.get_batch(block)])

    def close(self) -> None:
        self._file.close()
