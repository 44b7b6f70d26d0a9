"""The built-in loop as a runner: what it sends for what it is sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from agentscope_tui.runners.builtin import BuiltinRunner
from agentscope_tui.wire.channel import MemoryChannel, memory_channel
from fakes.engine import DEADLINE, says, tool


class Host:
    """The host's end in the test's own hands."""

    def __init__(self, channel: MemoryChannel) -> None:
        self.channel = channel

    async def send(self, type: str, **fields: Any) -> None:
        await self.channel.send({"type": type, **fields})

    async def receive(self, type: str | None = None) -> dict[str, Any]:
        while True:
            frame = await asyncio.wait_for(self.channel.receive(), DEADLINE)
            assert frame is not None
            if type is None or frame["type"] == type:
                return frame

    async def start(self, **fields: Any) -> None:
        await self.send("session_start", session_id="s", **fields)
        assert (await self.receive("state"))["status"] == "idle"

    async def say(self, text: str, msg_id: str = "m1") -> None:
        await self.send("user_message", msg_id=msg_id, text=text)

    async def request(self) -> dict[str, Any]:
        return await self.receive("llm_request")

    async def answer(self, request: dict[str, Any], text: str, *calls: tuple[str, str], **more: Any) -> None:
        completion = says(text, *calls, **more).to_openai()
        await self.send("llm_response", req_id=request["req_id"], completion=completion)

    async def idle(self) -> dict[str, Any]:
        while (frame := await self.receive("state"))["status"] != "idle":
            pass
        return frame


def roles(request: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(message["role"], message["content"]) for message in request["openai_body"]["messages"]]


@pytest.fixture
async def host() -> AsyncIterator[Host]:
    host_end, runner_end = memory_channel()
    running = asyncio.create_task(BuiltinRunner(runner_end).run())
    yield Host(host_end)
    await host_end.aclose()
    await asyncio.wait_for(running, DEADLINE)


async def test_it_says_hello_and_is_idle_once_started(host: Host) -> None:
    assert await host.receive() == {"type": "hello", "mode": "session", "name": "builtin"}
    await host.send("session_start", session_id="s")
    assert await host.receive() == {"type": "state", "status": "idle", "turns": 0}


async def test_a_turn_without_tools(host: Host) -> None:
    await host.start(system="be brief", max_output_tokens=77)
    await host.say("hi")
    assert (await host.receive())["status"] == "running"
    request = await host.request()
    assert roles(request) == [("system", "be brief"), ("user", "hi")]
    assert request["openai_body"]["max_completion_tokens"] == 77
    assert "tools" not in request["openai_body"]
    await host.answer(request, "hello")
    idle = await host.idle()
    assert (idle["reason"], idle["msg_id"], idle["turns"]) == ("completed", "m1", 1)


async def test_tools_are_offered_in_openais_envelope(host: Host) -> None:
    bash = tool("bash", "command")
    await host.start(tools=[bash])
    await host.say("hi")
    assert (await host.request())["openai_body"]["tools"] == [{"type": "function", "function": bash}]


async def test_the_calls_of_a_batch_run_one_after_the_other(host: Host) -> None:
    await host.start()
    await host.say("go")
    await host.answer(await host.request(), "", ("bash", '{"n": 1}'), ("bash", ""))
    first = await host.receive("tool_request")
    assert (first["name"], first["arguments"]) == ("bash", {"n": 1})
    await host.send("ping", nonce="x")
    assert await host.receive() == {"type": "pong", "nonce": "x"}
    await host.send("tool_response", req_id=first["req_id"], content="one")
    second = await host.receive()
    assert (second["type"], second["arguments"]) == ("tool_request", {})
    await host.send("tool_response", req_id=second["req_id"], content="two", is_error=True)
    assert roles(await host.request())[-2:] == [("tool", "one"), ("tool", "two")]


async def test_a_submit_ends_the_turn_once_it_was_taken(host: Host) -> None:
    await host.start()
    await host.say("go")
    await host.answer(await host.request(), "", ("submit", "{}"))
    refused = await host.receive("tool_request")
    await host.send("tool_response", req_id=refused["req_id"], content="no answer", is_error=True)
    await host.answer(await host.request(), "", ("submit", '{"answer": "1"}'))
    taken = await host.receive("tool_request")
    await host.send("tool_response", req_id=taken["req_id"], content="submitted")
    assert (await host.idle())["reason"] == "completed"


async def test_a_failed_call_ends_the_turn_with_an_error(host: Host) -> None:
    await host.start()
    await host.say("go")
    request = await host.request()
    await host.send("llm_response", req_id=request["req_id"], error="gone")
    assert (await host.idle())["reason"] == "error"
    await host.say("again")
    assert roles(await host.request()) == [("user", "go"), ("user", "again")]


async def test_an_abort_while_the_model_is_asked_drops_the_late_answer(host: Host) -> None:
    await host.start()
    await host.say("go")
    request = await host.request()
    await host.send("abort", reason="x")
    assert (await host.idle())["reason"] == "aborted"
    await host.answer(request, "late")
    await host.say("next", "m2")
    assert roles(await host.request()) == [("user", "go"), ("user", "next")]


async def test_an_abort_in_a_batch_answers_its_open_calls_and_names_the_steers_it_dropped(host: Host) -> None:
    await host.start()
    await host.say("go")
    await host.answer(await host.request(), "", ("bash", "{}"), ("bash", "{}"))
    asked = await host.receive("tool_request")
    await host.send("tool_response", req_id=asked["req_id"], content="one")
    await host.receive("tool_request")
    await host.say("a steer", "m2")
    await host.send("abort")
    idle = await host.idle()
    assert (idle["reason"], idle["cleared_steers"], idle["msg_id"]) == ("aborted", ["m2"], "m2")
    await host.say("next", "m3")
    assert roles(await host.request())[-3:] == [
        ("tool", "one"),
        ("tool", "interrupted by the user"),
        ("user", "next"),
    ]


async def test_an_abort_while_idle_is_not_answered(host: Host) -> None:
    await host.start()
    await host.send("abort")
    await host.send("ping", nonce="after")
    assert (await host.receive())["type"] == "pong"


async def test_steers_come_after_the_batch_and_go_on_after_a_final_reply(host: Host) -> None:
    await host.start()
    await host.say("go")
    await host.answer(await host.request(), "", ("bash", "{}"))
    asked = await host.receive("tool_request")
    await host.say("first", "m2")
    await host.say("second", "m3")
    await host.send("tool_response", req_id=asked["req_id"], content="one")
    request = await host.request()
    assert roles(request)[-3:] == [("tool", "one"), ("user", "first"), ("user", "second")]
    await host.say("third", "m4")
    await host.answer(request, "done")
    request = await host.request()
    assert roles(request)[-2:] == [("assistant", "done"), ("user", "third")]
    await host.answer(request, "really done")
    assert (await host.idle())["msg_id"] == "m4"


async def test_the_cap_on_calls_ends_the_turn_and_a_steer_starts_the_count_again(host: Host) -> None:
    await host.start(turn_cap=1)
    await host.say("go")
    await host.answer(await host.request(), "", ("bash", "{}"))
    asked = await host.receive("tool_request")
    await host.say("a steer", "m2")
    await host.send("tool_response", req_id=asked["req_id"], content="one")
    await host.answer(await host.request(), "", ("bash", "{}"))
    asked = await host.receive("tool_request")
    await host.send("tool_response", req_id=asked["req_id"], content="two")
    assert (await host.idle())["reason"] == "turn_limit"


async def test_with_the_scope_of_a_turn_it_forgets(host: Host) -> None:
    await host.start(conversation_scope="turn")
    await host.say("one")
    await host.answer(await host.request(), "1")
    await host.idle()
    await host.say("two")
    assert roles(await host.request()) == [("user", "two")]


async def test_what_a_provider_needs_back_is_sent_back(host: Host) -> None:
    await host.start()
    await host.say("go")
    request = await host.request()
    completion = says("", ("bash", "{}")).model_copy(update={"extra": {"reasoning_details": [{"k": 1}]}})
    await host.send("llm_response", req_id=request["req_id"], completion=completion.to_openai())
    asked = await host.receive("tool_request")
    await host.send("tool_response", req_id=asked["req_id"], content="one")
    messages = (await host.request())["openai_body"]["messages"]
    assert messages[1]["reasoning_details"] == [{"k": 1}]


async def test_a_completion_it_cannot_read_is_fatal_and_said(host: Host) -> None:
    await host.start()
    await host.say("go")
    request = await host.request()
    await host.send("llm_response", req_id=request["req_id"], completion={"choices": []})
    assert "IndexError" in (await host.receive("episode_error"))["note"]


async def test_unknown_frames_are_ignored_and_shutdown_ends_it() -> None:
    host_end, runner_end = memory_channel()
    running = asyncio.create_task(BuiltinRunner(runner_end).run())
    host = Host(host_end)
    await host.send("telemetry", x=1)
    await host.start()
    await host.say("go")
    await host.request()
    await host.send("shutdown")
    await asyncio.wait_for(running, DEADLINE)
    assert await host_end.receive() is None
