"""The output pane: colours and streams, wrapping, following, and lines that are no longer kept."""

from __future__ import annotations

from pane_app import PaneApp, lines, shown

from agentscope_widgets.output_buffer import OutputBuffer
from agentscope_widgets.output_view import OutputView
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


async def test_the_view_holds_still_while_old_lines_are_dropped() -> None:
    output, buffer = OutputView(), OutputBuffer(most_lines=100)
    app = PaneApp(output)
    async with app.run_test(size=(40, 10)) as pilot:
        output.show(buffer)
        buffer.write("stdout", numbered(0, 100))
        output.refresh_output()
        await pilot.press("pageup")
        before = lines(output)
        buffer.write("stdout", numbered(100, 150))
        output.refresh_output()
        assert buffer.first > 0
        assert lines(output)[:-1] == before[:-1]
        buffer.write("stdout", numbered(150, 400))
        output.refresh_output()
        await pilot.press("home")
        assert f"{buffer.first} earlier lines were dropped" in lines(output)[0]
        assert lines(output)[1] == f"  line {buffer.first}"


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
    output, buffer = OutputView(), OutputBuffer(most_lines=20)
    app = PaneApp(output)
    async with app.run_test(size=(40, 10)):
        output.show(buffer)
        buffer.write("stdout", numbered(0, 20))
        output.refresh_output()
        buffer.write("stdout", numbered(20, 500))
        assert set(lines(output)) == {""}
        output.refresh_output()
        assert lines(output)[-1] == "  line 499"
