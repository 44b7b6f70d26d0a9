"""The look: every theme that agentscope offers is legible, and an unfocused terminal is called."""

from __future__ import annotations

import pytest
from rich.color import ColorType
from rich.style import Style
from textual.color import Color
from textual.events import AppBlur, AppFocus

from agentscope_tui.tui.themes import THEMES
from screens.stage import Stage, View, bash, reply

TRUE_COLOUR = [theme.name for theme in THEMES if not theme.ansi]
WCAG_TEXT, WCAG_LARGE = 4.5, 3.0
EDGES = set("│─╭╮╰╯▎▌━╸╺▁▂▃▄▅▆▇█▔ ")
"""Cells of lines and bars: they are no text."""


def luminance(color: Color) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = (color.r / 255, color.g / 255, color.b / 255)
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: Color, other: Color) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def drawn(view: View) -> list[tuple[str, Style]]:
    """Every piece of the screen as it goes to the terminal."""
    strips = view.app.screen._compositor.render_strips()
    return [(text, style) for strip in strips for text, style, _ in strip if style is not None]


def faint(view: View, least: float) -> list[str]:
    """Texts on the screen with less contrast than `least` with their ground."""
    found = []
    for text, style in drawn(view):
        if set(text) <= EDGES or style.color is None or style.bgcolor is None:
            continue
        ratio = contrast(Color.from_rich_color(style.color), Color.from_rich_color(style.bgcolor))
        if ratio < least:
            found.append(f"{text.strip()!r} {style.color.name} on {style.bgcolor.name}: {ratio:.1f}")
    return sorted(set(found))


async def all_there_is(view: View) -> None:
    """Bring as many kinds of text on the screen as one screen can have."""
    await view.opened_and_paused()
    await view.press("n")
    await view.until(lambda: "RUNNING bash" in view.status and "loud" in view.output)
    await view.say("a steer")
    await view.until(lambda: "queued" in view.queue)


@pytest.mark.parametrize("theme", TRUE_COLOUR)
async def test_every_text_has_the_contrast_that_wcag_asks_for(stage: Stage, theme: str):
    stage.rows = [{"user_prompt": "the task"}, {"user_prompt": 7}]
    code = (
        "```python\ndef f(x):  # note\n    return 'a' + str(1)\n```\n\n> quote\n\n[link](https://example.org)"
    )
    stage.says(reply(code, bash("echo loud >&2; sleep 600"), reasoning="so it is"))
    async with stage.running(stage.app({"ui.theme": theme}), size=(130, 40)) as view:
        await all_there_is(view)
        assert faint(view, WCAG_TEXT) == []
        await view.press("escape", "1")
        await view.until(lambda: view.focus() == "rows")
        assert faint(view, WCAG_TEXT) == []
        await view.press("ctrl+q")
        await view.until(lambda: getattr(view.app.screen, "listening", False))
        assert [
            text for text in faint(view, WCAG_LARGE) if "esc  cancel" in text or "End and quit" in text
        ] == []


async def test_the_ansi_theme_uses_the_terminals_own_colours_only(stage: Stage):
    stage.says(reply("# head\n\n`code`\n\n```python\nx = 1\n```", bash("echo loud >&2; sleep 600")))
    async with stage.running(stage.app({"ui.theme": "agentscope-ansi"}), size=(120, 30)) as view:
        await all_there_is(view)
        colours = {
            colour
            for _, style in drawn(view)
            for colour in (style.color, style.bgcolor)
            if colour is not None
        }
        assert colours
        assert {colour.name for colour in colours if colour.type == ColorType.TRUECOLOR} == set()


async def test_a_terminal_without_the_focus_is_called_when_a_session_pauses(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
):
    stage.says(reply("one", bash("true")), reply("two", bash("true")), reply("three"))
    monkeypatch.setattr("agentscope_tui.tui.attention.notification", lambda text, environ: f"<{text}>")
    async with stage.running() as view:
        written: list[str] = []
        driver = view.app._driver
        assert driver is not None
        monkeypatch.setattr(driver, "write", written.append)

        def called() -> list[str]:
            return [text for text in written if "\a" in text]

        await view.opened_and_paused()
        # What is on screen may still be on its way to the app.
        await view.pilot.pause()
        assert called() == []
        view.app.post_message(AppBlur())
        await view.until(lambda: not view.app.app_focus)
        view.row.session.step()
        await view.until(called)
        assert called() == ["<row 0: paused after call #2>\a"]
        view.row.session.run_on()
        await view.until(lambda: len(called()) == 2)
        assert called()[1] == "<row 0: completed>\a"
        view.app.post_message(AppFocus())
        await view.until(lambda: view.app.app_focus)
        await view.say("again")
        await view.until(lambda: view.state.turn == 2 and view.state.outcome == "completed")
        assert len(called()) == 2
