"""Whatever is sent, steered, stepped and interrupted in whatever order: no message is lost or said twice."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentscope_tui.events import Steer, UserMessageSent
from agentscope_tui.models.chat import ChatRequest, Completion, Delta, ModelError
from agentscope_tui.session.limits import Limits
from agentscope_tui.tools.spec import OnOutput, ToolOutcome
from fakes.engine import DEADLINE, FakeTools, says
from fakes.session_rig import Rig

REPLIES = ("text", "one tool", "two tools", "submit", "broken call", "fail")
ACTIONS = (
    "send",
    "interrupt",
    "edit",
    "withdraw",
    "move",
    "step",
    "fine",
    "pause",
    "run",
    "retry",
    "give up",
)

replies = st.lists(st.tuples(st.sampled_from(REPLIES), st.integers(0, 4)), max_size=8)
schedule = st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 8)), max_size=14)


async def pass_turns(turns: int) -> None:
    for _ in range(turns):
        await asyncio.sleep(0)


class RandomModel:
    """Answers as drawn, after so many turns of the loop; then with text for ever."""

    name = "random"

    def __init__(self, drawn: list[tuple[str, int]]) -> None:
        self.drawn = drawn
        self.requests: list[ChatRequest] = []

    async def complete(
        self, request: ChatRequest, on_delta: Callable[[Delta], None], **_hooks: object
    ) -> Completion:
        self.requests.append(request)
        kind, turns = self.drawn.pop(0) if self.drawn else ("text", 1)
        on_delta(Delta(text="so "))
        await pass_turns(turns)
        match kind:
            case "fail":
                raise ModelError("gone")
            case "one tool":
                return says("", ("bash", "{}"))
            case "two tools":
                return says("so two", ("bash", "{}"), ("bash", '{"x": 1}'))
            case "submit":
                return says("", ("submit", '{"answer": "x"}'))
            case "broken call":
                return says("", ("bash", "{"), ("bash", "{}"))
            case _:
                return says("so it is")

    async def aclose(self) -> None:
        return None


async def bash(arguments: dict[str, Any], on_output: OnOutput) -> ToolOutcome:
    await on_output("stdout", b"working\n")
    await pass_turns(2)
    return ToolOutcome(content="done", side_effects=True)


class Driver:
    """Does what was drawn; every text that it sends is new."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.texts = 0
        self.moved = False

    def text(self) -> str:
        self.texts += 1
        return f"message {self.texts:03d}"

    def act(self, action: str) -> None:
        session = self.rig.session
        steers = self.rig.state.steers
        some = steers[-1].msg_id if steers else "none"
        match action:
            case "send":
                session.send(self.text())
            case "interrupt":
                session.interrupt()
            case "edit":
                session.edit_steer(some, self.text())
            case "withdraw":
                session.withdraw_steer(some)
            case "move":
                self.moved |= session.move_steer(some, 0)
            case "step" | "fine":
                session.step(fine=action == "fine")
            case "pause":
                session.pause()
            case "run":
                session.run_on()
            case "retry":
                session.retry()
            case "give up":
                session.give_up()

    async def finish(self) -> None:
        settled = asyncio.create_task(self.rig.session.settled())
        async with asyncio.timeout(DEADLINE):
            while not settled.done():
                self.rig.session.run_on()
                self.rig.session.give_up()
                await asyncio.sleep(0)


def said(request: ChatRequest) -> list[str]:
    return [str(message["content"]) for message in request.messages if message["role"] == "user"]


def check(rig: Rig, *, in_order: bool) -> None:
    fates: dict[str, Steer] = {event.msg_id: event for event in rig.of(Steer)}
    turns = {event.msg_id: event.text for event in rig.of(UserMessageSent)}
    requests = [said(request) for request in rig.model.requests]
    for texts in requests:
        assert max(Counter(texts).values()) == 1
    ever = list(dict.fromkeys(text for texts in requests for text in texts))
    for msg_id, last in fates.items():
        if msg_id in turns:
            continue
        assert last.status in ("answered", "returned", "withdrawn", "in_call", "handed_over")
        if last.status == "answered":
            assert any(last.text in texts for texts in requests)
        if last.status in ("returned", "withdrawn"):
            assert last.text not in ever
    if in_order:
        assert ever == sorted(ever)
    for request in rig.model.requests:
        check_form(request)


def check_form(request: ChatRequest) -> None:
    """Each tool call is followed by its one result before anything else is said."""
    due: list[str] = []
    for message in request.messages:
        if message["role"] == "tool":
            due.remove(message["tool_call_id"])
        else:
            assert due == []
            due = [call["id"] for call in message.get("tool_calls") or []]
    assert due == []


async def scenario(
    drawn: list[tuple[str, int]], actions: list[tuple[str, int]], mode: str, undelivered: str, limits: Limits
) -> None:
    tools = FakeTools(bash=bash)
    rig = Rig(RandomModel(drawn), tools, mode=mode, undelivered_steers=undelivered, limits=limits)
    async with rig:
        driver = Driver(rig)
        rig.session.send(driver.text())
        for action, turns in actions:
            driver.act(action)
            await pass_turns(turns)
        await driver.finish()
        check(rig, in_order=not driver.moved and not any(action == "edit" for action, _ in actions))


@settings(
    max_examples=120,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
    database=None,
)
@given(
    replies,
    schedule,
    st.sampled_from(["run", "step"]),
    st.sampled_from(["return", "send"]),
    st.sampled_from([Limits(), Limits(calls=2, tool_actions=1), Limits(calls=2, count_by="turn")]),
)
def test_no_message_is_lost_or_said_twice(
    drawn: list[tuple[str, int]], actions: list[tuple[str, int]], mode: str, undelivered: str, limits: Limits
) -> None:
    asyncio.run(scenario(drawn, actions, mode, undelivered, limits))


BUSY = [("two tools", 2), ("one tool", 1), ("text", 2), ("submit", 0)]
EVERY_MOMENT = range(48)
"""Loop turns into a turn that makes three calls and uses three tools; it takes about that many."""


@pytest.mark.parametrize(
    ("undelivered", "scope"), [("return", "session"), ("send", "session"), ("return", "turn")]
)
async def test_a_steer_and_an_interrupt_at_every_moment(undelivered: str, scope: str) -> None:
    for moment in EVERY_MOMENT:
        for between in (0, 6):
            rig = Rig(
                RandomModel(list(BUSY)),
                FakeTools(bash=bash),
                undelivered_steers=undelivered,
                conversation_scope=scope,
            )
            async with rig:
                driver = Driver(rig)
                rig.session.send(driver.text())
                await pass_turns(moment)
                driver.act("send")
                await pass_turns(between)
                driver.act("interrupt")
                await rig.settled()
                await rig.run(driver.text())
                check(rig, in_order=True)


async def test_an_end_at_every_moment() -> None:
    for moment in EVERY_MOMENT:
        async with Rig(RandomModel(list(BUSY)), FakeTools(bash=bash)) as rig:
            driver = Driver(rig)
            rig.session.send(driver.text())
            await pass_turns(moment)
            if rig.state.status == "running":
                driver.act("send")
            await rig.end()
            assert rig.tools.closed
            check(rig, in_order=True)
            assert "queued" not in [steer.status for steer in rig.state.steers]
