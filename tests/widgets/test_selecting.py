"""Selecting with mouse and keys: what is asked for is the source, whatever the view made of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pane_app import PaneApp, lines, shown
from textual.geometry import Offset
from textual.pilot import Pilot

from agentscope_widgets.blocks import RESULT_RULE, Block
from agentscope_widgets.copying import CopyRequested, OpenRequested
from agentscope_widgets.detail_view import DetailView
from agentscope_widgets.output_buffer import OutputBuffer
from agentscope_widgets.output_view import OutputView
from agentscope_widgets.prompt_line import PromptLine
from agentscope_widgets.selecting_view import SelectingView
from agentscope_widgets.terminal_line import COLUMNS
from agentscope_widgets.transcript import Transcript
from hostile import HOSTILE, raw_characters
from waiting import wait_until

MARKDOWN = (
    "Some **bold** words that wrap over the edge\n\n| a | b |\n|---|---|\n| one | two |\n\n- 漢字 &amp; item"
)
TOOL = f'{{"command": "ls"}}{RESULT_RULE}\x1b[31mred\x1b[0m done'


class Selecting:
    """A view in an app, and what a user does with it."""

    def __init__(self, view: SelectingView, app: PaneApp, pilot: Pilot[None]) -> None:
        self.view = view
        self.app = app
        self.pilot = pilot

    def asked(self, kind: type[CopyRequested | OpenRequested] = CopyRequested) -> list[str]:
        return [message.text for message in self.app.posted(kind)]

    async def copied(self, *keys: str) -> str:
        """What these keys copy."""
        before = len(self.asked())
        await self.pilot.press(*keys)
        await wait_until(lambda: len(self.asked()) > before, "something is copied")
        return self.asked()[-1]

    async def drag(self, start: tuple[int, int], *to: tuple[int, int]) -> None:
        await self.pilot.mouse_down(self.view, offset=start)
        for offset in to:
            await self.pilot.hover(self.view, offset=offset)
        await self.pilot.mouse_up(self.view, offset=to[-1])

    def find(self, text: str) -> tuple[int, int]:
        """The cell where a text is shown that has no wide characters before it."""
        rows = lines(self.view)
        y = next(y for y, row in enumerate(rows) if text in row)
        return rows[y].index(text), y

    def marked(self) -> str:
        """What is drawn as selected."""
        style = self.view.look.selection
        strips = [self.view.render_line(y) for y in range(self.view.view_height)]
        parts = [
            "".join(run.text for run in strip if run.style and run.style.bgcolor == style.bgcolor)
            for strip in strips
        ]
        # The badge for what is new has the same ground.
        return "\n".join(part for part in parts if part and "↓" not in part)


@asynccontextmanager
async def shown_in(view: SelectingView, width: int = 32, height: int = 14) -> AsyncIterator[Selecting]:
    app = PaneApp(view, PromptLine())
    async with app.run_test(size=(width, height), message_hook=app.record) as pilot:
        await wait_until(lambda: view.size.width > 0)
        yield Selecting(view, app, pilot)


def output_of(text: str | bytes) -> OutputBuffer:
    buffer = OutputBuffer()
    buffer.write("stdout", text)
    return buffer


async def test_a_drag_over_output_gives_unwrapped_lines_without_colours() -> None:
    view = OutputView()
    async with shown_in(view) as user:
        view.show(output_of("one \x1b[31mred\x1b[0m\n" + "long " * 10 + "end\n漢字 wide\ta\nlast\n"))
        await user.drag(user.find("red"), user.find("last"))
        assert user.marked().startswith("red\nlong long")
        assert await user.copied("y") == "red\n" + "long " * 10 + "end\n漢字 wide\ta\nl"
        assert view.selection is None
        x, y = user.find("red")
        await user.drag((x + 2, y), (x, y))
        assert await user.copied("y") == "red"


async def test_the_end_of_a_row_is_where_a_drag_beyond_it_ends() -> None:
    view = OutputView()
    async with shown_in(view, width=23) as user:
        view.show(output_of("0123456789" * 4 + "\nb\n"))
        await user.drag((4, 0), (21, 0), (22, 0))
        assert await user.copied("y") == "23456789" + "0123456789"
        await user.drag((20, 2), (2, 2))
        assert await user.copied("y") == "b"


async def test_a_drag_over_markdown_gives_what_was_written() -> None:
    view = Transcript()
    async with shown_in(view) as user:
        view.show([Block("a", "assistant", "assistant", MARKDOWN, "markdown")])
        (x, y), end = user.find("bold"), user.find("over")
        await user.drag((x, y), (x + 3, y))
        assert user.marked() == "bold"
        assert await user.copied("y") == "bold"
        await user.drag((x, y), end)
        assert await user.copied("y") == "bold** words that wrap o"
        await user.drag(user.find("two"), (31, user.find("two")[1]), (31, 11))
        assert await user.copied("y") == "two |\n\n- 漢字 &amp; item"
        # The two wide characters are four cells.
        x, y = user.find("& item")
        await user.drag((x + 2, y), (x + 2, y), (x + 3, y))
        assert await user.copied("y") == "&amp; "


async def test_over_folded_blocks_all_they_say_is_copied() -> None:
    view = Transcript()
    async with shown_in(view) as user:
        view.show(
            [
                Block("u", "user", "user", "do it"),
                Block("t", "tool", "✓ bash", TOOL, "call", foldable=True, folded=True),
                Block("a", "assistant", "assistant", "done"),
            ]
        )
        await user.drag(user.find("do it"), (7, user.find("assistant")[1] + 1))
        expected = f'do it\n\n✓ bash\n{{"command": "ls"}}{RESULT_RULE}red done\n\nassistant\ndone'
        assert await user.copied("y") == expected
        assert view.is_folded(1)


async def test_clicks_take_words_lines_and_blocks() -> None:
    view = DetailView()
    async with shown_in(view) as user:
        view.show(
            [Block("a", title="title of it", body="see src/main.py: it\nsecond line that is wrapped here")]
        )
        for times, at, taken in (
            (2, "main", "src/main.py"),
            (2, ": it", ":"),
            (3, "wrapped", "second line that is wrapped here"),
            (2, "of it", "of"),
            (3, "of it", "title of it\nsee src/main.py: it\nsecond line that is wrapped here"),
        ):
            await user.pilot.click(view, offset=user.find(at), times=times)
            assert await user.copied("y") == taken


async def test_three_clicks_take_a_line_that_the_terminal_broke() -> None:
    view = OutputView()
    async with shown_in(view) as user:
        text = "x" * (COLUMNS + 10)
        view.show(output_of(f"a\n{text}\nb\n"))
        assert view.text_count == 4
        await user.pilot.click(view, offset=(5, 5), times=3)
        assert await user.copied("y") == text


async def test_a_click_drops_the_selection_and_a_drag_folds_nothing() -> None:
    view = Transcript()
    async with shown_in(view) as user:
        view.show([Block("t", title="fold me", body="body", foldable=True)])
        x, y = user.find("fold")
        await user.drag((x, y), (x + 3, y), (x, y))
        assert not view.is_folded(0)
        assert user.marked() == "f"
        await user.pilot.click(view, offset=(x, y))
        assert view.selection is None
        assert view.is_folded(0)


async def test_a_drag_below_the_view_scrolls_and_selects_on() -> None:
    view = OutputView()
    async with shown_in(view, height=8) as user:
        view.show(output_of("".join(f"line {number}\n" for number in range(60))))
        await user.pilot.press("home")
        await user.pilot.mouse_down(view, offset=(2, 1))
        await user.pilot.hover(view, offset=(3, 5))
        view._pointer += Offset(0, 10)
        await wait_until(lambda: view.scroll_offset.y >= 20, "it scrolls")
        await user.pilot.mouse_up(view, offset=(3, 5))
        top = view.scroll_offset.y
        assert view.selection is not None
        assert view.selection[0] == (1, 0)
        assert view.selection[1].text >= top
        copied = await user.copied("y")
        assert copied.startswith("line 1\nline 2\n")
        assert view.scroll_offset.y == top


async def test_keys_select_in_output() -> None:
    view = OutputView()
    async with shown_in(view, height=9) as user:
        view.show(output_of("one two-three four\n五六 x\n\nlast\nline\n"))
        for keys, taken in (
            ("V V right right", "one"),
            ("V right right", "one two-three four"),
            ("V ctrl+right V ctrl+right", "two-t"),
            ("V ctrl+right ctrl+right ctrl+left V right", "tw"),
            ("shift+right shift+right", "one"),
            ("shift+down", "one two-three four\n五"),
            ("shift+down shift+down shift+left", "one two-three four\n五六 x"),
            ("V dollar_sign shift+home", "one two-three four"),
            ("V end V up", "t\nline"),
            ("V end circumflex_accent V left", "t\nl"),
            ("V end home shift+pagedown", "one two-three four\n五六 x\n\nlast\nl"),
            ("ctrl+a", "one two-three four\n五六 x\n\nlast\nline"),
        ):
            await user.pilot.press("home")
            assert await user.copied(*keys.split(), "y") == taken, keys


async def test_keys_go_over_titles_and_markdown_as_it_is_shown() -> None:
    view = DetailView()
    async with shown_in(view) as user:
        view.show(
            [
                Block("a", title="one", body="**b** c", format="markdown"),
                Block("t", title="two", body="hidden", foldable=True, folded=True),
            ]
        )
        await user.pilot.press("V")
        assert lines(view)[-1] == " selecting"
        assert await user.copied("home", "V", "down", "right", "enter") == "one\n**b** "
        assert not view.selecting
        await user.pilot.press("V", "end")
        assert view.cell_of(view.places[0]) == (6, 3)
        assert await user.copied("V", "up", "y") == "c\n\ntwo"


async def test_escape_leaves_and_keys_scroll_again() -> None:
    view = OutputView()
    async with shown_in(view, height=8) as user:
        view.show(output_of("".join(f"line {number}\n" for number in range(60))))
        await user.pilot.press("V", "up", "up")
        top = view.scroll_offset.y
        assert view.selecting
        await user.pilot.press("escape", "up")
        assert not view.selecting
        assert view.scroll_offset.y == top - 1


async def test_a_selection_stays_on_its_text_while_more_arrives() -> None:
    view, buffer = OutputView(), output_of("".join(f"line {number}\n" for number in range(60)))
    async with shown_in(view, height=8) as user:
        view.show(buffer)
        x, y = user.find("line 55")
        await user.drag((x, y), (x + 6, y))
        before = lines(view)
        buffer.write("stdout", "more\n" * 30)
        view.refresh_output()
        assert lines(view)[:-1] == before[:-1]
        assert user.marked() == "line 55"
        await user.pilot.resize_terminal(20, 8)
        await wait_until(lambda: view.size.width == 20)
        assert await user.copied("y") == "line 55"


async def test_a_selection_goes_along_when_a_block_comes_before_it() -> None:
    view = Transcript()
    async with shown_in(view) as user:
        blocks = [Block(key, title=key, body=f"body of {key}") for key in ("a", "b")]
        view.show(blocks)
        x, y = user.find("body of b")
        await user.drag((x, y), (x + 8, y))
        view.put(1, Block("new", title="new", body="before"))
        view.put(2, blocks[1])
        assert user.marked() == "body of b"
        assert await user.copied("y") == "body of b"


async def test_a_selection_over_several_blocks_goes_along_with_each_of_them() -> None:
    view = Transcript()
    async with shown_in(view, height=20) as user:
        blocks = [Block(key, title=key, body=f"body of {key}") for key in ("a", "b", "c")]
        view.show(blocks)
        (x, y), end = user.find("body of b"), user.find("body of c")
        await user.drag((x, y), (end[0] + 8, end[1]))
        for position, block in enumerate([Block("new", title="new", body="before"), *blocks[1:]], 1):
            view.put(position, block)
        assert user.marked() == "body of b\nc\nbody of c"
        assert await user.copied("y") == "body of b\n\nc\nbody of c"


async def test_a_word_of_a_title_is_taken_whole_above_a_short_body() -> None:
    view = Transcript()
    async with shown_in(view) as user:
        view.show([Block("a", title="read_file failed", body="no")])
        await user.pilot.click(view, offset=user.find("failed"), times=2)
        assert await user.copied("y") == "failed"


async def test_what_is_shown_after_a_selection_is_followed() -> None:
    for view in (Transcript(), OutputView()):
        async with shown_in(view, height=8) as user:
            for word in ("first", "other"):
                if isinstance(view, Transcript):
                    view.show([Block(f"{word}{n}", title=word, body=f"{word} {n}") for n in range(30)])
                else:
                    view.show(output_of("".join(f"{word} {n}\n" for n in range(30))))
                assert f"{word} 29" in shown(view)
                x, y = user.find(f"{word} 29")
                await user.drag((x, y), (x + 4, y))
                assert user.marked() == word


async def test_without_a_selection_what_is_chosen_is_copied() -> None:
    view = Transcript()
    async with shown_in(view) as user:
        view.show(
            [
                Block("u", "user", "user", "do it"),
                Block("t", "tool", "✓ bash", TOOL, "call", foldable=True, folded=True),
                Block("p", "paused", "‖ paused"),
            ]
        )
        assert await user.copied("y") == "‖ paused"
        view.cursor = 1
        assert await user.copied("y") == '{"command": "ls"}'
        await user.pilot.press("Y")
        await wait_until(
            lambda: [asked.position for asked in user.app.posted(Transcript.ResultRequested)] == [1]
        )
        view.cursor = 0
        assert await user.copied("y") == "do it"
        await user.pilot.press("o")
        await wait_until(lambda: user.asked(OpenRequested) == ["do it"])


async def test_all_of_a_long_output_is_copied_in_pieces() -> None:
    view = OutputView()
    text = "".join(f"line {number}\n" for number in range(3_000))
    async with shown_in(view) as user:
        view.show(output_of(text))
        assert await user.copied("y") == text.removesuffix("\n")


async def test_hostile_text_is_copied_as_it_is_shown() -> None:
    view, output = Transcript(), OutputView()
    app = PaneApp(view, output, PromptLine())
    async with app.run_test(size=(40, 20), message_hook=app.record) as pilot:
        user = Selecting(view, app, pilot)
        for name, whole in HOSTILE.items():
            text = whole[:5_000]
            view.show([Block("a", title=text, body=text, format="markdown")])
            output.show(output_of(text.encode("utf-8", "replace")))
            before = len(user.asked())
            for pane in (view, output):
                pane.action_select_all()
                pane.action_copy()
            await wait_until(lambda: len(user.asked()) == before + 2, name)  # noqa: B023
            for copied in user.asked()[-2:]:
                assert raw_characters(copied.replace("\n", "").replace("\t", "")) == [], name
