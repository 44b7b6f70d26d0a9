"""Sessions of programs at the endpoint: steps, steers, own tools, parallel calls, parameters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentscope_tui.events import LlmRequestSent, Steer, ToolCallStarted, ToolResult
from agentscope_tui.models.asked import AGENT
from agentscope_tui.models.chat import ChatRequest, Completion
from agentscope_tui.session.gate import Decision
from agentscope_tui.session.settings import ModelSettings, Price
from fakes.engine import says
from fakes.programs import logged, program, write_program

LOOP = """
messages = [{"role": "user", "content": sys.argv[1]}]
while True:
    message = ask(*messages)
    messages.append(message)
    calls = message.get("tool_calls") or []
    for call in calls:
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": "result of " + call["id"]})
    if not calls:
        break
print(message["content"])
"""
PARALLEL = """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(3) as pool:
    for text in pool.map(lambda name: ask(name)["content"], ["a", "b", "c"]):
        print(text)
"""


async def echo(request: ChatRequest, on_delta: Any) -> Completion:
    return says("echo " + request.messages[-1]["content"])


async def test_each_call_is_stepped_and_can_be_edited(tmp_path: Path) -> None:
    async with program(write_program(tmp_path, LOOP), tmp_path, says("five"), mode="step") as rig:
        rig.session.send("go")
        await rig.until(lambda: rig.state.holds)
        assert rig.state.holds[0].commits_after is not None
        assert rig.session.decide(Decision("edit", completion=says("six")))
        await rig.settled()
        assert logged(rig, "stdout") == "six\n"


async def test_a_refused_answer_is_an_error_for_the_agent(tmp_path: Path) -> None:
    async with program(write_program(tmp_path, LOOP), tmp_path, says("five"), mode="step") as rig:
        rig.session.send("go")
        await rig.until(lambda: rig.state.holds)
        rig.session.decide(Decision("refuse", "not so"))
        await rig.settled()
        assert "HTTP Error 400" in logged(rig, "stderr")
        assert rig.outcomes() == ["failed"]


async def test_tools_of_the_agent_are_read_off_the_conversation(tmp_path: Path) -> None:
    asks = says("I look.", ("look", '{"at": "x"}'), ("look", '{"at": "y"}'))
    async with program(write_program(tmp_path, LOOP), tmp_path, asks, says("done")) as rig:
        await rig.run()
        started = [(event.call_id, event.arguments, event.own) for event in rig.of(ToolCallStarted)]
        assert started == [("c1", {"at": "x"}, True), ("c2", {"at": "y"}, True)]
        results = [(event.call_id, event.status, event.content) for event in rig.of(ToolResult)]
        assert results == [("c1", "done", "result of c1"), ("c2", "done", "result of c2")]
        assert rig.state.actions_used == 0


@pytest.mark.parametrize(("ends", "status"), [("", "done"), ("sys.exit(3)", "interrupted")])
async def test_a_tool_without_a_result_is_the_answer_or_was_interrupted(
    ends: str, status: str, tmp_path: Path
) -> None:
    code = f"ask('x')\n{ends}"
    async with program(write_program(tmp_path, code), tmp_path, says("", ("look", "{}"))) as rig:
        await rig.run()
        result = rig.of(ToolResult)[0]
        assert (result.status, result.reason) == (status, "the agent gave no result to the model")


async def test_a_result_that_the_agent_writes_as_text_is_read_off_the_conversation(tmp_path: Path) -> None:
    code = """
ask("go")
ask("go", {"role": "assistant", "content": "Calling look"}, "Observation: 4")
"""
    asks = says("", ("look", "{}"))
    async with program(write_program(tmp_path, code), tmp_path, asks, says("done")) as rig:
        await rig.run()
        result = rig.of(ToolResult)[0]
        assert (result.status, result.content) == ("done", "Observation: 4")
        assert result.reason == "as the agent wrote it in a message"


async def test_a_call_costs_what_the_model_costs_that_the_agent_names(tmp_path: Path) -> None:
    prices = {"openai:asked": Price(input=100_000, output=200_000)}
    asks = write_program(tmp_path, LOOP)
    model = ModelSettings(prices=prices)
    async with program(asks, tmp_path, says("five"), model=model) as rig:
        rig.model.name = AGENT
        await rig.run()
        assert rig.state.cost == pytest.approx(2.0)


async def test_a_steer_is_injected_after_the_results_and_stays_at_its_place(tmp_path: Path) -> None:
    asks = [says("", ("look", "{}"), ids="a"), says("", ("look", "{}"), ids="b"), says("done")]
    async with program(write_program(tmp_path, LOOP), tmp_path, *asks, mode="step") as rig:
        rig.session.send("go")
        await rig.until(lambda: rig.state.holds)
        rig.session.send("look left")
        rig.session.send("and right")
        rig.session.run_on()
        await rig.settled()
        begin = [("user", "go"), ("assistant", "<look>"), ("tool", "result of a1")]
        steered = [*begin, ("user", "look left"), ("user", "and right")]
        assert rig.asked(1) == begin[:1]
        assert rig.asked(2) == steered
        assert rig.asked(3) == [*steered, ("assistant", "<look>"), ("tool", "result of b1")]
        told = [(event.text, event.status, event.injected) for event in rig.of(Steer)]
        assert ("look left", "in_call", True) in told
        assert ("look left", "answered", True) in told
        assert [entry.status for entry in rig.state.entries if entry.kind == "steer"] == [
            "injected by host",
            "injected by host",
        ]


async def test_a_steer_that_no_call_took_returns(tmp_path: Path) -> None:
    async with program(write_program(tmp_path, LOOP), tmp_path, says("done"), mode="step") as rig:
        rig.session.send("go")
        await rig.until(lambda: rig.state.holds)
        rig.session.send("too late")
        rig.session.run_on()
        await rig.settled()
        assert rig.steers() == [("too late", "queued"), ("too late", "returned")]


async def test_parallel_calls_have_numbers_and_holds_of_their_own(tmp_path: Path) -> None:
    async with program(write_program(tmp_path, PARALLEL), tmp_path, echo, echo, echo, mode="step") as rig:
        rig.session.send("go")
        await rig.until(lambda: len(rig.state.holds) == 3)
        texts = {event.call: event.messages[-1]["content"] for event in rig.of(LlmRequestSent)}
        assert sorted(texts) == [1, 2, 3]
        assert sorted(texts.values()) == ["a", "b", "c"]
        hold = next(hold for hold in rig.state.holds if texts[hold.call] == "b")
        assert rig.session.decide(Decision("edit", completion=says("edited")), hold=hold.hold)
        await rig.until(lambda: len(rig.state.holds) == 2)
        assert "b" not in {texts[hold.call] for hold in rig.state.holds}
        rig.session.step(hold=rig.state.holds[1].hold)
        await rig.until(lambda: len(rig.state.holds) == 1)
        rig.session.run_on()
        await rig.settled()
        assert logged(rig, "stdout") == "echo a\nedited\necho c\n"
        assert rig.outcomes() == ["completed"]


async def test_parallel_conversations_keep_their_tool_calls_apart(tmp_path: Path) -> None:
    code = """
