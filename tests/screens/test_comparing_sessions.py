"""The compare screen: opens at the first divergence, goes from difference to difference, and swaps sides."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Static

from agentscope_tui.store.folders import SessionFolder
from agentscope_tui.store.past import PastSession
from agentscope_tui.tui import outside_app
from agentscope_tui.tui.screens.compare import CompareScreen, RequestsScreen
from agentscope_tui.tui.screens.confirm import ConfirmScreen
from agentscope_tui.tui.screens.sessions import SessionsScreen
from agentscope_widgets.diff_view import DiffView
from fakes.small_sessions import Did, past_session, recording_of
from screens.stage import Stage, View, bash, reply
from widgets.pane_app import shown

LOOK = Did("I look", "bash", '{"command": "ls"}', "notes.txt")
SUM = Did("I add up", "bash", '{"command": "python sum.py"}', "4", exit_code=0)
WRONG = replace(SUM, result="Traceback\nlast line", status="failed", exit_code=1)
DONE = Did("The sum is 4.")
LEFT = past_session(LOOK, SUM, DONE, session_id="one", reward=1.0)
RIGHT = past_session(LOOK, LOOK, WRONG, replace(DONE, text="The sum is 5."), session_id="two", reward=0.0)


@asynccontextmanager
async def comparing(
    stage: Stage, left: PastSession, right: PastSession, *, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[View]:
    async with stage.running(size=size) as view:
        view.app.push_screen(CompareScreen(left, right))
        await view.until(lambda: isinstance(view.app.screen, CompareScreen), "the screen")
        await there(view)
        yield view


def screen(view: View) -> CompareScreen:
    assert isinstance(view.app.screen, CompareScreen)
    return view.app.screen


def diff(view: View) -> DiffView:
    return view.app.screen.query_one(DiffView)


async def there(view: View) -> None:
    """Wait until the blocks of the comparison on screen are there."""
    views = view.app.screen.query
    await view.until(lambda: any(one.cursor is not None for one in views(DiffView)), "the blocks")


def facts(view: View) -> str:
    return shown(view.app.screen.query_one("#facts", Static))


def chosen(view: View) -> str:
    """The title of the block under the cursor."""
    cursor = diff(view).cursor
    assert cursor is not None
    return diff(view).blocks[cursor].title


async def test_it_opens_at_the_first_divergence_with_both_sides_aligned(stage: Stage):
    async with comparing(stage, LEFT, RIGHT) as view:
        assert chosen(view) == "+ call #2 (right only)"
        body = shown(diff(view))
        assert "▸ = call #1  bash done" in body
        beside = next(line for line in body.split("\n") if "── done · exit 0" in line)
        assert beside.index("- ── done · exit 0") < beside.index("│") < beside.index("+ ── failed · exit 1")
        said = "first difference: call #2 (right only) · 3 of 4 calls differ"
        await view.until(lambda: said in facts(view), "what differs")
        told = facts(view).split("\n")
        assert told[1].startswith("- one")
        assert told[2].startswith("+ two")
        assert told[3].split()[0] == "-1"


async def test_the_keys_go_from_difference_to_difference(stage: Stage):
    async with comparing(stage, LEFT, RIGHT) as view:
        seen = []
        for key in ("]", "n", "N", "[", "("):
            await view.press(key)
            seen.append(chosen(view))
        assert seen == [
            "≠ call #2 | #3",
            "≠ call #3 | #4",
            "≠ call #2 | #3",
            "+ call #2 (right only)",
            "= call #1",
        ]
        await view.press("enter")
        await view.until(lambda: "▾ = call #1" in shown(diff(view)), "the call unfolded")
        await view.press("space")
        await view.until(lambda: "▸ = call #1" in shown(diff(view)), "the call folded")


async def test_only_what_differs_is_shown_and_all_again(stage: Stage):
    async with comparing(stage, LEFT, RIGHT) as view:
        await view.press("]")
        await view.press("d")
        await view.until(lambda: "only differences" in view.picture(), "only what differs")
        assert chosen(view) == "≠ call #2 | #3"
        body = shown(diff(view))
        assert "call #1" not in body
        assert "assistant · the same" in body
        await view.press("d")
        await view.until(lambda: "= call #1" in shown(diff(view)), "all again")
        assert chosen(view) == "≠ call #2 | #3"


async def test_swapped_sides_stay_at_the_same_calls(stage: Stage):
    async with comparing(stage, LEFT, RIGHT) as view:
        await view.press("n")
        await view.press("s")
        await view.until(lambda: facts(view).split("\n")[1].startswith("- two"), "the sides swapped")
        await view.until(lambda: chosen(view) == "≠ call #3 | #2", "the same calls")
        assert facts(view).split("\n")[3].split()[0] == "+1"


async def test_a_narrow_terminal_shows_one_below_the_other(stage: Stage):
    async with comparing(stage, LEFT, RIGHT, size=(80, 40)) as view:
        await view.press("n")
        lines = [line.strip("▌ ") for line in shown(diff(view)).split("\n")]
        place = lines.index("- ── done · exit 0")
        assert lines[place + 1] == "+ ── failed · exit 1"
        assert "│" not in "".join(lines)


async def test_either_side_opens_as_a_whole(stage: Stage, monkeypatch: pytest.MonkeyPatch):
    async with comparing(stage, LEFT, RIGHT) as view:
        texts: list[str] = []

        async def keep(app: object, text: str, environ: object) -> None:
            texts.append(text)

        monkeypatch.setattr(outside_app, "open_outside", keep)
        await view.press("n")
        for key in ("l", "r", "d"):
            await view.press("o")
            await view.answer(key)
            await view.until(lambda: not isinstance(view.app.screen, ConfirmScreen), "the answer")
        await view.until(lambda: len(texts) == 3, "the texts")
        left, right, difference = texts
        assert left == "assistant\nI add up\n\n→ bash\ncommand: python sum.py\n── done · exit 0\n4\n"
        assert right.endswith("── failed · exit 1\nTraceback\nlast line\n")
        assert "- ── done · exit 0\n+ ── failed · exit 1\n- 4\n+ Traceback" in difference


async def test_the_difference_is_copied(stage: Stage):
    async with comparing(stage, LEFT, RIGHT) as view:
        await view.press("n", "n", "y")
        copied = stage.state / "copied.txt"
        await view.until(copied.exists, "the copy")
        await view.until(copied.read_text, "its text")
        assert "- The sum is 4.\n+ The sum is 5." in copied.read_text()


async def test_what_both_calls_were_sent_is_compared(stage: Stage):
    async with comparing(stage, LEFT, RIGHT) as view:
        await view.press("n", "n")
        await view.press("m")
        await view.until(lambda: isinstance(view.app.screen, RequestsScreen), "the requests")
        await there(view)
        assert "Messages sent · call #3 | #4" in view.picture()
        assert "+ Traceback" in shown(diff(view))
        await view.press("escape")
        assert chosen(view) == "≠ call #3 | #4"


async def test_the_same_session_twice_says_so(stage: Stage):
    async with comparing(stage, LEFT, LEFT) as view:
        await view.until(lambda: "no difference" in facts(view), "what differs")
        await view.press("d")
        await view.until(lambda: "no difference" in shown(diff(view)), "nothing")
        assert diff(view).blocks == []


async def test_hostile_text_is_shown_as_text(stage: Stage):
    hostile = "[/b]\x1b]0;x\x07\u202e[bold]"
    other = past_session(replace(DONE, text=hostile), session_id=hostile, change=hostile, parent="one")
    async with comparing(stage, past_session(DONE, session_id="one"), other) as view:
        assert "\x1b" not in view.picture()
        assert "[/b]␛]0;x" in shown(diff(view))
        await view.until(lambda: facts(view).count("[/b]␛]0;x") == 2, "the id and the change")


async def test_a_session_that_goes_on_is_read_again(stage: Stage, tmp_path: Path):
    def record(past: PastSession) -> PastSession:
        (tmp_path / "events.jsonl").write_text(recording_of(past))
        return replace(past, folder=SessionFolder(tmp_path))

    early = record(past_session(LOOK, session_id="two"))
    async with comparing(stage, LEFT, early) as view:
        record(RIGHT)
        assert "The sum is 5." not in shown(diff(view))
        await view.press("ctrl+l")
        await view.until(lambda: "The sum is 5." in shown(diff(view)), "what came since")


async def test_a_fork_is_compared_with_its_parent(stage: Stage):
    stage.says(reply("I look", bash("echo hello")), reply("done"))
    async with stage.running(size=(120, 40)) as view:
        await view.opened_and_paused()
        parent = view.row.session_id
        started = view.state.started
        assert started is not None
        await view.press("D")
        await view.until(lambda: isinstance(view.app.screen, SessionsScreen), "the list to choose from")
        await view.press("escape")
        await view.until(lambda: view.app.screen is view.debugger, "the debugger")
        view.state.started = started.model_copy(update={"parent": parent})
        await view.press("D")
        await view.until(lambda: isinstance(view.app.screen, CompareScreen), "the comparison")
        await there(view)
        await view.until(lambda: parent in facts(view), "the parent")
