"""The command palette: acts, sessions and rows, whatever is written in them."""

from __future__ import annotations

from textual.command import CommandList, CommandPalette

from agentscope_tui.tui.screens.help import HelpScreen
from screens.stage import Stage, View, bash, reply

HOSTILE = "[/nope] [@click=app.quit]x[/] \x1b]52;c;aGk=\a\x1b[2J\x9b31m \u202e"


def offered(view: View) -> list[str]:
    if not isinstance(view.app.screen, CommandPalette):
        return []
    options = view.app.screen.query_one(CommandList)
    return [str(options.get_option_at_index(place).prompt) for place in range(options.option_count)]


async def test_it_finds_acts_sessions_and_rows_and_does_what_is_chosen(stage: Stage):
    stage.rows = [{"user_prompt": f"task {number}"} for number in range(40)]
    stage.says(reply("one", bash("true")), reply("two"))
    async with stage.running() as view:
        await view.opened_and_paused(0)
        await view.press("ctrl+p")
        await view.until(lambda: any(line.endswith("· n, f10") for line in offered(view)))
        assert any(line.startswith("session of row 0 · PAUSED after call #1") for line in offered(view))
        assert "row 3 · task 3" in offered(view)
        assert not any("Send the failed call again" in line for line in offered(view))
        await view.type("stop after the next")
        await view.until(lambda: offered(view)[:1] == [line for line in offered(view) if "n, f10" in line])
        await view.press("enter", "enter")
        await view.until(lambda: view.state.call == 2)
        await view.press("ctrl+p")
        await view.type("row 37")
        await view.until(lambda: "row 37" in offered(view))
        await view.press("enter", "enter")
        await view.until(lambda: view.debugger.index == 37)


async def test_a_row_that_is_not_there_is_said(stage: Stage):
    async with stage.running() as view:
        await view.opened_and_paused()
        await view.press("ctrl+p")
        await view.type("row 999")
        await view.until(lambda: "row 999" in offered(view))
        await view.press("enter", "enter")
        said = "row 999 is out of range: valid rows are 0 to 0"
        await view.until(lambda: [note.message for note in view.app._notifications] == [said])
        assert view.debugger.index == 0
        assert "PAUSED" in view.status


async def test_it_shows_hostile_rows_as_text(stage: Stage):
    stage.rows = [{"user_prompt": HOSTILE}]
    async with stage.running() as view:
        await view.press("ctrl+p")
        await view.until(lambda: any(line.startswith("row 0") for line in offered(view)))
        line = next(line for line in offered(view) if line.startswith("row 0"))
        assert "[/nope] [@click=app.quit]x[/]" in line
        assert not set(line) & {"\x1b", "\a", "\x9b", "\u202e"}
        await view.type("nope")
        await view.until(lambda: any("[/nope]" in line for line in offered(view)))
        assert "\x1b" not in view.picture()


async def test_escape_closes_it_and_nothing_else(stage: Stage):
    async with stage.running() as view:
        await view.opened_and_paused()
        await view.press("ctrl+p")
        await view.until(lambda: offered(view))
        await view.type("this help")
        await view.press("escape")
        await view.until(lambda: view.app.screen is view.debugger)
        assert "PAUSED" in view.status
        await view.press("ctrl+p")
        await view.type("This help")
        await view.until(lambda: offered(view) and "This help" in offered(view)[0])
        await view.press("enter", "enter")
        await view.until(lambda: isinstance(view.app.screen, HelpScreen))


async def test_an_act_is_found_by_the_bars_word_for_it(stage: Stage):
    async with stage.running() as view:
        await view.press("ctrl+p")
        await view.type("zoom")
        wanted = "zoom: This pane alone, or all of them again · z, alt+z"
        await view.until(lambda: offered(view)[:1] == [wanted])
