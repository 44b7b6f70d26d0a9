"""Truth over the runner's word: what the host saw decides what is told, and what a model is sent."""

from __future__ import annotations

from typing import Any

import pytest

from agentscope_tui.events import AssistantMessage, LlmRequestSent, ToolResult, UsageReported
from agentscope_tui.models.chat import Delta, ModelError, Usage
from fakes.engine import FakeModel, FakeTools, returns, says
from fakes.session_rig import Rig

BASH = ("bash", '{"command": "ls"}')


@pytest.mark.parametrize("word", ["completed", "turn_limit", "aborted", "nonsense"])
async def test_a_turn_whose_last_call_failed_is_failed_whatever_the_runner_says(word: str) -> None:
    async with Rig(FakeModel(ModelError("gone")), own_runner=True, patient=False) as rig:
        await rig.greet()
        await rig.say()
        await rig.runner.ask_model("r1")
        await rig.runner.receive("llm_response")
        await rig.runner.idle(word)
        await rig.settled()
        assert rig.state.outcome_reason == "gone"
    assert rig.outcomes() == ["failed"]


async def test_a_call_that_succeeds_after_a_failed_one_makes_the_turn_good() -> None:
    model = FakeModel(ModelError("gone"), says("here"))
    async with Rig(model, own_runner=True, patient=False) as rig:
        await rig.greet()
        await rig.say()
        for number in ("r1", "r2"):
            await rig.runner.ask_model(number)
            await rig.runner.receive("llm_response")
        await rig.runner.idle()
        await rig.settled()
    assert rig.outcomes() == ["completed"]


@pytest.mark.parametrize(
    ("word", "outcome"),
    [("completed", "completed"), ("turn_limit", "limit"), ("aborted", "interrupted"), ("error", "failed")],
)
async def test_otherwise_the_runners_word_is_the_outcome(word: str, outcome: str) -> None:
    async with Rig(FakeModel(), own_runner=True) as rig:
        await rig.greet()
        await rig.say()
        await rig.runner.idle(word)
        await rig.settled()
    assert rig.outcomes() == [outcome]


async def test_a_call_that_was_cut_off_at_the_output_limit_is_not_run() -> None:
    half = says("", BASH, ("write", '{"path": "a", "content": "half'), finish="length")
    tools = FakeTools(bash=returns("x"), write=returns("written"))
    async with Rig(FakeModel(half), tools, own_runner=True) as rig:
        await rig.greet()
        await rig.say()
        await rig.runner.ask_model("r1")
        await rig.runner.receive("llm_response")
        await rig.runner.ask_tool("r2", "bash", command="ls")
        assert (await rig.runner.receive("tool_response"))["content"] == "x"
        await rig.runner.ask_tool("r3", "write", path="a", content="half")
        response = await rig.runner.receive("tool_response")
        assert response["is_error"]
        assert "cut off at the output limit" in response["content"]
    assert [name for name, _ in tools.called] == ["bash"]
    assert rig.has("tool_result", call_id="c2", status="refused")


async def test_the_built_in_loop_does_not_run_a_cut_off_call_either() -> None:
    half = says("", ("write", '{"path": "a", "content": "whole"}'), finish="length")
    tools = FakeTools(write=returns("written"))
    async with Rig(FakeModel(half, says("ok")), tools) as rig:
        await rig.run()
    assert tools.called == []
    assert [event.status for event in rig.of(ToolResult)] == ["refused"]


async def test_a_tool_refused_in_the_runner_is_read_off_the_next_request() -> None:
    broken = says("", ("bash", "{not json"), BASH)
    async with Rig(FakeModel(broken, says("ok")), FakeTools(bash=returns("x"))) as rig:
        await rig.run()
        assert [call.state for call in rig.state.calls] == ["refused", "done"]
    refused = rig.of(ToolResult)[1]
    assert (refused.call_id, refused.status, refused.reason) == ("c1", "refused", "refused by the runner")
    assert refused.content.startswith("The arguments are not valid JSON")


@pytest.mark.parametrize("arguments", ["[" * 100_000, '{"a":' * 300 + "1" + "}" * 300, "[1]", "7"])
async def test_arguments_that_no_tool_can_take_are_an_error_for_the_model(arguments: str) -> None:
    async with Rig(FakeModel(says("", ("bash", arguments)), says("ok")), FakeTools(bash=returns("x"))) as rig:
        await rig.run()
    assert rig.tools.called == []
    assert rig.outcomes() == ["completed"]


