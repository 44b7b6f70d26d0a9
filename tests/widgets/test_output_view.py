"""The output pane: colours and streams, wrapping, following, and lines that are no longer kept."""

from __future__ import annotations

from pane_app import PaneApp, lines, shown
from rich.cells import cell_len

from agentscope_widgets.output_buffer import OutputBuffer
from agentscope_widgets.output_view import OutputView
from agentscope_widgets.terminal_line import COLUMNS
from waiting import wait_until


def numbered(first: int, last: int) -> str:
    return "".join(f"line {number}\n" for number in range(first, last))


async def test_it_shows_lines_with_stderr_marked_and_colours_kept() -> None:
    output, buffer = OutputView(placeholder="No output"), OutputBuffer()
    app = PaneApp(output)
    async with app.run_test(size=(40, 10)):
        await wait_until(lambda: "No output" in shown(output))
        output.show(buffer, "bash [/x]")
        buffer.write("stdout", "\x1b[31mred\x1b[0m text\n")
        buffer.write("stderr", "oops\n50%\r60%")
        output.refresh_output()
        await wait_until(lambda: "60%" in shown(output))
        assert lines(output)[:4] == ["  red text", "! oops", "! 60%", ""]
        buffer.write("stderr", "\rdone\n")
        output.refresh_output()
        assert lines(output)[:4] == ["  red text", "! oops", "! done", ""]
        red = [run for run in output.render_line(0) if run.text == "red"]
        assert red[0].style is not None
        assert red[0].style.color is not None
        assert red[0].style.color.number == 1
        assert output.facts == "3 lines · ! stderr"


async def test_it_follows_until_the_user_scrolls_up_and_counts_what_is_new() -> None:
    output, buffer = OutputView(), OutputBuffer()
    app = PaneApp(output)
    async with app.run_test(size=(40, 10)) as pilot:
        output.show(buffer)
        buffer.write("stdout", numbered(0, 100))
        output.refresh_output()
        assert lines(output)[-1] == "  line 99"
        await pilot.press("pageup")
        before = lines(output)
        buffer.write("stdout", numbered(100, 130))
        output.refresh_output()
        assert output.unseen == 30
        assert lines(output)[:-1] == before[:-1]
        assert lines(output)[-1].endswith("↓ 30 new")
        output.show(buffer)
        assert lines(output)[:-1] == before[:-1]
        await pilot.press("end")
        buffer.write("stdout", "last\n")
        output.refresh_output()
        assert lines(output)[-1] == "  last"
        assert output.unseen == 0


async def test_lines_wrap_or_scroll_sideways() -> None:
    output, buffer = OutputView(), OutputBuffer()
    app = PaneApp(output)
    async with app.run_test(size=(23, 8)) as pilot:
        buffer.write("stdout", "0123456789" * 4 + "\n漢字" * 1 + "\n")
        output.show(buffer)
        await wait_until(lambda: "漢字" in shown(output))
        assert lines(output)[:3] == ["  01234567890123456789", "  01234567890123456789", "  漢字"]
        await pilot.press("w")
        assert lines(output)[:2] == ["  01234567890123456789", "  漢字"]
        await pilot.press("right")
        assert lines(output)[:2] == ["  89012345678901234567", ""]
        await pilot.press("w")
        assert lines(output)[2] == "  漢字"


async def test_lines_that_left_memory_come_back_when_scrolled_to() -> None:
    output, buffer = OutputView(), OutputBuffer(most_bytes=1)
    app = PaneApp(output)
    async with app.run_test(size=(23, 10)) as pilot:
        output.show(buffer)
        buffer.write("stderr", numbered(0, 1_500) + "漢字" * 20 + "\n")
        output.refresh_output()
        await pilot.press("pageup")
        before = lines(output)
        buffer.write("stdout", numbered(1_500, 6_000))
        output.refresh_output()
        assert lines(output)[:-1] == before[:-1]
        assert not buffer.is_loaded(0)
        await pilot.press("home")
        assert lines(output)[:-1] == [f"! line {number}" for number in range(9)]
        await pilot.resize_terminal(33, 10)
        await wait_until(lambda: output.text_width > 30)
        assert output.virtual_size.height == 6_001 + 2
        output.scroll_to(y=1_499, animate=False)
        await wait_until(lambda: lines(output)[0] == "! line 1499")
        assert lines(output)[1:4] == ["! " + "漢字" * 7 + "漢", "! 字" + "漢字" * 7, "! " + "漢字" * 5]


async def test_bars_of_several_lines_are_redrawn_in_place() -> None:
    output, buffer = OutputView(), OutputBuffer()
    app = PaneApp(output)
    async with app.run_test(size=(40, 10)):
        output.show(buffer)
        buffer.write("stdout", "pulling\na: 1%\nb: 1%\n")
        output.refresh_output()
        assert lines(output)[:4] == ["  pulling", "  a: 1%", "  b: 1%", ""]
        buffer.write("stdout", "\x1b[2A\x1b[2Ka: done\n\x1b[2Kb: 50%\n")
        output.refresh_output()
        assert lines(output)[:4] == ["  pulling", "  a: done", "  b: 50%", ""]
        buffer.write("stdout", "\x1b[2A\x1b[Jall done")
        output.refresh_output()
        assert lines(output)[:4] == ["  pulling", "  all done", "", ""]


