"""A session's start and its turns, as the live-session protocol has them (both versions)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentscope_tui.events import AssistantMessage, Submitted, ToolResult, UsageReported
from agentscope_tui.models.chat import ModelError
from agentscope_tui.session.session import SessionError
from agentscope_tui.session.settings import ModelSettings
from agentscope_tui.tools.spec import OnOutput, ToolOutcome
from fakes.engine import FakeModel, FakeTools, returns, says
from fakes.session_rig import Rig


async def speaks(arguments: dict[str, Any], on_output: OnOutput) -> ToolOutcome:
    await on_output("stdout", b"two files\n")
    return ToolOutcome(content="two files", side_effects=False)


async def test_start_greets_the_runner_with_defaults_and_returns_at_its_first_idle() -> None:
    async with Rig(FakeModel(), FakeTools(bash=speaks), own_runner=True, system="be brief") as rig:
        start = await rig.greet()
        assert rig.session.status == "idle"
    assert start["session_id"] == "test"
    assert start["turn_cap"] == 60
    assert start["conversation_scope"] == "session"
    assert start["max_output_tokens"] == 4096
    assert start["temperature"] == 0.7
    assert start["system"] == "be brief"
    assert [tool["name"] for tool in start["tools"]] == ["bash", "submit"]
    assert "context_window" not in start


async def test_start_passes_on_what_is_given() -> None:
    settings = ModelSettings(max_output_tokens=99, temperature=1.5)
    rig = Rig(FakeModel(), own_runner=True, model=settings, conversation_scope="turn", context_window=32_000)
    async with rig:
        start = await rig.greet()
    assert (start["max_output_tokens"], start["temperature"]) == (99, 1.5)
    assert start["conversation_scope"] == "turn"
    assert start["context_window"] == 32_000


async def test_a_runner_that_cannot_be_built_is_the_error_of_start() -> None:
    async with Rig(FakeModel(), own_runner=True) as rig:
        starting = asyncio.create_task(rig.session.start())
        await rig.runner.send("hello")
        await rig.runner.receive("session_start")
        await rig.runner.send("episode_error", note="src/agent.ts is missing")
        with pytest.raises(SessionError, match=r"src/agent\.ts is missing"):
            await starting
        assert rig.session.status == "failed"
    assert rig.has("session_ended", status="failed", reason="src/agent.ts is missing")


async def test_a_runner_that_is_never_ready_fails_the_start() -> None:
    async with Rig(FakeModel(), own_runner=True, start_timeout=0.05) as rig:
        await rig.runner.send("hello")
        with pytest.raises(SessionError, match=r"not ready within 0\.05 s"):
            await rig.session.start()


async def test_a_runner_that_never_says_hello_fails_the_start() -> None:
    async with Rig(FakeModel(), own_runner=True, start_timeout=0.05) as rig:
        with pytest.raises(SessionError, match=r"said no hello within 0\.05 s"):
            await rig.session.start()


async def test_the_events_of_a_whole_turn_come_in_order() -> None:
    model = FakeModel(says("look", ("bash", '{"command": "ls"}')), says("", ("submit", '{"answer": "2"}')))
    async with Rig(model, FakeTools(bash=speaks)) as rig:
        before = len(rig.events)
        await rig.run("how many?")
        quiet = {"assistant_delta", "usage", "llm_request"}
        assert [event.kind for event in rig.events[before:] if event.kind not in quiet] == [
            "user_message",
            "state",
            "assistant_message",
            "tool_call",
            "tool_output",
            "tool_result",
            "assistant_message",
            "tool_call",
            "tool_result",
            "submit",
            "state",
        ]
        assert rig.outcomes() == ["completed"]
        assert rig.state.answer == "2"
    usages = rig.of(UsageReported)
    assert [(usage.call, usage.input_tokens, usage.output_tokens) for usage in usages] == [
        (1, 10, 5),
        (2, 10, 5),
    ]
    assert rig.state.input_tokens == 20


async def test_every_request_gets_one_response_with_its_id() -> None:
    model = FakeModel(says("", ("bash", "{}"), ("submit", '{"answer": "2"}')))
    async with Rig(model, FakeTools(bash=speaks), own_runner=True) as rig:
        await rig.greet()
        await rig.say()
        await rig.runner.ask_model("r1")
        response = await rig.runner.receive()
        assert (response["type"], response["req_id"]) == ("llm_response", "r1")
        message = response["completion"]["choices"][0]["message"]
        assert [call["function"]["name"] for call in message["tool_calls"]] == ["bash", "submit"]
        await rig.runner.ask_tool("r2", "bash")
        assert await rig.runner.receive() == {
            "type": "tool_response",
            "req_id": "r2",
            "content": "two files",
            "is_error": False,
        }
        await rig.runner.ask_tool("r3", "submit", answer="2")
        assert await rig.runner.receive() == {
            "type": "tool_response",
            "req_id": "r3",
            "content": "submitted",
            "is_error": False,
        }
        await rig.runner.idle()
        await rig.settled()


async def test_submit_never_reaches_the_tools() -> None:
    tools = FakeTools()
    async with Rig(FakeModel(says("", ("submit", '{"answer": "42"}'))), tools) as rig:
        await rig.run()
    assert tools.called == []
    assert [event.answer for event in rig.of(Submitted)] == ["42"]
    assert rig.of(ToolResult)[0].content == "submitted"


async def test_a_submit_without_an_answer_is_an_error_for_the_model_and_submits_nothing() -> None:
    async with Rig(FakeModel(says("", ("submit", '{"answer": 5}')), says("sorry"))) as rig:
        await rig.run()
    assert rig.of(Submitted) == []
    assert rig.has("tool_result", status="failed", is_error=True)
    assert ("tool", "submit needs the argument `answer`, a string") in rig.asked(2)


async def test_the_last_text_is_the_answer_when_none_is_submitted() -> None:
    graded: list[str] = []

    class Grader:
        name = "spy"

        async def grade(self, answer: str, messages: Any) -> Any:
            graded.append(answer)
            raise RuntimeError("no opinion")

    async with Rig(FakeModel(says("thinking", ("bash", "{}")), says("7")), grader=Grader()) as rig:
        await rig.run()
    assert graded == ["7"]
    assert rig.has("graded", error="RuntimeError: no opinion", reward=None)


async def test_the_hosts_temperature_and_token_limit_override_the_runners() -> None:
    model = FakeModel()
    async with Rig(model, own_runner=True, model=ModelSettings(temperature=0.2)) as rig:
        await rig.greet()
        await rig.say()
        body = {"messages": [{"role": "user", "content": "go"}], "temperature": 1.9, "stop": ["x"]}
        for number, limits in enumerate([{"max_completion_tokens": 100}, {"max_tokens": 9999}, {}]):
            await rig.runner.send("llm_request", req_id=f"r{number}", openai_body={**body, **limits})
            await rig.runner.receive("llm_response")
    assert {request.temperature for request in model.requests} == {0.2}
    assert [request.max_output_tokens for request in model.requests] == [100, 4096, 4096]
    assert model.requests[0].params == {"stop": ["x"]}


@pytest.mark.parametrize("error", [ModelError("no such model"), RuntimeError("bug")])
async def test_a_failing_model_is_an_error_event_and_an_error_for_the_runner(error: Exception) -> None:
    async def fails(request: Any, on_delta: Any) -> Any:
        raise error

    async with Rig(FakeModel(fails), own_runner=True, patient=False) as rig:
        await rig.greet()
        await rig.say()
        await rig.runner.ask_model("r1")
        response = await rig.runner.receive("llm_response")
        assert str(error) in response["error"]
        assert "completion" not in response
        assert [event.source for event in rig.events if event.kind == "error"] == ["model"]


async def test_without_a_model_a_request_is_answered_with_an_error() -> None:
    async with Rig(None, own_runner=True, patient=False) as rig:
        await rig.greet()
        await rig.say()
        await rig.runner.ask_model("r1")
        response = await rig.runner.receive("llm_response")
        assert response["error"] == "no model is configured: name one with --model"
        await rig.runner.idle()
        await rig.settled()
    assert rig.outcomes() == ["failed"]


async def test_an_unknown_tool_is_an_error_result() -> None:
    async with Rig(FakeModel(says("", ("fly", "{}")), says("then not"))) as rig:
        await rig.run()
    assert rig.has("tool_result", name="fly", status="failed", content="tool 'fly' not available")
    assert not rig.has("tool_call")


async def test_a_raising_tool_is_an_error_result_and_the_turn_goes_on() -> None:
    async def bug(arguments: dict[str, Any], on_output: OnOutput) -> ToolOutcome:
        raise ZeroDivisionError("oh")

    async with Rig(FakeModel(says("", ("bash", "{}")), says("well")), FakeTools(bash=bug)) as rig:
        await rig.run()
    assert rig.has("tool_result", status="failed", content="tool 'bash' failed: oh", is_error=True)
    assert rig.outcomes() == ["completed"]


async def test_the_conversation_goes_on_in_the_next_turn() -> None:
    model = FakeModel(says("one"), says("two"))
    async with Rig(model, system="be brief") as rig:
        await rig.run("first")
        await rig.run("second")
    assert rig.asked(2) == [
        ("system", "be brief"),
        ("user", "first"),
        ("assistant", "one"),
        ("user", "second"),
    ]


async def test_with_the_scope_of_a_turn_the_conversation_starts_anew() -> None:
    model = FakeModel(says("one"), says("two"))
    async with Rig(model, conversation_scope="turn") as rig:
        await rig.run("first")
        await rig.run("second")
    assert rig.asked(2) == [("user", "second")]


async def test_every_completion_is_an_assistant_message() -> None:
    async with Rig(FakeModel(says("", ("bash", "{}")), says("")), FakeTools(bash=returns("x"))) as rig:
        await rig.run()
    assert [(event.text, len(event.tool_calls)) for event in rig.of(AssistantMessage)] == [("", 1), ("", 0)]


async def test_an_idle_without_a_turn_changes_nothing() -> None:
    async with Rig(FakeModel(), own_runner=True) as rig:
        await rig.greet()
        await rig.runner.idle()
        await rig.runner.was_read()
        await rig.say()
        assert rig.outcomes() == []
        await rig.runner.idle()
        await rig.settled()
        assert rig.outcomes() == ["completed"]


async def test_the_runners_own_reward_is_told() -> None:
    async with Rig(FakeModel(), own_runner=True) as rig:
        await rig.greet()
        await rig.say()
        await rig.runner.idle(reward=0.5)
        await rig.settled()
        assert rig.state.reward == 0.5
    assert rig.has("graded", grader="agent", reward=0.5)
