"""The rows that a run names, as they are in its dataset."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from agentscope_tui.datasets.dataset import Dataset
from agentscope_tui.options import Span


def selected(dataset: Dataset, spans: tuple[Span, ...], scan: Callable[[], None]) -> Iterator[int]:
    """The indices that the ranges name, each once, in their order; without ranges all of the dataset's.

    `scan` finds all rows of the dataset; it is called only where their number matters.

    Raises:
        UsageError: a range names a row that the dataset does not have.
    """
    seen: set[int] = set()
    for start, last in spans or ((dataset.offset, None),):
        if last is None:
            scan()
            last = max(start, dataset.offset + len(dataset) - 1)
        # Reads on as far as it takes, and refuses what is not there.
        for end in (start, last):
            dataset.row(end)
        for index in range(start, last + 1):
            if index not in seen:
                seen.add(index)
                yield index
