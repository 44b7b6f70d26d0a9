"""Text that leaves the screen: copied or opened from each pane, found by a search, typed ahead of a line."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from textual.events import Key

from agentscope_tui.tui.screens.messages import MessagesScreen
from agentscope_widgets.call_list import CallList
from agentscope_widgets.detail_view import DetailView
from agentscope_widgets.output_view import OutputView
from agentscope_widgets.prompt_line import PromptLine
from agentscope_widgets.transcript import Transcript
from screens.stage import Stage, View, bash, reply
from widgets.pane_app import lines, shown

LONG = "seq 1 2000; printf '\\033[31mred\\033[0m \\033]0;owned\\007\\n'"


async def copied(view: View, *keys: str) -> str:
    """What is in the clipboard and in the file beside it after these keys."""
    view.app.copy_to_clipboard("")
    file = view.app._config.state / "copied.txt"
    file.unlink(missing_ok=True)
    await view.press(*keys)
    await view.until(lambda: view.app.clipboard and file.is_file(), "something is copied")
    assert file.read_text(encoding="utf-8") == view.app.clipboard
    return view.app.clipboard


async def test_each_pane_copies_what_is_chosen(stage: Stage):
    stage.says(reply("I **look**.", bash(LONG)), reply("done"))
    async with stage.running(size=(130, 36)) as view:
        await view.opened_and_paused()
        await view.press("n")
        await view.paused(2)
        await view.until(lambda: "red" in view.output)
        transcript = view.pane(Transcript)
        kinds = [block.kind for block in transcript.blocks]
        transcript.cursor = kinds.index("assistant")
        assert await copied(view, "y") == "I **look**."
        transcript.cursor = kinds.index("tool")
        assert json.loads(await copied(view, "y")) == {"command": LONG}
        numbers = "".join(f"{number}\n" for number in range(1, 2001))
        printed = f"{numbers}red ␛]0;owned␇"
        result = await copied(view, "Y")
        assert "\x1b" not in result
        assert "more characters" not in result
        await view.press("3")
        await view.until(lambda: view.app.focused is view.pane(CallList))
        assert await copied(view, "Y") == result
        assert json.loads(await copied(view, "y")) == {"command": LONG}
        await view.press("4")
        await view.until(lambda: view.app.focused is view.pane(OutputView))
        assert await copied(view, "y") == printed


async def test_ctrl_c_copies_what_is_selected_and_else_interrupts(stage: Stage):
    stage.says(reply("one", bash("sleep 600")))
    async with stage.running() as view:
        await view.opened_and_paused()
        await view.press("n")
        await view.until(lambda: "RUNNING bash" in view.status)
        transcript = view.pane(Transcript)
        row = next(y for y, line in enumerate(lines(transcript)) if "do the task" in line)
        await view.pilot.mouse_down(transcript, offset=(2, row))
        await view.pilot.hover(transcript, offset=(4, row))
        await view.pilot.mouse_up(transcript, offset=(4, row))
        assert await copied(view, "ctrl+c") == "do "
        assert "RUNNING bash" in view.status
        await view.press("ctrl+c")
        await view.until(lambda: "INTERRUPTED" in view.status)


async def test_escape_ends_selection_and_search_before_it_interrupts(stage: Stage):
    stage.says(reply("one", bash("sleep 600")))
    async with stage.running() as view:
        await view.opened_and_paused()
        await view.press("n")
        await view.until(lambda: "RUNNING bash" in view.status)
        transcript = view.pane(Transcript)
        await view.press("slash", "o", "n", "e", "enter", "V")
        assert transcript.selecting
        await view.press("escape")
        assert not transcript.selecting
        assert transcript.searching
        await view.press("escape")
        assert not transcript.searching
        assert "RUNNING bash" in view.status
        await view.press("escape")
        await view.until(lambda: "INTERRUPTED" in view.status)


async def test_output_and_pages_are_searched_with_keys_of_their_own(stage: Stage):
    stage.says(reply("one", bash("seq 1 2000")), reply("two"))
    async with stage.running(size=(130, 36)) as view:
        await view.opened_and_paused()
        await view.press("n")
        await view.paused(2)
        await view.press("4", "slash")
        await view.type("1234")
        await view.until(lambda: "  1234" in lines(view.pane(OutputView)))
        await view.press("enter", "m")
        await view.until(lambda: isinstance(view.app.screen, MessagesScreen))
        detail = view.app.screen.query_one(DetailView)
        await view.press("slash")
        await view.type("tool")
        prompt = view.app.screen.query_one(PromptLine)
        await view.until(lambda: prompt.note.startswith("1/"))
        await view.press("enter", "n")
        await view.until(lambda: "/tool  2/" in shown(detail))
        await view.press("N")
        await view.until(lambda: "/tool  1/" in shown(detail))
        assert await copied(view, "y")


async def test_keys_in_one_burst_are_typed_into_the_line_that_the_first_opens(stage: Stage):
    stage.says(*(reply(f"reply {number}", bash("true")) for number in range(1, 4)), reply("end"))
    async with stage.running() as view:
        await view.opened_and_paused()
        await view.press("c")
        await view.until(lambda: view.state.call == 4 and view.state.outcome == "completed")
        transcript = view.pane(Transcript)
        for key, character in (("g", "g"), ("2", "2"), ("enter", "\r")):
            view.app.post_message(Key(key, character))
        await view.until(
            lambda: transcript.cursor is not None and transcript.blocks[transcript.cursor].call == 2
        )
        assert not view.debugger.query_one("#session-prompt", PromptLine).display
        for key in ("slash", "e", "n", "d"):
            view.app.post_message(Key(key, "/" if key == "slash" else key))
        await view.until(lambda: transcript.hits().startswith("1/"))
        assert view.debugger.query_one("#session-prompt", PromptLine).value == "end"


async def test_a_pager_that_cannot_be_had_is_said(stage: Stage):
    async with stage.running() as view:
        await view.opened_and_paused()
        view.app._config = replace(view.app._config, environ={"PAGER": "no-such-pager -x"})
        await view.press("o")
        await view.until(lambda: view.app._notifications)
        said = [note.message for note in view.app._notifications]
        assert said == ["there is no program 'no-such-pager -x': set PAGER or EDITOR to one that is there"]


async def test_a_pager_that_cannot_be_started_is_said(stage: Stage, tmp_path: Path):
    no_program = tmp_path / "pager"
    no_program.write_bytes(b"\x00")
    no_program.chmod(0o700)
    async with stage.running() as view:
        await view.opened_and_paused()
        for pager, problem in (
            ("less 'x", 'PAGER or EDITOR is no command: "less \'x": no closing quotation'),
            (str(no_program), f"the text cannot be opened with '{no_program}': Exec format error"),
        ):
            view.app._config = replace(view.app._config, environ={"PAGER": pager})
            view.app.suspend = nullcontext
            await view.press("o")
            await view.until(
                lambda problem=problem: problem in [note.message for note in view.app._notifications], problem
            )
