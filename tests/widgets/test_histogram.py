"""The histogram: heights of its bars, its axis, and narrow views."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult

from agentscope_widgets.histogram import Histogram
from hostile import HOSTILE
from widgets.pane_app import shown


class One(App[None]):
    CSS = "Histogram { height: 5; padding: 0; }"

    def compose(self) -> ComposeResult:
        yield Histogram(placeholder="nothing yet")


async def drawn(counts: list[int], width: int = 20, low: str = "0", high: str = "1") -> list[str]:
    app = One()
    async with app.run_test(size=(width, 8)) as pilot:
        view = app.query_one(Histogram)
        view.show(counts, low, high)
        await pilot.pause()
        return shown(view).split("\n")


async def test_the_highest_bar_fills_the_view_and_a_small_one_is_seen():
    lines = await drawn([1000, 1, 0, 500])
    assert [line[:4] for line in lines[:4]] == ["████", "████", "████", "████"]
    assert [line[5:9].strip() for line in lines[:4]] == ["", "", "", "▁▁▁▁"]
    assert [line[10:14].strip() for line in lines[:4]] == ["", "", "", ""]
    assert [line[15:19].strip() for line in lines[:4]] == ["", "", "████", "████"]


async def test_the_axis_names_both_ends_and_the_most():
    assert (await drawn([3, 7]))[4] == "0" + "most 7".center(18) + "1"
    assert (await drawn([3, 7], width=8))[4].split() == ["0", "1"]


async def test_more_bars_than_cells_are_cut_off():
    lines = await drawn([1] * 30, width=10)
    assert lines[3] == "█" * 10


async def test_without_a_count_it_says_so():
    assert "nothing yet" in [line.strip() for line in await drawn([0, 0])]


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
async def test_hostile_labels_are_shown_as_text(text: str):
    axis = (await drawn([1], width=60, low=text, high=text))[4]
    assert axis.isprintable() or not axis.strip()
