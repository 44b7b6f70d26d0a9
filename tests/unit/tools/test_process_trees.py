"""Whatever a command starts is gone when the command is ended, in each way that a command is ended."""

import asyncio
import os
import signal
import sys
import time
from pathlib import Path

import pytest
from tool_rig import Marked, Shell, until

from agentscope_tui.tools.link import ProcessError
from agentscope_tui.tools.process import ProcessHost
from agentscope_tui.tools.sandbox import Sandbox

DAEMON = """
import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for _ in range(2):
    if os.fork():
        os._exit(0)
    os.setsid()
os.closerange(0, 100)
os.execve('/usr/bin/env', ['env', '-i', 'sleep', 'MARK'], {})
"""

STOP = "until grep -q sleep /proc/$!/comm; do :; done; kill -STOP $!"

# What to run, and how many sleepers there are once it has come to its shape.
TREES = {
    "one process": ("exec sleep MARK", 1),
    "children": ("sleep MARK & sleep MARK & sleep MARK & wait", 3),
    "fork tree": ("f() { [ $1 = 0 ] && exec sleep MARK; f $(($1-1)) & f $(($1-1)) & wait; }; f 4", 16),
    "sessions of their own": ("setsid sleep MARK & setsid -f sleep MARK; sleep MARK", 3),
    "double fork": ("(setsid sleep MARK &); (sleep MARK &); sleep MARK", 3),
    "cleared environment": ("env -i setsid sleep MARK & env -i sleep MARK", 2),
    "ignored SIGTERM": ("trap '' TERM HUP INT; (setsid sleep MARK &); sleep MARK", 2),
    "nohup": ("nohup sleep MARK & nohup setsid sleep MARK & wait", 2),
    "stopped": (f"sleep MARK & {STOP}; (setsid sleep MARK & {STOP}); kill -STOP $$", 2),
    "stopped and ignoring": (f"trap '' TERM; sleep MARK & {STOP}; wait", 1),
    "closed output": ("exec >&- 2>&-; sleep MARK & sleep MARK", 2),
    "daemon": (f'python3 -c "{DAEMON}"; sleep MARK', 2),
    "growing": ("trap '' TERM; f() { while :; do (setsid sleep MARK &); done; }; f & f & wait", 5),
}

