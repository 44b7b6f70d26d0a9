"""The timeline: where the playhead and the marks are, and where a click or a drag puts it."""

from __future__ import annotations

from textual.app import App, ComposeResult

from agentscope_widgets.timeline_bar import TimelineBar, TimelineMark
from widgets.pane_app import shown


class BarApp(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.sought: list[int] = []

    def compose(self) -> ComposeResult:
        yield TimelineBar()

    def on_timeline_bar_sought(self, event: TimelineBar.Sought) -> None:
        self.sought.append(event.at)


async def test_playhead_and_marks_are_where_they_belong():
    app = BarApp()
    async with app.run_test(size=(35, 3)):
        bar = app.query_one(TimelineBar)
        bar.show_marks([TimelineMark(26, "✗", "error", 2), TimelineMark(31, "┼")])
        bar.show(11, 31, "", "")
        assert shown(bar) == "━" * 10 + "●" + "─" * 15 + "✗" + "─" * 5 + "┼"
        bar.show(1, 31, "‖", "1/31")
        line = shown(bar).strip()
        assert line.startswith("‖ ●─")
        assert line.endswith("┼ 1/31")
        bar.show(31, 31, "‖", "31/31")
        assert "━● 31/31" in shown(bar)


async def test_of_marks_in_one_cell_the_heaviest_is_shown_and_a_crowd_of_the_lightest_is_not():
    app = BarApp()
    async with app.run_test(size=(42, 3)):
        bar = app.query_one(TimelineBar)
        marks = [TimelineMark(at, "┼") for at in range(1, 1000, 10)]
        bar.show_marks([*marks, TimelineMark(500, "◆", weight=3), TimelineMark(501, "✗", weight=6)])
        bar.show(1, 1000, "", "")
        line = shown(bar)
        assert (line.count("┼"), line.count("◆"), line.count("✗")) == (0, 0, 1)
        bar.show_marks(marks[:5])
        assert shown(bar).count("┼") > 0


async def test_a_bar_of_nothing_and_of_one():
    app = BarApp()
    async with app.run_test(size=(20, 3)):
        bar = app.query_one(TimelineBar)
        bar.show(0, 0, "", "")
        assert shown(bar).strip().startswith("●")
        bar.show(1, 1, "", "\x1b[31mred\n")
        assert "\x1b" not in shown(bar)


async def test_a_click_and_a_drag_seek():
    app = BarApp()
    async with app.run_test(size=(33, 3)) as pilot:
        bar = app.query_one(TimelineBar)
        bar.show(1, 301, "", "")
        await pilot.click(bar, offset=(1, 0))
        await pilot.click(bar, offset=(31, 0))
        await pilot.pause()
        assert app.sought == [1, 301]
        await pilot.mouse_down(bar, offset=(11, 0))
        await pilot.hover(bar, offset=(16, 0))
        await pilot.hover(bar, offset=(16, 1))
        await pilot.mouse_up(bar, offset=(16, 1))
        await pilot.hover(bar, offset=(25, 0))
        await pilot.pause()
        assert app.sought[2:] == [101, 151]


async def test_what_is_clicked_is_where_the_playhead_then_is():
    app = BarApp()
    async with app.run_test(size=(50, 3)) as pilot:
        bar = app.query_one(TimelineBar)
        for total in (2, 7, 48, 1000):
            for x in (9, 20, 37):
                bar.show(1, total, "ab", "c")
                app.sought.clear()
                await pilot.click(bar, offset=(x, 0))
                await pilot.pause()
                (at,) = app.sought
                bar.show(at, total, "ab", "c")
                if total == 1000:
                    assert shown(bar)[x - 1] == "●"
