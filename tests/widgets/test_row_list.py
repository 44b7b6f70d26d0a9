"""The rows: a million are as one, the header stays, keys and clicks choose and open."""

from __future__ import annotations

from pane_app import PaneApp, lines, shown

from agentscope_widgets.row_list import RowCells, RowList
from waiting import wait_until


class Rows:
    """A source that remembers which rows were read."""

    def __init__(self, count: int, first: int = 0) -> None:
        self.count = count
        self.first = first
        self.read: set[int] = set()
        self.state = "idle"

    def __len__(self) -> int:
        return self.count

    def cells(self, position: int) -> RowCells:
        self.read.add(position)
        return RowCells(
            self.first + position, "✓", self.state, "3", "0.50", f"prompt {position}\nline two", "success"
        )


async def test_it_shows_a_header_and_cells_by_position() -> None:
    rows = RowList()
    app = PaneApp(rows)
    async with app.run_test(size=(60, 12)):
        rows.set_source(Rows(5, first=7))
        await wait_until(lambda: "prompt" in shown(rows))
        assert lines(rows)[0].split() == ["#", "state", "calls", "reward", "prompt"]
        assert lines(rows)[1].split() == ["7", "✓", "idle", "3", "0.50", "prompt", "0⏎line", "two"]
        assert lines(rows)[6] == ""


async def test_columns_line_up_under_the_header_and_a_narrow_list_keeps_the_prompt() -> None:
    rows = RowList()
    app = PaneApp(rows)
    async with app.run_test(size=(34, 12)):
        rows.set_source(Rows(1_000))
        await wait_until(lambda: "prompt" in shown(rows))
        header, first = lines(rows)[:2]
        assert "calls" not in header
        assert header.index("reward") + len("reward") == first.index("0.50") + len("0.50")
        assert header.index("prompt") == first.index("prompt")
        assert "idle #3" in first


async def test_of_a_million_rows_only_those_in_sight_are_read() -> None:
    rows = RowList()
    source = Rows(1_000_000)
    app = PaneApp(rows)
    async with app.run_test(size=(60, 20)) as pilot:
        rows.set_source(source)
        await pilot.press("end")
        await wait_until(lambda: "prompt 999999" in shown(rows))
        assert lines(rows)[0].split()[0] == "#"
        await pilot.press("pageup", "up")
        assert len(source.read) < 100


async def test_keys_move_within_the_rows_and_open() -> None:
    rows = RowList()
    app = PaneApp(rows)
    async with app.run_test(size=(60, 12), message_hook=app.record) as pilot:
        rows.set_source(Rows(40))
        await pilot.press("up", "down", "down", "pagedown", "home", "end", "down", "enter")
        assert [message.position for message in app.posted(RowList.RowHighlighted)] == [0, 1, 2, 12, 0, 39]
        assert [message.position for message in app.posted(RowList.RowOpened)] == [39]
        assert "prompt 39" in shown(rows)


async def test_a_click_chooses_and_opens_but_not_on_the_header_or_below_the_last() -> None:
    rows = RowList()
    app = PaneApp(rows)
    async with app.run_test(size=(60, 12), message_hook=app.record) as pilot:
        rows.set_source(Rows(3))
        await pilot.click(rows, offset=(5, 0))
        await pilot.click(rows, offset=(5, 8))
        await pilot.click(rows, offset=(5, 2))
        assert [message.position for message in app.posted(RowList.RowOpened)] == [1]


async def test_rows_may_come_and_change_while_they_are_shown() -> None:
    rows = RowList(placeholder="No rows yet")
    source = Rows(0)
    app = PaneApp(rows)
    async with app.run_test(size=(60, 12), message_hook=app.record) as pilot:
        rows.set_source(source)
        await wait_until(lambda: "No rows yet" in shown(rows))
        await pilot.press("down", "enter")
        assert app.posted(RowList.RowOpened) == []
        source.count = 3
        rows.source_grew()
        await wait_until(lambda: "prompt 2" in shown(rows))
        source.state = "interrupted"
        rows.refresh_row(1)
        await wait_until(lambda: "interrupted" in lines(rows)[2])
        assert "interrupted" not in lines(rows)[1]
        await wait_until(lambda: app.messages)
        assert [message.position for message in app.posted(RowList.RowHighlighted)] == [0]
