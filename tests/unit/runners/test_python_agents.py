"""Python agents of the user's own as real processes: the contract of `run(ctx)`, sync and async."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_tui.events import Graded, Paused
from fakes.engine import FakeModel, FakeTools, Gatekeeper, returns, says
from fakes.python_agents import agent_rig, log_of

LOOP = """
    {a}def run(ctx):
        messages = ctx.messages
        while True:
            reply = {w}ctx.chat(messages, tools=ctx.tools)
            messages.append(reply.message)
            if not reply.tool_calls:
                return
            for call in reply.tool_calls:
                result = {w}ctx.call_tool(call.name, call.arguments)
                messages.append({{"role": "tool", "tool_call_id": call.id, "content": result.content}})
"""
ASYNC, SYNC = LOOP.format(a="async ", w="await "), LOOP.format(a="", w="")


@pytest.mark.parametrize("source", [ASYNC, SYNC], ids=["async", "sync"])
async def test_two_turns_with_tools_of_the_host(source: str, tmp_path: Path) -> None:
    model = FakeModel(says("look", ("look", '{"at": "a"}')), says("it is a"), says("as I said"))
    tools = FakeTools(look=returns("seen"))
    async with agent_rig(tmp_path, source, model, tools, system="Be brief.") as rig:
        await rig.run("first")
        await rig.run("second")
        assert tools.called == [("look", {"at": "a"})]
        assert rig.asked(3) == [
            ("system", "Be brief."),
            ("user", "first"),
            ("assistant", "look<look>"),
            ("tool", "seen"),
            ("assistant", "it is a"),
            ("user", "second"),
        ]
        assert rig.outcomes() == ["completed", "completed"]
        assert {tool["function"]["name"] for tool in model.requests[0].tools} == {"look", "submit"}


async def test_the_row_the_answer_the_reward_and_notes(tmp_path: Path) -> None:
    source = """
        def run(ctx):
            ctx.log("row", ctx.row_index, "asks", ctx.row.question)
            ctx.done(ctx.row["answers"][0].text, reward=0.5)
    """
    row = {"question": "why?", "answers": [{"text": "because"}], "nan": float("nan")}
    async with agent_rig(tmp_path, source, FakeModel(), row=7, row_data=row) as rig:
        await rig.run()
        assert rig.has("submit", answer="because")
        assert rig.of(Graded)[0].reward == 0.5
        assert rig.has("note", text="row 7 asks why?")
        assert ("note", "row 7 asks why?") in [(entry.kind, entry.text) for entry in rig.state.entries]


async def test_what_an_agent_returns_is_its_answer_also_in_the_next_turn(tmp_path: Path) -> None:
    source = """
        def run(ctx):
            return {"turn": len([m for m in ctx.messages if m.role == "user"])}
    """
    async with agent_rig(tmp_path, source, FakeModel()) as rig:
        await rig.run()
        await rig.run()
        answers = [event.answer for event in rig.events if event.kind == "submit"]
        assert answers == ['{"turn": 1}', '{"turn": 2}']


async def test_each_turn_begins_anew_where_the_scope_is_a_turn(tmp_path: Path) -> None:
    async with agent_rig(tmp_path, SYNC, FakeModel(), conversation_scope="turn") as rig:
        await rig.run("one")
        await rig.run("two")
        assert rig.asked(2) == [("user", "two")]


async def test_the_agents_own_parameters_go_to_the_model(tmp_path: Path) -> None:
    source = """
        class Message:
            def model_dump(self, exclude_none):
                return {"role": "user", "content": "from an object"}

        async def run(ctx):
            reply = await ctx.chat([Message()], temperature=0.25, max_tokens=9, seed=3)
            await ctx.chat([{"role": "user", "content": "x"}, reply, Message()])
            assert reply["choices"][0]["message"] is reply.message
            assert reply.usage.prompt_tokens == 10 and reply.finish_reason == "stop"
    """
    model = FakeModel(says("one"), says("two"))
    async with agent_rig(tmp_path, source, model) as rig:
        await rig.run()
        assert rig.outcomes() == ["completed"]
        assert rig.asked(1) == [("user", "from an object")]
        assert rig.asked(2) == [("user", "x"), ("assistant", "one"), ("user", "from an object")]
        request = model.requests[0]
        assert (request.temperature, request.max_output_tokens) == (0.25, 9)
        assert request.params == {"seed": 3}


async def test_a_steer_is_put_into_an_unchanged_agents_conversation(tmp_path: Path) -> None:
    tool = Gatekeeper()
    model = FakeModel(says("", ("look", "{}")), says("", ("look", "{}"), ids="d"), says("done"))
    async with agent_rig(tmp_path, ASYNC, model, FakeTools(look=tool.body)) as rig:
        rig.session.send("go")
        await tool.entered.wait()
        rig.session.send("look twice")
        tool.let_go.set()
        await rig.settled()
        steered = [("assistant", "<look>"), ("tool", "let go"), ("user", "look twice")]
        assert rig.asked(2)[1:] == steered
        assert rig.asked(3)[1:4] == steered
        assert rig.steers()[-1] == ("look twice", "answered")


PARALLEL = """
    import asyncio

    async def run(ctx):
        async def ask(topic):
            return (await ctx.chat([{"role": "user", "content": topic}])).content
        return " ".join(await asyncio.gather(*map(ask, ["a", "b", "c"])))
