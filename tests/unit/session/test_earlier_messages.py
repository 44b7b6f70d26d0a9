"""A session that starts with a conversation: every request has it, whoever the runner is, and it is shown."""

from __future__ import annotations

from typing import Any

import pytest

from agentscope_tui.events import LlmRequestSent, SessionStarted
from agentscope_tui.session.earlier import EarlierMessages, told
from agentscope_tui.tui.present.transcript import block_of
from fakes.engine import FakeModel, FakeTools, returns, says
from fakes.session_rig import Rig

CALL = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"at": "x"}'}}
HISTORY: list[dict[str, Any]] = [
    {"role": "user", "content": "Hello"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_1", "content": "seen"},
    {"role": "assistant", "content": "Hi"},
]
TOLD = [("user", "Hello"), ("assistant", "<look>"), ("tool", "seen"), ("assistant", "Hi")]


async def test_every_request_has_the_history_after_the_system_prompt():
    model = FakeModel(says("one"), says("two"))
    async with Rig(model, system="Be brief.", earlier=EarlierMessages(HISTORY)) as rig:
        await rig.run("first")
        await rig.run("second")
        assert rig.asked(1) == [("system", "Be brief."), *TOLD, ("user", "first")]
        assert rig.asked(2) == [*rig.asked(1), ("assistant", "one"), ("user", "second")]


async def test_each_turn_of_its_own_starts_with_the_history():
    model = FakeModel(says("one"), says("two"))
    async with Rig(model, earlier=EarlierMessages(HISTORY), conversation_scope="turn") as rig:
        await rig.run("first")
        await rig.run("second")
        assert rig.asked(2) == [*TOLD, ("user", "second")]


async def test_a_runner_of_its_own_needs_not_know():
    model = FakeModel(says("done"))
    async with Rig(model, own_runner=True, earlier=EarlierMessages(HISTORY)) as rig:
        start = await rig.greet()
        assert "history" not in start
        await rig.say()
        system = [{"role": "system", "content": "a"}, {"role": "developer", "content": "b"}]
        await rig.runner.ask_model("r1", messages=[*system, {"role": "user", "content": "go"}])
        await rig.runner.receive("llm_response")
        await rig.runner.idle()
        await rig.settled()
        assert rig.asked(1) == [("system", "a"), ("developer", "b"), *TOLD, ("user", "go")]


async def test_what_is_recorded_is_what_was_sent():
    model = FakeModel(says("one"), says("two"))
    async with Rig(model, earlier=EarlierMessages(HISTORY)) as rig:
        await rig.run("first")
        await rig.run("second")
        started, *_ = rig.of(SessionStarted)
        assert started.history == HISTORY
        assert rig.state.request_messages(2) == model.requests[1].messages
        first, second = rig.of(LlmRequestSent)
        assert len(first.messages) == len(HISTORY) + 1
        assert (second.base, second.kept, len(second.messages)) == (1, len(HISTORY) + 1, 2)


async def test_a_new_call_has_no_id_of_the_history():
    model = FakeModel(says("", ("look", '{"at": "y"}'), ids="call_"), says("done"))
    tools = FakeTools(look=returns("new"))
    async with Rig(model, tools, earlier=EarlierMessages(HISTORY)) as rig:
        await rig.run("go")
        *_, call, result = model.requests[1].messages
        assert call["tool_calls"][0]["id"] == result["tool_call_id"] != "call_1"
        assert result["content"] == "new"
        assert [message.get("content") for message in model.requests[1].messages[:4]] == [
            "Hello",
            None,
            "seen",
            "Hi",
        ]


async def test_a_history_that_no_provider_takes_is_mended_and_told_once():
    model = FakeModel(says("one"), says("two"))
    stray = {"role": "tool", "tool_call_id": "call_9", "content": "stray"}
    async with Rig(model, earlier=EarlierMessages([*HISTORY[:2], stray])) as rig:
        await rig.run("first")
        await rig.run("second")
        mended = ("tool", "The call was not run.")
        assert rig.asked(2)[:4] == [*TOLD[:2], mended, ("user", "first")]
        assert [event.repairs for event in rig.of(LlmRequestSent)] == [
            [
                "left out a result of call_9, which no message calls",
                "added the missing result of look (call_1)",
            ],
            [],
        ]


async def test_the_transcript_shows_earlier_messages_first():
    async with Rig(FakeModel(says("one")), earlier=EarlierMessages(HISTORY)) as rig:
        await rig.run("first")
        blocks = [block_of(rig.state, position) for position in range(len(rig.state.entries))]
        assert [(block.title, block.body) for block in blocks[:5]] == [
            ("user", "Hello"),
            ("assistant", '→ look {"at": "x"}'),
            ("tool", "seen"),
            ("assistant", "Hi"),
            ("user", "first"),
        ]
        assert all(block.margin == ("earlier",) and block.tone == "muted" for block in blocks[:4])
        assert [block.folded for block in blocks[:4]] == [False, False, True, False]


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "ab"),
        ({"role": "assistant", "content": "I look.", "tool_calls": [CALL]}, 'I look.\n→ look {"at": "x"}'),
        ({"role": "assistant"}, ""),
    ],
)
def test_a_message_is_told_with_its_calls(message, text):
    assert told(message) == text
