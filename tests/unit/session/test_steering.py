"""Where a message goes that is sent while a turn runs: delivered once, in order, or given back."""

from __future__ import annotations

from agentscope_tui.events import Steer
from agentscope_tui.session.limits import Limits
from fakes.engine import FakeModel, FakeTools, Gatekeeper, returns, says
from fakes.session_rig import Rig

BASH = ("bash", "{}")


async def test_a_steer_during_a_tool_batch_follows_all_its_results() -> None:
    gate = Gatekeeper()
    model = FakeModel(says("", BASH, ("look", "{}")), says("done"))
    async with Rig(model, FakeTools(bash=gate.body, look=returns("seen"))) as rig:
        rig.session.send("go")
        await gate.entered.wait()
        rig.session.send("also this")
        rig.session.send("and that")
        gate.let_go.set()
        await rig.settled()
    assert rig.asked(2) == [
        ("user", "go"),
        ("assistant", "<bash><look>"),
        ("tool", "let go"),
        ("tool", "seen"),
        ("user", "also this"),
        ("user", "and that"),
    ]
    assert rig.steers() == [
        ("also this", "queued"),
        ("and that", "queued"),
        ("also this", "handed_over"),
        ("and that", "handed_over"),
        ("also this", "in_call"),
        ("and that", "in_call"),
        ("also this", "answered"),
        ("and that", "answered"),
    ]
    assert [steer.call for steer in rig.state.steers] == [2, 2]


async def test_a_steer_while_the_model_streams_its_last_reply_continues_the_turn() -> None:
    gate = Gatekeeper()
    model = FakeModel(gate.reply(says("done?")), says("done!"))
    async with Rig(model) as rig:
        rig.session.send("go")
        await gate.entered.wait()
        rig.session.send("not yet")
        gate.let_go.set()
        await rig.settled()
    assert rig.asked(2) == [("user", "go"), ("assistant", "done?"), ("user", "not yet")]
    assert rig.outcomes() == ["completed"]


async def test_a_steer_while_the_last_reply_is_held_continues_the_turn() -> None:
    model = FakeModel(says("done?"), says("done!"))
    async with Rig(model, mode="step") as rig:
        rig.session.send("go")
        await rig.until(lambda: rig.state.holds)
        rig.session.send("not yet")
        rig.session.run_on()
        await rig.settled()
    assert rig.asked(2)[-1] == ("user", "not yet")


async def test_a_steer_during_submit_revives_the_turn() -> None:
    model = FakeModel(
        says("", ("submit", '{"answer": "1"}')), says("", ("submit", '{"answer": "2"}'), ids="d")
    )
    async with Rig(model, mode="step") as rig:
        rig.session.step(fine=True)
        rig.session.send("go")
        await rig.until(lambda: any(hold.step == "completion" for hold in rig.state.holds))
        rig.session.step(fine=True)
        await rig.until(lambda: any(hold.step == "tool_call" for hold in rig.state.holds))
        rig.session.send("think again")
        rig.session.run_on()
        await rig.settled()
        assert rig.state.answer == "2"
    assert rig.asked(2)[-2:] == [("tool", "submitted"), ("user", "think again")]
    assert rig.outcomes() == ["completed"]


async def test_a_steer_during_a_batch_then_an_interrupt_gives_the_steer_back() -> None:
    gate = Gatekeeper()
    model = FakeModel(says("", BASH, BASH), says("ok"))
    async with Rig(model, FakeTools(bash=gate.body)) as rig:
        rig.session.send("go")
        await gate.entered.wait()
        rig.session.send("also this")
        rig.session.interrupt()
        assert rig.steers()[-1] == ("also this", "returned")
        await rig.settled()
        await rig.run("next")
    assert "also this" not in str(model.requests[1].messages)
    assert rig.outcomes() == ["interrupted", "completed"]


async def test_a_steer_on_the_last_allowed_call_gets_a_call_of_its_own() -> None:
    gate = Gatekeeper()
    model = FakeModel(says("", BASH), says("done"))
    async with Rig(model, FakeTools(bash=gate.body), limits=Limits(calls=1)) as rig:
        rig.session.send("go")
        await gate.entered.wait()
        rig.session.send("also this")
        gate.let_go.set()
        await rig.settled()
        assert rig.state.calls_used == 1
    assert rig.asked(2)[-1] == ("user", "also this")
    assert rig.outcomes() == ["completed"]


