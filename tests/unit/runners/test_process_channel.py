"""Frames over a real child's stdio: its log, its end, its tree, and waiting in both directions."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from agentscope_tui.runners.home import Home
from agentscope_tui.runners.process import ProcessStream
from agentscope_tui.wire.channel import ChannelClosed
from agentscope_tui.wire.frames import FrameError
from fakes.processes import FRAME_TOOLS, Log, alive, channel_to, mark
from waiting import wait_until

DEADLINE = 20.0


async def test_frames_go_both_ways_and_other_text_is_the_log(tmp_path: Path) -> None:
    log = Log()
    channel = channel_to(
        """
        print("starting", flush=True)
        print("a warning", file=sys.stderr, flush=True)
        frame = receive()
        sys.stdout.write("no line end"); sys.stdout.flush()
        send("echo", got=frame)
        """,
        tmp_path,
        log,
    )
    await channel.open()
    await channel.send({"type": "ping", "nonce": "ä"})
    assert await channel.receive() == {"type": "echo", "got": {"type": "ping", "nonce": "ä"}}
    assert await channel.receive() is None
    assert await channel.ending() == "the runner exited with status 0"
    assert log.lines("stdout") == ["starting", "no line end"]
    assert log.lines("stderr") == ["a warning"]
    await channel.aclose()


async def test_frames_of_many_megabytes_pass_and_are_decoded_in_a_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved: list[str] = []
    to_thread = asyncio.to_thread

    async def spy(work, *arguments):  # type: ignore[no-untyped-def]
        moved.append(work.__name__)
        return await to_thread(work, *arguments)

    channel = channel_to(
        "frame = receive(); send('echo', size=len(frame['text']), text=frame['text'])", tmp_path
    )
    await channel.open()
    monkeypatch.setattr(asyncio, "to_thread", spy)
    text = "0123456789abcdef" * (8 << 16)
    sending = asyncio.create_task(channel.send({"type": "x", "text": text}))
    frame = await asyncio.wait_for(channel.receive(), DEADLINE)
    await sending
    assert frame is not None
    assert frame["size"] == len(text)
    assert frame["text"] == text
    assert moved == ["decode"]
    monkeypatch.undo()
    await channel.aclose()


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("sys.exit(3)", "exited with status 3"),
        ("os.kill(os.getpid(), 9)", "was killed by SIGKILL"),
        ("os.close(1); os.close(0); time.sleep(1000)", "closed its standard output"),
    ],
)
async def test_how_it_ended_is_told(tmp_path: Path, source: str, words: str) -> None:
    channel = channel_to(source, tmp_path)
    await channel.open()
    assert await asyncio.wait_for(channel.receive(), DEADLINE) is None
    assert await channel.ending() == f"the runner {words}"
    await channel.aclose()


async def test_a_program_that_is_not_there_says_so(tmp_path: Path) -> None:
    log = Log()
    stream = ProcessStream(["no-such-program"], home=Home(tmp_path), env={"PATH": "/usr/bin"}, on_log=log)
    await stream.open()
    assert await stream.read() == b""
    assert await stream.ending() == "the runner exited with status 127"
    assert log.lines("stderr") == ["agentscope: cannot run no-such-program: No such file or directory"]
    await stream.aclose()


async def test_a_folder_that_is_not_there_says_so(tmp_path: Path) -> None:
    log = Log()
    stream = ProcessStream(["true"], home=Home(tmp_path / "gone"), env=dict(os.environ), on_log=log)
    await stream.open()
    assert await stream.read() == b""
    assert await stream.ending() == "the runner exited with status 127"
    assert "No such file" in log.lines("stderr")[0]
    await stream.aclose()


async def test_a_flood_is_held_up_at_its_source(tmp_path: Path) -> None:
    log = Log()
    channel = channel_to(
        """
        os.set_blocking(1, False)
        line = base64.b64encode(b'{"type": "pong", "nonce": "' + b"x" * 700 + b'"}') + b"\\n"
        written, full = 0, 0
        while written < 400_000_000 and full < 20:
            try:
                written += os.write(1, line)
                full = 0
            except BlockingIOError:
                full += 1
                time.sleep(0.01)
        print(written, file=sys.stderr, flush=True)
        time.sleep(1000)
        """,
        tmp_path,
        log,
    )
    await channel.open()
    await channel.receive()
    await wait_until(lambda: log, "the pipe is full", seconds=DEADLINE)
    assert int(log.lines("stderr")[0]) < 1_000_000
    await channel.aclose()


async def test_a_runner_that_reads_nothing_holds_up_sending(tmp_path: Path) -> None:
    channel = channel_to("send('ready'); time.sleep(1000)", tmp_path)
    await channel.open()
    await channel.receive()
    sent = 0

    async def send_on() -> None:
        nonlocal sent
        while True:
            await channel.send({"type": "x", "text": "x" * 10_000})
            sent += 10_000

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(send_on(), 0.5)
    assert sent < 2_000_000
    await channel.aclose()


async def test_sending_to_a_runner_that_died_is_told(tmp_path: Path) -> None:
    channel = channel_to("sys.exit(0)", tmp_path)
    await channel.open()
    assert await channel.receive() is None

    async def send_on() -> None:
        while True:
            await channel.send({"type": "x"})
            await asyncio.sleep(0.01)

    with pytest.raises(ChannelClosed):
        await asyncio.wait_for(send_on(), DEADLINE)
    await channel.aclose()


async def test_a_frame_over_the_limit_is_a_fault(tmp_path: Path) -> None:
    channel = channel_to("send('x', text='x' * 100_000); time.sleep(1000)", tmp_path, max_frame=50_000)
    await channel.open()
    with pytest.raises(FrameError, match=r"runner\.max_frame"):
        await asyncio.wait_for(channel.receive(), DEADLINE)
    await channel.aclose()


async def test_closing_ends_all_that_the_runner_started(tmp_path: Path) -> None:
    word = mark()
    channel = channel_to(
        f"""
        import subprocess
        for _ in range(2):
            subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)", {word!r}],
                             start_new_session=True, stdout=subprocess.DEVNULL)
        send("ready")
        time.sleep(1000)
        """,
        tmp_path,
    )
    await channel.open()
    await channel.receive()
    await wait_until(lambda: len(alive(word)) >= 2)
    await channel.aclose()
    assert alive(word) == []


async def test_a_runner_that_leaves_when_its_stdin_ends_is_not_killed(tmp_path: Path) -> None:
    log = Log()
    source = "send('ready'); receive(); print('leaving', file=sys.stderr, flush=True)"
    channel = channel_to(source, tmp_path, log)
    await channel.open()
    await channel.receive()
    await channel.aclose()
    assert log.lines("stderr") == ["leaving"]


async def test_nothing_is_left_when_the_host_is_killed(tmp_path: Path) -> None:
    word = mark()
    host = f"""
import asyncio, os, sys
from pathlib import Path
from agentscope_tui.runners.home import Home
from agentscope_tui.runners.process import ProcessStream

async def main():
    code = "import time; time.sleep(1000)"
    argv = [sys.executable, "-c", code, {word!r}]
    stream = ProcessStream(argv, home=Home(Path(".")), env=dict(os.environ), on_log=print)
    await stream.open()
    print("open", flush=True)
    await stream.read()

asyncio.run(main())
"""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", host, stdout=pipe, cwd=tmp_path)
    assert process.stdout is not None
    assert await process.stdout.readline() == b"open\n"
    await wait_until(lambda: len(alive(word)) >= 2, "host and runner run")
    process.kill()
    await process.wait()
    await wait_until(lambda: alive(word) == [], "the runner is gone", seconds=5)


async def test_closing_before_it_was_opened_is_fine(tmp_path: Path) -> None:
    channel = channel_to(FRAME_TOOLS, tmp_path)
    await channel.aclose()
    with pytest.raises(ChannelClosed):
        await channel.send({"type": "x"})
    assert await channel.receive() is None
