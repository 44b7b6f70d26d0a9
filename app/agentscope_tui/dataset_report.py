"""`agentscope check`: read a whole dataset and print what is in it, and every row that is no task."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agentscope_tui.config import Config
from agentscope_tui.datasets.check import MOST_COLUMNS, Report, check_dataset
from agentscope_tui.datasets.columns import Columns
from agentscope_tui.datasets.source import open_dataset
from agentscope_tui.datasets.task import RowError
from agentscope_tui.printable import printable
from agentscope_tui.progress import progress_bar

BAD_SHOWN = 100
_DUPLICATES_SHOWN = 3


def check(config: Config, path: Path, *, as_json: bool, every: bool) -> int:
    """Print the report on standard output; 1 when there are bad rows, else 0.

    `every` bad row is printed, not only the first ones; as JSON they are all there.

    Raises:
        UserError: the dataset cannot be had.
    """
    limits = config.settings.dataset
    dataset = open_dataset(path, offset=limits.offset, limit=limits.limit, columns=config.columns)
    try:
        with progress_bar() as tell:
            dataset.scan(threading.Event(), lambda count: tell(0, None, f"indexing: {count:,} rows"))
            total = len(dataset)
            report = check_dataset(
                dataset,
                lambda count: tell(count, total, f"{count:,} of {total:,} rows"),
                bad_kept=None if every or as_json else BAD_SHOWN,
            )
    finally:
        dataset.close()
    if as_json:
        print(json.dumps(_in_json(report, dataset.columns), indent=2))
    else:
        print("\n".join(map(printable, _lines(report, path, dataset.columns))))
    sys.stdout.flush()
    return 1 if report.bad_rows else 0


def _lines(report: Report, path: Path, columns: Columns) -> Iterator[str]:
    good = report.rows - report.bad_rows
    yield f"{path}: {report.rows:,} rows, {report.bad_rows:,} bad"
    yield ""
    width = max([len("column"), *(min(len(name), 40) for name in report.columns)])
    yield f"{'column':{width}}  filled  types"
    for name, column in report.columns.items():
        types = ", ".join(f"{kind} {count:,}" for kind, count in column.types.items())
        yield f"{name[:40]:{width}}  {_share(column.filled, report.rows):>6}  {types}"
    if len(report.columns) == MOST_COLUMNS:
        yield f"(columns past the first {MOST_COLUMNS:,} were not looked at)"
    yield ""
    if columns.guesses:
        yield f"task: {columns.guesses}"
    if report.largest is not None:
        tokens, row = report.largest
        mean = report.tokens / good
        yield f"tokens: about {report.tokens:,}, {mean:,.0f} a row, at most {tokens:,} (row {row})"
    yield f"duplicates: {report.duplicate_rows:,}{_examples(report)}"
    yield from (f"bad {row}" for row in report.bad)
    if len(report.bad) < report.bad_rows:
        yield f"… {report.bad_rows - len(report.bad):,} more bad rows (--all shows them)"


def _share(count: int, rows: int) -> str:
    """A percentage that says 100 % of all rows only."""
    share = 100 * count / rows if rows else 0.0
    return f"{min(share, 99.9):.1f}%" if count < rows else "100%"


def _examples(report: Report) -> str:
    shown = [f"row {row} asks what row {first} does" for row, first in report.duplicates[:_DUPLICATES_SHOWN]]
    return f" ({', '.join(shown)}{' …' if report.duplicate_rows > len(shown) else ''})" if shown else ""


def _in_json(report: Report, columns: Columns) -> dict[str, Any]:
    largest = report.largest or (0, None)
    return {
        "rows": report.rows,
        "bad": [_bad_in_json(row) for row in report.bad],
        "columns": [
            {"name": name, "filled": column.filled, "types": column.types}
            for name, column in report.columns.items()
        ],
        "guessed": dict(columns.guessed),
        "tokens": {"total": report.tokens, "largest": largest[0], "largest_row": largest[1]},
        "duplicates": {
            "rows": report.duplicate_rows,
            "first": [{"row": row, "same_as": first} for row, first in report.duplicates],
        },
    }


def _bad_in_json(row: RowError) -> dict[str, Any]:
    where = {"file": row.file} if row.file else {}
    return {"line": row.line, "row": row.index, "reason": row.reason, **where}
