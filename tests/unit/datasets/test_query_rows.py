"""Looking through many rows of a real file: filters, searches and orders, and what sessions change."""

from __future__ import annotations

import json
import random
import threading
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agentscope_tui.datasets.arrangement import Arrangement
from agentscope_tui.datasets.dataset import Dataset
from agentscope_tui.datasets.expression import parse_expression
from agentscope_tui.datasets.query import Order, Standings, find, ordered, search
from agentscope_tui.datasets.record import Standing
from agentscope_tui.datasets.row_set import RowSet, neighbour
from agentscope_tui.datasets.source import open_dataset

Opened = Callable[..., Dataset]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    """Open a dataset of these rows, counted to its end."""
    datasets: list[Dataset] = []

    def open_rows(rows: list[Any], *, scan: bool = True, **range_: int) -> Dataset:
        file = tmp_path / f"{len(datasets)}.jsonl"
        lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        datasets.append(open_dataset(file, **range_))
        if scan:
            datasets[-1].scan(threading.Event(), lambda count: None)
        return datasets[-1]

    yield open_rows
    for dataset in datasets:
        dataset.close()


def found(dataset: Dataset, text: str, standings: Standings | None = None, **more: Any) -> list[int]:
    test = parse_expression(text).matches
    reports = list(find(dataset, test, standings or {}, threading.Event(), **more))
    return [position for report in reports for position in report.positions]


def in_order(dataset: Dataset, order: Order, standings: Standings | None = None, **more: Any) -> list[int]:
    reports = list(ordered(dataset, order, standings or {}, threading.Event(), **{"among": None, **more}))
    assert reports[-1].positions is not None
    return list(reports[-1].positions)


def questions(*texts: Any) -> list[Any]:
    return [{"question": text} for text in texts]


def test_a_filter_finds_positions_and_counts_what_it_looked_at(opened: Opened) -> None:
    dataset = opened([{"question": f"q{number}", "level": number % 3} for number in range(100)])
    assert found(dataset, "level == 2") == list(range(2, 100, 3))
    last = list(find(dataset, lambda record: False, {}, threading.Event()))[-1]
    assert (list(last.positions), last.looked_at) == ([], 100)


def test_positions_count_from_the_offset_and_facts_are_of_the_index(opened: Opened) -> None:
    dataset = opened(questions(*(f"q{number}" for number in range(20))), offset=10, limit=5)
    assert found(dataset, "index >= 12") == [2, 3, 4]
    assert found(dataset, 'state == "done"', {12: Standing("done"), 3: Standing("done")}) == [2]


def test_a_search_begins_at_a_row_and_goes_around(opened: Opened) -> None:
    dataset = opened(questions("tax", "b", "Tax", "tax", "tax"))
    reports = list(search(dataset, "tax", threading.Event(), start=3))
    assert [position for report in reports for position in report.positions] == [3, 4, 0, 2]
    assert reports[-1].looked_at == 5


@pytest.mark.parametrize(
    ("needle", "positions"),
    [
        ("straße", [0, 1]),
        ("Straße", [0]),
        ("42", [2]),
        ("level", []),
        ("invalid", []),
        ("broken", [3]),
        ("deep", [4]),
    ],
)
def test_what_text_a_search_looks_at(opened: Opened, needle: str, positions: list[int]) -> None:
    rows = [
        {"question": "Straße"},
        {"question": "STRASSE"},
        {"question": "q", "level": 42},
        "{broken",
        {"question": "q", "meta": {"level": [{"x": "deep"}]}},
    ]
    dataset = opened(rows)
    reports = search(dataset, needle, threading.Event())
    assert [position for report in reports for position in report.positions] == positions


def test_only_some_positions_are_looked_at(opened: Opened) -> None:
    dataset = opened([{"question": "q", "level": number} for number in range(100)])
    few, many = array("I", [3, 50, 99]), array("I", range(0, 100, 2))
    assert found(dataset, "level > 3", among=few) == [50, 99]
    assert found(dataset, "level > 90", among=many) == [92, 94, 96, 98]


def test_rows_that_are_counted_meanwhile_are_looked_at_as_well(opened: Opened) -> None:
    dataset = opened(questions(*(f"q{number}" * 100 for number in range(20_000))), scan=False)
    assert not dataset.complete
    counting = threading.Thread(target=dataset.scan, args=(threading.Event(), lambda count: None))
    reports = find(dataset, lambda record: True, {}, threading.Event())
    positions = list(next(reports).positions)
    counting.start()
    positions += [position for report in reports for position in report.positions]
    counting.join()
    assert positions == list(range(20_000))


def test_a_stopped_search_ends(opened: Opened) -> None:
    dataset = opened(questions(*("q" * 200 for _ in range(5_000))))
    stop = threading.Event()
    stop.set()
    assert list(find(dataset, lambda record: True, {}, stop)) == []
    assert list(ordered(dataset, Order("row.question"), {}, stop, among=None)) == []


def test_an_order_is_stable_has_groups_of_one_type_and_what_is_missing_last(opened: Opened) -> None:
    values: list[Any] = [
        "b",
        10,
        None,
        "a",
        9.5,
        -3,
        True,
        {"x": 1},
        "B",
        10,
        float("nan"),
        10**400,
        -(10**400),
    ]
    dataset = opened([{"question": "q", "v": value} for value in values] + ["{broken"])
    up = in_order(dataset, Order("row.v"))
    down = in_order(dataset, Order("row.v", descending=True))
    assert up == [12, 5, 6, 4, 1, 9, 11, 3, 0, 8, 7, 2, 10, 13]
    assert down == [7, 0, 8, 3, 11, 1, 9, 4, 6, 5, 12, 2, 10, 13]