HOST = """
import asyncio, sys
from pathlib import Path
from agentscope_tui.tools.process import ProcessHost
from agentscope_tui.tools.sandbox_probe import find_sandbox

async def quiet(stream, data):
    pass

async def main(mode, folder, *commands):
    sandbox, folder = await find_sandbox(mode), Path(folder)
    host = await ProcessHost.start(sandbox, folder)
    env = sandbox.environment(folder)
    await asyncio.gather(*(
        host.run(["bash", "-c", command], cwd=folder, env=env, timeout=None, on_output=quiet)
        for command in commands
    ))

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.parametrize("tree", TREES)
async def test_cancelling_returns_when_the_tree_is_gone(shell: Shell, marked: Marked, tree: str) -> None:
    command, count = TREES[tree]
    task = asyncio.create_task(shell(marked.shell(command), timeout=None))
    await until(lambda: marked.sleepers() >= count, f"{count} sleepers")
    start = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    print(f"{time.monotonic() - start:.3f} s")
    assert marked.alive() == []


async def test_a_time_limit_ends_the_tree(shell: Shell, marked: Marked) -> None:
    commands = [marked.shell(command) for command, _ in TREES.values()]
    statuses = await asyncio.gather(*(shell(command, timeout=1.0) for command in commands))
    assert all(status.timed_out for status in statuses)
    assert marked.alive() == []


async def test_closing_ends_everything(shell: Shell, marked: Marked) -> None:
    tasks = [asyncio.create_task(shell(marked.shell(command))) for command, _ in TREES.values()]
    await until(lambda: marked.sleepers() >= sum(count for _, count in TREES.values()), "all trees")
    start = time.monotonic()
    await shell.host.aclose()
    print(f"{time.monotonic() - start:.3f} s")
    assert marked.alive() == []
    assert not any(status.timed_out for status in await asyncio.gather(*tasks))


async def test_nothing_outlives_a_killed_host(sandbox: Sandbox, folder: Path, marked: Marked) -> None:
    commands = [marked.shell(command) for command, _ in TREES.values()]
    host = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOST, sandbox.name, str(folder), *commands
    )
    try:
        await until(lambda: marked.sleepers() >= sum(count for _, count in TREES.values()), "all trees")
    finally:
        host.kill()
        await host.wait()
    start = time.monotonic()
    await until(lambda: not marked.alive(), "all gone")
    print(f"{time.monotonic() - start:.3f} s")


async def test_a_background_process_goes_on_until_the_session_ends(shell: Shell, marked: Marked) -> None:
    status = await shell(marked.shell("nohup sleep MARK & (setsid sleep MARK &); echo started"))
    assert (status.code, status.timed_out) == (0, False)
    assert shell.sink.bytes() == b"started\n"
    await until(lambda: marked.sleepers() == 2, "both")
    assert (await shell("true")).code == 0
    assert marked.sleepers() == 2
    await shell.host.aclose()
    assert marked.alive() == []


async def test_ending_one_command_spares_the_others(shell: Shell, marked: Marked) -> None:
    other = Marked()
    spared = asyncio.create_task(shell(other.shell("(setsid sleep MARK &); sleep 0.5; echo spared")))
    ended = asyncio.create_task(shell(marked.shell("(setsid sleep MARK &); sleep MARK")))
    await until(lambda: marked.sleepers() == 2 and other.sleepers() == 1, "both")
    ended.cancel()
    await asyncio.wait([ended])
    assert marked.alive() == []
    assert (await spared).code == 0
    assert shell.sink.bytes() == b"spared\n"
    assert other.sleepers() == 1


async def test_a_second_cancel_does_not_leave_the_tree_half_ended(shell: Shell, marked: Marked) -> None:
    task = asyncio.create_task(shell(marked.shell("trap '' TERM; sleep MARK")))
    await until(lambda: marked.sleepers() == 1, "a sleeper")
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert marked.alive() == []


async def test_a_sink_that_fails_ends_the_command(shell: Shell, marked: Marked) -> None:
    async def broken(stream: str, data: bytes) -> None:
        raise RuntimeError("disk full")

    with pytest.raises(RuntimeError, match="disk full"):
        await shell(marked.shell("echo hi; sleep MARK"), on_output=broken)
    assert marked.alive() == []


async def test_a_command_that_kills_its_keeper_is_killed(shell: Shell, marked: Marked) -> None:
    status = await shell(marked.shell("(setsid sleep MARK &); kill -9 $PPID; sleep MARK"))
    assert status.signal == signal.SIGKILL
    assert marked.alive() == []
    assert (await shell("echo on")).code == 0


KILL_SUPERVISOR = "(setsid sleep MARK &); kill -9 $(cut -d' ' -f4 /proc/$PPID/stat); sleep MARK"


async def test_a_dead_supervisor_fails_the_call_and_is_replaced(shell: Shell, marked: Marked) -> None:
    with pytest.raises(ProcessError, match="supervisor died"):
        await shell(marked.shell(KILL_SUPERVISOR))
    await until(lambda: not marked.alive(), "all gone")
    assert (await shell("echo again")).code == 0
    assert shell.sink.bytes() == b"again\n"


async def test_the_supervisor_dies_of_sigterm_with_all_below(shell: Shell, marked: Marked) -> None:
    with pytest.raises(ProcessError):
        await shell(marked.shell(KILL_SUPERVISOR.replace("-9", "-TERM")))
    await until(lambda: not marked.alive(), "all gone")


async def test_a_closed_host_runs_nothing(shell: Shell) -> None:
    await shell.host.aclose()
    await shell.host.aclose()
    with pytest.raises(ProcessError, match="closed"):
        await shell("true")


async def test_no_descriptor_or_process_is_left(sandbox: Sandbox, folder: Path) -> None:
    def count() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    before = count()
    host = await ProcessHost.start(sandbox, folder)
    shell = Shell(host, sandbox, folder)
    for command in ("echo hi", "sleep 60 &", "yes &", "sleep 60"):
        await shell(command, timeout=0.2)
    await host.aclose()
    assert count() == before


async def test_a_folder_that_is_gone_is_said(sandbox: Sandbox, folder: Path) -> None:
    os.rmdir(folder)
    if sandbox.name == "bwrap":
        with pytest.raises(ProcessError, match=r"died \(bwrap: .*work"):
            await ProcessHost.start(sandbox, folder)
        return
    host = await ProcessHost.start(sandbox, folder)
    shell = Shell(host, sandbox, folder)
    assert (await shell("true")).code == 127
    assert b"cannot enter" in shell.sink.bytes("stderr")
    await host.aclose()
