"""Finding rows: jump, search, filter and sort, by keys, over rows whose sessions change."""

from __future__ import annotations

import pytest

from agentscope_widgets.prompt_line import PromptLine
from agentscope_widgets.row_list import RowList
from screens.stage import Stage, View, reply


@pytest.fixture
def many(stage: Stage) -> Stage:
    """Fifty rows, of which every seventh is about tax."""
    stage.rows = [
        {"question": f"task {n} {'Tax' if n % 7 == 3 else 'sum'}", "level": n % 5, "meta": {"n": -n}}
        for n in range(50)
    ]
    return stage


def rows(view: View) -> RowList:
    return view.pane(RowList)


def cursor(view: View) -> int:
    """The index of the row under the cursor."""
    chosen = view.debugger._rows_pane.chosen
    assert chosen is not None
    return chosen.index


def shown(view: View) -> list[int]:
    """The indices in sight, from the top."""
    return [int(line.split()[0].lstrip("*")) for line in view.text(RowList).split("\n")[1:] if line]


def subtitle(view: View) -> str:
    return str(view.debugger.query_one("#rows-pane").border_subtitle)


async def ready(view: View) -> None:
    await view.until(lambda: "50 rows" in subtitle(view), "all rows")


async def ask(view: View, key: str, text: str) -> PromptLine:
    await view.press(key)
    prompt = view.debugger.query_one("#rows-pane").query_one(PromptLine)
    await view.until(lambda: prompt.has_focus_within, "the prompt line")
    await view.type(text)
    return prompt


@pytest.mark.parametrize("key", ["g", "colon"])
async def test_jump_goes_to_an_index_or_says_which_there_are(many: Stage, key: str):
    async with many.running(size=(120, 24)) as view:
        await ready(view)
        prompt = await ask(view, key, "42")
        await view.press("enter")
        await view.until(lambda: cursor(view) == 42)
        assert view.focus() == "rows"
        prompt = await ask(view, key, "50")
        await view.press("enter")
        await view.until(lambda: prompt.note == "rows are 0 to 49")
        await view.press("escape")
        await view.until(lambda: view.focus() == "rows")
        assert cursor(view) == 42


async def test_a_search_is_counted_as_it_is_typed_and_steps_from_row_to_row(many: Stage):
    async with many.running(size=(120, 24)) as view:
        await ready(view)
        await view.press(*["down"] * 12)
        prompt = await ask(view, "slash", "tax")
        await view.until(lambda: prompt.note == "3/7" and cursor(view) == 17)
        await view.press("down")
        await view.until(lambda: prompt.note == "4/7" and cursor(view) == 24)
        await view.press("up", "up", "up")
        await view.until(lambda: prompt.note == "1/7" and cursor(view) == 3)
        await view.press("enter")
        await view.until(lambda: "/tax  1/7" in view.picture())
        await view.press("n")
        await view.until(lambda: cursor(view) == 10)
        await view.press("N", "N")
        await view.until(lambda: cursor(view) == 45 and "/tax  7/7" in view.picture())
        await view.press("escape")
        await view.until(lambda: "/tax" not in view.picture())
        assert cursor(view) == 45


async def test_a_search_that_is_left_goes_back_and_capitals_make_it_exact(many: Stage):
    async with many.running(size=(120, 24)) as view:
        await ready(view)
        prompt = await ask(view, "slash", "TAX")
        await view.until(lambda: prompt.note == "0 rows")
        assert cursor(view) == 0
        await view.press(*["backspace"] * 3)
        await view.type("Tax")
        await view.until(lambda: prompt.note == "1/7" and cursor(view) == 3)
        await view.press("escape")
        await view.until(lambda: cursor(view) == 0 and view.focus() == "rows")


