"""Starts `python_runner.py` for one job and brings back its result; nothing of it outlives the call."""

from __future__ import annotations

import asyncio
import json
import math
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentscope_tui.grading.grader import GraderError

_SCRIPT = Path(__file__).with_name("python_runner.py")
_LONGEST_RESULT = 1 << 20
_MOST_PRINTED = 64 << 10
_DRAIN_SECONDS = 1.0


@dataclass(frozen=True)
class Reply:
    """The runner's result, None where it died without one, and the end of what was printed."""

    result: dict[str, Any] | None
    printed: str


@dataclass
class _Pipe:
    reader: asyncio.StreamReader
    write_fd: int

    def close_writing(self) -> None:
        if self.write_fd >= 0:
            os.close(self.write_fd)
            self.write_fd = -1


async def run_job(job: dict[str, Any], *, python: str, folder: Path, timeout: float) -> Reply:
    """Run a job of `python_runner.py` with the interpreter `python` in `folder`.

    Raises:
        GraderError: the interpreter cannot be started.
        TimeoutError: no result after `timeout` seconds; the process and its children are killed.
    """
    async with _pipe() as results, _pipe() as prints:
        process = await _start(python, folder, results, prints)
        printed = bytearray()
        tail = asyncio.create_task(_keep_tail(prints.reader, printed))
        try:
            async with asyncio.timeout(timeout):
                line = await _exchange(process, job, results.reader)
            return Reply(_parse(line), await _printed(process, tail, printed))
        finally:
            tail.cancel()
            await _end(process)


async def _start(python: str, folder: Path, results: _Pipe, prints: _Pipe) -> asyncio.subprocess.Process:
    try:
        return await asyncio.create_subprocess_exec(
            python,
            str(_SCRIPT),
            str(results.write_fd),
            stdin=asyncio.subprocess.PIPE,
            stdout=prints.write_fd,
            stderr=prints.write_fd,
            pass_fds=(results.write_fd,),
            cwd=folder,
            start_new_session=True,
        )
    except OSError as error:
        raise GraderError(f"cannot start {python} in {folder}: {error.strerror}") from error
    finally:
        results.close_writing()
        prints.close_writing()


async def _exchange(
    process: asyncio.subprocess.Process, job: dict[str, Any], results: asyncio.StreamReader
) -> bytes:
    assert process.stdin is not None
    # A runner that died before it read the job says so by the end of its results.
    with suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(json.dumps(job, default=str).encode() + b"\n")
        await process.stdin.drain()
    with suppress(ValueError):
        return await results.readline()
    return b""


def _parse(line: bytes) -> dict[str, Any] | None:
    """The result, None for anything else: the user's code could write to the pipe too."""
    with suppress(ValueError):
        result = json.loads(line)
        if isinstance(result, dict) and ("error" in result or _is_grade(result)):
            return result
    return None


def _is_grade(result: dict[str, Any]) -> bool:
    metrics = result.get("metrics", {})
    return isinstance(metrics, dict) and all(
        isinstance(value, float) and math.isfinite(value)
        for value in (result.get("reward"), *metrics.values())
    )


async def _keep_tail(reader: asyncio.StreamReader, printed: bytearray) -> None:
    while chunk := await reader.read(_MOST_PRINTED):
        printed += chunk
        del printed[:-_MOST_PRINTED]


async def _printed(process: asyncio.subprocess.Process, tail: asyncio.Task[None], printed: bytearray) -> str:
    # A child that the user's code left behind may hold the pipe open: it is killed, or not waited for.
    _kill_group(process)
    await asyncio.wait({tail}, timeout=_DRAIN_SECONDS)
    return printed.decode("utf-8", "replace")


async def _end(process: asyncio.subprocess.Process) -> None:
    _kill_group(process)
    assert process.stdin is not None
    process.stdin.close()
    await process.wait()


def _kill_group(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


@asynccontextmanager
async def _pipe() -> AsyncIterator[_Pipe]:
    read_fd, write_fd = os.pipe()
    reader = asyncio.StreamReader(limit=_LONGEST_RESULT)
    pipe = _Pipe(reader, write_fd)
    try:
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(read_fd, "rb", buffering=0)
        )
        try:
            yield pipe
        finally:
            transport.close()
    finally:
        pipe.close_writing()