async def test_requests_are_matched_with_the_proposed_calls_by_name_and_arguments() -> None:
    calls = [("bash", '{"command": "a"}'), ("bash", '{"command": "b"}'), ("look", "")]
    tools = FakeTools(bash=returns("x"), look=returns("y"))
    async with Rig(FakeModel(says("", *calls)), tools, own_runner=True) as rig:
        await rig.greet()
        await rig.say()
        await rig.runner.ask_model("r1")
        await rig.runner.receive("llm_response")
        await rig.runner.ask_tool("r2", "look")
        await rig.runner.ask_tool("r3", "bash", command="b")
        await rig.runner.ask_tool("r4", "bash", command="coerced")
        await rig.runner.ask_tool("r5", "bash", command="made up")
        for _ in range(4):
            await rig.runner.receive("tool_response")
    ids = {event.req_id: event.call_id for event in rig.events if event.kind == "tool_call"}
    assert ids == {"r2": "c3", "r3": "c2", "r4": "c1", "r5": "runner_1"}


async def test_two_results_for_one_call_and_orphans_are_mended_before_the_model_sees_them() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
    other = {**call, "id": "c2"}
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [call, other]},
        {"role": "tool", "tool_call_id": "c1", "content": "No result provided"},
        {"role": "tool", "tool_call_id": "c1", "content": "cancelled by user"},
        {"role": "tool", "tool_call_id": "zzz", "content": "orphan"},
        {"role": "user", "content": "next"},
    ]
    async with Rig(FakeModel(says("ok")), own_runner=True) as rig:
        await rig.greet()
        await rig.say()
        await rig.runner.ask_model("r1", messages=messages)
        await rig.runner.receive("llm_response")
    assert rig.asked(1) == [
        ("user", "go"),
        ("assistant", "<bash><bash>"),
        ("tool", "No result provided"),
        ("tool", "The call was not run."),
        ("user", "next"),
    ]
    assert rig.of(LlmRequestSent)[0].repairs == [
        "left out a second result of c1",
        "left out a result of zzz, which no message calls",
        "added the missing result of bash (c2)",
    ]


async def test_tool_call_ids_are_unique_in_a_session() -> None:
    replies = [says("", BASH, BASH, ids="c") for _ in range(3)]
    nameless = says("", BASH)
    part = nameless.tool_calls[0].model_copy(update={"id": ""})
    taken = says("", BASH).model_copy(
        update={"tool_calls": (part, part.model_copy(update={"id": "call_4_1"}))}
    )
    async with Rig(FakeModel(*replies, taken, says("ok")), FakeTools(bash=returns("x"))) as rig:
        await rig.run()
    ids = [call.id for event in rig.of(AssistantMessage) for call in event.tool_calls]
    assert ids == ["c1", "c2", "call_2_1", "call_2_2", "call_3_1", "call_3_2", "call_4_1", "call_4_2"]
    sent = [
        message["tool_call_id"] for message in rig.model.requests[4].messages if message["role"] == "tool"
    ]
    assert sent == ids
    assert len(rig.of(ToolResult)) == 8


async def test_a_failed_call_is_metered_by_what_the_provider_says_or_as_far_as_it_got() -> None:
    async def breaks(request: Any, on_delta: Any) -> Any:
        on_delta(Delta(text="half an"))
        on_delta(Delta(text=" answer"))
        raise ModelError("connection lost")

    known = ModelError("filtered", usage=Usage(input_tokens=7, output_tokens=3))
    async with Rig(FakeModel(breaks, known), patient=False) as rig:
        await rig.run("12345678")
        await rig.run()
        assert rig.state.entries[1].text == "half an answer"
        assert rig.state.entries[1].partial
    usages = [(usage.input_tokens, usage.output_tokens, usage.partial) for usage in rig.of(UsageReported)]
    assert usages == [(2, 2, True), (7, 3, False)]


async def test_a_request_event_tells_only_what_is_new_and_the_state_puts_it_together() -> None:
    model = FakeModel(says("", BASH), says("done"), says("again"))
    async with Rig(model, FakeTools(bash=returns("x"))) as rig:
        await rig.run("one")
        await rig.run("two")
        for call, request in enumerate(model.requests, start=1):
            assert rig.state.request_messages(call) == request.messages
    sent = [(event.base, event.kept, len(event.messages)) for event in rig.of(LlmRequestSent)]
    assert sent == [(0, 0, 1), (1, 1, 2), (2, 3, 2)]


async def test_a_rewritten_conversation_is_told_from_where_it_differs() -> None:
    async with Rig(FakeModel(), own_runner=True) as rig:
        await rig.greet()
        await rig.say()
        for number, texts in enumerate([("a", "b", "c"), ("a", "x"), ("new",), ("new", "y")]):
            await rig.runner.ask_model(f"r{number}", *texts)
            await rig.runner.receive("llm_response")
            assert [text for _, text in rig.asked(number + 1)] == list(texts)
            assert rig.state.request_messages(number + 1) == rig.model.requests[number].messages
    assert [(event.base, event.kept) for event in rig.of(LlmRequestSent)] == [(0, 0), (1, 1), (0, 0), (3, 1)]
