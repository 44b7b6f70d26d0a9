"""The rows: a million are as one, the header stays; keys and clicks choose, open, mark and arrange."""

from __future__ import annotations

import re

import pytest
from pane_app import PaneApp, lines, shown
from textual.pilot import Pilot

from agentscope_widgets.row_columns import Column, ColumnLayout
from agentscope_widgets.row_list import RowCells, RowList
from waiting import wait_until

COLUMNS = (
    Column("state", "state", least=7, style="tone"),
    Column("calls", "calls", least=2, right=True, narrow="joined"),
    Column("reward", "reward", least=4, right=True, style="tone"),
    Column("time", "time", least=4, right=True, narrow="hidden"),
    Column("prompt", "prompt"),
)


class Rows:
    """A source that remembers which rows were read."""

    def __init__(self, count: int, first: int = 0) -> None:
        self.count = count
        self.first = first
        self.read: set[int] = set()
        self.state = "idle"
        self.prompt = "prompt {}\nline two"
        self.marked: set[int] = set()

    def __len__(self) -> int:
        return self.count

    def cells(self, position: int) -> RowCells:
        self.read.add(position)
        texts = {
            "state": f"✓ {self.state}",
            "calls": "3",
            "reward": "0.50",
            "time": "2 s",
            "prompt": self.prompt.format(position),
            "answer": f"answer {position}",
        }
        return RowCells(self.first + position, texts, "success", position in self.marked)


class Listed:
    """A list of rows in an app that runs."""

    def __init__(self, app: PaneApp, pilot: Pilot[None], rows: RowList) -> None:
        self.app = app
        self.pilot = pilot
        self.rows = rows

    @property
    def lines(self) -> list[str]:
        return lines(self.rows)

    @property
    def titles(self) -> list[str]:
        return self.lines[0].split()

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()


async def listed(pilot: Pilot[None], app: PaneApp, rows: RowList, source: Rows) -> Listed:
    rows.set_source(source, COLUMNS)
    await wait_until(lambda: "prompt" in shown(rows))
    return Listed(app, pilot, rows)


async def test_it_shows_a_header_and_cells_by_position() -> None:
    rows = RowList()
    app = PaneApp(rows)
    async with app.run_test(size=(60, 12)) as pilot:
        view = await listed(pilot, app, rows, Rows(5, first=7))
        assert view.titles == ["#", "state", "calls", "reward", "time", "prompt"]
        assert view.lines[1].split() == ["7", "✓", "idle", "3", "0.50", "2", "s", "prompt", "0⏎line", "two"]
        assert view.lines[6] == ""


async def test_columns_line_up_under_the_header_and_a_narrow_list_keeps_the_prompt() -> None:
    rows = RowList()
    app = PaneApp(rows)
    async with app.run_test(size=(34, 12)) as pilot:
        view = await listed(pilot, app, rows, Rows(1_000))
        header, first = view.lines[:2]
        assert header.split() == ["#", "state", "reward", "prompt"]
        assert header.index("reward") + len("reward") == first.index("0.50") + len("0.50")
        assert header.index("prompt") == first.index("prompt")
        assert "idle #3" in first


async def test_of_a_million_rows_only_those_in_sight_are_read() -> None:
    rows = RowList()
    source = Rows(1_000_000)
    app = PaneApp(rows)
    async with app.run_test(size=(60, 20)) as pilot:
        view = await listed(pilot, app, rows, source)
        await view.press("end")
        await wait_until(lambda: "prompt 999999" in shown(rows))
        assert view.titles[0] == "#"
        await view.press("pageup", "up")
        assert len(source.read) < 100


async def test_keys_move_within_the_rows_and_open() -> None:
    rows = RowList()
    app = PaneApp(rows)
    async with app.run_test(size=(60, 12), message_hook=app.record) as pilot:
        await listed(pilot, app, rows, Rows(40))
        await pilot.press("up", "down", "down", "pagedown", "home", "end", "down", "enter")
        assert [message.position for message in app.posted(RowList.RowHighlighted)] == [0, 1, 2, 12, 0, 39]
        assert [message.position for message in app.posted(RowList.RowOpened)] == [39]
        assert "prompt 39" in shown(rows)


async def test_a_click_chooses_and_opens_but_not_below_the_last() -> None:
    rows = RowList()
    app = PaneApp(rows)
    async with app.run_test(size=(60, 12), message_hook=app.record) as pilot:
        await listed(pilot, app, rows, Rows(3))
        await pilot.click(rows, offset=(5, 8))
        await pilot.click(rows, offset=(5, 2))
        assert [message.position for message in app.posted(RowList.RowOpened)] == [1]


