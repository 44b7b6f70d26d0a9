"""Stopping Python agents: async, sync, blocking, those that catch everything, and modules that hang."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_tui.events import AgentNote, ErrorOccurred, Interrupted, SessionEnded
from fakes.engine import FakeModel, Gatekeeper, says
from fakes.processes import alive, mark
from fakes.python_agents import agent_rig, log_of

CATCHES_ALL = """
    {a}def run(ctx):
        while True:
            try:
                return ({w}ctx.chat()).content
            except Exception as error:
                print("caught", error, flush=True)
"""


@pytest.mark.parametrize("words", [("async ", "await "), ("", "")], ids=["async", "sync"])
async def test_an_agent_that_catches_every_exception_stops_in_a_model_call(
    words: tuple[str, str], tmp_path: Path
) -> None:
    thinking = Gatekeeper()
    model = FakeModel(thinking.reply(says("late")), says("again"))
    source = CATCHES_ALL.format(a=words[0], w=words[1])
    async with agent_rig(tmp_path, source, model) as rig:
        rig.session.send("one")
        await thinking.entered.wait()
        rig.session.interrupt()
        await rig.settled()
        await rig.run("two")
        assert rig.outcomes() == ["interrupted", "completed"]
        assert rig.asked(2) == [("user", "one"), ("user", "two")]
        assert rig.has("submit", answer="again")
    assert "caught" not in log_of(rig)


BUSY = {
    "sleeps": "def run(ctx):\n    busy()\n    time.sleep(100)\n",
    "works": "def run(ctx):\n    busy()\n    while True: pass\n",
    "waits for a child": "def run(ctx):\n    busy()\n    subprocess.run(['sleep', '100'])\n",
    "blocks its loop": "async def run(ctx):\n    busy()\n    time.sleep(100)\n",
    "runs a loop": (
        "async def wait():\n    busy()\n    await asyncio.sleep(100)\n"
        "def run(ctx):\n    asyncio.run(wait())\n"
    ),
}


@pytest.mark.parametrize("body", BUSY.values(), ids=BUSY)
async def test_an_agent_that_is_busy_elsewhere_is_broken_into(body: str, tmp_path: Path) -> None:
    head = "import asyncio, subprocess, time\ndef busy():\n    print('busy', flush=True)\n"
    source = head + body
    async with agent_rig(tmp_path, source, FakeModel()) as rig:
        rig.session.send("one")
        await rig.until(lambda: "busy" in log_of(rig))
        rig.session.interrupt()
        await rig.settled()
        assert rig.outcomes() == ["interrupted"]
        assert rig.session.status == "idle"


async def test_an_agent_that_cannot_be_stopped_is_ended_with_all_it_started(tmp_path: Path) -> None:
    word = mark()
    source = f"""
        import subprocess, sys, time

        def run(ctx):
            subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)", "{word}"])
            print("busy", flush=True)
            while True:
                try:
                    time.sleep(100)
                except BaseException:
                    pass
    """
    async with agent_rig(tmp_path, source, FakeModel(), stop_timeout=0.5) as rig:
        rig.session.send("one")
        await rig.until(lambda: "busy" in log_of(rig))
        assert len(alive(word)) == 1
        rig.session.interrupt()
        await rig.settled()
        [ended] = rig.of(SessionEnded)
        assert ended.status == "failed"
        assert "the agent did not stop within 0.5 s (interrupted by the user)" in ended.reason
        assert len(rig.of(Interrupted)) == 1
    assert 'File "agent.py", line 9, in run' in log_of(rig)
    assert alive(word) == []


async def test_a_module_that_hangs_is_told_with_the_place_and_the_session_lives_on(tmp_path: Path) -> None:
    source = "import time\n\ndef connect():\n    time.sleep(100)\n\nconnect()\n"
    async with agent_rig(tmp_path, source, FakeModel(), import_timeout=0.5) as rig:
        await rig.run()
        [error] = rig.of(ErrorOccurred)
        assert error.message == "importing agent took longer than 0.5 s (setting runner.start_timeout)"
        assert 'File "agent.py", line 4, in connect' in error.detail
        assert rig.outcomes() == ["failed"]
        (tmp_path / "agent.py").write_text("def run(ctx):\n    return 'mended'\n")
        await rig.run()
        assert rig.has("submit", answer="mended")


async def test_a_module_that_hangs_is_interrupted(tmp_path: Path) -> None:
    source = "import time\nprint('busy', flush=True)\ntime.sleep(100)\n"
    async with agent_rig(tmp_path, source, FakeModel()) as rig:
        rig.session.send("one")
        await rig.until(lambda: "busy" in log_of(rig))
        rig.session.interrupt()
        await rig.settled()
        assert rig.outcomes() == ["interrupted"]
        assert 'The agent was in:\n  File "agent.py", line 3' in rig.of(AgentNote)[0].text


async def test_nothing_is_left_of_a_module_that_hangs_when_the_session_ends(tmp_path: Path) -> None:
    word = mark()
    source = f"import subprocess\nprint('busy', flush=True)\nsubprocess.run(['sleep', '100', '{word}'])\n"
    async with agent_rig(tmp_path, source, FakeModel()) as rig:
        rig.session.send("one")
        await rig.until(lambda: "busy" in log_of(rig))
    assert alive(word) == []


async def test_an_interrupt_right_behind_the_message(tmp_path: Path) -> None:
    source = "async def run(ctx):\n    return (await ctx.chat()).content\n"
    async with agent_rig(tmp_path, source, FakeModel(says("fine"))) as rig:
        for text in ("a", "b", "c"):
            rig.session.send(text)
            rig.session.interrupt()
            await rig.settled()
        await rig.run("d")
        assert rig.outcomes() == ["interrupted"] * 3 + ["completed"]


async def test_a_tool_of_its_own_is_stopped_and_told(tmp_path: Path) -> None:
    source = """
        import time

        def slow(seconds: int):
            print("busy", flush=True)
            time.sleep(seconds)

        def run(ctx):
            reply = ctx.chat(tools=[slow])
            for call in reply.tool_calls:
                ctx.call_tool(call.name, call.arguments)
    """
    model = FakeModel(says("", ("slow", '{"seconds": 100}')), says("on"))
    async with agent_rig(tmp_path, source, model) as rig:
        rig.session.send("go")
        await rig.until(lambda: rig.has("tool_output", text="busy\n"))
        rig.session.interrupt()
        await rig.settled()
        [told] = rig.of(Interrupted)
        assert told.killed == ["c1"]
        assert [call.state for call in rig.state.calls] == ["interrupted"]
        await rig.run("more")
        assert rig.asked(2)[1:] == [
            ("assistant", "<slow>"),
            ("tool", "The call was not run."),
            ("user", "more"),
        ]
