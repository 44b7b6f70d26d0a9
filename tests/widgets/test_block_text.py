"""The text behind the cells: what is selected is what was written, over lines and over blocks."""

from __future__ import annotations

from dataclasses import fields

from rich.style import Style

from agentscope_widgets.block_layout import BlockLayout
from agentscope_widgets.block_text import BlockText, TextPlace
from agentscope_widgets.blocks import BODY_LIMIT, INDENT, RESULT_RULE, Block
from agentscope_widgets.look import Look
from agentscope_widgets.source_map import NOWHERE

LOOK = Look(**{field.name: Style.null() for field in fields(Look)})


def laid_out(*blocks: Block, width: int = 24) -> tuple[BlockLayout, BlockText]:
    layout = BlockLayout(lambda: LOOK)
    layout.resize(width, 0)
    layout.replace(blocks)
    layout.settle(0, 1_000, at_end=False)
    return layout, BlockText(layout)


def test_a_selection_is_the_unwrapped_markdown() -> None:
    body = "Some **bold** words that wrap\n\n- item"
    layout, text = laid_out(Block("a", title="assistant", body=body, format="markdown"))
    assert layout.total == 5
    start, end = text.at(1, INDENT + 5), text.at(2, INDENT + 4)
    assert start is not None
    assert end is not None
    assert text.between(start, end) == text.between(end, start) == "bold** words that wrap"
    assert text.text_of(0) == body
    assert text.cell_offsets(4)[: INDENT + 2] == [NOWHERE, NOWHERE, NOWHERE, body.index(" item")]


def test_a_place_beside_the_text_is_the_one_next_to_it() -> None:
    _, text = laid_out(Block("a", title="t", body="one\n\ntwo"), Block("b", title="u", body="x"))
    assert text.at(0, 9) == TextPlace(0, 0)
    assert text.at(1, 0) == TextPlace(0, 0)
    assert text.at(1, 20) == TextPlace(0, 3)
    assert text.at(2, 5) == TextPlace(0, 3)
    assert text.at(3, INDENT + 1) == TextPlace(0, 6)
    assert text.at(4, 0) == TextPlace(1, 0)
    assert text.at(7, 0) is None
    assert text.cell_offsets(0) == text.cell_offsets(7) == []


def test_over_blocks_titles_are_said_and_hidden_ones_left_out() -> None:
    layout, text = laid_out(
        Block("a", "user", "user", "do it"),
        Block("p", "paused", "‖ paused"),
        Block("h", "note", "note", "hidden"),
        Block("t", "tool", "✓ bash", "ls", foldable=True, folded=True),
        Block("b", "assistant", "assistant", "done and well"),
    )
    layout.keep_only({"user", "paused", "tool", "assistant"}, 0)
    assert text.between(TextPlace(0, 3), TextPlace(4, 4)) == "it\n\n‖ paused\n\n✓ bash\nls\n\nassistant\ndone"
    assert text.between(TextPlace(0, 0), TextPlace(1, 0)) == "user\ndo it\n\n‖ paused"


def test_colours_and_controls_are_not_copied() -> None:
    body = f'{{"command": "ls"}}{RESULT_RULE}\x1b[31mred\x1b[0m \x1b]52;c;eA==\x07 end'
    _, text = laid_out(Block("a", title="t", body=body, format="call"), width=60)
    assert text.text_of(0) == f'{{"command": "ls"}}{RESULT_RULE}red ␛]52;c;eA==␇ end'
    line = text.text_of(0).index("red")
    assert text.cell_offsets(4) == [NOWHERE, NOWHERE, *range(line, len(text.text_of(0)))]


def test_the_end_of_a_shortened_body_is_found_in_the_whole() -> None:
    body = "x" * (BODY_LIMIT + 5_000) + "\nthe end"
    layout, text = laid_out(Block("a", title="t", body=body), width=80)
    place = text.at(layout.total - 1, INDENT)
    assert place == TextPlace(0, len(body) - len("the end"))
    assert text.between(place, TextPlace(0, len(body))) == "the end"
    assert len(text.text_of(0)) == len(body)


def test_offsets_follow_a_block_that_grows() -> None:
    layout, text = laid_out(Block("a", title="t", body="one\ntwo", live=True))
    assert text.at(2, INDENT) == TextPlace(0, 4)
    layout.put(0, Block("a", title="t", body="one\ntwo\nthree", live=True), 0)
    assert text.at(3, INDENT) == TextPlace(0, 8)
    layout.put(0, Block("a", title="t", body="other"), 0)
    assert text.at(1, INDENT) == TextPlace(0, 0)
