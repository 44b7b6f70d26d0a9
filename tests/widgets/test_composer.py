"""The composer: Enter sends, lines break, the box grows, older messages come back."""

from __future__ import annotations

import pytest
from pane_app import PaneApp
from textual.events import Paste

from agentscope_widgets.composer import Composer
from waiting import wait_until


async def test_enter_sends_and_an_empty_one_says_so() -> None:
    composer = Composer()
    app = PaneApp(composer)
    async with app.run_test(message_hook=app.record) as pilot:
        await pilot.press("enter", "space", "enter", "h", "i", "enter")
        assert len(app.posted(Composer.EmptySubmitted)) == 2
        assert [message.text for message in app.posted(Composer.Submitted)] == [" hi"]
        assert composer.text == ""


@pytest.mark.parametrize("key", ["ctrl+j", "shift+enter"])
async def test_lines_break_and_the_box_grows_to_eight_lines(key: str) -> None:
    composer = Composer()
    app = PaneApp(composer)
    async with app.run_test(message_hook=app.record) as pilot:
        height = composer.size.height
        assert height == 1
        await pilot.press("a", key, "b")
        assert composer.text == "a\nb"
        await wait_until(lambda: composer.size.height == 2)
        composer.text = "\n".join("line" for _ in range(40))
        await wait_until(lambda: composer.size.height >= 8)
        assert composer.size.height <= 9
        assert app.posted(Composer.Submitted) == []


async def test_up_and_down_walk_through_what_was_sent_and_keep_the_draft() -> None:
    composer = Composer()
    composer.past_messages = ["first", "second\nof two lines"]
    app = PaneApp(composer)
    async with app.run_test() as pilot:
        await pilot.press("d", "up")
        assert composer.text == "second\nof two lines"
        await pilot.press("up", "up")
        assert composer.text == "first"
        await pilot.press("up")
        assert composer.text == "first"
        await pilot.press("down", "down")
        assert composer.text == "d"
        await pilot.press("down")
        assert composer.text == "d"


async def test_alt_with_a_letter_types_nothing_and_reaches_its_binding() -> None:
    class Bound(PaneApp):
        BINDINGS = [("alt+x", "note", "note")]
        noted = 0

        def action_note(self) -> None:
            self.noted += 1

    composer = Composer()
    app = Bound(composer)
    async with app.run_test() as pilot:
        await pilot.press("alt+x", "alt+y", "z")
        assert composer.text == "z"
        assert app.noted == 1


async def test_letters_are_typed_and_not_taken_by_bindings_of_others() -> None:
    class Bound(PaneApp):
        BINDINGS = [("n", "exit", "next")]

    composer = Composer()
    app = Bound(composer)
    async with app.run_test() as pilot:
        await pilot.press("n")
        assert composer.text == "n"


async def test_escape_leaves_and_keeps_the_text() -> None:
    composer = Composer()
    app = PaneApp(composer)
    async with app.run_test(message_hook=app.record) as pilot:
        await pilot.press("x", "escape")
        assert len(app.posted(Composer.Left)) == 1
        assert composer.text == "x"


async def test_pasted_controls_are_seen_and_sent_as_symbols() -> None:
    composer = Composer()
    app = PaneApp(composer)
    async with app.run_test(message_hook=app.record) as pilot:
        app.post_message(Paste("a\x1b[31m\u202eb\r\nc"))
        await wait_until(lambda: composer.text)
        assert composer.text == "a␛[31m⟨U+202E⟩b\nc"
        composer.text = "x\x07"
        assert composer.text == "x␇"
        await pilot.press("enter")
        assert [message.text for message in app.posted(Composer.Submitted)] == ["x␇"]
