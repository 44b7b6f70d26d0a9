"""`agentscope serve`: its door, its pages, and every kind of end."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import aiohttp
import httpx
import pytest

from e2e.served import Page, Served, alive, told
from e2e.terminal import bash, processes, write_rows, write_script
from waiting import wait_until


def words(folder: Path, command: str) -> list[str]:
    rows = write_rows(folder, {"user_prompt": "count the sheep"})
    return [str(rows), "--model", write_script(folder, bash(command)), "--mode", "run"]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    with Served(folder, words(folder, "true"), AGENTSCOPE_LOG__LEVEL="debug") as running:
        yield running


@pytest.fixture
async def client() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


def test_it_says_its_address_once_and_what_that_is(served: Served):
    assert served.said.count("http://") == 1
    assert served.origin.startswith("http://127.0.0.1:")
    assert "has a shell as you" in served.said


@pytest.mark.parametrize("path", ["", "static/js/textual.js", "page/page.css"])
def test_page_and_assets_need_the_token(served: Served, path: str):
    assert httpx.get(served.address + path).status_code == 200
    assert httpx.get(f"{served.origin}/{path}").status_code == 403
    assert httpx.get(f"{served.origin}/{'x' * len(served.token)}/{path}").status_code == 403


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}])
def test_foreign_names_and_pages_are_refused(served: Served, headers: dict[str, str]):
    assert httpx.get(served.address, headers=headers).status_code == 403


@pytest.mark.parametrize(
    ("token", "headers"),
    [
        ("wrong", {}),
        (None, {"Origin": "http://evil.example"}),
        (None, {"Origin": None}),
        (None, {"Host": "evil.example"}),
    ],
)
async def test_a_websocket_needs_the_token_and_its_own_origin(
    served: Served, client: aiohttp.ClientSession, token: str | None, headers: dict[str, str | None]
):
    sent = {"Origin": served.origin, **headers}
    given = {name: value for name, value in sent.items() if value is not None}
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        await client.ws_connect(f"{served.origin}/{token or served.token}/ws", headers=given)
    assert refused.value.status == 403
    assert served.pages == []


async def test_the_token_is_in_no_log_and_no_process(served: Served, client: aiohttp.ClientSession):
    async with client.get(f"{served.address}?{'x' * 5000}") as answer:
        assert answer.status == 400
    page = await Page(served, client).open()
    await page.until("count the sheep")
    (pid,) = served.pages
    arguments, variables = told(pid, "cmdline"), told(pid, "environ")
    assert "--model" in arguments
    assert "--port" not in arguments
    logs = served.logs()
    assert "LineTooLong" in logs
    assert [text for text in (*arguments, *variables, logs) if served.token in text] == []
    await page.close()


async def test_a_closed_page_ends_its_app_in_order_and_ctrl_c_ends_all(
    tmp_path: Path, client: aiohttp.ClientSession
):
    with Served(tmp_path, [*words(tmp_path, "sleep 98791"), "--row", "0"]) as served:
        one, other = [await Page(served, client).open() for _ in range(2)]
        await one.until("RUNNING")
        await other.until("RUNNING")
        await wait_until(lambda: len(processes("98791")) == 2, "the tools run", seconds=30)
        await one.close()
        await wait_until(lambda: len(served.pages) == 1, "its app ends", seconds=30)
        assert len(processes("98791")) == 1
        assert served.last_events().count("session_ended") == 1

        (pid,) = served.pages
        assert served.end(signal.SIGINT) == 0
        assert not alive(pid)
        assert processes("98791") == []
        assert served.last_events() == ["session_ended"] * 2
        await other.closed()


async def test_apps_of_a_killed_server_end_in_order(tmp_path: Path, client: aiohttp.ClientSession):
    with Served(tmp_path, [*words(tmp_path, "sleep 98793"), "--row", "0"]) as served:
        page = await Page(served, client).open()
        await page.until("RUNNING")
        await wait_until(lambda: processes("98793"), "the tool runs", seconds=30)
        (pid,) = served.pages
        served.end(signal.SIGKILL)
        await wait_until(lambda: not alive(pid), "its app ends", seconds=30)
        assert processes("98793") == []
        assert served.last_events() == ["session_ended"]


async def test_a_page_tells_why_no_app_opens(tmp_path: Path, client: aiohttp.ClientSession):
    with Served(tmp_path, words(tmp_path, "true")) as served:
        os.unlink(tmp_path / "tasks.jsonl")
        page = await Page(served, client).open()
        await page.until("tasks.jsonl")
        await page.closed()
        assert "the app ended with code" in page.screen
