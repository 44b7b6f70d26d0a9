"""An exported page in a real browser: it asks for nothing, nothing in it runs, and folds and links work."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Page, async_playwright

import agentscope_tui.events as ev
from fakes.past_sessions import eventful, exported, past

CHROMIUM = shutil.which("chromium")
ATTACK = (
    "<script>document.title = 'owned'</script></script><img src=x onerror=\"document.title='owned'\">"
    "![p](http://127.0.0.1:9/pixel.png) [a](javascript:document.title='owned')"
)

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here (.ci/run installs it)")


class Watched:
    """A page, what it asked for beside itself, and what it complained about."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.asked: list[str] = []
        self.said: list[str] = []
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("console", lambda message: self.said.append(message.text))

    async def open(self, path: Path) -> None:
        await self.page.goto(path.as_uri())
        assert self.asked == [path.as_uri()]
        assert self.said == []


@pytest.fixture
async def watched() -> AsyncIterator[Watched]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield Watched(await browser.new_page(viewport={"width": 1100, "height": 700}))
        await browser.close()


async def test_folds_themes_and_links_work(watched: Watched, tmp_path: Path) -> None:
    path = tmp_path / "run.html"
    path.write_text(exported("html", await eventful()))
    await watched.open(path)
    page = watched.page
    folds = page.locator("main details:not([open])")
    assert await folds.count() > 0
    await page.click("#unfold")
    assert await folds.count() == 0
    await page.click("#theme")
    assert await page.evaluate("document.documentElement.dataset.theme") in ("light", "dark")
    await page.click('nav a[href="#call-6"]')
    await page.wait_for_selector('nav a[href="#call-6"][aria-current]')
    assert watched.said == []


async def test_nothing_from_outside_runs_or_is_fetched(watched: Watched, tmp_path: Path) -> None:
    path = tmp_path / "attack.html"
    path.write_text(
        exported(
            "html",
            past(
                ev.SessionStarted(version="1", system=ATTACK),
                ev.UserMessageSent(msg_id="m", text=f"hello {ATTACK}", turn=1),
                ev.LlmRequestSent(call=1, turn=1, req_id="r"),
                ev.AssistantMessage(call=1, text=ATTACK),
                ev.ToolResult(call_id="c", call=1, name=ATTACK, status="failed", content=ATTACK),
            ),
        )
    )
    await watched.open(path)
    for link in await watched.page.locator("main a[target]").all():
        assert (await link.get_attribute("href") or "").startswith("http")
    assert (await watched.page.title()).startswith("hello")
