"""MCP servers and functions named by settings: a file beside the dataset, trust, what a server may see."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentscope_tui.config import Config, load_settings
from agentscope_tui.datasets.task import Task
from agentscope_tui.errors import UsageError, UserError
from agentscope_tui.options import Options
from agentscope_tui.session.launch import open_rows
from agentscope_tui.session.state import SessionState
from agentscope_tui.store.lock import FolderLock
from fakes.mcp_over_http import serving
from fakes.mcp_servers import write_server
from fakes.processes import alive, mark
from waiting import wait_until

SERVER = """
    @tool
    def seen():
        return " ".join([os.environ.get("MY_TOKEN", "no token"), os.environ["MY_COLOUR"], sys.argv[-1]])
"""
FUNCTIONS = "def double(number: int) -> int:\n    return number * 2\n"


def settings_of(folder: Path, tools: dict[str, Any], *, trust: bool = True, **flags: Any) -> Config:
    """The settings of a working folder whose file has these tools."""
    calls = [{"name": "seen"}, {"name": "double", "arguments": {"number": 21}}]
    replies = [{"tool_calls": calls}, {"text": "done"}]
    (folder / "script.yaml").write_text(yaml.safe_dump({"scripts": [{"replies": replies}]}))
    (folder / "rows.jsonl").write_text(json.dumps({"user_prompt": "go", "mcp": "touch mine"}) + "\n")
    (folder / "agentscope.yaml").write_text(yaml.safe_dump({"tools": tools}))
    keys = {"AGENTSCOPE_HOME": str(folder / "state"), "MY_TOKEN": "secret-1", "MY_COLOUR": "red"}
    chosen = {"model.name": f"scripted:{folder / 'script.yaml'}", "sandbox.mode": "none", **flags}
    return load_settings(chosen, cwd=folder, environ={**os.environ, **keys}, trust=trust)


async def run_row(config: Config) -> SessionState:
    """The first row, to its end."""
    launcher, dataset = open_rows(config, Options(config.cwd / "rows.jsonl"))
    row = dataset.row(0)
    dataset.close()
    assert isinstance(row, Task)
    opened = await launcher.open(row, mode="run")
    state = SessionState()
    opened.bus.subscribe(state.apply)
    await opened.start()
    await opened.session.settled()
    await opened.aclose()
    await launcher.aclose()
    return state


async def test_a_trusted_file_beside_the_dataset_names_servers_and_functions(tmp_path: Path) -> None:
    word = mark()
    (tmp_path / "mine.py").write_text(FUNCTIONS)
    command = f"{write_server(tmp_path, SERVER)} {word} {{workdir}}"
    state = await run_row(settings_of(tmp_path, {"mcp": [command], "python": "mine.py"}))
    assert [(call.name, call.state) for call in state.calls] == [("seen", "done"), ("double", "done")]
    told, doubled = (call.content for call in state.calls)
    assert told.startswith("no token red ")
    assert Path(told.split()[-1]).name == "files"
    assert doubled == "42"
    assert alive(word) == []


async def test_a_variable_that_is_passed_is_seen(tmp_path: Path) -> None:
    passed = {"runner.pass_env": ["MY_TOKEN"]}
    state = await run_row(settings_of(tmp_path, {"mcp": [write_server(tmp_path, SERVER)]}, **passed))
    assert state.calls[0].content.split()[1] == "red"
    assert "no token" not in state.calls[0].content


async def test_an_untrusted_file_names_none(tmp_path: Path) -> None:
    config = settings_of(tmp_path, {"mcp": ["touch made"], "python": "mine.py"}, trust=False)
    assert config.untrusted is not None
    assert config.untrusted.keys == ("tools.mcp", "tools.python")
    state = await run_row(config)
    assert [(call.name, call.state) for call in state.calls] == [("seen", "failed"), ("double", "failed")]
    assert not (tmp_path / "made").exists()


async def test_what_cannot_be_had_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--mcp none-such: there is no program none-such"):
        await run_row(settings_of(tmp_path, {"mcp": ["none-such"]}))
    with pytest.raises(UserError, match="--mcp false: its process exited with status 1"):
        await run_row(settings_of(tmp_path, {"mcp": ["false"]}))
    with pytest.raises(UsageError, match=r"tools\.mcp cannot be 'x': it must be a list of texts"):
        settings_of(tmp_path, {"mcp": "x"})


async def test_an_opening_that_is_given_up_keeps_nothing_open(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import time\nopen('begun', 'w').close()\ntime.sleep(100)\n")
    config = settings_of(tmp_path, {"python": "mine.py"})
    launcher, dataset = open_rows(config, Options(tmp_path / "rows.jsonl"))
    row = dataset.row(0)
    dataset.close()
    assert isinstance(row, Task)
    opening = asyncio.create_task(launcher.open(row))
    await wait_until(lambda: (tmp_path / "begun").exists(), "the import of the functions")
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    await launcher.aclose()
    [lock] = (tmp_path / "state").rglob("lock")
    FolderLock(lock.parent).release()


async def test_a_program_gets_no_tools(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(FUNCTIONS)
    program = {"runner.program": "true"}
    with pytest.raises(UsageError, match="--tools: the program of --command has its own tools"):
        await run_row(settings_of(tmp_path, {}, **program, **{"tools.python": "mine.py"}))
    assert (await run_row(settings_of(tmp_path, {"python": "mine.py"}, **program))).outcome == "completed"


async def test_a_server_behind_a_url_gets_its_headers(tmp_path: Path) -> None:
    with serving("secret-1") as url:
        wanted = {"Authorization": "Bearer ${MY_TOKEN}", "X-Tenant": "${MY_COLOUR} team"}
        state = await run_row(settings_of(tmp_path, {"mcp": [url], "mcp_headers": {url: wanted}}))
        assert (state.calls[0].name, state.calls[0].content) == ("seen", "red team")
        with pytest.raises(UserError, match=r"mcp.*tools\.mcp_headers"):
            await run_row(settings_of(tmp_path, {"mcp": [url]}))
        unset = {url: {"Authorization": "Bearer ${NO_SUCH}"}}
        with pytest.raises(UsageError, match="Authorization needs the variable NO_SUCH, which is not set"):
            await run_row(settings_of(tmp_path, {"mcp": [url], "mcp_headers": unset}))


async def test_agentscopes_own_tools_are_those_that_are_named(tmp_path: Path) -> None:
    state = await run_row(settings_of(tmp_path, {"builtin": ["read_file", "submit"]}))
    assert state.request_parameters(1)["tools"] == ["read_file", "submit"]
    state = await run_row(settings_of(tmp_path, {"builtin": [], "mcp": [write_server(tmp_path, SERVER)]}))
    assert state.request_parameters(1)["tools"] == ["seen"]
    state = await run_row(settings_of(tmp_path, {"builtin": []}))
    assert state.outcome == "completed"
    with pytest.raises(UsageError, match=r"tools\.builtin"):
        settings_of(tmp_path, {"builtin": ["rm"]})
