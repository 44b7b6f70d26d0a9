"""The rows that a run names, as they are in its dataset."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

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


def spans_of(indices: Iterable[int]) -> Iterator[Span]:
    """The ranges that name these indices, in their order."""
    start = last = None
    for index in indices:
        if start is None or last is None:
            start = index
        elif index != last + 1:
            yield start, last
            start = index
        last = index
    if start is not None:
        yield start, last
