"""The text behind the cells: what is selected is what was written, over lines and over blocks."""

from __future__ import annotations

from dataclasses import fields

from rich.style import Style

from agentscope_widgets.block_layout import BlockLayout
from agentscope_widgets.block_text import BlockText
from agentscope_widgets.blocks import BODY_LIMIT, INDENT, RESULT_RULE, Block
from agentscope_widgets.look import Look
from agentscope_widgets.source_map import NOWHERE
from agentscope_widgets.text_view import TextPlace

LOOK = Look(**{field.name: Style.null() for field in fields(Look)})
TITLE, BODY = 0, 1
"""The texts of the first block."""


def laid_out(*blocks: Block, width: int = 24) -> tuple[BlockLayout, BlockText]:
    layout = BlockLayout(lambda: LOOK)
    layout.resize(width, 0)
    layout.replace(blocks)
    layout.settle(0, 1_000, at_end=False)
    return layout, BlockText(layout)


def between(text: BlockText, start: tuple[int, int], end: tuple[int, int]) -> str:
    return "".join(text.pieces(TextPlace(*start), TextPlace(*end)))


def offsets(text: BlockText, line: int) -> list[int]:
    row = text.row_places(line)
    assert row is not None
    return list(row.offsets)


def test_a_selection_is_the_unwrapped_markdown() -> None:
    body = "Some **bold** words that wrap\n\n- item"
    layout, text = laid_out(Block("a", title="assistant", body=body, format="markdown"))
    assert layout.total == 5
    start, end = text.place_at(INDENT + 5, 1), text.place_at(INDENT + 4, 2)
    assert start is not None
    assert end is not None
    assert between(text, start, end) == "bold** words that wrap"
    assert (text.text_at(TITLE), text.text_at(BODY)) == ("assistant", body)
    assert offsets(text, 4)[: INDENT + 2] == [NOWHERE, NOWHERE, NOWHERE, body.index(" item")]


def test_a_place_beside_the_text_is_the_one_next_to_it() -> None:
    _, text = laid_out(Block("a", title="t", body="one\n\ntwo"), Block("b", title="u", body="x"))
    assert text.place_at(0, 0) == (TITLE, 0)
    assert text.place_at(9, 0) == (TITLE, 1)
    assert text.place_at(0, 1) == (BODY, 0)
    assert text.place_at(20, 1) == (BODY, 3)
    assert text.place_at(5, 2) == (BODY, 3)
    assert text.place_at(INDENT + 1, 3) == (BODY, 6)
    assert text.place_at(0, 4) == (BODY, len("one\n\ntwo"))
    assert text.place_at(0, 5) == (2, 0)
    assert text.place_at(0, 7) is None
    assert text.row_places(4) is None
    assert text.row_places(7) is None


def test_every_character_that_is_shown_is_found_again() -> None:
    body = "Some **bold** 漢字 words\n\n```\ncode\n```\n- [a](b)"
    tool = Block("t", title="✓ 漢字 bash", body="ls", foldable=True, margin=("1 s",))
    layout, text = laid_out(Block("a", title="t", body=body, format="markdown"), tool)
    shown = 0
    for line in range(layout.total):
        for x, offset in text.row_places(line).stops if text.row_places(line) else ():
            row = text.row_places(line)
            assert row is not None
            assert text.cell_of(TextPlace(row.text, offset)) == (x, line)
            shown += 1
    assert shown > len("Some bold words code a t ✓ 漢字 bash ls")


def test_a_title_that_is_cut_has_no_text_in_its_ellipsis() -> None:
    _, text = laid_out(Block("a", title="x" * 40, body="b", foldable=True))
    width = 24 - INDENT - 1
    assert offsets(text, 0) == [NOWHERE] * (INDENT + 2) + list(range(width - 3))


def test_what_is_folded_or_hidden_has_no_cell() -> None:
    layout, text = laid_out(
        Block("t", "tool", "tool", "ls", foldable=True, folded=True), Block("u", "user", "user", "hi")
    )
    assert text.cell_of(TextPlace(0, 1)) == (INDENT + 3, 0)
    assert text.cell_of(TextPlace(1, 0)) is None
    layout.keep_only({"tool"}, 0)
    assert text.cell_of(TextPlace(3, 0)) is None


def test_over_blocks_titles_are_said_and_hidden_ones_left_out() -> None:
    layout, text = laid_out(
        Block("a", "user", "user", "do it"),
        Block("p", "paused", "‖ paused"),
        Block("h", "note", "note", "hidden"),
        Block("t", "tool", "✓ bash", "ls", foldable=True, folded=True),
        Block("b", "assistant", "assistant", "done and well"),
    )
    layout.keep_only({"user", "paused", "tool", "assistant"}, 0)
    assert between(text, (1, 3), (9, 4)) == "it\n\n‖ paused\n\n✓ bash\nls\n\nassistant\ndone"
    assert between(text, (0, 0), (2, 8)) == "user\ndo it\n\n‖ paused"
    assert between(text, (6, 2), (7, 1)) == "bash\nl"


def test_colours_and_controls_are_not_copied() -> None:
    body = f'{{"command": "ls"}}{RESULT_RULE}\x1b[31mred\x1b[0m \x1b]52;c;eA==\x07 end'
    _, text = laid_out(Block("a", title="t", body=body, format="call"), width=60)
    assert text.text_at(BODY) == f'{{"command": "ls"}}{RESULT_RULE}red ␛]52;c;eA==␇ end'
    line = text.text_at(BODY).index("red")
    assert offsets(text, 4) == [NOWHERE, NOWHERE, *range(line, len(text.text_at(BODY)))]


def test_the_end_of_a_shortened_body_is_found_in_the_whole() -> None:
    body = "x" * (BODY_LIMIT + 5_000) + "\nthe end"
    layout, text = laid_out(Block("a", title="t", body=body), width=80)
    place = text.place_at(INDENT, layout.total - 1)
    assert place == (BODY, len(body) - len("the end"))
    assert place is not None
    assert between(text, place, (BODY, len(body))) == "the end"
    assert len(text.text_at(BODY)) == len(body)


def test_offsets_follow_a_block_that_grows() -> None:
    layout, text = laid_out(Block("a", title="t", body="one\ntwo", live=True))
    assert text.place_at(INDENT, 2) == (BODY, 4)
    layout.put(0, Block("a", title="t", body="one\ntwo\nthree", live=True), 0)
    assert text.place_at(INDENT, 3) == (BODY, 8)
    layout.put(0, Block("a", title="t", body="other"), 0)
    assert text.place_at(INDENT, 1) == (BODY, 0)
