"""The layout: panes that fit at every size, move borders, hide, zoom, and are as they were next time."""

from __future__ import annotations

import json
from itertools import combinations

import pytest
from textual.widgets import Tabs

from agentscope_widgets.composer import Composer
from agentscope_widgets.key_bar import KeyBar
from agentscope_widgets.split import Split
from agentscope_widgets.status_line import StatusLine
from screens.stage import Stage, View, bash, reply

PANES = ("rows", "session", "calls", "output")
SIZES = [(60, 18), (80, 24), (100, 30), (109, 40), (110, 18), (120, 40), (160, 50), (200, 60)]


def visible(view: View) -> list[str]:
    return [name for name in PANES if view.debugger.query_one(f"#{name}-pane").region.area]


def width(view: View, name: str) -> int:
    return view.debugger.query_one(f"#{name}").region.width


async def test_nothing_overlaps_or_clips_at_any_size(stage: Stage):
    stage.says(reply("a long answer\n\n" * 20, bash("true")))
    async with stage.running(size=SIZES[0]) as view:
        await view.opened_and_paused()
        view.composer.text = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight"
        for size in SIZES:
            await view.pilot.resize_terminal(*size)
            alone = size[0] < 110
            await view.until(
                lambda alone=alone: len(visible(view)) == (1 if alone else 4), f"panes at {size}"
            )
            screen = view.app.screen.region
            await view.until(lambda size=size: view.app.screen.size == size)
            parts = [view.debugger.query_one(f"#{name}-pane") for name in visible(view)]
            parts += [view.pane(StatusLine), view.pane(KeyBar)]
            if alone:
                parts.append(view.pane(Tabs))
            await view.until(
                lambda parts=parts, size=size: sum(part.region.area for part in parts) == size[0] * size[1],
                f"the whole screen is used at {size}",
            )
            for part in parts:
                assert screen.contains_region(part.region), (size, part)
            for one, other in combinations(parts, 2):
                assert not one.region.overlaps(other.region), (size, one, other)
            assert view.pane(StatusLine).region.height == view.pane(KeyBar).region.height == 1
            inside = view.debugger.query_one("#session-pane").content_region
            assert inside.contains_region(view.composer.region)
            assert view.composer.content_region.height >= 1
            assert view.debugger.query_one("#transcript").region.height >= 3


async def test_borders_move_by_key_and_are_where_they_were_next_time(stage: Stage):
    async with stage.running(size=(120, 30)) as view:
        await view.until(lambda: width(view, "rows-pane") == 36)
        await view.press("ctrl+right")
        await view.until(lambda: width(view, "rows-pane") == 40)
        await view.press("alt+left", "alt+left")
        await view.until(lambda: width(view, "rows-pane") == 32)
        await view.opened_and_paused()
        session = width(view, "session-pane")
        await view.press("ctrl+right")
        await view.until(lambda: width(view, "session-pane") == session + 4)
        output = view.debugger.query_one("#output-pane")
        height = output.region.height
        await view.press("4", "ctrl+up")
        await view.until(lambda: output.region.height == height + 2)
        await view.pilot.mouse_down("#rows-pane", offset=(31, 10))
        await view.pilot.hover(offset=(49, 10))
        await view.pilot.mouse_up(offset=(49, 10))
        await view.until(lambda: width(view, "rows-pane") == 50)
        await view.until(lambda: "rows-pane" in (stage.state / "layout.json").read_text())
        kept = view.debugger.shares
    async with stage.running(size=(120, 30)) as view:
        assert view.debugger.shares == kept
        await view.until(lambda: width(view, "rows-pane") == 50)
        await view.pilot.resize_terminal(240, 30)
        await view.until(lambda: width(view, "rows-pane") == 100)
        await view.press("0")
        await view.until(lambda: width(view, "rows-pane") == 72)


async def test_a_hidden_pane_is_in_sight_only_while_it_has_the_focus(stage: Stage):
    async with stage.running(size=(120, 30)) as view:
        await view.press("H")
        await view.until(lambda: visible(view) == ["session", "calls", "output"])
        await view.until(lambda: view.focus() == "transcript")
        await view.press("1")
        await view.until(lambda: visible(view) == list(PANES) and view.focus() == "rows")
        await view.press("enter")
        await view.paused()
        await view.until(lambda: visible(view) == ["session", "calls", "output"])
        await view.press("3", "H", "4", "H")
        await view.until(lambda: visible(view) == ["session"])
        await view.press("H")
        assert visible(view) == ["session"]
        await view.press("1", "H")
        await view.until(lambda: visible(view) == ["rows", "session"])
    async with stage.running(size=(120, 30)) as view:
        await view.until(lambda: visible(view) == ["rows", "session"])
        await view.press("0")
        await view.until(lambda: visible(view) == list(PANES))


async def test_zoom_gives_a_pane_all_the_room_and_tabs_to_the_others(stage: Stage):
    stage.says(reply("hello", bash("true")))
    async with stage.running(size=(120, 30)) as view:
        assert not view.pane(Tabs).region.area
        await view.opened_and_paused()
        await view.press("z")
        await view.until(lambda: visible(view) == ["session"] and width(view, "session-pane") == 120)
        await view.press("3")
        await view.until(lambda: visible(view) == ["calls"] and view.focus() == "calls")
        await view.pilot.click("#tab-output")
        await view.until(lambda: visible(view) == ["output"] and view.focus() == "output")
        await view.press("s")
        await view.until(lambda: visible(view) == ["session"] and view.focus() == "composer")
        await view.press("alt+z")
        await view.until(lambda: visible(view) == list(PANES))
        assert view.focus() == "composer"


@pytest.mark.parametrize(
    "kept",
    [
        "not json",
        "[1]",
        '{"shares": 5, "hidden": 7}',
        '{"shares": {"rows-pane": "x", "work": -3}, "hidden": ["?"]}',
    ],
)
async def test_a_damaged_memory_of_the_layout_does_no_harm(stage: Stage, kept: str):
    stage.state.mkdir()
    (stage.state / "layout.json").write_text(kept)
    async with stage.running(size=(120, 30)) as view:
        await view.until(lambda: width(view, "rows-pane") == 36 and visible(view) == list(PANES))
        await view.press("ctrl+right")
        await view.until(lambda: width(view, "rows-pane") == 40)
        assert json.loads((stage.state / "layout.json").read_text())["hidden"] == []


async def test_all_panes_cannot_be_hidden_by_a_file(stage: Stage):
    stage.state.mkdir()
    (stage.state / "layout.json").write_text(json.dumps({"hidden": list(PANES)}))
    async with stage.running(size=(120, 30)) as view:
        await view.until(lambda: visible(view) == list(PANES))
        assert len(view.debugger.query(Split)) == 2
        assert isinstance(view.composer, Composer)
