"""Splits: borders that move by mouse and by key, shares that hold for every size."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.containers import Container
from textual.widgets import Static

from agentscope_widgets.split import Split, splits_around
from waiting import wait_until

SHARES = {"a": 25.0, "b": 50.0, "c": 25.0, "up": 50.0, "down": 50.0}


class SplitApp(App[None]):
    """Two panes and a column of two more."""

    CSS = "#a, #b, #up, #down { border: round white; } .away { display: none; }"

    def __init__(self) -> None:
        super().__init__()
        self.moves = 0

    def compose(self) -> ComposeResult:
        with Split("x", {name: SHARES[name] for name in "abc"}, id="columns"):
            yield Container(id="a")
            yield Container(Static("text", id="text"), id="b")
            with Split("y", {name: SHARES[name] for name in ("up", "down")}, id="c"):
                yield Container(id="up")
                yield Container(id="down")

    def on_split_border_moved(self) -> None:
        self.moves += 1

    def widths(self) -> list[int]:
        return [self.query_one(f"#{name}").region.width for name in "abc"]


async def test_room_is_shared_by_the_shares_whatever_the_size_and_whoever_is_in_sight():
    app = SplitApp()
    async with app.run_test(size=(120, 24)) as pilot:
        assert app.widths() == [30, 60, 30]
        await pilot.resize_terminal(200, 24)
        await wait_until(lambda: app.widths() == [50, 100, 50])
        app.query_one("#a").set_class(True, "away")
        await wait_until(lambda: app.widths()[1:] == [133, 67])
        app.query_one("#a").set_class(False, "away")
        await pilot.resize_terminal(64, 24)
        await wait_until(lambda: sum(app.widths()) == 64 and min(app.widths()) >= 20)


async def test_the_mouse_drags_a_border_and_panes_keep_a_smallest_size():
    app = SplitApp()
    async with app.run_test(size=(120, 24)) as pilot:
        await pilot.mouse_down("#a", offset=(29, 5))
        await pilot.hover(offset=(40, 5))
        await pilot.mouse_up(offset=(40, 5))
        await wait_until(lambda: app.widths() == [41, 49, 30])
        assert app.moves == 1
        assert app.query_one("#columns", Split).shares == {"a": 41, "b": 49, "c": 30}
        await pilot.mouse_down("#b", offset=(0, 5))
        await pilot.hover(offset=(2, 5))
        await pilot.mouse_up(offset=(2, 5))
        await wait_until(lambda: app.widths() == [20, 70, 30])
        await pilot.mouse_down("#up", offset=(5, 11))
        await pilot.hover(offset=(100, 17))
        await pilot.mouse_up(offset=(100, 17))
        await wait_until(lambda: app.query_one("#up").region.height == 18)
        assert app.widths() == [20, 70, 30]


async def test_a_press_elsewhere_drags_nothing():
    app = SplitApp()
    async with app.run_test(size=(120, 24)) as pilot:
        await pilot.mouse_down("#text", offset=(3, 0))
        await pilot.hover(offset=(60, 5))
        await pilot.mouse_up(offset=(60, 5))
        await pilot.hover(offset=(80, 5))
        assert app.widths() == [30, 60, 30]
        assert app.moves == 0


async def test_a_border_moves_from_the_pane_that_holds_the_focus():
    app = SplitApp()
    async with app.run_test(size=(120, 24)):
        text, down = app.query_one("#text"), app.query_one("#down")
        assert [split.id for split in splits_around(text, "x")] == ["columns"]
        assert splits_around(text, "y") == []
        columns = app.query_one("#columns", Split)
        assert columns.move_border(text, 6)
        await wait_until(lambda: app.widths() == [30, 66, 24])
        assert columns.move_border(down, -10)
        await wait_until(lambda: app.widths() == [30, 56, 34])
        assert app.query_one("#c", Split).move_border(down, 4)
        await wait_until(lambda: down.region.height == 8)
        await wait_until(lambda: app.moves == 3)
        app.query_one("#up").set_class(True, "away")
        await wait_until(lambda: down.region.height == 24)
        assert not app.query_one("#c", Split).move_border(down, 4)
