"""The token of runners that dial in: where it comes from, that it stays, and that nothing tells it on."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from agentscope_tui.bus import EventBus
from agentscope_tui.errors import UserError
from agentscope_tui.events import RunnerConnected
from agentscope_tui.runners.source import RunnerChoice, RunnerSource
from agentscope_tui.runners.token import runner_token
from agentscope_tui.secrets import MASKER
from fakes.engine import FakeModel, FakeTools, says
from fakes.session_rig import Rig
from waiting import wait_until

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "runner.py"


def test_it_is_made_once_for_the_user_alone_and_masked(tmp_path: Path) -> None:
    environ = {"AGENTSCOPE_HOME": str(tmp_path / "state")}
    first, again = runner_token(environ), runner_token(environ)
    file = tmp_path / "state" / "runner-token"
    assert first == again
    assert first.origin == str(file)
    assert len(first.value) >= 32
    assert file.stat().st_mode & 0o777 == 0o600
    assert {path.name for path in file.parent.iterdir()} == {"sessions", file.name}
    assert first.value not in MASKER.mask(f"a runner said {first.value}")


def test_the_users_own_comes_first(tmp_path: Path) -> None:
    token = runner_token({"AGENTSCOPE_HOME": str(tmp_path), "AGENTSCOPE_TOKEN": "my own long token"})
    assert (token.value, token.origin) == ("my own long token", "AGENTSCOPE_TOKEN")
    assert list(tmp_path.iterdir()) == []


def test_an_empty_file_is_no_token(tmp_path: Path) -> None:
    (tmp_path / "runner-token").touch()
    with pytest.raises(UserError, match="delete it"):
        runner_token({"AGENTSCOPE_HOME": str(tmp_path)})


@pytest.mark.parametrize("knows", [True, False])
async def test_the_example_runner_dials_in_with_it(tmp_path: Path, knows: bool) -> None:
    environ = {"AGENTSCOPE_HOME": str(tmp_path)}
    source = RunnerSource(RunnerChoice(listen="127.0.0.1:0", environ=environ, start_timeout=1.0))
    await source.start()
    token = runner_token(environ).value if knows else "a guess"
    channel = source.channel(lambda stream, line: None)
    address = str(source.listening)
    runner = await asyncio.create_subprocess_exec(
        *(sys.executable, str(EXAMPLE), address), env={**os.environ, "AGENTSCOPE_TOKEN": token}
    )
    rig = Rig(FakeModel(says("hi")), FakeTools(), channel=channel, bus=EventBus("test"), own_runner=True)
    if knows:
        await rig.session.start()
        await rig.run()
        assert rig.outcomes() == ["completed"]
        (connected,) = rig.of(RunnerConnected)
        assert connected.hello == {"name": "example-python"}
        await rig.end()
    else:
        with pytest.raises(UserError, match="came without the token"):
            await rig.session.start()
    assert await asyncio.wait_for(runner.wait(), 10) == 0
    await source.aclose()
    await wait_until(lambda: rig.state.status in ("ended", "failed"))
