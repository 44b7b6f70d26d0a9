"""Searching as it is typed: counts, marks, from match to match, switches, and text that still comes."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from pane_app import PaneApp, lines
from textual.pilot import Pilot

from agentscope_widgets.blocks import Block
from agentscope_widgets.detail_view import DetailView
from agentscope_widgets.output_buffer import OutputBuffer
from agentscope_widgets.output_view import OutputView
from agentscope_widgets.prompt_line import PromptLine
from agentscope_widgets.searching_view import SearchingView
from agentscope_widgets.terminal_line import COLUMNS
from agentscope_widgets.text_search import MOST_MATCHES, BadPattern, TextSearch, compile_pattern
from agentscope_widgets.text_view import TextPlace
from agentscope_widgets.transcript import MESSAGES, Filter, Transcript
from waiting import wait_until


class Searching:
    """A view with its prompt line, and what a user does with them."""

    def __init__(self, view: SearchingView, prompt: PromptLine, pilot: Pilot[None]) -> None:
        self.view = view
        self.prompt = prompt
        self.pilot = pilot

    async def type(self, text: str) -> None:
        await self.pilot.press(*("space" if key == " " else key for key in text))

    async def says(self, note: str) -> None:
        await wait_until(lambda: self.prompt.note == note, f"{note!r}, not {self.prompt.note!r}")

    def marked(self) -> list[str]:
        """What is drawn as a match, the current one in brackets, from the top."""
        look, found = self.view.look, []
        for y in range(self.view.view_height):
            for run in self.view.render_line(y):
                if run.style and run.style.bgcolor == look.match_current.bgcolor:
                    found.append(f"[{run.text}]")
                elif run.style and run.style.bgcolor == look.match.bgcolor:
                    found.append(run.text)
        return found


@asynccontextmanager
async def shown_in(view: SearchingView, width: int = 40, height: int = 12) -> AsyncIterator[Searching]:
    prompt = PromptLine()
    app = PaneApp(view, prompt)
    async with app.run_test(size=(width, height)) as pilot:
        await wait_until(lambda: view.size.width > 0)
        yield Searching(view, prompt, pilot)


def numbered(first: int, last: int) -> str:
    return "".join(f"line {number}\n" for number in range(first, last))


async def test_output_is_searched_while_typing_and_from_match_to_match() -> None:
    view, buffer = OutputView(), OutputBuffer()
    async with shown_in(view) as user:
        buffer.write("stdout", numbered(0, 400))
        view.show(buffer)
        await user.pilot.press("home", "slash")
        await user.type("line 3")
        await user.says("1/111")
        assert user.marked() == ["[line 3]"]
        await user.pilot.press("down")
        await user.says("2/111")
        assert user.marked()[:2] == ["[line 3]", "line 3"]
        assert lines(view).count("  line 30") == 1
        await user.pilot.press("up", "up")
        await user.says("111/111")
        assert "  line 399" in lines(view)
        await user.pilot.press("enter", ">")
        assert not user.prompt.display
        assert lines(view)[-1] == " /line 3  1/111"
        await user.pilot.press("<", "<")
        assert lines(view)[-1] == " /line 3  110/111"
        await user.pilot.press("escape")
        assert not view.searching
        assert user.marked() == []


async def test_escape_in_the_line_goes_back_to_where_it_began() -> None:
    view, buffer = OutputView(), OutputBuffer()
    async with shown_in(view) as user:
        buffer.write("stdout", numbered(0, 400))
        view.show(buffer)
        await user.pilot.press("home", "down", "slash")
        await wait_until(lambda: user.prompt.region.height == 1)
        before = lines(view)
        await user.type("399")
        await user.says("1/1")
        assert lines(view) != before
        await user.pilot.press("escape")
        assert lines(view)[: len(before)] == before
        await user.pilot.press("slash")
        await user.type("nowhere")
        await user.says("0")
        await user.pilot.press("down")
        assert lines(view)[:-1] == before[:-1]


async def test_switches_change_what_matches_and_a_bad_expression_is_said() -> None:
    view = DetailView()
    async with shown_in(view, width=90) as user:
        view.show([Block("a", title="Tools", body="tools (Tool) a.c abc\nTOOL", format="plain")])
        await user.pilot.press("slash")
        await user.type("tool")
        await user.says("1/4")
        await user.pilot.press("alt+c")
        await user.says("1/1")
        assert user.prompt.switches == {"case": True, "regex": False}
        await user.pilot.press("alt+c")
        await user.says("1/4")
        await user.pilot.press("escape", "slash")
        await user.type("Tool")
        await user.says("1/2")
        assert user.prompt.switches == {"case": True, "regex": False}
        await user.pilot.press("escape", "slash")
        await user.type("a.c")
        await user.says("1/1")
        await user.pilot.press("alt+r")
        await user.says("1/2")
        await user.type("(")
        assert user.prompt.note.startswith("not a regular expression: missing ), unterminated subpattern")
        await user.pilot.press("enter")
        assert user.prompt.display
        assert user.prompt.value == "a.c("


async def test_a_transcript_is_searched_in_titles_and_in_what_is_folded() -> None:
    view = Transcript()
    async with shown_in(view, height=10) as user:
        view.show(
            [
                Block("u", "user", "user", "find **me**", "markdown"),
                Block("t", "tool", "✓ find", '{"find": 1}', "json", foldable=True, folded=True),
                *(Block(f"n{number}", "user", "user", "text") for number in range(30)),
                Block("e", "assistant", "assistant", "find 漢 find"),
            ]
        )
        await user.pilot.press("home", "slash")
        await user.type("find")
        await user.says("1/5")
        assert user.marked() == ["[find]", "find"]
        await user.pilot.press("down")
        await user.says("2/5")
        assert view.is_folded(1)
        await user.pilot.press("down")
        await user.says("3/5")
        assert not view.is_folded(1)
        assert view.cursor == 1
        await user.pilot.press("down", "down")
        await user.says("5/5")
        assert user.marked() == ["find", "[find]"]
        await user.pilot.press("escape", "slash")
        await user.type("find me")
        await user.says("0")


async def test_a_filter_and_a_search_act_together() -> None:
    view = Transcript()
    async with shown_in(view) as user:
        view.show([Block("u", "user", "user", "word"), Block("t", "tool", "bash", "word word")])
        await user.pilot.press("slash")
        await user.type("word")
        await user.says("1/3")
        await user.pilot.press("enter")
        view.filter = Filter("messages", MESSAGES)
        await wait_until(lambda: view.hits() == "1/1")
        assert lines(view)[-1] == " only messages · /word  1/1"
        view.filter = Filter("")
        await wait_until(lambda: view.hits() == "1/3")


async def test_matches_come_and_go_with_text_that_streams() -> None:
    view, transcript, buffer = OutputView(), Transcript(), OutputBuffer()
    async with shown_in(view, height=20) as user:
        buffer.write("stdout", "a match\n50% match")
        view.show(buffer)
        await user.pilot.press("slash")
        await user.type("match")
        await user.says("1/2")
        buffer.write("stdout", "\rno more\x1b[K\nmat")
        view.refresh_output()
        await user.says("1/1")
        buffer.write("stdout", "ch\nmatch\n")
        view.refresh_output()
        await user.says("1/3")
        assert user.marked() == ["[match]", "match", "match"]
        await user.pilot.press("enter")
    async with shown_in(transcript) as user:
        transcript.show([Block("a", "assistant", "assistant", "ma", "markdown", live=True)])
        transcript.search_for("match")
        for body in ("mat", "match", "match and ma", "match and match"):
            transcript.put(0, Block("a", "assistant", "assistant", body, "markdown", live=True))
        transcript.put(1, Block("b", "user", "user", "match"))
        await wait_until(lambda: transcript.matches == 3)
        assert transcript.hits() == "1/3"
        transcript.put(0, Block("a", "assistant", "assistant", "none"))
        await wait_until(lambda: transcript.matches == 1)
        transcript.show([])
        await wait_until(lambda: transcript.matches == 0)


async def test_a_match_over_the_edge_of_the_terminal_is_one() -> None:
    view, buffer = OutputView(), OutputBuffer()
    async with shown_in(view) as user:
        buffer.write("stdout", "x" * (COLUMNS - 3) + "needle" + "y" * 100 + "\nneed\nle\n")
        view.show(buffer)
        view.search_for("needle")
        await wait_until(lambda: view.hits() == "1/1")
        assert "".join(user.marked()) == "[nee][dle]"


async def test_long_lines_without_wrapping_come_into_sight() -> None:
    view, buffer = OutputView(), OutputBuffer()
    async with shown_in(view) as user:
        buffer.write("stdout", "\t" + "x" * 500 + "needle" + "y" * 100 + "\n")
        view.show(buffer)
        view.wrap = False
        view.search_for("needle")
        await wait_until(lambda: user.marked() == ["[needle]"])
        assert view.scroll_offset.x > 400


async def test_keys_act_while_a_large_output_is_searched() -> None:
    view, buffer = OutputView(), OutputBuffer()
    buffer.write("stdout", numbered(0, 20_000))
    async with shown_in(view) as user:
        view.show(buffer)
        await user.pilot.press("home", "slash")
        await user.type("19999")
        assert user.prompt.value == "19999"
        await user.says("1/1")
        assert "  line 19999" in lines(view)


def found(search: TextSearch) -> list[tuple[TextPlace, TextPlace]]:
    while not search.done:
        search.search(0.001)
    return [search.match_at(index) for index in range(search.count)]


def test_what_comes_after_the_start_is_found_first() -> None:
    texts = ["ab", "b", "ab", "a b"]
    search = TextSearch(re.compile("b"), lambda number: [texts[number]], 4, 2)
    search.search(0)
    assert found(search) == [((0, 1), (0, 2)), ((1, 0), (1, 1)), ((2, 1), (2, 2)), ((3, 2), (3, 3))]
    assert search.index_of(TextPlace(2, 1)) == 2
    assert search.index_of(TextPlace(2, 0)) is None
    assert search.between(TextPlace(1, 1), TextPlace(3, 0)) == range(2, 3)
    texts[1] = "xb"
    search.changed(1, 2, 4)
    assert found(search)[1] == ((1, 1), (1, 2))
    del texts[2:]
    search.changed(2, 4, 2)
    assert found(search) == [((0, 1), (0, 2)), ((1, 1), (1, 2))]
    texts += ["b"]
    search.changed(2, 3, 3)
    assert len(found(search)) == 3


def test_changes_while_it_searches_have_nothing_searched_twice() -> None:
    texts = ["b"] * 1_000
    asked: list[int] = []

    def passage(number: int) -> list[str]:
        asked.append(number)
        return [texts[number]]

    search = TextSearch(re.compile("b"), passage, 1_000, 500)
    for _ in range(50):
        texts.append("b")
        search.changed(len(texts) - 2, len(texts), len(texts))
        search.search(0.00001)
    assert len(found(search)) == 1_050
    assert len(asked) < 1_200


def test_too_many_matches_end_the_search() -> None:
    search = TextSearch(re.compile("x*"), lambda number: ["x " * MOST_MATCHES], 3, 0)
    assert len(found(search)) == MOST_MATCHES
    assert search.full


@pytest.mark.parametrize("needle", ["(", "[", "a{3}{4}", "(?P<a", "*", "\\"])
def test_what_is_no_expression_is_an_error_only_as_one(needle: str) -> None:
    with pytest.raises(BadPattern, match="not a regular expression: "):
        compile_pattern(needle, regex=True, exact=False)
    assert compile_pattern(needle, regex=False, exact=False).search(f"a {needle} b")
