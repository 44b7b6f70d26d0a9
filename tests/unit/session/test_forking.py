"""Forks of sessions: what is replayed, what is edited, and where the new session is live."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentscope_tui.bus import EventBus
from agentscope_tui.datasets.task import Task
from agentscope_tui.events import AgentNote, ErrorOccurred, Paused, SessionStarted, ToolResult, UsageReported
from agentscope_tui.models.chat import Completion, FunctionCall, ToolCallPart
from agentscope_tui.resources import runner_profiles
from agentscope_tui.runners.profile import load_profiles
from agentscope_tui.session.continuing import Continuation
from agentscope_tui.session.forking import (
    EditedArguments,
    EditedMessage,
    EditedReply,
    EditedResult,
    EditedSystem,
    Fork,
    NoSuchPlace,
    plan_of,
)
from agentscope_tui.store.past import PastSession
from fakes.engine import DEADLINE, FakeModel, FakeTools, Gatekeeper, returns, says
from fakes.session_rig import Rig

TASK = Task(0, 1, "one")


class Forked:
    """The fork of a session in memory; `model` and `tools` are the live ones."""

    def __init__(self, before: Rig, model: FakeModel, tools: FakeTools, **fork: Any) -> None:
        past = PastSession(list(before.events))
        own_results = fork.pop("own_results", False)
        own_runner = fork.pop("own_runner", False)
        going = Continuation.of(Fork(past, **fork), TASK, lambda target: None, own_results=own_results)
        replay = going.replay()
        assert replay is not None
        self.replay = replay
        self.plan = going.plan
        self.model = model
        self.tools = tools
        settings = going.applied_to(before.session.settings, TASK)
        self.rig = Rig(
            replay.model(model),
            replay.tools(tools),
            bus=EventBus("fork"),
            own_runner=own_runner,
            **{**vars(settings), "mode": "run"},
        )

    async def __aenter__(self) -> Forked:
        await self.rig.__aenter__()
        if self.rig._builtin is not None:
            await asyncio.wait_for(self.replay.run(self.rig.session), DEADLINE)
        return self

    async def __aexit__(self, kind: Any, *exc: object) -> None:
        await self.rig.__aexit__(kind, *exc)

    async def held(self, step: str) -> Paused:
        await self.rig.until(lambda: self.rig.state.holds)
        (hold,) = self.rig.state.holds
        assert hold.step == step
        return hold

    async def goes_on(self) -> list[tuple[str, str]]:
        """Let it run to the end of the turn; the first live request."""
        self.rig.session.run_on()
        await self.rig.settled()
        return [
            (message["role"], message.get("content") or "") for message in self.model.requests[0].messages
        ]


async def two_turns(**settings: Any) -> Rig:
    """`look` in calls #1 and #3; an answer in #2 and #4."""
    rig = Rig(
        FakeModel(
            says("I look", ("look", '{"at": "a"}'), ids="a"),
            says("it is red"),
            says("again", ("look", '{"at": "b"}'), ("look", '{"at": "c"}'), ids="b"),
            says("it is blue"),
        ),
        FakeTools(look=returns("seen")),
        **settings,
    )
    async with rig:
        await rig.run("one")
        await rig.run("two")
    return rig


async def test_a_result_that_is_edited_is_what_the_model_reads_next():
    before = await two_turns()
    live = FakeModel(says("it is green"))
    edit = EditedResult("b1", "green")
    async with Forked(before, live, FakeTools(look=returns("never")), call=3, edit=edit) as fork:
        await fork.held("tool_result")
        assert live.requests == []
        request = await fork.goes_on()
        assert fork.tools.called == []
        assert request[-2:] == [("tool", "green"), ("tool", "seen")]
        assert [result.content for result in fork.rig.of(ToolResult)] == ["seen", "green", "seen"]
        assert fork.rig.outcomes() == ["completed", "completed"]
        (started,) = fork.rig.of(SessionStarted)
        assert (started.parent, started.parent_call) == ("test", 4)
        assert started.change == "result of look in call #3: green"


async def test_replayed_calls_cost_no_tokens_and_keep_their_numbers():
    before = await two_turns()
    async with Forked(before, FakeModel(), FakeTools(look=returns("never")), call=2) as fork:
        await fork.held("tool_result")
        await fork.goes_on()
        spent = [(usage.call, usage.replayed) for usage in fork.rig.of(UsageReported)]
        assert spent == [(1, True), (2, False)]
        assert fork.rig.state.cost is None, "no price is known"
        assert len(fork.model.requests) == 1


async def test_an_edited_reply_is_held_and_its_tools_run_anew():
    before = await two_turns()
    parts = (ToolCallPart(id="a1", function=FunctionCall(name="look", arguments='{"at": "z"}')),)
    edit = EditedReply(Completion(text="elsewhere", tool_calls=parts, finish_reason="tool_calls"))
    live = FakeModel(says("done"))
    async with Forked(before, live, FakeTools(look=returns("zebra")), call=1, edit=edit) as fork:
        await fork.held("completion")
        assert fork.tools.called == []
        request = await fork.goes_on()
        assert fork.tools.called == [("look", {"at": "z"})]
        assert request == [("user", "one"), ("assistant", "elsewhere"), ("tool", "zebra")]
        assert fork.rig.outcomes() == ["completed"]


