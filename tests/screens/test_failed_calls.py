"""A failed model call waits for the user: retry, or give up; and the reason stands where the user looks."""

from __future__ import annotations

import socket

from screens.stage import Stage, reply

BROKEN = {"error": {"kind": "rate_limit", "message": "too many requests: try again in 20 s"}}


async def test_a_failed_call_waits_and_is_sent_again(stage: Stage):
    stage.says(BROKEN, reply("here it is"))
    async with stage.running() as view:
        await view.open()
        await view.until(lambda: "CALL #1 FAILED, r retries, x gives up" in view.status)
        assert "✗ model error" in view.transcript
        assert "too many requests: try again in 20 s" in view.transcript
        assert "✗ waiting" in view.row_line(0)
        await view.press("n", "r")
        await view.paused(1)
        assert "here it is" in view.transcript
        assert "calls 1/60" in view.status


async def test_giving_up_fails_the_turn_and_the_session_goes_on(stage: Stage):
    stage.says(BROKEN, reply("second chance"))
    async with stage.running() as view:
        await view.open()
        await view.until(lambda: "FAILED" in view.status)
        await view.press("x")
        await view.until(lambda: "FAILED: too many requests" in view.status)
        assert "✗ failed" in view.row_line(0)
        await view.say("again")
        await view.paused(2)
        assert "second chance" in view.transcript


async def test_a_server_that_cannot_be_reached_is_named_in_the_transcript(stage: Stage, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        settings = {"model.name": "openai:any", "model.base_url": url}
        async with stage.running(stage.app(settings)) as view:
            await view.open()
            await view.until(lambda: "CALL #1 FAILED" in view.status)
            assert "✗ model error" in view.transcript
            assert url in view.transcript.replace("\n▎ ", "")
