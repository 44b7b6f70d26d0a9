"""`--model local`: the server that agentscope itself starts, with real weights."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import rig
from agentscope_tui.models.chat import ChatRequest, ModelError
from agentscope_tui.models.endpoint import Timeouts
from agentscope_tui.models.local_model import LocalModel
from agentscope_tui.models.local_server import LocalOptions, shared_server
from waiting import wait_until

pytestmark = pytest.mark.real_model

DEADLINE = 60.0
REQUEST = ChatRequest(
    messages=[{"role": "user", "content": "What is the capital of France?"}],
    max_output_tokens=20,
    temperature=0.0,
)


@pytest.fixture
def options() -> LocalOptions:
    reason = rig.missing()
    if reason:
        pytest.skip(reason)
    return LocalOptions(Path(os.environ[rig.WEIGHTS]), 2048, 2, os.environ[rig.PYTHON])


@asynccontextmanager
async def opened(options: LocalOptions) -> AsyncIterator[LocalModel]:
    """A model that is closed whatever happens."""
    model = LocalModel("local", options, timeouts=Timeouts())
    try:
        yield model
    finally:
        await model.aclose()


async def ask(model: LocalModel, request: ChatRequest = REQUEST) -> str:
    return (await asyncio.wait_for(model.complete(request, lambda piece: None), DEADLINE)).text


def ended(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


async def test_two_sessions_share_a_server_that_ends_with_the_last(options: LocalOptions) -> None:
    async with opened(options) as first:
        async with opened(options) as second:
            assert shared_server(options)._process is None
            assert all(await asyncio.gather(ask(first), ask(second)))
            process = shared_server(options)._process
            assert process is not None
        assert process.returncode is None
        assert await ask(first)
    assert process.returncode == 0


async def test_an_interrupt_while_it_starts_loses_nothing(options: LocalOptions) -> None:
    async with opened(options) as model:
        task = asyncio.create_task(model.complete(REQUEST, lambda piece: None))
        await wait_until(lambda: shared_server(options)._process is not None, "the server starts")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        first = shared_server(options)._process
        assert await ask(model)
        assert shared_server(options)._process is first


async def test_closing_while_it_starts_ends_it(options: LocalOptions) -> None:
    async with opened(options) as model:
        server = shared_server(options)
        task = asyncio.create_task(model.complete(REQUEST, lambda piece: None))
        await wait_until(lambda: server._process is not None, "the server starts")
        task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert server._process is not None
    assert server._process.returncode is not None


async def test_a_server_that_died_is_started_again(options: LocalOptions) -> None:
    async with opened(options) as model:
        await ask(model)
        process = shared_server(options)._process
        assert process is not None
        process.kill()
        await process.wait()
        assert await ask(model)


async def test_weights_that_are_none(options: LocalOptions, tmp_path: Path) -> None:
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(b"no weights")
    async with opened(LocalOptions(bad, python=options.python)) as model:
        with pytest.raises(ModelError, match=r"bad\.gguf did not start \(.+\): check model\.local"):
            await ask(model)


async def test_an_interpreter_without_the_server(options: LocalOptions) -> None:
    async with opened(LocalOptions(options.weights, python=sys.executable)) as model:
        with pytest.raises(ModelError, match=r"did not start \(No module named 'xllamacpp'\)"):
            await ask(model)


_OWNER = """
import asyncio, sys
from pathlib import Path
from agentscope_tui.models.local_server import LocalOptions, shared_server

async def main():
    server = shared_server(LocalOptions(Path(sys.argv[1]), 512, 1, sys.argv[2]))
    server.acquire()
    await server.running()
    print(server._process.pid, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


async def test_it_dies_with_its_owner_however_that_ends(options: LocalOptions) -> None:
    owner = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _OWNER, str(options.weights), options.python, stdout=asyncio.subprocess.PIPE
    )
    assert owner.stdout is not None
    pid = int(await owner.stdout.readline())
    assert not ended(pid)
    owner.kill()
    await owner.wait()
    await wait_until(lambda: ended(pid), "the server ends")