async def test_rows_may_come_and_change_while_they_are_shown() -> None:
    rows = RowList(placeholder="No rows yet")
    source = Rows(0)
    app = PaneApp(rows)
    async with app.run_test(size=(60, 12), message_hook=app.record) as pilot:
        rows.set_source(source, COLUMNS)
        await wait_until(lambda: "No rows yet" in shown(rows))
        await pilot.press("down", "enter", "space", "V", "a")
        assert not app.posted(RowList.RowOpened)
        assert not app.posted(RowList.MarksRequested)
        source.count = 3
        rows.source_grew()
        await wait_until(lambda: "prompt 2" in shown(rows))
        source.state = "interrupted"
        rows.refresh_row(1)
        await wait_until(lambda: "interrupted" in lines(rows)[2])
        assert "interrupted" not in lines(rows)[1]
        await wait_until(lambda: app.messages)
        assert [message.position for message in app.posted(RowList.RowHighlighted)] == [0]


async def test_rows_in_another_order_are_read_anew_and_the_cursor_goes_where_it_is_told() -> None:
    rows = RowList()
    source = Rows(50)
    app = PaneApp(rows)
    async with app.run_test(size=(60, 12), message_hook=app.record) as pilot:
        view = await listed(pilot, app, rows, source)
        source.prompt, source.count = "other {}", 30
        rows.rearranged(25)
        await wait_until(lambda: "other 25" in shown(rows))
        assert "prompt 2" not in shown(rows)
        assert rows.cursor == 25
        source.count = 10
        rows.rearranged(25)
        await pilot.pause()
        assert (rows.cursor, rows.row_count) == (9, 10)
        rows.set_order("reward", descending=True)
        assert "▼rewa" in view.lines[0]


async def test_marks_are_asked_for_one_by_one_in_ranges_and_at_once() -> None:
    rows = RowList()
    app = PaneApp(rows)
    async with app.run_test(size=(60, 12), message_hook=app.record) as pilot:
        view = await listed(pilot, app, rows, Rows(40))
        await view.press("space", "down", "down", "V", "shift+down", "shift+up", "a", "A")
        await pilot.click(rows, offset=(0, 9))
        asked = [(marks.positions, marks.how) for marks in app.posted(RowList.MarksRequested)]
        assert asked == [
            (range(1), "toggle"),
            (range(4), "on"),
            (range(3, 5), "on"),
            (range(3, 5), "on"),
            (range(40), "on"),
            (range(40), "off"),
            (range(8, 9), "toggle"),
        ]
        assert not app.posted(RowList.RowOpened)


async def test_a_marked_row_has_a_sign_before_it() -> None:
    rows = RowList()
    source = Rows(3)
    app = PaneApp(rows)
    async with app.run_test(size=(60, 12)) as pilot:
        view = await listed(pilot, app, rows, source)
        source.marked = {1}
        rows.refresh_rows()
        await wait_until(lambda: view.lines[2].startswith("*1 "))
        assert view.lines[1].startswith(" 0 ")


async def test_columns_are_chosen_widened_and_moved_by_key() -> None:
    rows = RowList()
    app = PaneApp(rows)
    async with app.run_test(size=(60, 12), message_hook=app.record) as pilot:
        view = await listed(pilot, app, rows, Rows(3))
        await view.press("right", "greater_than_sign", "greater_than_sign", "right_curly_bracket")
        assert view.titles == ["#", "calls", "state", "reward", "time", "prompt"]
        last = app.posted(RowList.ColumnsChanged)[-1].columns
        assert [(column.key, column.width) for column in last][:2] == [("calls", 0), ("state", 11)]
        assert view.lines[0].index("state") + 11 + 1 <= view.lines[0].index("reward")
        await view.press("left_curly_bracket", "left_curly_bracket", "less_than_sign")
        assert view.titles[1] == "state"
        assert app.posted(RowList.ColumnsChanged)[-1].columns[0].width == 9
        # The index neither moves nor changes its width.
        await view.press("left", "greater_than_sign", "right_curly_bracket")
        assert view.titles[0] == "#"
        await view.press("S", "right", "S")
        assert [asked.key for asked in app.posted(RowList.SortRequested)] == ["index", "state"]


