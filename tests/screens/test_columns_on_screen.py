"""Guessed columns are told at the start and under the chosen row; a chat begins with its history."""

from __future__ import annotations

from screens.stage import Stage, reply

CHAT = [
    {"role": "user", "content": "Hello"},
    {"role": "assistant", "content": "Hi, I am **[bold]**."},
    {"role": "user", "content": "2 + 2?"},
    {"role": "assistant", "content": "4"},
]


async def test_guesses_are_told_and_a_chat_is_shown_from_its_start(stage: Stage):
    stage.rows = [{"Messages": CHAT, "label": "4"}]
    stage.says(reply("It is 4."))
    guesses = "Messages → user_prompt, label → ground_truth (guessed; --map changes it)"
    async with stage.running(size=(160, 40)) as view:
        assert [(note.message, note.title) for note in view.app._notifications] == [(guesses, "Columns")]
        await view.until(lambda: "after 2 earlier messages" in view.transcript)
        assert "2 + 2?" in view.transcript
        assert "Messages → user_prompt, label → ground_truth (guessed;" in view.transcript
        await view.press("enter")
        await view.paused()
        shown = view.transcript
        places = [shown.index(text) for text in ("Hello", "Hi, I am [bold].", "2 + 2?", "It is 4.")]
        assert places == sorted(places)
        assert shown.count("earlier") == 2
        assert "guessed" not in shown
