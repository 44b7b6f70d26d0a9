"""Text that an attacker would send, in every place of the screen that shows text from outside."""

from __future__ import annotations

from typing import Any

import pytest
from textual.widgets import TextArea

from agentscope_tui.tui.screens.detail import DetailScreen
from agentscope_tui.tui.screens.edit import EditScreen
from agentscope_widgets.detail_view import DetailView
from hostile import HOSTILE, raw_characters
from screens.stage import PANES, Stage, View, bash, reply
from widgets.pane_app import shown

# YAML and JSON lines cannot carry what no encoding has. Each text has tests in the widgets; here they come in
# groups, cut short, because what is tested is that every place of the screen makes them safe.
TEXTS = [text[:400] for name, text in HOSTILE.items() if name != "surrogate"]
GROUPS = {f"{start}": "\n\n".join(TEXTS[start::4]) for start in range(4)}


def assert_clean(view: View) -> None:
    """No pane, title or border shows a character that a terminal would obey or hide."""
    seen = [view.text(pane) for pane in PANES] + [view.queue, shown(view.composer)]
    for pane in view.debugger.query(".pane"):
        seen += [str(pane.border_title or ""), str(pane.border_subtitle or "")]
    assert raw_characters("".join(seen).replace("\n", "")) == []


def poisoned(text: str) -> list[dict[str, Any]]:
    calls = [
        bash(f"printf '%s' \"$HOSTILE\"; cat <<'EOT'\n{text}\nEOT"),
        (text, {text: text}),
        ("read_file", {"path": text}),
    ]
    return [
        reply(text, *calls, reasoning=text),
        {"error": {"kind": "server", "message": text}},
    ]


@pytest.mark.parametrize("name", GROUPS)
async def test_no_pane_obeys_what_it_shows(stage: Stage, name: str):
    text = GROUPS[name]
    task = {"user_prompt": f"task {text}", "system_prompt": text, "ground_truth": text}
    stage.rows = [{**task, "grader": "exact"}]
    stage.says(*poisoned(text))
    async with stage.running() as view:
        await view.opened_and_paused()
        assert_clean(view)
        await view.press("c")
        await view.until(lambda: "CALL #2 FAILED" in view.status)
        assert len(view.state.calls) == 3
        for position in range(3):
            view.debugger.query_one("#calls").cursor = position  # type: ignore[attr-defined]
            await view.pilot.pause()
            assert_clean(view)
        await view.press("m")
        await view.until(lambda: isinstance(view.app.screen, DetailScreen))
        await view.until(lambda: shown(view.app.screen.query_one(DetailView)).strip())
        assert raw_characters(shown(view.app.screen.query_one(DetailView)).replace("\n", "")) == []
        await view.press("j", "escape", "x")
        await view.until(lambda: "FAILED" in view.status and "CALL" not in view.status)
        assert_clean(view)


async def test_the_name_of_the_dataset_is_shown_as_text(stage: Stage):
    async with stage.running(stage.app(name="[b]x[@]\x1b[2J\u202e.jsonl")) as view:
        title = view.debugger.query_one("#rows-pane").border_title
        assert title is not None
        await view.pilot.pause()
        assert "[b]x[@]␛[2J⟨U+" in view.picture()
        assert raw_characters(view.picture().replace("\n", "")) == []


async def test_the_editor_and_its_errors_show_text(stage: Stage):
    stage.says(reply("[/x] \x1b[2J\u202e \x9b1m"), reply("end"))
    async with stage.running() as view:
        await view.opened_and_paused()
        await view.press("e")
        await view.until(lambda: isinstance(view.app.screen, EditScreen) and view.app.screen.query(TextArea))
        await view.until(lambda: "[/x]" in view.picture())
        assert raw_characters(view.picture().replace("\n", "")) == []
        await view.press("ctrl+s")
        await view.until(lambda: "DONE" in view.status)
        assert view.state.reply(1) == {"role": "assistant", "content": "[/x] \x1b[2J\u202e \x9b1m"}