from concurrent.futures import ThreadPoolExecutor
def talk(name):
    first = ask(name)
    call = first["tool_calls"][0]
    result = {"role": "tool", "tool_call_id": call["id"], "content": name}
    return ask(name, first, result)["content"]
with ThreadPoolExecutor(2) as pool:
    print(*pool.map(talk, ["a", "b"]))
"""

    async def reply(request: ChatRequest, on_delta: Any) -> Completion:
        if request.messages[-1]["role"] == "tool":
            return says("said " + request.messages[-1]["content"])
        return says("", ("look", json.dumps({"for": request.messages[-1]["content"]})))

    async with program(write_program(tmp_path, code), tmp_path, *[reply] * 4, mode="step") as rig:
        rig.session.send("go")
        await rig.until(lambda: len(rig.state.holds) == 2)
        rig.session.run_on()
        await rig.settled()
        assert logged(rig, "stdout") == "said a said b\n"
        wanted = {event.call_id: event.arguments["for"] for event in rig.of(ToolCallStarted)}
        results = {event.call_id: event.content for event in rig.of(ToolResult)}
        assert len(wanted) == 2
        assert results == wanted


async def test_a_call_that_the_agent_gives_up_is_cut_off_and_fails_nothing(tmp_path: Path) -> None:
    code = """
import socket, urllib.error
socket.setdefaulttimeout(0.5)
try:
    ask("slow")
except (OSError, urllib.error.URLError):
    socket.setdefaulttimeout(None)
    print(ask("quick")["content"])
"""

    async def never(request: ChatRequest, on_delta: Any) -> Completion:
        await rig.until(lambda: False)
        raise AssertionError

    async with program(write_program(tmp_path, code), tmp_path, never, says("ok")) as rig:
        await rig.run()
        assert logged(rig, "stdout") == "ok\n"
        assert rig.outcomes() == ["completed"]
        cut = [event for event in rig.events if event.kind == "assistant_message" and event.partial]
        assert [event.call for event in cut] == [1]


# Whose parameters count


async def test_the_agents_own_parameters_are_kept(tmp_path: Path) -> None:
    command = write_program(
        tmp_path, 'ask("x", model="fake", temperature=0.2, max_tokens=50); ask("x", model="fake")'
    )
    async with program(command, tmp_path, echo, echo) as rig:
        await rig.run()
        sent = [(request.temperature, request.max_output_tokens) for request in rig.model.requests]
        assert sent == [(0.2, 50), (None, None)]
        assert [event.overridden for event in rig.of(LlmRequestSent)] == [{}, {}]


async def test_what_the_user_set_overrides_them_and_is_shown(tmp_path: Path) -> None:
    settings = ModelSettings(
        temperature=1.5,
        max_output_tokens=20,
        set_by_user=frozenset({"temperature", "max_output_tokens"}),
    )
    command = write_program(tmp_path, 'ask("x", temperature=0.2, max_tokens=50)')
    async with program(command, tmp_path, echo, model=settings) as rig:
        await rig.run()
        assert rig.model.requests[0].temperature == 1.5
        assert rig.model.requests[0].max_output_tokens == 20
        asked = {"model": "asked", "temperature": 0.2, "max_output_tokens": 50}
        assert rig.of(LlmRequestSent)[0].overridden == asked
        notes = [entry.text for entry in rig.state.entries if entry.status == "not as the agent asked"]
        assert notes == [
            "it asked for temperature 0.2, max_output_tokens 50, model asked; your settings say otherwise"
        ]