async def test_a_filter_shows_what_passes_and_the_cursor_stays_with_its_row(many: Stage):
    async with many.running(size=(120, 24)) as view:
        await ready(view)
        rows(view).cursor = 17
        prompt = await ask(view, "f", '"Tax" in question and ')
        await view.until(lambda: "not a whole expression" in prompt.note)
        await view.press("enter")
        assert prompt.display
        await view.type("levle > 1")
        await view.until(lambda: prompt.note == "no column is called levle")
        await view.press(*["backspace"] * len("levle > 1"))
        await view.type("meta.n < -9")
        await view.until(lambda: prompt.note == "")
        await view.press("enter")
        await view.until(lambda: subtitle(view) == "6 of 50 rows")
        assert shown(view) == [10, 17, 24, 31, 38, 45]
        assert cursor(view) == 17
        assert 'filter  "Tax" in question' in view.picture()
        prompt = await ask(view, "g", "5")
        await view.press("enter")
        await view.until(lambda: prompt.note == "the filter hides row 5")
        await view.press("escape")
        await view.until(lambda: view.focus() == "rows")
        await view.press("escape")
        await view.until(lambda: subtitle(view) == "50 rows")
        assert cursor(view) == 17


async def test_a_filter_that_nothing_passes_leaves_no_row_to_open(many: Stage):
    async with many.running(size=(120, 24)) as view:
        await ready(view)
        await ask(view, "f", "level > 100")
        await view.press("enter")
        await view.until(lambda: subtitle(view) == "0 of 50 rows")
        await view.press("enter", "space", "down", "v", "y", "slash", "x", "escape")
        await view.until(lambda: view.focus() == "rows")
        assert view.debugger.index is None
        await view.press("escape")
        await view.until(lambda: subtitle(view) == "50 rows" and len(shown(view)) > 10)


async def test_a_filter_on_the_state_follows_the_sessions(many: Stage):
    many.says(reply("done"))
    async with many.running(many.app({"session.mode": "run"}), size=(120, 24)) as view:
        await ready(view)
        await ask(view, "f", 'state == "done"')
        await view.press("enter")
        await view.until(lambda: subtitle(view) == "0 of 50 rows")
        view.debugger._open_row(30)
        await view.until(lambda: shown(view) == [30])
        view.debugger._open_row(4)
        await view.until(lambda: shown(view) == [4, 30])
        assert subtitle(view) == "2 of 50 rows"


async def test_the_cursor_stays_where_the_user_put_it_when_a_session_changes_which_rows_pass(many: Stage):
    many.says(reply("done"))
    async with many.running(many.app({"session.mode": "run"}), size=(120, 24)) as view:
        await ready(view)
        rows(view).cursor = 17
        await ask(view, "f", 'state != "done"')
        await view.press("enter")
        await view.until(lambda: subtitle(view) == "50 of 50 rows" and cursor(view) == 17)
        rows(view).cursor = 5
        view.debugger._open_row(2)
        await view.until(lambda: subtitle(view) == "49 of 50 rows")
        assert cursor(view) == 5


async def test_sorting_by_key_goes_up_down_and_off(many: Stage):
    async with many.running(size=(120, 24)) as view:
        await ready(view)
        rows(view).cursor = 8
        await view.press("S", "S")
        await view.until(lambda: "▼" in view.text(RowList).split("\n")[0])
        await view.press("home")
        await view.until(lambda: shown(view)[:3] == [49, 48, 47])
        await view.press("S")
        await view.until(lambda: "▼" not in view.text(RowList).split("\n")[0])
        assert cursor(view) == 49


async def test_a_filter_is_sorted_by_a_click_on_a_column_of_the_dataset(many: Stage):
    async with many.running(size=(200, 24)) as view:
        await ready(view)
        await ask(view, "f", "level in (1, 3)")
        await view.press("enter")
        await view.until(lambda: subtitle(view) == "20 of 50 rows")
        await view.press("C")
        await view.until(lambda: view.app.screen.query("#columns"))
        await view.press(*["down"] * 7, "space", "enter")
        await view.until(lambda: "level" in view.text(RowList).split("\n")[0])
        at = view.text(RowList).split("\n")[0].index("level")
        await view.pilot.click(RowList, offset=(at, 0))
        await view.until(lambda: "▲level" in view.text(RowList))
        await view.press("home")
        await view.until(lambda: shown(view)[:11] == [1, 6, 11, 16, 21, 26, 31, 36, 41, 46, 3])
        assert subtitle(view) == "20 of 50 rows"
