"""A block that grows: it ends as if it had come whole, and no update renders much."""

from __future__ import annotations

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style

from agentscope_widgets import live_rows
from agentscope_widgets.blocks import Block, Format, body_rows
from agentscope_widgets.live_rows import TAIL, LiveRows
from agentscope_widgets.look import Look
from agentscope_widgets.markdown_rows import markdown_rows
from agentscope_widgets.text_rows import Row

LOOK = Look(**{field.name: Style(color=f"color({number})") for number, field in enumerate(fields(Look))})
WIDTH = 30
PARTS = [
    "word ",
    "**bold** ",
    "\n",
    "\n\n",
    "- item\n",
    "1. one\n",
    "```py\n",
    "x = 1\n",
    "```\n",
    "> said\n",
    "# ",
]
LONG = {
    "list": "- an **item** of a list\n" * 150,
    "lines": "a line with *words*\n" * 150,
    "paragraph": "many words in one line " * 150,
    "table": "| a | b |\n|---|---|\n" + "| cell | other |\n" * 150,
    "fence": "```python\n" + "x = compute(1)  # why\n" * 150,
    "nested": "- outer\n" + "  - inner with `code`\n" * 150,
    "paragraphs": "a paragraph with **bold** text\n\n" * 150,
}


def block(body: str, format: Format = "markdown", *, live: bool = True) -> Block:
    return Block("a", body=body, format=format, live=live)


def texts(rows: list[Row]) -> list[str]:
    return ["".join(run.text for run in row).rstrip() for row in rows]


def grown(live: LiveRows, body: str, step: int, format: Format = "markdown") -> None:
    for end in range(step, len(body) + step, step):
        live.update(block(body[:end], format))


@given(st.lists(st.sampled_from(PARTS), max_size=40).map("".join), st.integers(1, 9))
def test_what_has_grown_is_as_if_it_had_come_whole(body: str, step: int) -> None:
    live = LiveRows(WIDTH, LOOK)
    grown(live, body, step)
    assert live.finish(block(body, live=False)) == body_rows(block(body), WIDTH, LOOK)


@pytest.mark.parametrize("name", LONG)
def test_a_long_part_is_whole_at_its_end_too(name: str) -> None:
    live = LiveRows(WIDTH, LOOK)
    grown(live, LONG[name], 500)
    assert live.finish(block(LONG[name])) == body_rows(block(LONG[name]), WIDTH, LOOK)


@pytest.mark.parametrize("name", LONG)
def test_no_update_renders_much_markdown(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rendered: list[int] = []

    def counted(text: str, width: int, look: Look) -> list[Row]:
        rendered.append(len(text))
        return markdown_rows(text, width, look)

    monkeypatch.setattr(live_rows, "markdown_rows", counted)
    monkeypatch.setattr("agentscope_widgets.blocks.markdown_rows", counted)
    grown(LiveRows(WIDTH, LOOK), LONG[name], 100)
    assert max(rendered, default=0) <= TAIL + 100


def test_an_open_fence_is_plain_until_it_closes() -> None:
    live = LiveRows(WIDTH, LOOK)
    rows = live.update(block("Look:\n\n```py\nx = 1\n"))
    assert texts(rows) == ["Look:", "", "```py", "x = 1"]
    assert rows[-1][0].style == LOOK.normal
    rows = live.update(block("Look:\n\n```py\nx = 1\n```\n"))
    assert texts(rows) == ["Look:", "", " x = 1"]
    assert any(run.style == LOOK.code_block + LOOK.code_number for run in rows[-1])


def test_a_long_list_that_streams_has_no_gaps() -> None:
    live = LiveRows(WIDTH, LOOK)
    grown(live, LONG["list"], 100)
    assert texts(live.update(block(LONG["list"]))) == ["• an item of a list"] * 150


@pytest.mark.parametrize("format", ["plain", "json", "ansi", "call", "markdown"])
def test_a_body_that_becomes_another_is_rendered_anew(format: Format) -> None:
    live = LiveRows(WIDTH, LOOK)
    grown(live, "first\n\nsecond\n\nthird", 4, format)
    assert texts(live.update(block("other\n\ntext", format))) == ["other", "", "text"]


@given(st.text(st.sampled_from("ab \n\t"), max_size=80), st.integers(1, 9))
def test_plain_text_grows_line_by_line(body: str, step: int) -> None:
    live = LiveRows(WIDTH, LOOK)
    grown(live, body, step, "plain")
    assert live.update(block(body, "plain")) == body_rows(block(body, "plain"), WIDTH, LOOK)
