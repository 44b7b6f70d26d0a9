"""Every size of terminal: panes behind tabs in a narrow one, a message in one that is too small."""

from __future__ import annotations

import pytest
from textual.widgets import Static, Tabs

from screens.stage import Stage, bash, reply
from widgets.pane_app import shown

PANES = ("rows", "session", "calls", "output")


async def test_a_narrow_terminal_shows_one_pane_at_a_time(stage: Stage):
    stage.says(reply("hello there", bash("echo seen")), reply("end"))
    async with stage.running(size=(80, 24)) as view:

        def visible() -> list[str]:
            return [name for name in PANES if view.debugger.query_one(f"#{name}-pane").region.area]

        await view.until(lambda: visible() == ["rows"])
        await view.open()
        await view.until(lambda: visible() == ["session"])
        await view.paused()
        assert "hello there" in view.transcript
        await view.press("n")
        await view.paused(2)
        for number, name in enumerate(PANES, start=1):
            await view.press(str(number))
            await view.until(lambda name=name: visible() == [name], name)
            assert view.debugger.query_one(f"#{name}-pane").region.width == 80
            assert view.debugger.query_one(Tabs).active == f"tab-{name}"
        assert "seen" in view.output
        await view.pilot.click("#tab-calls")
        await view.until(lambda: visible() == ["calls"])
        await view.press("s")
        await view.until(lambda: view.focus() == "composer" and visible() == ["session"])
        await view.press("alt+1")
        await view.until(lambda: visible() == ["rows"] and view.focus() == "rows")
        await view.pilot.resize_terminal(120, 30)
        await view.until(lambda: visible() == list(PANES))


@pytest.mark.parametrize("size", [(59, 24), (80, 15), (1, 1)])
async def test_a_terminal_that_is_too_small_says_so_and_what_is_needed(stage: Stage, size: tuple[int, int]):
    async with stage.running(size=size) as view:
        message = view.debugger.query_one("#too-small", Static)
        await view.until(lambda: message.display)
        assert not view.debugger.query_one("#panes").display
        if size != (1, 1):
            assert f"{size[0]}×{size[1]}" in shown(message)
            assert "60×16" in shown(message)
        await view.pilot.resize_terminal(80, 24)
        await view.until(lambda: not message.display)
        await view.opened_and_paused()


@pytest.mark.parametrize(
    "key",
    ["f1", "f3", "f4", "alt+w", "ctrl+o", "alt+u", "alt+d", "ctrl+p", "alt+m", "alt+f", "f12", "f8", "f2"],
)
async def test_whatever_lies_on_top_stands_any_size(stage: Stage, key: str):
    stage.says(reply("hello **there**", bash("echo seen")), reply("end"))
    async with stage.running() as view:
        await view.opened_and_paused()
        await view.press(key)
        for size in ((20, 5), (1, 1), (3, 30), (59, 2), (112, 24)):
            await view.pilot.resize_terminal(*size)
            await view.pilot.pause()
            assert view.app.size == size
        await view.press("escape", "escape")
        await view.until(lambda: view.app.screen is view.debugger)
