"""Where blocks are: the line at the top of the view shows the same text whatever happens above it."""

from __future__ import annotations

from dataclasses import fields

from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style

from agentscope_widgets.block_layout import BlockLayout, Place
from agentscope_widgets.blocks import Block
from agentscope_widgets.look import Look

LOOK = Look(**{field.name: Style.null() for field in fields(Look)})
VIEW = 8


def block(number: int, words: int, **more: object) -> Block:
    return Block(f"k{number}", title=f"block {number}", body="word " * words, **more)  # type: ignore[arg-type]


def layout_of(*blocks: Block, width: int = 24) -> BlockLayout:
    layout = BlockLayout(lambda: LOOK)
    layout.resize(width, 0)
    layout.replace(blocks)
    return layout


def in_view(layout: BlockLayout, top: int) -> list[Place | None]:
    return [layout.place(line) for line in range(top, top + VIEW)]


def measure_all(layout: BlockLayout, top: int) -> int:
    done = False
    while not done:
        top, done = layout.measure_around(top, VIEW, 1.0)
    return top


BLOCKS = st.lists(st.integers(0, 60), min_size=1, max_size=30).map(
    lambda sizes: [block(number, words, foldable=words % 3 == 0) for number, words in enumerate(sizes)]
)


@given(BLOCKS, st.data())
def test_measuring_moves_nothing_in_view(blocks: list[Block], data: st.DataObject) -> None:
    layout = layout_of(*blocks)
    top = layout.settle(data.draw(st.integers(0, layout.total - 1)), VIEW, at_end=False)
    before = in_view(layout, top)
    top = measure_all(layout, top)
    assert in_view(layout, top) == before
    assert layout.total == sum(
        layout.measure(position) * 0 + _exact_height(layout, position) for position in range(len(blocks))
    )


@given(BLOCKS, st.data())
def test_a_change_above_moves_nothing_in_view(blocks: list[Block], data: st.DataObject) -> None:
    layout = layout_of(*blocks)
    top = layout.settle(data.draw(st.integers(0, layout.total - 1)), VIEW, at_end=False)
    before = in_view(layout, top)
    first = before[0]
    assert first is not None
    position = data.draw(st.integers(0, len(blocks) - 1))
    if position >= first.position:
        return
    top = layout.put(position, block(position, data.draw(st.integers(0, 90))), top)
    top = layout.settle(top, VIEW, at_end=False)
    after = in_view(layout, top)
    # The gap below the changed block may come or go, and it may be the very line at the top.
    if position + 1 < first.position or (before[0] and before[0].line >= 0):
        assert after[0] == before[0]


@given(BLOCKS, st.integers(6, 60))
def test_the_end_is_exact_at_any_width(blocks: list[Block], width: int) -> None:
    layout = layout_of(*blocks)
    layout.resize(width, 0)
    top = layout.settle(0, VIEW, at_end=True)
    assert top == max(0, layout.total - VIEW)
    last = len(blocks) - 1
    assert layout.total - layout.title_line(last) == 1 + len(layout.body(last))


def test_a_live_block_grows_at_its_end() -> None:
    layout = layout_of(block(0, 30), block(1, 40, live=True))
    top = layout.settle(layout.title_line(1) + 2, VIEW, at_end=False)
    before = in_view(layout, top)
    top = layout.settle(layout.put(1, block(1, 80, live=True), top), VIEW, at_end=False)
    assert in_view(layout, top)[:VIEW] == before


def test_blocks_of_one_line_stand_close_together() -> None:
    folded = [block(number, 5, foldable=True, folded=True) for number in range(3)]
    layout = layout_of(*folded, block(3, 1))
    assert [layout.title_line(position) for position in range(4)] == [0, 1, 2, 4]
    layout.fold(1, False, 0)
    layout.settle(0, VIEW, at_end=False)
    assert layout.title_line(1) == 2
    assert layout.title_line(2) == layout.title_line(1) + len(layout.body(1)) + 2


def test_a_width_keeps_the_block_at_the_top() -> None:
    layout = layout_of(*(block(number, 40) for number in range(20)))
    top = layout.settle(layout.title_line(10) + 3, VIEW, at_end=False)
    at_top = layout.place(top)
    top = layout.settle(layout.resize(60, top), VIEW, at_end=False)
    after = layout.place(top)
    assert at_top is not None
    assert after is not None
    assert after.position == at_top.position


KINDS = st.lists(st.sampled_from("abc"), min_size=1, max_size=30).map(
    lambda kinds: [
        block(number, 5 * number % 40, kind=kind, foldable=number % 4 == 0, folded=number % 8 == 0)
        for number, kind in enumerate(kinds)
    ]
)


@given(KINDS, st.sets(st.sampled_from("abc")), st.data())
def test_kinds_that_are_not_kept_take_no_room(
    blocks: list[Block], kept: set[str], data: st.DataObject
) -> None:
    layout = layout_of(*blocks)
    top = layout.settle(data.draw(st.integers(0, layout.total - 1)), VIEW, at_end=False)
    at_top = layout.place(top)
    top = layout.settle(layout.keep_only(kept, top), VIEW, at_end=False)
    alone = layout_of(*(one for one in blocks if not kept or one.kind in kept))
    alone.settle(0, 10_000, at_end=False)
    layout.settle(0, 10_000, at_end=False)
    assert layout.total == alone.total
    shown = [place for line in range(layout.total) if (place := layout.place(line))]
    assert all(not layout.is_hidden(place.position) for place in shown)
    assert at_top is not None
    if not layout.is_hidden(at_top.position):
        after = layout.place(layout.keep_only(kept, top))
        assert after is not None
        assert after.position == at_top.position


@given(KINDS, st.sets(st.sampled_from("abc"), min_size=1), st.data())
def test_a_change_of_a_hidden_block_moves_nothing(
    blocks: list[Block], kept: set[str], data: st.DataObject
) -> None:
    layout = layout_of(*blocks, block(len(blocks), 3, kind="a"))
    layout.keep_only(kept | {"a"}, 0)
    top = layout.settle(data.draw(st.integers(0, layout.total - 1)), VIEW, at_end=False)
    before = in_view(layout, top)
    hidden = [position for position in range(len(blocks)) if layout.is_hidden(position)]
    for position in hidden:
        top = layout.put(position, block(position, 70, kind=blocks[position].kind), top)
    assert layout.settle(top, VIEW, at_end=False) == top
    assert in_view(layout, top) == before


def _exact_height(layout: BlockLayout, position: int) -> int:
    start = layout.title_line(position)
    body = 0 if layout.is_folded(position) or not layout.blocks[position].body else len(layout.body(position))
    gap = layout.place(start - 1) if start else None
    return (1 if gap and gap.line == -1 else 0) + 1 + body
