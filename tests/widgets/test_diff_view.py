"""Two texts side by side in a block: what is drawn where, and that every cell knows its place in the text."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from agentscope_widgets.blocks import Block
from agentscope_widgets.copying import CopyRequested
from agentscope_widgets.diff_block import WIDE, DiffBlock, DiffLine, diff_offsets, diff_rows, unified
from agentscope_widgets.diff_view import DiffView
from agentscope_widgets.look import PLAIN
from agentscope_widgets.safe_text import safe_text
from agentscope_widgets.source_map import NOWHERE
from agentscope_widgets.text_rows import Row
from waiting import wait_until
from widgets.pane_app import PaneApp, shown

words = st.text(alphabet="ab \t界é", max_size=60).map(safe_text)
lines = st.lists(
    st.builds(
        DiffLine,
        st.none() | words,
        st.none() | words,
        st.just([(1, 3), (5, 9)]),
        st.just([(0, 2)]),
        st.sampled_from(["title", "text", "note"]),
    ).filter(lambda line: line.left is not None or line.right is not None),
    max_size=5,
)


def block(*lines: DiffLine, key: str = "k", kind: str = "changed", title: str = "calls") -> DiffBlock:
    return DiffBlock(key, kind, title, unified(lines), lines=lines, foldable=True)


def texts(rows: Sequence[Row]) -> list[str]:
    return ["".join(text for text, _, _ in row) for row in rows]


SUM = DiffLine("the sum is 4", "the sum is five", [(11, 12)], [(11, 15)])
SAME = DiffLine("as it was", "as it was")


@given(lines, st.integers(12, 140))
def test_no_row_is_wider_than_the_view_and_each_cell_shows_its_character(found: list[DiffLine], width: int):
    made = block(*found)
    rows, offsets = diff_rows(made, width, PLAIN), diff_offsets(made, width, PLAIN)
    for text, places in zip(texts(rows), offsets, strict=True):
        assert cell_len(text) <= width
        cells = [character for character in text for _ in range(cell_len(character))]
        for character, place in zip(cells, places, strict=False):
            if place != NOWHERE:
                assert made.body[place] == character or made.body[place] == "\t"


@given(lines, st.sampled_from([40, 120]))
def test_all_text_is_drawn(found: list[DiffLine], width: int):
    made = block(*found)
    drawn = "".join(texts(diff_rows(made, width, PLAIN)))
    for character in "ab界é":
        told = sum((line.left or "").count(character) for line in found)
        told += sum((line.right or "").count(character) for line in found if line.left != line.right)
        assert drawn.count(character) >= told


def test_where_there_is_room_both_sides_stand_side_by_side():
    [row, same] = texts(diff_rows(block(SUM, SAME), WIDE, PLAIN))
    assert [part.rstrip() for part in row.split(" │ ")] == ["- the sum is 4", "+ the sum is five"]
    assert [part.rstrip() for part in same.split(" │ ")] == ["  as it was", "  as it was"]


def test_where_there_is_none_the_left_one_is_above_the_right_one():
    assert texts(diff_rows(block(SUM, SAME), 30, PLAIN)) == [
        "- the sum is 4",
        "+ the sum is five",
        "  as it was",
    ]


def test_what_differs_is_told_by_more_than_colour():
    [row] = diff_rows(block(SUM), WIDE, PLAIN)
    marked = [text for text, style, _ in row if style and style.underline and style.bold]
    assert marked == ["4", "five"]


def test_a_wrapped_line_has_its_mark_on_every_row():
    rows = texts(diff_rows(block(DiffLine(None, "word " * 12)), 30, PLAIN))
    assert len(rows) > 1
    assert all(row.startswith("+ ") for row in rows)


async def test_text_is_selected_searched_and_copied_as_a_unified_difference():
    view = DiffView(id="detail")
    app = PaneApp(view)
    async with app.run_test(size=(120, 20), message_hook=app.record) as pilot:
        view.show([block(SUM, SAME)])
        view.go_to(0)
        await pilot.press("y")
        await wait_until(lambda: app.posted(CopyRequested), "the copy")
        assert app.posted(CopyRequested)[0].text == "- the sum is 4\n+ the sum is five\n  as it was"
        view.search_for("five")
        await wait_until(lambda: view.matches == 1, "the match")
        # Two clicks take a word of the right side.
        line = next(y for y, text in enumerate(shown(view).split("\n")) if "five" in text)
        await pilot.click(view, offset=(shown(view).split("\n")[line].index("five") + 1, line), times=2)
        await wait_until(lambda: view.selection, "the word")
        start, end = view.selection or ((0, 0), (0, 0))
        assert view.text_at(start[0])[start[1] : end[1]] == "five"


async def test_the_keys_stop_at_what_differs():
    view = DiffView(id="detail")
    blocks: list[Block] = [
        block(SAME, key=str(number), kind="same" if number % 2 else "changed") for number in range(5)
    ]
    app = PaneApp(view)
    async with app.run_test(size=(120, 40)) as pilot:
        view.show(blocks)
        view.go_to(0)
        seen = []
        for key in ("]", "]", "[", ")", "("):
            await pilot.press(key)
            seen.append(view.cursor)
        assert seen == [2, 4, 2, 3, 2]
        await pilot.press("enter")
        assert view.is_folded(2)


async def test_a_program_outside_is_asked_for_one_of_the_sides():
    view = DiffView(id="detail")
    app = PaneApp(view)
    async with app.run_test(size=(120, 40), message_hook=app.record) as pilot:
        view.show([block(SUM)])
        view.go_to(0)
        await pilot.press("o")
        await wait_until(lambda: app.posted(DiffView.SideRequested), "the request")
        assert app.posted(DiffView.SideRequested)[0].position == 0