def test_an_order_agrees_with_python_on_many_runs(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentscope_tui.datasets.query._RUN", 100)
    chance = random.Random(7)
    values = [chance.choice([chance.randint(-50, 50), chance.uniform(-1e9, 1e9)]) for _ in range(2_000)]
    dataset = opened([{"question": "q", "v": value} for value in values])
    places = range(len(values))
    assert in_order(dataset, Order("row.v")) == sorted(places, key=values.__getitem__)
    assert in_order(dataset, Order("row.v", descending=True)) == sorted(
        places, key=values.__getitem__, reverse=True
    )


def test_by_a_fact_only_rows_with_sessions_are_sorted(opened: Opened) -> None:
    dataset = opened(questions(*"abcdef"), offset=1)
    standings = {2: Standing("done", 2, 0.5), 5: Standing("done", 1, 0.25), 0: Standing("done", 1, 0.1)}
    assert in_order(dataset, Order("reward"), standings) == [4, 1, 0, 2, 3]
    assert in_order(dataset, Order("reward", descending=True), standings) == [1, 4, 0, 2, 3]
    assert in_order(dataset, Order("reward"), standings, among=array("I", [0, 1, 2])) == [1, 0, 2]
    assert in_order(dataset, Order("index", descending=True)) == [4, 3, 2, 1, 0]


class Arranged:
    """An arrangement, with the work of the threads done at once."""

    def __init__(self, dataset: Dataset) -> None:
        self.standings: dict[int, Standing] = {}
        self.arrangement = Arrangement(dataset, self.standings)
        self._dataset = dataset

    def show(self, text: str | None, order: Order | None = None) -> list[int]:
        self.arrangement.filter(parse_expression(text) if text else None)
        if text:
            self.arrangement.passes(found(self._dataset, text, self.standings))
        self.arrangement.sort(order)
        if order is not None:
            positions = in_order(self._dataset, order, self.standings, among=self.arrangement.passed)
            self.arrangement.ordered(array("I", positions))
        return self.shown

    def becomes(self, index: int, standing: Standing) -> bool:
        self.standings[index] = standing
        return self.arrangement.session_changed(index)

    @property
    def shown(self) -> list[int]:
        shown = list(self.arrangement.shown)
        assert [self.arrangement.place(position) for position in shown] == list(range(len(shown)))
        assert [self.arrangement.position(place) for place in range(len(shown))] == shown
        return shown


def test_a_filter_and_an_order_follow_the_sessions(opened: Opened) -> None:
    arranged = Arranged(opened(questions(*"abcdef")))
    assert arranged.show('state == "failed"') == []
    assert arranged.becomes(4, Standing("failed", reward=0.5))
    assert arranged.becomes(1, Standing("failed", reward=0.9))
    assert not arranged.becomes(2, Standing("running"))
    assert arranged.shown == [1, 4]
    assert arranged.show('state == "failed"', Order("reward")) == [4, 1]
    assert arranged.becomes(2, Standing("failed", reward=0.7))
    assert arranged.shown == [4, 2, 1]
    assert arranged.becomes(4, Standing("failed", reward=1.0))
    assert arranged.shown == [2, 1, 4]
    assert not arranged.becomes(4, Standing("failed", reward=1.1))
    assert arranged.becomes(1, Standing("done", reward=0.9))
    assert arranged.shown == [2, 4]
    assert arranged.arrangement.place(1) is None
    assert not arranged.becomes(99, Standing("failed"))


def test_an_order_alone_follows_the_sessions_and_ties_keep_the_order_of_the_file(opened: Opened) -> None:
    arranged = Arranged(opened(questions(*"abcd")))
    assert arranged.show(None, Order("calls", descending=True)) == [0, 1, 2, 3]
    assert arranged.becomes(2, Standing("running", calls=1))
    assert arranged.shown == [2, 0, 1, 3]
    assert arranged.becomes(1, Standing("running", calls=1))
    assert arranged.shown == [1, 2, 0, 3]
    assert arranged.becomes(2, Standing("running", calls=2))
    assert arranged.shown == [2, 1, 0, 3]


def test_a_row_set_counts_and_finds_its_neighbours() -> None:
    rows = RowSet()
    rows.put([5, 3, 2_000, 5])
    rows.put([3], present=False)
    rows.put([7], present=False)
    assert (len(rows), list(rows), 5 in rows, 3 in rows, 9_999 in rows) == (2, [5, 2_000], True, False, False)
    flags = rows.flags(range(10))
    assert (len(flags), flags.count(1)) == (10, 1)
    assert list(rows.flags([2_000, 4, 5, 8_000])) == [1, 0, 1, 0]
    assert [neighbour(flags, place) for place in (0, 5, 9)] == [5, 5, 5]
    assert neighbour(rows.flags([2_000, 4, 5]), 0, backwards=True) == 2
    assert neighbour(bytearray(3), 1) is None


def test_rows_are_ordered_by_a_metric_and_follow_it(opened: Opened) -> None:
    dataset = opened(questions(*"abcd"))
    standings = {
        1: Standing(metrics={"style": 0.5}),
        3: Standing(metrics={"style": 0.25}),
        2: Standing("done"),
    }
    order = Order("reward.style")
    assert order.facts == {"reward"}
    assert in_order(dataset, order, standings) == [3, 1, 0, 2]
    assert in_order(dataset, Order("reward.style", descending=True), standings) == [1, 3, 0, 2]
    arrangement = Arrangement(dataset, standings)
    arrangement.sort(order)
    arrangement.ordered(array("I", [3, 1, 0, 2]))
    standings[0] = Standing(metrics={"style": 0.3})
    assert arrangement.session_changed(0)
    assert list(arrangement.shown) == [3, 0, 1, 2]