async def test_edited_arguments_are_what_the_model_seems_to_have_written():
    before = await two_turns()
    edit = EditedArguments("b2", '{"at": "y"}')
    live = FakeModel(says("done"))
    async with Forked(before, live, FakeTools(look=returns("new")), call=3, edit=edit) as fork:
        await fork.held("completion")
        await fork.goes_on()
        assert fork.tools.called == [("look", {"at": "b"}), ("look", {"at": "y"})]
        said = live.requests[0].messages[-3]
        assert [call["function"]["arguments"] for call in said["tool_calls"]] == [
            '{"at": "b"}',
            '{"at": "y"}',
        ]


async def test_an_edited_user_message_begins_its_turn_anew():
    before = await two_turns()
    (msg_id,) = [event.msg_id for event in before.events if event.kind == "user_message" and event.turn == 2]
    live = FakeModel(says("three it is"))
    async with Forked(
        before, live, FakeTools(look=returns("never")), call=4, edit=EditedMessage(msg_id, "three")
    ) as fork:
        await fork.held("completion")
        request = await fork.goes_on()
        assert request == [
            ("user", "one"),
            ("assistant", "I look"),
            ("tool", "seen"),
            ("assistant", "it is red"),
            ("user", "three"),
        ]
        assert fork.plan.call == 3


async def test_an_edited_system_prompt_is_in_all_requests_and_is_no_surprise():
    before = await two_turns(system="be brief")
    live = FakeModel(says("long"))
    async with Forked(
        before, live, FakeTools(look=returns("never")), call=2, edit=EditedSystem("be long")
    ) as fork:
        await fork.held("tool_result")
        request = await fork.goes_on()
        assert request[0] == ("system", "be long")
        assert [entry.status for entry in fork.rig.state.entries if entry.kind == "note"] == [
            "forked at call #2"
        ]


async def test_a_steer_is_edited_on_its_way():
    tool = Gatekeeper()
    before = Rig(FakeModel(says("", ("look", "{}"), ids="a"), says("steered")), FakeTools(look=tool.body))
    async with before:
        before.session.send("one")
        await tool.entered.wait()
        before.session.send("left")
        tool.let_go.set()
        await before.settled()
    (msg_id,) = {event.msg_id for event in before.events if event.kind == "steer"}
    live = FakeModel(says("right then"))
    async with Forked(
        before, live, FakeTools(look=returns("never")), call=2, edit=EditedMessage(msg_id, "right")
    ) as fork:
        await fork.held("tool_result")
        request = await fork.goes_on()
        assert request[-2:] == [("tool", "let go"), ("user", "right")]
        assert fork.rig.steers()[-1] == ("right", "answered")


async def test_temperature_and_model_are_those_of_the_fork():
    before = await two_turns()
    plan = plan_of(Fork(PastSession(before.events), 2, model="openai:x", temperature=0.0))
    assert (plan.model, plan.change) == ("openai:x", "model openai:x; temperature 0")
    async with Forked(before, FakeModel(), FakeTools(look=returns("")), call=2, temperature=0.0) as fork:
        await fork.goes_on()
        assert fork.model.requests[0].temperature == 0.0


async def test_a_fork_at_the_end_is_a_resume():
    before = await two_turns()
    async with Forked(before, FakeModel(), FakeTools(look=returns("never"))) as fork:
        assert fork.rig.state.status == "idle"
        assert fork.model.requests == []
        assert (fork.plan.call, fork.plan.change) == (5, "resumed")
        fork.rig.session.run_on()
        await fork.rig.run("three")
        assert len(fork.model.requests[0].messages) == 10


async def test_a_fork_of_a_fork_is_a_fork():
    before = await two_turns()
    live = FakeModel(says("it is green"))
    edit = EditedResult("a1", "green")
    async with Forked(before, live, FakeTools(look=returns("never")), call=1, edit=edit) as first:
        await first.goes_on()
        forked = first.rig
    async with Forked(
        forked, FakeModel(says("so green")), FakeTools(look=returns("never")), call=2
    ) as second:
        await second.held("tool_result")
        request = await second.goes_on()
        assert request[-1] == ("tool", "green")
        assert second.rig.of(SessionStarted)[0].parent == "fork"


async def test_a_request_that_is_not_the_recorded_one_is_told_once_with_the_difference():
    before = await two_turns()
    request = next(event for event in before.events if event.kind == "llm_request")
    place = before.events.index(request)
    said = [{"role": "user", "content": "another one"}]
    before.events[place] = request.model_copy(update={"messages": said, "digest": "0"})
    async with Forked(before, FakeModel(), FakeTools(look=returns("never")), call=4) as fork:
        notes = [(note.title, note.text) for note in fork.rig.of(AgentNote)]
        assert notes == [
            (
                "the request of call #1 is not the recorded one",
                "~ message 1 (user): another one → one",
            )
        ]
        assert fork.model.requests == []


