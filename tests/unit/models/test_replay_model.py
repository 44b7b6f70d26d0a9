"""The model that answers from a recording: by request, in order, and what it says of what is not recorded."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_tui.bus import EventBus
from agentscope_tui.events import AgentNote, AssistantDelta, AssistantMessage, UsageReported
from agentscope_tui.masked_events import masked_event
from agentscope_tui.models.chat import ChatRequest, Completion, Delta, Message, ModelError, Usage
from agentscope_tui.models.replay import ReplayModel
from agentscope_tui.secrets import MASKER
from agentscope_tui.session.gate import Decision
from agentscope_tui.session.recording import Recording, recorded_answers
from agentscope_tui.session.settings import ModelSettings, Price
from fakes.engine import FakeModel, FakeTools, Gatekeeper, returns, says
from fakes.session_rig import Rig

LOOK = ("look", "{}")
COURSE = (says("I look.", LOOK), says("Again.", LOOK, ids="d"), says("done"))


async def record(*replies: Any, text: str = "go", name: str = "before", **settings: Any) -> Rig:
    """A session of one turn that has ended."""
    rig = Rig(FakeModel(*replies), FakeTools(look=returns("seen")), bus=EventBus(name), **settings)
    async with rig:
        await rig.run(text)
    return rig


def recording_of(*rigs: Rig) -> Recording:
    return Recording(
        answer for rig in rigs for answer in recorded_answers(rig.events[0].session_id, rig.events)
    )


def model_of(*rigs: Rig, **options: Any) -> ReplayModel:
    return ReplayModel(recording_of(*rigs), name="replay:before", **options)


async def replayed(replay: ReplayModel, text: str = "go", seen: str = "seen", **settings: Any) -> Rig:
    """The same agent again, with answers from the recording; a failed call is given up at once."""
    tools = FakeTools(look=returns(seen))
    rig = Rig(replay, tools, bus=EventBus("after"), patient=False, **settings)
    async with rig:
        await rig.run(text)
    return rig


def answers(rig: Rig) -> list[tuple[str, list[tuple[str, str]]]]:
    """The text of each whole answer, and the ids and names of its calls."""
    return [
        (event.text, [(part.id, part.function.name) for part in event.tool_calls])
        for event in rig.of(AssistantMessage)
        if not event.partial
    ]


def user(text: str) -> Message:
    return {"role": "user", "content": text}


async def ask(model: ReplayModel, *messages: Message) -> Completion:
    return await model.complete(ChatRequest(messages=list(messages)), lambda piece: None)


async def refusal(model: ReplayModel, *messages: Message) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await ask(model, *messages)
    assert caught.value.kind == "not_recorded"
    assert "\n" not in str(caught.value)
    return caught.value


async def test_the_same_agent_gets_the_same_answers() -> None:
    before = await record(*COURSE)
    after = await replayed(model_of(before))
    assert after.outcomes() == ["completed"]
    assert answers(after) == answers(before)


@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(st.text(max_size=30), st.lists(st.sampled_from(["look", "peek", "nothing"]), max_size=3)),
        min_size=1,
        max_size=6,
    )
)
def test_any_session_replays_to_the_same_answers(course: list[tuple[str, list[str]]]) -> None:
    replies = [
        says(text, *[(name, '{"a": 1}') for name in names], ids=f"{place}_")
        for place, (text, names) in enumerate(course)
    ]

    async def run() -> None:
        before = await record(*replies)
        after = await replayed(model_of(before))
        assert answers(after) == answers(before)
        assert after.outcomes() == before.outcomes()
        in_order = await replayed(model_of(before, mode="order"), seen="something else")
        assert answers(in_order) == answers(before)

    asyncio.run(run())


async def test_a_request_that_is_not_recorded_fails_and_says_what_differs() -> None:
    before = await record(*COURSE, system="Be careful.")
    after = await replayed(model_of(before), system="Be quick.")
    [error] = [event for event in after.events if event.kind == "error"]
    assert "differs from call #1 of before: ~ message 1 (system): Be careful. → Be quick." in error.message
    assert "--replay order" in error.detail
    assert after.outcomes() == ["failed"]


async def test_the_nearest_request_is_the_one_that_goes_as_far() -> None:
    model = model_of(await record(*COURSE))
    assert (await ask(model, user("go"))).text == "I look."
    after = await replayed(model_of(await record(*COURSE)), seen="not that")
    [error] = [event for event in after.events if event.kind == "error"]
    assert "call #2 of before: ~ message 3 (tool): seen → not that" in error.message


async def test_a_request_that_was_asked_twice_has_its_answers_in_order() -> None:
    rig = Rig(FakeModel(says("one"), says("two")), bus=EventBus("before"), conversation_scope="turn")
    async with rig:
        await rig.run("go")
        await rig.run("go")
    model = model_of(rig)
    assert [(await ask(model, user("go"))).text for _ in range(2)] == ["one", "two"]
    error = await refusal(model, user("go"))
    assert "asked once more after call #2 of before" in str(error)


async def test_each_session_has_its_own_state() -> None:
    recording = recording_of(await record(says("one")))
    models = [ReplayModel(recording, name="r") for _ in range(2)]
    assert [(await ask(model, user("go"))).text for model in models] == ["one", "one"]


async def test_answers_of_several_sessions_come_from_the_one_that_began() -> None:
    first = await record(says("a1", LOOK), says("a2"), name="a")
    second = await record(says("b1", LOOK), says("a2", LOOK, ids="d"), says("b3"), text="other", name="b")
    again = await record(says("c1", LOOK), says("c2"), name="c")
    recording = recording_of(first, second, again)
    after = await replayed(ReplayModel(recording, name="r"))
    assert [text for text, _ in answers(after)] == ["a1", "a2"]
    after = await replayed(ReplayModel(recording, name="r"), text="other")
    assert [text for text, _ in answers(after)] == ["b1", "a2", "b3"]


async def test_in_order_a_difference_is_a_note_and_told_once() -> None:
    before = await record(*COURSE)
    after = await replayed(model_of(before, mode="order"), text="go on")
    assert answers(after) == answers(before)
    [note] = after.of(AgentNote)
    assert "differs from call #1 of before" in note.text
    assert "go → go on" in note.text
    assert after.outcomes() == ["completed"]


async def test_in_order_there_is_an_end() -> None:
    model = model_of(await record(says("only")), mode="order")
    await ask(model, user("anything"))
    assert "there are only 1 answers" in str(await refusal(model, user("more")))


async def test_what_was_cut_off_is_not_given() -> None:
    keeper = Gatekeeper()
    rig = Rig(FakeModel(keeper.reply(says("whole"), before="half"), says("later")), bus=EventBus("before"))
    async with rig:
        rig.session.send("go")
        await keeper.entered.wait()
        rig.session.interrupt()
        await rig.settled()
        await rig.run("again")
    assert "call #1 of before was cut off" in str(await refusal(model_of(rig), user("go")))
    assert (await ask(model_of(rig, mode="order"), user("again"))).text == "later"


async def test_a_failure_is_a_failure_again_but_not_one_that_was_sent_again() -> None:
    failed = await record(ModelError("the server is on fire", kind="server"), patient=False)
    with pytest.raises(ModelError, match="the server is on fire") as caught:
        await ask(model_of(failed), user("go"))
    assert caught.value.kind == "recorded"
    rig = Rig(FakeModel(ModelError("busy"), says("there you are")))
    async with rig:
        rig.session.send("go")
        await rig.until(lambda: rig.state.holds)
        rig.session.retry()
        await rig.settled()
    assert (await ask(model_of(rig), user("go"))).text == "there you are"


async def test_an_edited_answer_counts_as_edited() -> None:
    rig = Rig(FakeModel(says("wrong")), mode="step")
    async with rig:
        rig.session.send("go")
        await rig.until(lambda: rig.state.holds)
        rig.session.decide(Decision("edit", completion=says("right")))
        await rig.settled()
    assert (await ask(model_of(rig), user("go"))).text == "right"


async def test_tokens_are_as_recorded_and_cost_nothing() -> None:
    before = await record(*COURSE)
    prices = {"replay:before": Price(1.0, 1.0), "fake": Price(1.0, 1.0)}
    after = await replayed(model_of(before), model=ModelSettings(prices=prices))
    used = after.of(UsageReported)
    assert [(event.input_tokens, event.output_tokens, event.cost, event.replayed) for event in used] == [
        (10, 5, 0.0, True)
    ] * 3
    assert after.state.cost == 0.0
    assert all(entry.replayed for entry in after.state.entries if entry.kind == "assistant")


async def test_what_is_not_recorded_goes_to_a_live_model_and_costs_its_price() -> None:
    before = await record(*COURSE)
    live = FakeModel(says("I know better."))
    prices = {"fake": Price(1_000_000.0, 0.0)}
    model = model_of(before, fallback=live)
    after = await replayed(model, seen="new", model=ModelSettings(prices=prices))
    assert [text for text, _ in answers(after)] == ["I look.", "I know better."]
    [note] = after.of(AgentNote)
    assert note.text.startswith("Not recorded: ")
    assert note.text.endswith("fake answers.")
    assert [event.cost for event in after.of(UsageReported)] == [None, 10.0]
    assert [event.replayed for event in after.of(UsageReported)] == [True, False]
    assert live.closed


async def test_a_live_model_that_fails_is_paid_too() -> None:
    live = FakeModel(ModelError("gone", usage=Usage(input_tokens=3)))
    after = await replayed(
        model_of(await record(*COURSE), fallback=live),
        text="new",
        model=ModelSettings(prices={"fake": Price(1_000_000.0, 0.0)}),
    )
    assert [event.cost for event in after.of(UsageReported)] == [3.0]


async def test_answers_come_at_once_or_at_a_speed() -> None:
    before = await record(says("one two three", ("look", '{"a": 1}')), says("bye"))
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    for speed, pieces in ((None, 1), (20.0, 6)):
        deltas: list[Delta] = []
        model = model_of(before, tokens_per_second=speed, sleep=sleep)
        completion = await model.complete(ChatRequest(messages=[user("go")]), deltas.append)
        assert "".join(delta.text for delta in deltas) == completion.text == "one two three"
        parts = [part for delta in deltas for part in delta.tool_calls]
        assert "".join(part.arguments for part in parts) == '{"a": 1}'
        assert [part.id for part in parts if part.id] == ["c1"]
        assert len(deltas) == pieces
    assert slept == [0.05] * 6


async def test_a_call_can_be_cancelled_while_it_streams() -> None:
    entered = asyncio.Event()

    async def sleep(seconds: float) -> None:
        entered.set()
        await asyncio.Event().wait()

    model = model_of(await record(says("one")), tokens_per_second=1.0, sleep=sleep)
    rig = Rig(model)
    async with rig:
        rig.session.send("go")
        await entered.wait()
        rig.session.interrupt()
        await rig.settled()
        assert rig.outcomes() == ["interrupted"]


async def test_masked_secrets_still_match() -> None:
    secret = "hunter2hunter2hunter2"
    MASKER.learn([secret])
    before = await record(*COURSE, text=f"the password is {secret}")
    before.events[:] = [masked_event(event, MASKER) for event in before.events]
    assert secret not in str(before.events)
    exact = await ask(model_of(before), user(f"the password is {secret}"))
    assert exact.text == "I look."
    MASKER.learn(["correct horse battery"])
    other = await ask(model_of(before), user("the password is correct horse battery"))
    assert other.text == "I look."
    assert secret not in str(await refusal(model_of(before), user(f"no, the password is {secret}")))


SPELLINGS: dict[str, Callable[[Message], Message]] = {
    "without text": lambda message: {**message, "content": message["content"] or None},
    "text in parts": lambda message: {**message, "content": [{"type": "text", "text": message["content"]}]},
    "marked for a cache": lambda message: {
        **message,
        "content": [
            {"type": "text", "text": message["content"], "cache_control": {"type": "ephemeral"}},
        ],
    },
    "other ids": lambda message: {
        **message,
        **({"tool_call_id": "x"} if "tool_call_id" in message else {}),
        "tool_calls": [{**call, "id": "x"} for call in message.get("tool_calls", [])],
    },
    "with reasoning": lambda message: (
        {**message, "reasoning_content": "hm"} if message["role"] == "assistant" else message
    ),
    "as a developer": lambda message: {
        **message,
        "role": "developer" if message["role"] == "system" else message["role"],
    },
    "other spaces": lambda message: {
        **message,
        "tool_calls": [
            {**call, "function": {**call["function"], "arguments": json.dumps({}, indent=4)}}
            for call in message.get("tool_calls", [])
        ],
    },
}


@pytest.mark.parametrize("spell", SPELLINGS.values(), ids=SPELLINGS.keys())
async def test_another_spelling_is_the_same_request(spell: Callable[[Message], Message]) -> None:
    before = await record(*COURSE, system="Be careful.")
    asked = before.state.request_messages(2)
    model = model_of(before)
    assert (await ask(model, *map(spell, asked))).text == "Again."


async def test_where_a_session_has_its_files_is_no_difference() -> None:
    told = 'in "/home/me/.local/state/agentscope/sessions/{}/files/a.py", line 1'
    one, other = told.format("20260101-120000-row3-0a1b"), told.format("20270202-130000-row12-ffff")
    before = await record(*COURSE, text=one)
    assert (await ask(model_of(before), user(other))).text == "I look."
    elsewhere = await refusal(model_of(before), user(other.replace("a.py", "b.py")))
    assert '→ in "./files/b.py"' in str(elsewhere)


async def test_what_nobody_can_read_is_not_recorded() -> None:
    model = model_of(await record(*COURSE))
    odd = {"role": "assistant", "content": 3, "tool_calls": [None, {"function": {"arguments": "{" * 9}}]}
    assert "differs" in str(await refusal(model, user("go"), odd))


async def test_reasoning_and_what_a_provider_needs_back_is_given_again() -> None:
    thinking = says("I look.", LOOK).model_copy(
        update={
            "reasoning": "hm",
            "reasoning_field": "reasoning_content",
            "extra": {"reasoning_details": [{"signature": "abc"}]},
        }
    )
    before = await record(thinking, says("done"))
    model = model_of(before)
    completion = await ask(model, user("go"))
    assert completion.message() == thinking.message()
    after = await replayed(model_of(before))
    assert [event.digest for event in after.events if event.kind == "llm_request"] == [
        event.digest for event in before.events if event.kind == "llm_request"
    ]
    assert "".join(event.reasoning for event in after.of(AssistantDelta)) == "hm"


async def test_an_answer_that_was_given_before_is_used_up() -> None:
    model = model_of(await record(*COURSE))
    model.skip([user("go")])
    model.skip([user("never asked")])
    assert "once more" in str(await refusal(model, user("go")))


async def test_calls_at_the_same_time_get_each_its_own() -> None:
    one = await record(says("a"), text="first", name="one")
    two = await record(says("b"), text="second", name="two")
    model = model_of(one, two)
    asking: list[Awaitable[Completion]] = [ask(model, user("second")), ask(model, user("first"))]
    assert [completion.text for completion in await asyncio.gather(*asking)] == ["b", "a"]
