"""A session's runner: how it begins and ends, whether it answers, how long it waits, what it logs."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest

from agentscope_tui.bus import EventBus
from agentscope_tui.errors import UserError
from agentscope_tui.events import Event, Paused, Resumed, RunnerHealth, RunnerLogged, ToolResult
from agentscope_tui.models.chat import ModelError
from agentscope_tui.runners.profile import Profile, Profiles
from agentscope_tui.session.gate import Decision
from agentscope_tui.session.runner_log import MAX_LOGGED, RunnerLog
from agentscope_tui.session.session import SessionError
from agentscope_tui.wire.channel import MemoryChannel, memory_channel
from fakes.engine import FakeModel, FakeTools, Gatekeeper, returns, says
from fakes.processes import alive, mark, process_rig, program
from fakes.session_rig import Rig
from waiting import wait_until

READY = 'send("hello", name="test"); start = receive(); send("state", status="idle", turns=0)\n'


def waits(seconds: float) -> Profiles:
    """Profiles for a runner that lets an answer wait this long."""
    return Profiles({"default": Profile(patience=seconds)})


# How it begins and ends


async def test_files_limits_and_scope_reach_the_runner() -> None:
    settings = {"files": {"src/agent.ts": "x"}, "context_window": 32_000, "conversation_scope": "turn"}
    async with Rig(FakeModel(), own_runner=True, **settings) as rig:
        start = await rig.greet()
        assert {name: start[name] for name in settings} == settings
        assert (start["turn_cap"], start["max_output_tokens"], start["temperature"]) == (60, 4096, 0.7)


async def test_a_request_id_may_be_a_number_and_is_given_back_as_one() -> None:
    async with Rig(FakeModel(says("hi")), FakeTools(look=returns("x")), own_runner=True) as rig:
        await rig.greet()
        await rig.say()
        body = {"messages": [{"role": "user", "content": "go"}]}
        await rig.runner.send("llm_request", req_id=7, openai_body=body)
        assert (await rig.runner.receive("llm_response"))["req_id"] == 7
        await rig.runner.send("tool_request", req_id=8, name="look", arguments={})
        assert (await rig.runner.receive("tool_response"))["req_id"] == 8
        await rig.runner.idle()
        await rig.settled()


async def test_what_the_runner_is_shows_in_the_state() -> None:
    async with Rig(FakeModel(), own_runner=True, profiles=waits(5)) as rig:
        await rig.greet()
        runner = rig.state.runner
        assert (runner.hello, runner.profile, runner.patience) == ({"node_version": "22"}, "default", 5.0)


async def test_a_channel_that_cannot_be_opened_fails_the_start_with_its_reason() -> None:
    class Closed(MemoryChannel):
        async def open(self) -> None:
            raise UserError("nobody is there: start it first")

    ours, _ = memory_channel()
    rig = Rig(FakeModel(), channel=Closed(ours._incoming, ours._outgoing))
    with pytest.raises(SessionError, match="nobody is there: start it first"):
        await rig.session.start()
    assert rig.session.status == "failed"
    await rig.end()


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (
            "print('no such module', file=sys.stderr); sys.exit(3)",
            "exited with status 3; the end of its log: no such",
        ),
        (READY + "os.kill(os.getpid(), 9)", "was killed by SIGKILL"),
        (READY + "os.close(1); time.sleep(1000)", "closed its standard output"),
        (READY + "send('tool_request', req_id=1, name=5)", "broke the protocol: bad tool_request frame"),
        (READY + "send('episode_error', note='it broke'); time.sleep(1000)", "it broke"),
    ],
)
async def test_why_it_failed_is_told(tmp_path: Path, source: str, words: str) -> None:
    rig = process_rig(program(source), tmp_path, FakeModel(), FakeTools())
    with suppress(SessionError):  # as the case is, it fails at the start or right after
        await rig.session.start()
    await rig.until(lambda: rig.has("session_ended", status="failed"))
    assert words in rig.events[-1].reason
    await rig.end()


async def test_quitting_ends_a_runner_that_does_not_want_to(tmp_path: Path) -> None:
    word = mark()
    stubborn = f"import signal; word = {word!r}; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    async with process_rig(
        program(stubborn + READY + "time.sleep(1000)"), tmp_path, FakeModel(), FakeTools()
    ):
        assert len(alive(word)) == 1
    assert alive(word) == []


async def test_a_flood_of_frames_and_of_log_leaves_the_session_usable(tmp_path: Path) -> None:
    flood = (
        READY
        + """
while True:
    send("transport_keepalive", filler="x" * 1000)
    print("noise " * 20)