async def test_a_recorded_tool_that_is_not_offered_here_answers_from_the_recording():
    before = await two_turns()
    async with Forked(before, FakeModel(says("ok")), FakeTools(), call=4) as fork:
        await fork.held("tool_result")
        request = await fork.goes_on()
        assert request[-1] == ("tool", "seen")


async def own_tools(rig: Rig) -> None:
    """A runner whose tool runs in its process, over two calls."""
    await rig.greet()
    await rig.say("one")
    await rig.runner.ask_model("r1", messages=[SYSTEM, {"role": "user", "content": "one"}])


SYSTEM = {"role": "system", "content": "mine"}
PROFILES = load_profiles(runner_profiles(), named="python", patience=None)


async def with_own_tools() -> Rig:
    before = Rig(
        FakeModel(says("", ("mine", "{}"), ids="a"), says("done")),
        FakeTools(),
        own_runner=True,
        profiles=PROFILES,
    )
    async with before:
        await own_tools(before)
        answer = (await before.runner.receive("llm_response"))["completion"]["choices"][0]["message"]
        result = {"role": "tool", "tool_call_id": "a1", "content": "own result"}
        asked = [SYSTEM, {"role": "user", "content": "one"}, answer, result]
        await before.runner.ask_model("r2", messages=asked)
        await before.runner.receive("llm_response")
        await before.runner.idle()
        await before.settled()
    return before


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (EditedResult("a1", "other"), ("mine", "other")),
        (EditedSystem("yours"), ("yours", "own result")),
    ],
)
async def test_what_an_agent_says_of_its_own_is_amended_by_the_host(edit: Any, expected: tuple[str, str]):
    before = await with_own_tools()
    call = 1 if isinstance(edit, EditedResult) else 2
    live = FakeModel(says("done otherwise"))
    async with Forked(before, live, FakeTools(), call=call, edit=edit, own_runner=True) as fork:
        assert fork.plan.runs_again == ["mine"]
        rig = fork.rig
        await rig.greet()
        replaying = asyncio.create_task(fork.replay.run(rig.session))
        await rig.runner.receive("user_message")
        await rig.runner.ask_model("r1", messages=[SYSTEM, {"role": "user", "content": "one"}])
        await asyncio.wait_for(replaying, DEADLINE)
        rig.session.run_on()
        answer = (await rig.runner.receive("llm_response"))["completion"]["choices"][0]["message"]
        result = {"role": "tool", "tool_call_id": "a1", "content": "own result"}
        asked = [SYSTEM, {"role": "user", "content": "one"}, answer, result]
        await rig.runner.ask_model("r2", messages=asked)
        await rig.runner.receive("llm_response")
        sent = live.requests[0].messages
        assert (sent[0]["content"], sent[3]["content"]) == expected
        assert "tools that run again" in [note.title for note in rig.of(AgentNote)]
        assert not any("not the recorded" in note.title for note in rig.of(AgentNote))
        await rig.runner.idle()
        await rig.settled()


async def test_results_of_tools_that_ran_elsewhere_answer_a_runner_that_asks_the_host():
    before = await with_own_tools()
    live = FakeModel(says("live"))
    async with Forked(before, live, FakeTools(), call=2, own_results=True) as fork:
        await fork.held("tool_result")
        request = await fork.goes_on()
        assert request[-1] == ("tool", "own result")


@pytest.mark.parametrize(
    "fork",
    [
        {"call": 9},
        {"call": 1, "edit": EditedResult("zz", "x")},
        {"call": 9, "edit": EditedReply(Completion(text="x"))},
        {"call": 1, "edit": EditedMessage("nobody", "x")},
    ],
)
async def test_a_place_that_is_not_there_is_refused(fork: dict[str, Any]):
    before = await two_turns()
    with pytest.raises(NoSuchPlace):
        plan_of(Fork(PastSession(before.events), **fork))


async def test_a_runner_that_ends_its_turn_too_early_is_told_of():
    before = await with_own_tools()
    written = next(event for event in before.events if event.kind == "assistant_message")
    place = before.events.index(written)
    before.events[place] = written.model_copy(update={"text": "run: mine", "tool_calls": []})
    async with Forked(before, FakeModel(says("live")), FakeTools(), call=2, own_results=True) as fork:
        (error,) = fork.rig.of(ErrorOccurred)
        assert "another way than recorded: it ended the turn" in error.message
        assert fork.rig.state.status == "idle"
        fork.rig.session.run_on()
        await fork.rig.run("go on")
        assert len(fork.model.requests) == 1


async def test_a_live_session_that_waits_is_forked_where_it_stands():
    before = Rig(
        FakeModel(says("I look", ("look", "{}"), ids="a"), says("red")),
        FakeTools(look=returns("seen")),
        mode="step",
    )
    async with before:
        before.session.send("one")
        await before.until(lambda: before.state.holds)
        so_far = list(before.events)
    before.events = so_far
    async with Forked(before, FakeModel(says("blue")), FakeTools(look=returns("new"))) as fork:
        await fork.held("completion")
        request = await fork.goes_on()
        assert request[-1] == ("tool", "new")
