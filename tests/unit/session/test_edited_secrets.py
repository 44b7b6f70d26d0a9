"""An edit of what is shown masked reaches tool and agent with the secrets that were meant."""

from __future__ import annotations

from agentscope_tui.models.chat import Completion
from agentscope_tui.secrets import MASKER
from agentscope_tui.session.gate import Decision
from fakes.engine import FakeModel, FakeTools, returns, says
from fakes.session_rig import Rig

KEY = "canary-of-a-task"


async def test_edited_steps_keep_their_secrets() -> None:
    MASKER.learn([KEY])
    tools = FakeTools(bash=returns(f"it is {KEY}"))
    model = FakeModel(says("hello"), says(f"with {KEY}", ("bash", f'{{"a": "{KEY}"}}')))
    async with Rig(model, tools, mode="step") as rig:

        async def held(step: str) -> None:
            await rig.until(lambda: [hold.step for hold in rig.state.holds] == [step])

        rig.session.send("hi")
        await held("completion")
        rig.session.step(fine=True)
        await rig.settled()
        rig.session.send(f"use {KEY}")
        await held("completion")
        assert "with ***" in [entry.text for entry in rig.state.entries]
        parts = says("", ("bash", '{"a": "*** 1"}')).tool_calls
        rig.session.decide(Decision("edit", completion=Completion(text="edited with ***", tool_calls=parts)))
        await held("tool_call")
        rig.session.decide(Decision("edit", arguments={"b": "*** 2"}))
        await held("tool_result")
        rig.session.decide(Decision("edit", content="now ***"))
        await held("completion")
        assert tools.called == [("bash", {"b": f"{KEY} 2"})]
        assert rig.asked(3)[-3:] == [
            ("user", f"use {KEY}"),
            ("assistant", f"edited with {KEY}<bash>"),
            ("tool", f"now {KEY}"),
        ]
        assert KEY not in str(rig.events)
