"""A command's output arrives whole, as it comes, whatever is in it."""

import asyncio
import os
import resource
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from signal import SIGHUP, SIGINT, SIGQUIT

import pytest
from tool_rig import Marked, Shell, Sink, until

from agentscope_tui.tools.limits import CommandLimits
from agentscope_tui.tools.link import ProcessError
from agentscope_tui.tools.pipes import CHUNK
from agentscope_tui.tools.process import ProcessHost
from agentscope_tui.tools.sandbox_probe import find_sandbox


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("printf 'a\\377\\376b\\000c\\033[31m'", b"a\xff\xfeb\x00c\x1b[31m"),
        ("head -c 5000000 /dev/zero | tr '\\0' x", b"x" * 5_000_000),
        ("seq 100000", b"".join(b"%d\n" % i for i in range(1, 100_001))),
        ("printf 'no newline'", b"no newline"),
        ("cat; echo end", b"end\n"),
        ("true", b""),
    ],
    ids=["binary", "long line", "many lines", "no newline", "empty stdin", "nothing"],
)
async def test_output_is_whole(shell: Shell, command: str, expected: bytes) -> None:
    status = await shell(command)
    assert (status.code, status.signal, status.timed_out) == (0, None, False)
    assert shell.sink.bytes() == expected
    assert all(0 < len(data) <= CHUNK for _, data in shell.sink.chunks)


async def test_both_streams_come_while_the_command_runs(shell: Shell) -> None:
    task = asyncio.create_task(shell("echo out; echo err >&2; until [ -e go ]; do sleep 0.01; done; exit 3"))
    await until(lambda: shell.sink.bytes() and shell.sink.bytes("stderr"), "output")
    assert (shell.sink.bytes(), shell.sink.bytes("stderr")) == (b"out\n", b"err\n")
    assert not task.done()
    (shell.folder / "go").touch()
    assert (await task).code == 3


async def test_a_sink_that_waits_holds_the_command_back(shell: Shell) -> None:
    let_go, received = asyncio.Event(), Sink()

    async def slow(stream: str, data: bytes) -> None:
        await received(stream, data)
        await let_go.wait()

    written = shell.folder / "written"
    task = asyncio.create_task(shell("head -c 1000000 /dev/zero; touch written", on_output=slow))
    await until(lambda: received.chunks, "a first chunk")
    for _ in range(20):
        await asyncio.sleep(0.005)
    assert len(received.bytes()) <= CHUNK
    assert not written.exists()
    let_go.set()
    assert (await task).code == 0
    assert len(received.bytes()) == 1_000_000


async def test_a_flood_does_not_hold_the_loop(shell: Shell) -> None:
    task = asyncio.create_task(shell("yes", timeout=None))
    await until(lambda: len(shell.sink.chunks) > 100, "a flood")
    ticks = 0
    for _ in range(50):
        await asyncio.sleep(0.001)
        ticks += 1
    task.cancel()
    await asyncio.wait([task])
    assert ticks == 50


async def test_a_background_flood_does_not_hold_the_result(shell: Shell) -> None:
    assert (await shell("yes & echo result >&2")).code == 0
    assert shell.sink.bytes("stderr") == b"result\n"
    size = len(shell.sink.bytes())
    await shell("true")
    assert len(shell.sink.bytes()) == size


async def test_a_background_process_can_go_on_writing(shell: Shell) -> None:
    await shell("(head -c 500000 /dev/zero && touch whole) & echo hi")
    await until((shell.folder / "whole").exists, "everything written")


async def test_a_command_larger_than_a_datagram(shell: Shell) -> None:
    words = ["x" * 100_000 for _ in range(5)]
    argv = ["python3", "-c", "import sys; print(sum(map(len, sys.argv[1:])))", *words]
    status = await shell.host.run(
        argv,
        cwd=shell.folder,
        env=shell.sandbox.environment(shell.folder) | {"BIG": "y" * 100_000},
        timeout=30,
        on_output=shell.sink,
    )
    assert status.code == 0
    assert shell.sink.bytes() == b"500000\n"


@pytest.mark.parametrize(
    ("argv", "code", "message"),
    [
        (["no-such-program"], 127, b"cannot run no-such-program: No such file"),
        (["/etc"], 126, b"cannot run /etc: Permission denied"),
        (["echo", "x" * 200_000], 126, b"cannot run echo: Argument list too long"),
        (["echo", "\ud800"], 126, b"cannot run echo"),
    ],
)
async def test_a_program_that_cannot_start(shell: Shell, argv: list[str], code: int, message: bytes) -> None:
    environment = shell.sandbox.environment(shell.folder)
    status = await shell.host.run(argv, cwd=shell.folder, env=environment, timeout=30, on_output=shell.sink)
    assert status.code == code
    assert message in shell.sink.bytes("stderr")


MIB = 1 << 20