async def test_a_steer_that_no_call_is_left_for_is_given_back() -> None:
    gate = Gatekeeper()
    limits = Limits(calls=1, count_by="turn")
    async with Rig(FakeModel(says("", BASH), says("ok")), FakeTools(bash=gate.body), limits=limits) as rig:
        rig.session.send("go")
        await gate.entered.wait()
        rig.session.send("also this")
        gate.let_go.set()
        await rig.settled()
        await rig.run("next")
    assert rig.steers() == [("also this", "queued"), ("also this", "returned")]
    assert "also this" not in str(rig.model.requests[1].messages)
    assert rig.outcomes() == ["limit", "completed"]


async def test_a_steer_during_a_call_that_fails_is_given_back() -> None:
    gate = Gatekeeper()

    async def fails(request: object, on_delta: object) -> object:
        await gate.wait()
        raise RuntimeError("gone")

    async with Rig(FakeModel(fails), patient=False) as rig:
        rig.session.send("go")
        await gate.entered.wait()
        rig.session.send("hurry")
        gate.let_go.set()
        await rig.settled()
    assert rig.steers() == [("hurry", "queued"), ("hurry", "returned")]
    assert rig.outcomes() == ["failed"]


async def test_a_steer_that_a_runner_swallows_is_given_back() -> None:
    gate = Gatekeeper()
    async with Rig(FakeModel(), FakeTools(bash=gate.body), own_runner=True) as rig:
        await rig.greet()
        await rig.say()
        await rig.runner.ask_tool("r1", "bash")
        await gate.entered.wait()
        rig.session.send("hello?")
        gate.let_go.set()
        await rig.runner.receive("tool_response")
        await rig.runner.idle(cleared_steers=["whatever"])
        await rig.settled()
    assert [status for _, status in rig.steers()] == ["queued", "handed_over", "returned"]


async def test_a_steer_in_a_request_that_was_not_sent_is_not_given_back_but_goes_with_the_next() -> None:
    """The runner had put it into its conversation when the interrupt came: given back too, it would be
    said twice."""
    gate = Gatekeeper()
    async with Rig(FakeModel(says("ok")), FakeTools(bash=gate.body), own_runner=True) as rig:
        await rig.greet()
        await rig.say("go")
        await rig.runner.ask_tool("r1", "bash")
        await gate.entered.wait()
        rig.session.send("also this")
        gate.let_go.set()
        await rig.runner.receive("tool_response")
        await rig.runner.ask_model("r2", "go", "also this")
        rig.session.interrupt()
        assert (await rig.runner.receive("llm_response"))["error"] == "interrupted"
        await rig.runner.idle("aborted")
        await rig.settled()
        assert rig.steers()[-1] == ("also this", "handed_over")
        await rig.say("go on")
        await rig.runner.ask_model("r3", "go", "also this", "go on")
        await rig.runner.receive("llm_response")
    assert [status for _, status in rig.steers()] == ["queued", "handed_over", "in_call", "answered"]


async def test_a_steer_that_an_interrupted_call_took_is_answered_by_the_next_one() -> None:
    tool, call = Gatekeeper(), Gatekeeper()
    model = FakeModel(says("", BASH), call.reply(says("x")), says("ok"))
    async with Rig(model, FakeTools(bash=tool.body)) as rig:
        rig.session.send("go")
        await tool.entered.wait()
        rig.session.send("also this")
        tool.let_go.set()
        await call.entered.wait()
        rig.session.interrupt()
        await rig.settled()
        assert rig.steers()[-1] == ("also this", "in_call")
        await rig.run("next")
    last = rig.of(Steer)[-1]
    assert (last.status, last.call) == ("answered", 3)
    assert rig.asked(3).count(("user", "also this")) == 1


