"""The calls: one line each, the newest chosen until the user chooses another."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pane_app import PaneApp, lines, shown

from agentscope_widgets.call_list import CallItem, CallList
from waiting import wait_until


def call(number: int, state: str = "done", arguments: str = "src/parser.py and more of it") -> CallItem:
    return CallItem(f"c{number}", f"tool_{number}", "✓", state, arguments, "0.1 s", "success")


async def test_a_call_shows_state_name_arguments_and_duration() -> None:
    calls = CallList(placeholder="No calls yet")
    app = PaneApp(calls)
    async with app.run_test(size=(50, 10)):
        await wait_until(lambda: "No calls yet" in shown(calls))
        calls.show([call(1), call(2, "interrupted")])
        await wait_until(lambda: "tool_2" in shown(calls))
        assert lines(calls)[0].startswith(" ✓ done        tool_1 src/parser.py")
        assert lines(calls)[0].endswith("… 0.1 s")
        assert lines(calls)[1].startswith(" ✓ interrupted tool_2")


async def test_the_newest_is_chosen_until_the_user_moves_up() -> None:
    calls = CallList()
    app = PaneApp(calls)
    async with app.run_test(size=(50, 6), message_hook=app.record) as pilot:
        calls.show([call(number) for number in range(20)])
        calls.put(20, call(20))
        await wait_until(lambda: calls.cursor == 20)
        await pilot.press("up")
        calls.put(21, call(21))
        calls.put(3, call(3, "failed"))
        await pilot.pause()
        assert calls.cursor == 19
        await pilot.press("end")
        calls.put(22, call(22))
        assert "tool_22" in shown(calls)
        await wait_until(lambda: len(app.messages) == 5)
        keys = [message.key for message in app.posted(CallList.CallHighlighted)]
        assert keys == ["c19", "c20", "c19", "c21", "c22"]


async def test_the_call_to_look_at_is_the_one_that_works_else_the_newest_that_has_begun() -> None:
    calls = CallList()
    app = PaneApp(calls)
    async with app.run_test(size=(50, 6)):
        calls.show([call(1), replace(call(2), waits=True), replace(call(3), waits=True)])
        assert calls.cursor == 0
        calls.put(1, replace(call(2), active=True))
        assert calls.cursor == 1
        calls.put(1, call(2))
        calls.put(3, replace(call(4), waits=True))
        assert calls.cursor == 1


async def test_a_click_chooses() -> None:
    calls = CallList()
    app = PaneApp(calls)
    async with app.run_test(size=(50, 10), message_hook=app.record) as pilot:
        calls.show([call(1), call(2), call(3)])
        await pilot.click(calls, offset=(4, 0))
        assert calls.cursor == 0
        assert not calls.following
        with pytest.raises(IndexError, match="call 9 of 3"):
            calls.put(9, call(9))


async def test_another_list_is_told_even_if_its_key_is_the_same() -> None:
    calls = CallList()
    app = PaneApp(calls)
    async with app.run_test(size=(50, 10), message_hook=app.record) as pilot:
        calls.show([call(1)])
        calls.show([])
        calls.show([call(1)])
        await pilot.pause()
        assert [message.key for message in app.posted(CallList.CallHighlighted)] == ["c1", "c1"]