@pytest.mark.parametrize(
    ("command", "limits", "reached"),
    [
        ("exec head -c 100000 /dev/zero > big", CommandLimits(file_size=1000), ("file_size",)),
        ("head -c 100000 /dev/zero > big", CommandLimits(file_size=1000), ("file_size",)),
        ("while :; do :; done", CommandLimits(cpu=1), ("cpu",)),
        ("for i in 1 2 3; do (while :; do :; done) & done; wait", CommandLimits(cpu=1), ("cpu",)),
        (
            "python3 -c 'import time; x = bytes(range(256)) * 600_000; time.sleep(60)'",
            CommandLimits(memory=64 * MIB),
            ("memory",),
        ),
        ("for i in $(seq 30); do sleep 60 & done; wait", CommandLimits(processes=20), ("processes",)),
        ("yes", CommandLimits(output=MIB), ("output",)),
        (
            "for i in $(seq 99); do head -c 1000000 /dev/zero > f$i; sleep 0.05; done",
            CommandLimits(disk=5 * MIB),
            ("disk",),
        ),
        ("echo fine", CommandLimits(1, MIB * 512, 20, 64, MIB, MIB, MIB), ()),
    ],
)
async def test_a_command_that_reaches_a_limit_is_ended_and_the_limit_is_named(
    shell: Shell, marked: Marked, command: str, limits: CommandLimits, reached: tuple[str, ...]
) -> None:
    status = await shell(command, limits=limits)
    assert status.reached == reached
    assert (status.code == 0) is (not reached)


async def test_background_processes_that_fill_the_folder_are_ended(shell: Shell, marked: Marked) -> None:
    filling = "for i in $(seq 20); do head -c 1000000 /dev/zero >f$i; done"
    fill = marked.shell(f"({filling}; sleep MARK) & sleep 0.1")
    status = await shell(fill, limits=CommandLimits(disk=5 * MIB))
    assert (status.code, status.reached) == (0, ())
    await until(lambda: not marked.alive(), "the background is ended")


async def test_output_past_its_limit_is_dropped(shell: Shell) -> None:
    status = await shell("yes 123456789", limits=CommandLimits(output=25))
    assert status.reached == ("output",)
    assert shell.sink.bytes() == b"123456789\n123456789\n12345"


async def test_files_that_may_not_be_opened_are_the_commands_own_affair(shell: Shell) -> None:
    many = "import time\nfiles = []\ntry:\n  while True: files.append(open('/dev/null'))\n"
    many += "except OSError as error: print(error.strerror); time.sleep(0.6)"
    status = await shell(f'python3 -c "{many}"; ulimit -n; ulimit -c', limits=CommandLimits(open_files=64))
    assert (status.code, status.reached) == (0, ("open_files",))
    assert shell.sink.bytes() == b"Too many open files\n64\n0\n"


@pytest.fixture
def in_the_background() -> Iterator[None]:
    """As a shell's `&` and `nohup` start a program: with some signals ignored."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (SIGINT, SIGQUIT, SIGHUP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("in_the_background")
async def test_a_command_inherits_nothing_but_its_output(shell: Shell, folder: Path) -> None:
    await shell("ls /proc/self/fd; grep -E 'Sig(Blk|Ign)' /proc/self/status")
    lines = shell.sink.bytes().decode().split()
    assert lines[:4] == ["0", "1", "2", "3"]  # 3 is the folder that `ls` reads
    assert lines[4:] == ["SigBlk:", "0" * 16, "SigIgn:", "0" * 16]


async def test_many_at_once(shell: Shell) -> None:
    start = time.monotonic()
    results = await asyncio.gather(*(shell(f"echo {i}; exit {i}") for i in range(30)))
    print(f"{time.monotonic() - start:.3f} s for 30 commands")
    assert [status.code for status in results] == list(range(30))
    assert sorted(map(int, shell.sink.bytes().split())) == list(range(30))


async def test_a_supervisor_without_room_fails_the_call_only(folder: Path) -> None:
    sandbox = await find_sandbox("none")
    host = await ProcessHost.start(sandbox, folder)
    shell = Shell(host, sandbox, folder)
    await shell("cut -d' ' -f4 /proc/$PPID/stat")
    supervisor = int(shell.sink.bytes())
    soft, hard = resource.prlimit(supervisor, resource.RLIMIT_NOFILE)
    at_rest = 4  # standard input, output and error, and the socket to the host
    await until(lambda: _descriptors(supervisor) == at_rest, "the supervisor at rest")
    for room in range(6):
        resource.prlimit(supervisor, resource.RLIMIT_NOFILE, (at_rest + room, hard))
        assert (await shell("true")).code in {0, 126}
    resource.prlimit(supervisor, resource.RLIMIT_NOFILE, (soft, hard))
    assert (await shell("true")).code == 0
    assert b"cannot start a command: Too many open files" in shell.sink.bytes("stderr")
    await until(lambda: _descriptors(supervisor) == at_rest, "the supervisor at rest")
    await host.aclose()


def _descriptors(process: int) -> int:
    return len(os.listdir(f"/proc/{process}/fd"))


async def test_too_many_open_files_is_an_error_of_the_call(shell: Shell) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        with pytest.raises(ProcessError, match="Too many open files"):
            await shell("true")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert (await shell("true")).code == 0