async def test_a_very_long_line_in_both_modes() -> None:
    output, buffer = OutputView(), OutputBuffer()
    app = PaneApp(output)
    async with app.run_test(size=(103, 8)) as pilot:
        output.show(buffer)
        for _ in range(80):
            buffer.write("stdout", "0123456789" * 6_554)
            output.refresh_output()
        rows = lines(output)
        assert rows[-1].endswith("9")
        assert output.facts == "1 line"
        assert output.virtual_size.height == sum(
            -(-len(buffer.plain(number)) // 100) for number in range(buffer.line_count)
        )
        await pilot.press("home")
        assert lines(output)[1] == "  " + "0123456789" * 10
        await pilot.press("w")
        assert output.virtual_size.height == buffer.line_count
        assert lines(output)[:2] == ["  " + "0123456789" * 10, " ↪" + ("4567890123" * 10)]
        output.scroll_to(x=COLUMNS, animate=False)
        await wait_until(lambda: lines(output)[0].endswith("0123"))


async def test_cells_and_positions_in_the_text() -> None:
    output, buffer = OutputView(), OutputBuffer()
    app = PaneApp(output)
    async with app.run_test(size=(13, 8)) as pilot:
        output.show(buffer)
        buffer.write("stdout", "\x1b[31mab\tc\x1b[0m\n漢字漢字漢字\n" + "0123456789" * 3 + "\n")
        output.refresh_output()
        assert lines(output)[:6] == [
            "  ab  c",
            "  漢字漢字漢",
            "  字",
            "  0123456789",
            "  0123456789",
            "  0123456789",
        ]
        assert output.text_position(2, 0) == (0, 0)
        assert [output.text_position(x, 0) for x in (4, 5, 6, 7, 12)] == [
            (0, 2),
            (0, 2),
            (0, 3),
            (0, 4),
            (0, 4),
        ]
        assert [output.text_position(x, 1) for x in (0, 3, 4)] == [(1, 0), (1, 0), (1, 1)]
        assert output.text_position(2, 2) == (1, 5)
        assert output.text_position(5, 4) == (2, 13)
        assert output.text_position(2, 6) is None
        assert [output.view_cell(0, column) for column in (0, 2, 3, 4)] == [(2, 0), (4, 0), (6, 0), (7, 0)]
        assert output.view_cell(1, 5) == (2, 2)
        assert output.view_cell(2, 13) == (5, 4)
        assert output.view_cell(3, 0) is None
        await pilot.press("w", "right")
        assert output.text_position(2, 2) == (2, 8)
        assert output.view_cell(2, 9) == (3, 2)


async def test_what_is_in_the_text_is_where_it_is_drawn() -> None:
    output, buffer = OutputView(), OutputBuffer()
    app = PaneApp(output)
    async with app.run_test(size=(20, 12)) as pilot:
        output.show(buffer)
        buffer.write("stdout", "é\u0301 漢\ta\t\tb 🦀 0123456789 0123456789 漢字漢字漢字漢字漢字x\n")
        output.refresh_output()
        for keys in ((), ("w",), ("right",)):
            await pilot.press(*keys)
            drawn = lines(output)
            text = buffer.plain(0)
            for column, character in enumerate(text):
                x, y = output.view_cell(0, column) or (0, 0)
                if character in "\t \u0301" or not 2 <= x < 19:
                    continue
                assert output.text_position(x, y) == (0, column)
                assert _cells(drawn[y])[x] == character


def _cells(line: str) -> list[str]:
    cells: list[str] = []
    for character in line:
        cells += [character, ""][: cell_len(character)]
    return cells


async def test_another_width_and_another_buffer() -> None:
    output, buffer = OutputView(), OutputBuffer()
    app = PaneApp(output)
    async with app.run_test(size=(40, 10)) as pilot:
        buffer.write("stdout", "".join(f"{number:03} " + "x" * 70 + "\n" for number in range(50)))
        output.show(buffer)
        await pilot.press("pageup", "pageup")
        first = next(line for line in lines(output) if line[2:5].isdigit())
        await pilot.resize_terminal(100, 10)
        await wait_until(lambda: output.text_width > 90)
        assert first[2:5] in shown(output)
        output.show(None)
        await wait_until(lambda: shown(output).strip() == "")
        other = OutputBuffer()
        other.write("stdout", "other\n")
        output.show(other)
        assert lines(output)[0] == "  other"


async def test_it_may_be_drawn_between_a_write_and_its_refresh() -> None:
    output, buffer = OutputView(), OutputBuffer(most_bytes=1)
    app = PaneApp(output)
    async with app.run_test(size=(40, 10)):
        output.show(buffer)
        buffer.write("stdout", numbered(0, 20))
        output.refresh_output()
        buffer.write("stdout", numbered(20, 5_000))
        assert lines(output)[-1] == "  line 19"
        buffer.write("stdout", "\x1b[9A\x1b[J")
        assert lines(output)[-1] == "  line 19"
        output.refresh_output()
        assert lines(output)[-1] == "  line 4990"
