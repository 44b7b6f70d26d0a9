"""The app in a real browser, headless: rows are there, a key opens one, copied text gets to the clipboard."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pyte
import pytest
from playwright.async_api import Page, async_playwright

from e2e.served import Served
from e2e.terminal import bash, write_rows, write_script
from waiting import wait_until

CHROMIUM = shutil.which("chromium")
CLIPBOARD = """
const clipboard = {writeText: async text => { document.body.dataset.copied = text; }};
Object.defineProperty(navigator, "clipboard", {value: clipboard});
"""

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here (.ci/run installs it)")


class Watched:
    """A page of the browser: what its terminal was sent, what it asked for, and what went wrong on it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._screen = pyte.Screen(1, 1)
        self._stream = pyte.ByteStream(self._screen)
        self.wrong: list[str] = []
        self.hosts: set[str] = set()
        page.on("websocket", self._opened)
        page.on("request", lambda request: self.hosts.add(request.url.split("/")[2]))
        page.on("requestfailed", lambda request: self.wrong.append(request.url))
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("console", lambda said: self.wrong.append(said.text) if said.type == "error" else None)

    def _opened(self, socket: Any) -> None:
        size = dict(item.split("=") for item in socket.url.partition("?")[2].split("&"))
        self._screen.resize(int(size["height"]), int(size["width"]))
        socket.on("framereceived", lambda data: self._stream.feed(data) if isinstance(data, bytes) else None)

    async def until(self, wanted: str) -> None:
        try:
            await wait_until(lambda: wanted in "\n".join(self._screen.display), wanted, seconds=30)
        except AssertionError:
            shown = "\n".join(self._screen.display)
            raise AssertionError(f"{wanted!r} did not come: {self.wrong}\n{shown}") from None


@pytest.fixture
async def watched() -> AsyncIterator[Watched]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = await browser.new_page(viewport={"width": 1100, "height": 700})
        await page.add_init_script(CLIPBOARD)
        yield Watched(page)
        await browser.close()


async def test_a_browser_shows_rows_and_a_key_opens_one(watched: Watched, tmp_path: Path) -> None:
    rows = write_rows(tmp_path, {"user_prompt": "count sheep"}, {"user_prompt": "count goats"})
    model = write_script(tmp_path, bash("true", "I count the goats."))
    with Served(tmp_path, [str(rows), "--model", model]) as served:
        page = watched.page
        answer = await page.goto(served.address)
        assert answer is not None
        assert answer.status == 200
        await watched.until("count goats")
        assert await page.locator(".xterm-screen").is_visible()
        await page.locator(".xterm-helper-textarea:focus").wait_for(state="attached")

        await page.keyboard.press("ArrowDown")
        await page.keyboard.press("Enter")
        await watched.until("PAUSED after call #1")
        await watched.until("I count the goats.")

        await page.keyboard.press("y")
        await page.locator("body[data-copied*='paused after call #1']").wait_for(state="attached")

        await page.keyboard.press("Control+q")
        await watched.until("a key answers")
        await page.keyboard.press("y")
        await page.get_by_text("agentscope has ended here.").wait_for()
        await wait_until(lambda: served.pages == [], "the app ends", seconds=30)

        assert watched.wrong == []
        assert watched.hosts == {served.origin.removeprefix("http://")}
