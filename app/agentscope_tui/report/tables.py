"""A run as a table for other programs, CSV or Parquet: a line for each rollout, with all that is known."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from agentscope_tui.batch.results import RolloutResult
from agentscope_tui.errors import UserError
from agentscope_tui.report.run import Run
from agentscope_tui.secrets import MASKER

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH = 5_000
"""Lines of Parquet that are written at once."""
_TOLD_EVERY = 200
_METRICS = "metrics"
_TYPES: Mapping[str, str] = {
    "row": "int64",
    "rollout": "int64",
    "calls": "int64",
    "input_tokens": "int64",
    "output_tokens": "int64",
    "reward": "float64",
    "cost": "float64",
    "seconds": "float64",
}
"""Of the columns that are no text and no moment."""


Tell = Callable[[int, int], None]
"""How many lines of how many are written."""


def write_csv(run: Run, out: TextIO, tell: Tell = lambda done, of: None) -> None:
    """The table as CSV, with titles. What is not known is empty.

    Raises:
        UserError: the results are not what they were.
    """
    writer = csv.DictWriter(out, [*_columns(run)])
    writer.writeheader()
    writer.writerows(_lines(run, tell))


def write_parquet(run: Run, path: Path, tell: Tell = lambda done, of: None) -> None:
    """The table as Parquet.

    Raises:
        UserError: pyarrow is not installed, or the results are not what they were.
        OSError: the file cannot be written.
    """
    try:
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter
    except ImportError:
        raise UserError(
            "Parquet takes pyarrow, which is not here: pip install 'agentscope-tui[parquet]', or use --csv"
        ) from None
    schema = pa.schema([(name, _type(name)) for name in _columns(run)])
    lines = _lines(run, tell)
    with ParquetWriter(path, schema, compression="zstd") as writer:
        while some := [*islice(lines, _BATCH)]:
            writer.write_table(pa.Table.from_pylist(some, schema))


def _columns(run: Run) -> Iterator[str]:
    """The fields of a result in their order, each metric as `metrics.NAME`."""
    names: dict[str, None] = {}
    for rollout in run.rollouts:
        if rollout.metrics:
            names.update(dict.fromkeys(rollout.metrics))
    for field in RolloutResult.model_fields:
        if field == _METRICS:
            yield from (f"{_METRICS}.{name}" for name in names)
        else:
            yield field


def _lines(run: Run, tell: Tell) -> Iterator[dict[str, Any]]:
    count = len(run.rollouts)
    for number, result in enumerate(run.results.whole(rollout.key for rollout in run.rollouts)):
        if number % _TOLD_EVERY == 0:
            tell(number, count)
        line = {**result.model_dump(), **{f"{_METRICS}.{name}": n for name, n in result.metrics.items()}}
        del line[_METRICS]
        yield {name: MASKER.mask(value) if isinstance(value, str) else value for name, value in line.items()}


def _type(name: str) -> pa.DataType:
    import pyarrow as pa

    if name == "ended":
        return pa.timestamp("us", tz="UTC")
    known = "float64" if name.startswith(f"{_METRICS}.") else _TYPES.get(name, "string")
    return pa.type_for_alias(known)