async def test_undelivered_steers_are_sent_as_the_next_turn_where_that_is_set() -> None:
    gate = Gatekeeper()
    model = FakeModel(says("", BASH), says("one"), says("two"))
    async with Rig(model, FakeTools(bash=gate.body), undelivered_steers="send") as rig:
        rig.session.send("go")
        await gate.entered.wait()
        rig.session.send("first")
        rig.session.send("second")
        rig.session.interrupt()
        await rig.until(lambda: len(rig.outcomes()) == 2)
        await rig.settled()
    assert "returned" not in [status for _, status in rig.steers()]
    assert [event.text for event in rig.events if event.kind == "user_message"] == ["go", "first"]
    assert rig.asked(3)[-1] == ("user", "second")


async def test_a_swallowed_steer_waits_again_where_undelivered_ones_are_sent() -> None:
    gate = Gatekeeper()
    tools = FakeTools(bash=gate.body)
    async with Rig(FakeModel(), tools, own_runner=True, undelivered_steers="send") as rig:
        await rig.greet()
        await rig.say()
        await rig.runner.ask_tool("r1", "bash")
        await gate.entered.wait()
        rig.session.send("hello?")
        gate.let_go.set()
        await rig.runner.receive("tool_response")
        await rig.runner.idle()
        message = await rig.runner.receive("user_message")
        assert message["text"] == "hello?"
        assert rig.state.steers == []
    assert [status for _, status in rig.steers()] == ["queued", "handed_over", "queued"]


async def test_what_still_waits_when_the_session_ends_is_given_back() -> None:
    async with Rig(FakeModel(), own_runner=True) as rig:
        await rig.greet()
        await rig.say()
        rig.session.send("a steer")
        rig.session.interrupt()
        rig.session.send("a next turn")
        await rig.session.end()
    assert rig.steers() == [
        ("a steer", "queued"),
        ("a steer", "returned"),
        ("a next turn", "queued"),
        ("a next turn", "returned"),
    ]


async def test_a_message_sent_while_starting_is_the_first_turn() -> None:
    async with Rig(FakeModel(), own_runner=True) as rig:
        rig.session.send("early")
        await rig.greet()
        assert (await rig.runner.receive("user_message"))["text"] == "early"
        assert rig.state.steers == []


# Edited, withdrawn, moved


async def test_a_steer_that_waits_can_be_edited_withdrawn_and_moved() -> None:
    gate = Gatekeeper()
    model = FakeModel(says("", BASH), says("done"))
    async with Rig(model, FakeTools(bash=gate.body)) as rig:
        rig.session.send("go")
        await gate.entered.wait()
        for text in ("a", "b", "c", "d"):
            rig.session.send(text)
        ids = {steer.text: steer.msg_id for steer in rig.state.steers}
        assert rig.session.edit_steer(ids["a"], "A")
        assert rig.session.withdraw_steer(ids["b"])
        assert rig.session.move_steer(ids["d"], 0)
        assert rig.session.move_steer(ids["c"], -7)
        shown = [steer.text for steer in rig.state.steers if steer.status == "queued"]
        assert shown == ["c", "d", "A"]
        gate.let_go.set()
        await rig.settled()
        for steer in rig.state.steers:
            assert not rig.session.edit_steer(steer.msg_id, "too late")
            assert not rig.session.withdraw_steer(steer.msg_id)
            assert not rig.session.move_steer(steer.msg_id, 0)
        assert not rig.session.edit_steer("never was", "x")
    assert rig.asked(2)[-3:] == [("user", "c"), ("user", "d"), ("user", "A")]


async def test_it_is_too_late_once_a_steer_is_handed_over() -> None:
    gate = Gatekeeper()
    async with Rig(FakeModel(), FakeTools(bash=gate.body), own_runner=True) as rig:
        await rig.greet()
        await rig.say()
        await rig.runner.ask_tool("r1", "bash")
        await gate.entered.wait()
        rig.session.send("hello")
        gate.let_go.set()
        message = await rig.runner.receive("user_message")
        assert not rig.session.withdraw_steer(message["msg_id"])
        assert not rig.session.edit_steer(message["msg_id"], "bye")


async def test_a_message_that_waits_for_the_idle_can_be_edited_too() -> None:
    async with Rig(FakeModel(), own_runner=True) as rig:
        await rig.greet()
        await rig.say()
        rig.session.interrupt()
        rig.session.send("tpyo")
        rig.session.edit_steer(rig.state.steers[0].msg_id, "typo")
        await rig.runner.idle("aborted")
        assert (await rig.runner.receive("user_message"))["text"] == "typo"