"""
THREADS = """
    from concurrent.futures import ThreadPoolExecutor

    def run(ctx):
        def ask(topic):
            return ctx.chat([{"role": "user", "content": topic}]).content
        with ThreadPoolExecutor(3) as pool:
            return " ".join(pool.map(ask, ["a", "b", "c"]))
"""


@pytest.mark.parametrize("source", [PARALLEL, THREADS], ids=["gather", "threads"])
async def test_parallel_calls_are_held_and_stepped_each_on_its_own(source: str, tmp_path: Path) -> None:
    async def echo(request: object, on_delta: object) -> object:
        return says(request.messages[0]["content"].upper())  # type: ignore[attr-defined]

    model = FakeModel(echo, echo, echo)
    async with agent_rig(tmp_path, source, model, mode="step") as rig:
        rig.session.send("go")
        await rig.until(lambda: len(rig.session.gate.waiting) == 3)
        assert sorted(pause.call for pause in rig.of(Paused)) == [1, 2, 3]
        middle = rig.of(Paused)[1]
        rig.session.step(hold=middle.hold)
        await rig.until(lambda: len(rig.state.holds) == 2)
        assert middle.call not in [hold.call for hold in rig.state.holds]
        rig.session.run_on()
        await rig.settled()
        assert rig.has("submit", answer="A B C")


async def test_a_call_that_the_agent_gives_up_is_cancelled(tmp_path: Path) -> None:
    source = """
        import asyncio

        async def run(ctx):
            try:
                await asyncio.wait_for(ctx.chat(), 0.2)
            except asyncio.TimeoutError:
                return "gave up"
    """
    slow = Gatekeeper()
    async with agent_rig(tmp_path, source, FakeModel(slow.reply(says("late")))) as rig:
        await rig.run()
        assert slow.cancelled
        assert rig.has("submit", answer="gave up")
        assert rig.outcomes() == ["completed"]


async def test_what_is_printed_by_whatever_means_is_log_and_never_a_frame(tmp_path: Path) -> None:
    source = """
        import logging, os, subprocess, sys

        print("imported")

        async def run(ctx):
            os.write(1, b"half a line")
            for number in range(2000):
                os.write(1, b'eyJ0eXBlIjogInN0YXRlIn0=\\n')
            subprocess.run([sys.executable, "-c", "print('from a child')"])
            logging.warning("careful")
            print("\\x1b[31mred", sys.stdin.read() == "")
            print("no end", end="")
            return (await ctx.chat()).content
    """
    async with agent_rig(tmp_path, source, FakeModel(says("fine"))) as rig:
        await rig.run()
        assert rig.outcomes() == ["completed"]
    log = log_of(rig)
    for said in ("imported", "half a line", "from a child", "careful", "red True", "no end"):
        assert said in log
    assert log.count("eyJ0eXBlIjogInN0YXRlIn0=\n") == 2000


async def test_a_child_of_the_agent_writes_no_frames(tmp_path: Path) -> None:
    source = """
        import os

        def run(ctx):
            child = os.fork()
            if child == 0:
                try:
                    ctx.chat()
                except BaseException as error:
                    print("child:", error, flush=True)
                os._exit(0)
            os.waitpid(child, 0)
            return ctx.chat().content
    """
    async with agent_rig(tmp_path, source, FakeModel(says("parent"))) as rig:
        await rig.run()
        assert rig.has("submit", answer="parent")
    assert "child: ctx works only in the process that agentscope started" in log_of(rig)


async def test_a_process_pool_of_the_agent_works(tmp_path: Path) -> None:
    source = """
        import multiprocessing

        def double(number):
            return number * 2

        def run(ctx):
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                return str(pool.map(double, [21])[0])
    """
    async with agent_rig(tmp_path, source, FakeModel()) as rig:
        await rig.run()
        assert rig.has("submit", answer="42")


async def test_a_file_of_another_folder_and_a_class_with_run(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "helper.py").write_text("TEXT = 'from beside'\n")
    (tmp_path / "src" / "mine.py").write_text(
        "import helper\nclass Mine:\n    async def run(self, ctx):\n        return helper.TEXT\n"
    )
    async with agent_rig(tmp_path, "", FakeModel(), agent="src/mine.py:Mine") as rig:
        await rig.run()
        assert rig.has("submit", answer="from beside")


async def test_pings_are_answered_while_the_agent_blocks_its_loop(tmp_path: Path) -> None:
    source = """
        import time

        async def run(ctx):
            time.sleep(1.0)
    """
    async with agent_rig(tmp_path, source, FakeModel(), ping_every=0.05, ping_timeout=0.5) as rig:
        await rig.run()
        assert "runner_health" not in rig.kinds()


async def test_a_ctx_of_a_turn_that_is_over_says_so(tmp_path: Path) -> None:
    source = """
        import asyncio
        kept = []

        async def run(ctx):
            kept.append(ctx)
            if len(kept) == 2:
                try:
                    await kept[0].chat()
                except RuntimeError as error:
                    return str(error)
    """
    async with agent_rig(tmp_path, source, FakeModel()) as rig:
        await rig.run()
        await rig.run()
        assert rig.has("submit", answer="this turn is over: its ctx does nothing any more")
        assert "llm_request" not in rig.kinds()
