"""Where nothing can confine tools, the user is asked: once for each dataset, and no is an answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_tui import confining
from agentscope_tui.config import load_settings
from agentscope_tui.session.launch import Launcher
from agentscope_tui.tools.sandbox import Sandbox
from agentscope_tui.tui.screens.confirm import ConfirmScreen
from screens.stage import Stage, View


@pytest.fixture(autouse=True)
def no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has neither bubblewrap nor Landlock."""

    async def nothing(mode: str, **_: object) -> Sandbox:
        return Sandbox("none", reason="switched off" if mode == "none" else "there is [none]")

    monkeypatch.setattr(confining, "find_sandbox", nothing)


async def asked(view: View) -> None:
    view.debugger.action_pane("rows")
    await view.press("enter")
    await view.until(lambda: isinstance(view.app.screen, ConfirmScreen), "the question")


async def test_a_row_runs_unconfined_only_after_a_yes_which_is_remembered(stage: Stage):
    stage.rows = [{"user_prompt": "one"}, {"user_prompt": "two"}]
    async with stage.running() as view:
        await asked(view)
        assert "there is [none]" in view.picture()
        assert view.debugger.current is None
        await view.answer("y")
        await view.paused()
        assert "NO SANDBOX" in view.status
        await view.open(1)
        await view.paused()
    async with stage.running() as view:
        await view.opened_and_paused()


async def test_a_no_leaves_the_row_unopened_and_asks_again(stage: Stage):
    async with stage.running() as view:
        await asked(view)
        await view.press("escape")
        await view.until(lambda: "agentscope doctor says why" in view.transcript, "the reason")
        assert view.debugger.current is None
        await asked(view)


@pytest.mark.parametrize(("dataset", "remembered"), [("tasks.jsonl", True), ("-", False)])
async def test_a_yes_to_rows_from_standard_input_holds_for_this_run_only(
    stage: Stage, dataset: str, remembered: bool
):
    """What comes from there another time is something else."""
    config = load_settings({}, cwd=stage.folder, environ={"AGENTSCOPE_HOME": str(stage.state)})
    reasons = []
    for _ in range(2):
        launcher = Launcher(config, Path(dataset), model="scripted:x")
        reasons.append(await launcher.unconfined_reason())
        launcher.agree_unconfined()
        assert await launcher.unconfined_reason() == ""
    assert reasons == ["there is [none]", "" if remembered else "there is [none]"]
    assert (stage.state / "trusted.json").exists() == remembered


async def test_whoever_switched_the_sandbox_off_is_not_asked(stage: Stage):
    async with stage.running(stage.app({"sandbox.mode": "none"})) as view:
        await view.opened_and_paused()
        assert "NO SANDBOX" in view.status
