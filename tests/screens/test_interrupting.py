"""Interrupt: the order of esc, what is killed and marked, and that the session takes the next message."""

from __future__ import annotations

import os

import pytest

from agentscope_tui.events import ToolResult
from agentscope_widgets.transcript import Transcript
from screens.stage import Stage, bash, reply


async def test_esc_leaves_the_composer_first_and_then_interrupts(stage: Stage):
    stage.says(reply("", bash("sleep 600")), reply("next answer"))
    async with stage.running() as view:
        await view.opened_and_paused()
        await view.press("n")
        await view.until(lambda: "RUNNING bash" in view.status)
        await view.press("s")
        await view.type("half a message")
        await view.press("escape")
        await view.until(lambda: view.focus() == "transcript")
        assert "RUNNING bash" in view.status
        assert view.composer.text == "half a message"
        await view.press("escape")
        await view.until(lambda: "INTERRUPTED" in view.status)
        assert view.composer.text == "half a message"
        assert "■ stopped" in view.row_line(0)
        await view.press("escape")
        await view.press("s", "enter")
        await view.until(lambda: "next answer" in view.transcript)


async def test_an_interrupted_tool_and_its_children_are_gone_and_its_output_stays(stage: Stage):
    command = "echo before; setsid sh -c 'echo $$ > pid; exec sleep 600' & sleep 600"
    stage.says(reply("", bash(command), bash("echo never")))
    async with stage.running(stage.app({"sandbox.mode": "none"})) as view:
        await view.opened_and_paused()
        await view.press("n")
        pid_file = view.files / "pid"
        await view.until(lambda: "before" in view.output and pid_file.exists() and pid_file.read_text())
        pid = int(pid_file.read_text())
        os.kill(pid, 0)
        await view.press("i")
        await view.until(lambda: "INTERRUPTED" in view.status)
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
        assert "before" in view.output
        await view.until(lambda: view.calls.count("■ interrupted") == 2)
        assert "killed: bash (#1)" in view.transcript
        assert "never run: bash (#1)" in view.transcript
        results = [call.state for call in view.state.calls]
        assert results == ["interrupted", "interrupted"]


async def test_a_streaming_answer_is_cut_off_and_marked(stage: Stage):
    stage.says(reply("streaming " * 2000, tokens_per_second=100), reply("again"))
    async with stage.running() as view:
        await view.open()
        await view.until(lambda: "streaming streaming" in view.transcript)
        assert "MODEL answering call #1" in view.status
        await view.press("ctrl+c")
        await view.until(lambda: "INTERRUPTED" in view.status)
        await view.until(lambda: "model call #1: cut off" in view.transcript)
        await view.press("home")
        await view.until(lambda: "assistant · cut off" in view.transcript)
        await view.say("go on")
        await view.until(lambda: "PAUSED after call #2" in view.status)
        assert "again" in view.text(Transcript)


async def test_a_submit_of_an_interrupted_turn_does_not_count(stage: Stage):
    stage.rows = [{"user_prompt": "x", "ground_truth": "42", "grader": "exact"}]
    stage.says(reply("", bash("sleep 600"), ("submit", {"answer": "42"})), reply("no"))
    async with stage.running() as view:
        await view.opened_and_paused()
        await view.press("n")
        await view.until(lambda: "RUNNING bash" in view.status)
        results: list[ToolResult] = []
        view.row.opened.bus.subscribe(
            lambda event: results.append(event) if isinstance(event, ToolResult) else None
        )
        await view.press("i")
        await view.until(lambda: "INTERRUPTED" in view.status)
        await view.say("what is it?")
        await view.paused(2)
        assert [result.status for result in results] == ["interrupted"]
        assert view.state.answer is None
        assert view.state.reward is None


async def test_interrupting_what_is_held_or_idle(stage: Stage):
    async with stage.running() as view:
        await view.opened_and_paused()
        await view.press("i")
        await view.until(lambda: "INTERRUPTED" in view.status)
        entries = len(view.state.entries)
        await view.press("i", "escape", "ctrl+c", "f9")
        assert len(view.state.entries) == entries
        assert "INTERRUPTED" in view.status
