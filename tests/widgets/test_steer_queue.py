"""The queue: seen while there is something in it, and only queued messages can be changed."""

from __future__ import annotations

from pane_app import PaneApp, lines

from agentscope_widgets.steer_queue import SteerItem, SteerQueue
from waiting import wait_until

ITEMS = [
    SteerItem("a", "first\nof two lines", "answered by call #2", False),
    SteerItem("b", "second"),
    SteerItem("c", "third"),
]


async def test_it_shows_each_message_with_its_state_and_hides_when_empty() -> None:
    queue = SteerQueue()
    app = PaneApp(queue)
    async with app.run_test(size=(60, 12)):
        assert not queue.display
        queue.show(ITEMS)
        await wait_until(lambda: queue.size.height == 3)
        assert [line.split(maxsplit=2) for line in lines(queue)][:2] == [
            ["✓", "answered", "by call #2 first⏎of two lines"],
            ["○", "queued", "second"],
        ]
        queue.show([SteerItem(str(number), "x") for number in range(30)])
        await wait_until(lambda: queue.size.height == 5)
        queue.show([])
        assert not queue.display


async def test_keys_ask_to_edit_withdraw_and_move_the_chosen_message() -> None:
    queue = SteerQueue()
    app = PaneApp(queue)
    async with app.run_test(size=(60, 12), message_hook=app.record) as pilot:
        queue.show(ITEMS)
        queue.focus()
        await pilot.press("down", "e", "enter", "x", "delete", "K", "shift+down")
        assert [message.key for message in app.posted(SteerQueue.SteerEditRequested)] == ["b", "b"]
        assert [message.key for message in app.posted(SteerQueue.SteerWithdrawRequested)] == ["b", "b"]
        moves = app.posted(SteerQueue.SteerMoveRequested)
        assert [(message.key, message.offset) for message in moves] == [("b", -1), ("b", 1)]


async def test_a_message_that_is_no_longer_queued_cannot_be_changed() -> None:
    queue = SteerQueue()
    app = PaneApp(queue)
    async with app.run_test(size=(60, 12), message_hook=app.record) as pilot:
        queue.show(ITEMS)
        queue.focus()
        await pilot.press("up", "e", "x", "K", "J")
        assert app.messages == []
        queue.show([])
        await pilot.press("e", "x")
        assert app.messages == []


async def test_the_cursor_stays_on_its_message_when_the_queue_changes() -> None:
    queue = SteerQueue()
    app = PaneApp(queue)
    async with app.run_test(size=(60, 12)) as pilot:
        queue.show(ITEMS)
        queue.focus()
        await pilot.press("down", "down")
        queue.show([ITEMS[2], ITEMS[1]])
        assert queue.cursor == 0
