"""The prompt line: it asks one question at a time, tells its owner, and gives the keys back."""

from __future__ import annotations

import pytest
from pane_app import PaneApp, shown
from textual.events import Paste
from textual.geometry import Region
from textual.widgets import Input

from agentscope_widgets.detail_view import DetailView
from agentscope_widgets.prompt_line import PromptLine
from hostile import HOSTILE, raw_characters
from waiting import wait_until

SIZE = (60, 12)


class Asking(DetailView):
    """A view that asks, and keeps what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[tuple[str, str, str]] = []

    def on_prompt_line_changed(self, event: PromptLine.Changed) -> None:
        self.told.append(("changed", event.question, event.value))

    def on_prompt_line_submitted(self, event: PromptLine.Submitted) -> None:
        self.told.append(("submitted", event.question, event.value))
        event.prompt.close()

    def on_prompt_line_cancelled(self, event: PromptLine.Cancelled) -> None:
        self.told.append(("cancelled", event.question, event.value))

    def on_prompt_line_next_requested(self, event: PromptLine.NextRequested) -> None:
        self.told.append(("next", event.question, event.value))

    def on_prompt_line_previous_requested(self, event: PromptLine.PreviousRequested) -> None:
        self.told.append(("previous", event.question, event.value))


def line_of(prompt: PromptLine) -> str:
    width, height = prompt.screen.size
    strips = prompt.app.screen._compositor.render_strips()
    assert len(strips) == height
    text = strips[prompt.region.y].text
    assert len(text) >= width
    return text.strip()


async def test_it_asks_tells_and_gives_the_keys_back() -> None:
    view, prompt = Asking(), PromptLine()
    app = PaneApp(view, prompt)
    async with app.run_test(size=SIZE) as pilot:
        assert PromptLine.beside(view) is prompt
        assert not prompt.display
        prompt.open(view, "call", "Go to call #", "1", note="of 42")
        await pilot.press("2", "down", "up")
        await wait_until(lambda: "of 42" in line_of(prompt))
        assert line_of(prompt).split() == ["Go", "to", "call", "#", "12", "of", "42"]
        prompt.note = "3/17"
        await wait_until(lambda: line_of(prompt).endswith("3/17"))
        await pilot.press("enter")
        await wait_until(lambda: view.has_focus)
        assert view.told == [
            ("changed", "call", "12"),
            ("next", "call", "12"),
            ("previous", "call", "12"),
            ("submitted", "call", "12"),
        ]
        assert not prompt.display


async def test_escape_closes_and_says_so() -> None:
    view, prompt = Asking(), PromptLine()
    app = PaneApp(view, prompt)
    async with app.run_test(size=SIZE) as pilot:
        prompt.open(view, "search", "/")
        await pilot.press("]", "escape")
        await wait_until(lambda: view.has_focus)
        assert view.told == [("changed", "search", "]"), ("cancelled", "search", "]")]
        assert view.cursor is None
        assert (prompt.display, prompt.question) == (False, "")


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
async def test_hostile_text_is_pasted_titled_and_noted_safely(text: str) -> None:
    view, prompt = Asking(), PromptLine()
    app = PaneApp(view, prompt)
    async with app.run_test(size=SIZE):
        prompt.open(view, "search", text, text, note=text)
        prompt.query_one(Input).post_message(Paste(text))
        prompt.query_one(Input).post_message(Paste("end"))
        await wait_until(lambda: prompt.value.endswith(("end", "…")))
        assert raw_characters(prompt.value) == []
        for widget in prompt.children:
            for strip in widget.render_lines(Region(0, 0, *widget.outer_size)):
                assert raw_characters(strip.text) == []
        assert "\x1b" not in shown(view)
