"""Hostile text through every pane, at two sizes: nothing raw reaches the terminal, widths are exact."""

from __future__ import annotations

import asyncio

import pytest
from pane_app import PaneApp
from rich.cells import cell_len
from textual.geometry import Region
from textual.widget import Widget

from agentscope_widgets.blocks import Block, Format
from agentscope_widgets.call_list import CallItem, CallList
from agentscope_widgets.composer import Composer
from agentscope_widgets.detail_view import DetailView
from agentscope_widgets.line_view import ScrollingView
from agentscope_widgets.output_buffer import OutputBuffer
from agentscope_widgets.output_view import OutputView
from agentscope_widgets.row_columns import Column
from agentscope_widgets.row_list import RowCells, RowList
from agentscope_widgets.status_line import StatusLine
from agentscope_widgets.steer_queue import SteerItem, SteerQueue
from agentscope_widgets.transcript import Transcript
from hostile import HOSTILE, raw_characters

FORMATS: list[Format] = ["markdown", "plain", "ansi", "json", "call"]


class OneRow:
    def __init__(self, text: str) -> None:
        self.text = text
        self.columns = (Column("state", text), Column("calls", text, right=True), Column("prompt", text))

    def __len__(self) -> int:
        return 1

    def cells(self, position: int) -> RowCells:
        return RowCells(position, {column.key: self.text for column in self.columns}, "error", True)


def blocks(text: str, *, live: bool = False) -> list[Block]:
    plain = [
        Block(format, title=text, body=text, format=format, margin=(text, "1.2 s"), live=live)
        for format in FORMATS
    ]
    return [*plain, Block("folded", title=text, body=text, summary=text, foldable=True, folded=True)]


def fill(pane: Widget, text: str) -> None:
    """Put hostile text wherever the pane takes text."""
    match pane:
        case RowList():
            row = OneRow(text)
            pane.set_source(row, row.columns)
        case Transcript():
            for position, block in enumerate(blocks(text, live=True)):
                pane.put(position, block)
            for position, block in enumerate(blocks(text)):
                pane.put(position, block)
        case DetailView():
            pane.show(blocks(text))
        case CallList():
            pane.show([CallItem(text, text, text, text, text, text, "error")])
        case OutputView():
            buffer = OutputBuffer()
            buffer.write("stdout", text)
            buffer.write("stderr", text)
            pane.show(buffer, text)
        case SteerQueue():
            pane.show([SteerItem(text, text, text)])
        case StatusLine():
            pane.show([(text, "warning"), (text, "normal")])
        case Composer():
            pane.text = text[:20_000]
        case _:
            raise AssertionError(pane)


def check(pane: Widget) -> None:
    width = pane.outer_size.width
    for strip in pane.render_lines(Region(0, 0, width, pane.outer_size.height)):
        assert raw_characters(strip.text) == []
        assert strip.cell_length == width
        assert cell_len(strip.text) == width


@pytest.mark.parametrize("size", [(40, 12), (100, 40), (1, 1), (2, 3), (3, 20), (9, 4), (60, 1)])
@pytest.mark.parametrize(
    "pane", [RowList, Transcript, DetailView, CallList, OutputView, SteerQueue, StatusLine, Composer]
)
async def test_hostile_text_is_shown_safely(pane: type[Widget], size: tuple[int, int]) -> None:
    widget = pane()
    app = PaneApp(widget)
    async with app.run_test(size=size) as pilot:
        fill(widget, "calm")
        await pilot.pause()
        assert widget.size.height > 0
        for text in HOSTILE.values():
            fill(widget, text)
            await asyncio.sleep(0)
            check(widget)
            if isinstance(widget, ScrollingView):
                widget.action_go_start()
                check(widget)
                widget.action_scroll_page(1)
                check(widget)
        await pilot.pause()
