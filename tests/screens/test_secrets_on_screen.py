"""What is drawn, copied and remembered holds no secret; what the agent gets does."""

from __future__ import annotations

import json
from pathlib import Path

from agentscope_tui.secrets import MASKER
from agentscope_widgets.transcript import Transcript
from screens.stage import Stage, bash, reply

KEY = "sk-proj-CANARY0of0a0known0shape0on0the0screen"
KNOWN = "canary-of-a-known-value"


async def test_no_secret_is_drawn(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.rows = [{"user_prompt": f"use {KEY}"}]
    stage.says(
        reply(f"I use {KNOWN[:10]}", bash(f"echo {KNOWN}; echo {KEY} | tee kept")),
        reply(f"done with {KEY} and {KNOWN}"),
    )
    MASKER.learn([KNOWN])
    async with stage.running() as view:
        assert "use sk-***" in view.transcript
        await view.opened_and_paused()
        await view.press("c")
        await view.until(lambda: view.state.outcome == "completed", "the end")
        await view.until(lambda: "done with sk-*** and ***" in view.transcript, "the answer")
        await view.until(lambda: "***\nsk-***" in view.output.replace(" ", ""), "the output")
        view.app.notify(f"it was {KNOWN}")
        await view.say(f"my key is {KEY}")
        await view.until(lambda: view.state.turn == 2, "the second turn")
        drawn = view.app.export_screenshot() + view.picture() + view.text(Transcript)
        assert KEY not in drawn
        assert KNOWN not in drawn
        assert (view.files / "kept").read_text() == KEY + "\n"
        history = (stage.state / "messages.jsonl").read_text()
        assert json.loads(history) == "my key is sk-***"
