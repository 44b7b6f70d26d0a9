"""A steer that comes with the last reply: no call takes it, so it returns, or starts the next turn."""

from __future__ import annotations

from pathlib import Path

from fakes.engine import FakeModel, FakeTools, says
from fakes.processes import process_rig, program
from fakes.python_agents import agent_rig
from fakes.session_rig import Rig

AGENT = """
    async def run(ctx):
        return (await ctx.chat()).content
"""
DEAF = program("""
    send("hello", mode="session")
    while (frame := receive()) is not None:
        match frame["type"]:
            case "session_start":
                send("state", status="idle", turns=0)
            case "user_message" if frame["text"] == "go":
                send("state", status="running", turns=1)
                messages = [{"role": "user", "content": "go"}]
                send("llm_request", req_id="r1", openai_body={"messages": messages})
            case "llm_response":
                send("state", status="idle", turns=1, reason="completed")
            case "shutdown":
                break
""")
"""A runner that takes a message while it runs, and forgets it."""


async def steer_the_last_reply(rig: Rig) -> None:
    rig.session.send("go")
    await rig.until(lambda: rig.state.holds)
    rig.session.send("too late")
    rig.session.run_on()
    await rig.settled()


async def test_python_agents_return_it(tmp_path: Path) -> None:
    async with agent_rig(tmp_path, AGENT, FakeModel(says("done")), mode="step") as rig:
        await steer_the_last_reply(rig)
        assert rig.steers() == [("too late", "queued"), ("too late", "returned")]
        assert rig.outcomes() == ["completed"]


async def test_python_agents_get_it_as_the_next_turn_where_the_setting_says_so(tmp_path: Path) -> None:
    model = FakeModel(says("done"), says("again"))
    settings = {"mode": "step", "undelivered_steers": "send"}
    async with agent_rig(tmp_path, AGENT, model, **settings) as rig:
        await steer_the_last_reply(rig)
        await rig.until(lambda: len(rig.outcomes()) == 2)
        assert rig.asked(2) == [("user", "go"), ("assistant", "done"), ("user", "too late")]
        assert "returned" not in [status for _, status in rig.steers()]


async def test_runners_that_forget_it_return_it(tmp_path: Path) -> None:
    async with process_rig(DEAF, tmp_path, FakeModel(says("done")), FakeTools(), mode="step") as rig:
        await steer_the_last_reply(rig)
        assert [status for _, status in rig.steers()] == ["queued", "handed_over", "returned"]
        assert rig.outcomes() == ["completed"]
