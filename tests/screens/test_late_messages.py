"""A message that comes with an agent's last reply: no call takes it, so it is back in the composer."""

from __future__ import annotations

import pytest

from fakes.programs import write_program
from screens.stage import Stage, reply

PYTHON_AGENT = """
async def run(ctx):
    return (await ctx.chat()).content
"""


@pytest.mark.parametrize("setting", ["runner.agent", "runner.program"])
async def test_it_returns_before_what_is_being_typed(setting: str, stage: Stage):
    command = write_program(stage.folder, 'print(ask(sys.argv[1])["content"])')
    if setting == "runner.agent":
        (stage.folder / "agent.py").write_text(PYTHON_AGENT)
        command = "agent.py:run"
    stage.says(reply("the end"))
    async with stage.running(stage.app({setting: command, "sandbox.mode": "none"})) as view:
        await view.opened_and_paused()
        await view.say("too late")
        await view.until(lambda: "queued" in view.queue)
        await view.type("draft")
        view.row.session.run_on()
        await view.until(lambda: view.composer.text == "too late\n\ndraft")
        assert view.state.outcome == "completed"
        assert "too late" not in view.queue
        assert [steer.status for steer in view.state.steers] == ["returned"]
        await view.until(lambda: [note.title for note in view.app._notifications] == ["Not delivered"])