"""
    )
    async with process_rig(program(flood), tmp_path, FakeModel(), FakeTools()) as rig:
        logged = lambda: sum(len(event.text) for event in rig.of(RunnerLogged))  # noqa: E731
        await wait_until(lambda: logged() > MAX_LOGGED * 0.9, seconds=60)
        rig.session.send("still here?")
        rig.session.interrupt()
        assert rig.session.status == "interrupting"
        assert logged() < MAX_LOGGED * 1.1
        assert len(rig.of(RunnerLogged)) < 5000


# Whether it answers


async def test_a_runner_that_hangs_is_shown_and_so_is_that_it_is_back() -> None:
    async with Rig(FakeModel(), own_runner=True, ping_every=0.02, ping_timeout=0.05) as rig:
        await rig.greet()
        await rig.until(lambda: rig.has("runner_health", answering=False))
        assert not rig.state.runner.answering
        while not rig.has("runner_health", answering=True):
            ping = await rig.runner.receive("ping")
            await rig.runner.send("pong", nonce=ping["nonce"])
        assert rig.state.runner.answering


async def test_a_runner_that_answers_is_never_shown_as_hanging(tmp_path: Path) -> None:
    thinking = Gatekeeper()
    model = FakeModel(thinking.reply(says("done")))
    async with Rig(model, ping_every=0.01, ping_timeout=5.0) as rig:
        rig.session.send("go")
        await thinking.entered.wait()
        await asyncio.sleep(0.2)
        thinking.let_go.set()
        await rig.settled()
        assert rig.of(RunnerHealth) == []


async def test_a_pong_for_another_ping_counts_for_nothing() -> None:
    async with Rig(FakeModel(), own_runner=True, ping_every=0.02, ping_timeout=0.2) as rig:
        await rig.greet()
        await rig.runner.receive("ping")
        await rig.runner.send("pong", nonce="something else")
        await rig.until(lambda: rig.has("runner_health", answering=False))


# How long it waits


async def test_a_runner_with_patience_is_held_at_its_first_tool_request() -> None:
    model = FakeModel(says("", ("look", "{}"), ("look", "{}")), says("done"))
    tools = FakeTools(look=returns("x"))
    async with Rig(model, tools, mode="step", profiles=waits(100)) as rig:
        rig.session.send("go")
        await rig.until(lambda: rig.of(Paused))
        [paused] = rig.of(Paused)
        assert (paused.step, paused.call_id, paused.patience) == ("tool_call", "c1", None)
        assert tools.called == []
        assert rig.session.decide(Decision("edit", arguments={"at": "b"}))
        await rig.until(lambda: len(rig.of(Paused)) == 2)
        assert tools.called == [("look", {"at": "b"}), ("look", {})]
        assert (rig.of(Paused)[1].step, rig.of(Paused)[1].call) == ("completion", 2)
        rig.session.step()
        await rig.settled()


async def test_a_held_completion_shows_how_long_the_runner_waits_and_goes_on_then() -> None:
    async with Rig(FakeModel(says("hi")), mode="step", profiles=waits(0.2)) as rig:
        await rig.run()
        [paused] = rig.of(Paused)
        assert 0 < paused.patience <= 0.2
        assert rig.of(Resumed)[0].reason == "the runner waits no longer"
        assert rig.outcomes() == ["completed"]


async def test_a_failed_call_is_given_up_when_the_runner_waits_no_longer() -> None:
    async with Rig(FakeModel(ModelError("busy")), profiles=waits(0.2)) as rig:
        await rig.run()
        assert rig.has("paused", step="failed_call")
        assert rig.outcomes() == ["failed"]


async def test_a_cut_off_call_is_held_at_its_completion() -> None:
    model = FakeModel(says("", ("look", '{"a'), finish="length"), says("done"))
    async with Rig(model, FakeTools(look=returns("x")), mode="step", profiles=waits(100)) as rig:
        rig.session.send("go")
        await rig.until(lambda: rig.of(Paused))
        assert rig.of(Paused)[0].step == "completion"
        rig.session.run_on()
        await rig.settled()
        assert [result.status for result in rig.of(ToolResult)] == ["refused"]


async def test_run_mode_stops_nowhere_with_patience_either() -> None:
    model = FakeModel(says("", ("look", "{}")), says("done"))
    async with Rig(model, FakeTools(look=returns("x")), profiles=waits(100)) as rig:
        await rig.run()
        assert rig.of(Paused) == []


async def test_a_runner_that_goes_idle_without_its_answer_has_failed_the_turn() -> None:
    thinking = Gatekeeper()
    async with Rig(FakeModel(thinking.reply(says("late"))), own_runner=True) as rig:
        await rig.greet()
        await rig.say()
        await rig.runner.ask_model("r1")
        await thinking.entered.wait()
        await rig.runner.idle("completed")
        await rig.settled()
        assert rig.has("state", outcome="failed", reason="the runner did not wait for the answer to call #1")
        assert thinking.cancelled


# What it logs


async def test_the_log_joins_lines_and_ends_at_its_bound() -> None:
    events: list[Event] = []
    bus = EventBus("test")
    bus.subscribe(events.append)
    log = RunnerLog(bus.publish)
    for _ in range(MAX_LOGGED // 1000 + 500):
        log("stdout", "x" * 999)
    log("stderr", "the last words")
    log.close()
    log("stderr", "too late")
    text = "".join(event.text for event in events if isinstance(event, RunnerLogged))
    assert len(text) < MAX_LOGGED + 1000
    assert text.endswith("[the log is longer than 4 MiB: what follows is not kept]\n")
    assert len(events) < 200
    assert log.with_end("it died").endswith("the last words")