async def test_the_mouse_drags_a_border_of_the_header_and_a_click_on_a_title_sorts() -> None:
    rows = RowList()
    app = PaneApp(rows)
    async with app.run_test(size=(60, 12), message_hook=app.record) as pilot:
        view = await listed(pilot, app, rows, Rows(3))
        border = view.lines[0].index("state") + 7
        await pilot.mouse_down(rows, offset=(border, 0))
        await pilot.hover(rows, offset=(border + 6, 0))
        await pilot.mouse_up(rows, offset=(border + 6, 0))
        assert app.posted(RowList.ColumnsChanged)[-1].columns[0].width == 13
        assert not app.posted(RowList.SortRequested)
        await pilot.hover(rows, offset=(border + 9, 0))
        assert rows.columns[0].width == 13
        await pilot.click(rows, offset=(view.lines[0].index("reward"), 0))
        assert [asked.key for asked in app.posted(RowList.SortRequested)] == ["reward"]


async def test_columns_that_do_not_fit_come_into_sight_when_they_are_chosen() -> None:
    rows = RowList()
    app = PaneApp(rows)
    async with app.run_test(size=(60, 12)) as pilot:
        view = await listed(pilot, app, rows, Rows(3))
        wide = Column("prompt", "prompt", width=50)
        rows.set_columns((COLUMNS[0], wide, Column("answer", "answer")))
        await view.press("right", "right", "right")
        assert view.titles == ["#", "answer"]
        assert "answer 2" in view.lines[3]
        await view.press("left", "left", "left")
        assert view.titles[:3] == ["#", "state", "prompt"]


async def test_what_is_sought_is_highlighted() -> None:
    rows = RowList()
    app = PaneApp(rows)
    async with app.run_test(size=(60, 12)) as pilot:
        await listed(pilot, app, rows, Rows(3))
        rows.set_sought(re.compile("LINE", re.IGNORECASE))
        badge = rows.look.badge.bgcolor
        assert [
            text for text, style, _ in rows.render_line(2) if style is not None and style.bgcolor == badge
        ] == ["line"]


@pytest.mark.parametrize(
    "text",
    [
        "日本語" * 30,
        "👩‍👩‍👧‍👦 family " * 9,
        "e\u0301\u0301\u0301\u0301\u0301\u0301" * 20,
        "\x1b[2J\x9b31m\u202e[/x]",
        "a\tb\r\nc\0",
    ],
)
async def test_any_text_in_a_cell_and_a_title_keeps_the_columns_in_line(text: str) -> None:
    rows = RowList()
    source = Rows(2)
    source.prompt = text
    app = PaneApp(rows)
    async with app.run_test(size=(60, 6)) as pilot:
        await listed(pilot, app, rows, source)
        rows.set_columns(
            (Column("prompt", text, width=20), Column("n", text, right=True), Column("answer", "answer"))
        )
        await wait_until(lambda: "answer 1" in shown(rows))
        for y in range(3):
            strip = rows.render_line(y)
            assert strip.cell_length == 59
            assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202e]", strip.text)
        starts = {
            next(cells for cells in range(59) if strip.crop(cells, cells + 6).text == "answer")
            for strip in map(rows.render_line, range(3))
        }
        assert len(starts) == 1


async def test_a_list_that_was_removed_can_still_be_painted() -> None:
    rows = RowList()
    app = PaneApp(rows)
    async with app.run_test(size=(60, 12)) as pilot:
        await listed(pilot, app, rows, Rows(3))
        focused = rows.look
        # Removing takes the focus too, which may be painted before the list is gone, or not.
        app.screen.set_focus(None)
        await wait_until(lambda: rows.look != focused)
        before = rows.look
        await app.screen.remove_children()
        assert not rows.is_attached
        assert rows.look == before


def test_widths_only_grow_and_the_last_column_takes_the_rest() -> None:
    layout = ColumnLayout((Column("#", "#", least=1), Column("a", "a", least=3, most=10), Column("b", "b")))
    assert [(span.x, span.width) for span in layout.spans(50)] == [(1, 1), (3, 3), (7, 43)]
    assert layout.grow(layout.columns[1], 8)
    assert not layout.grow(layout.columns[1], 5)
    assert layout.grow(layout.columns[1], 99)
    assert [(span.x, span.width) for span in layout.spans(50)] == [(1, 1), (3, 10), (14, 36)]
    layout.resize("a", 1_000)
    assert [(span.x, span.width) for span in layout.spans(50)] == [(1, 1), (3, 47)]
    layout.resize("a", -5)
    assert layout.spans(50)[1].width == 3
