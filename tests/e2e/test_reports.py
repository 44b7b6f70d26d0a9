"""Runs of the installed command, reported: figures, a comparison, a page in a real browser with its links."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from playwright.sync_api import sync_playwright

from e2e.terminal import COMMAND, environment, submit, write_rows

CHROMIUM = shutil.which("chromium")
ROWS = 6


def agentscope(folder: Path, *words: str) -> tuple[int, str, str]:
    ran = subprocess.run(
        [COMMAND, *words], cwd=folder, env=environment(folder), capture_output=True, text=True, timeout=60
    )
    assert "Traceback" not in ran.stderr
    return ran.returncode, ran.stdout, ran.stderr


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Two runs of six rows, twice each: `one` is right in rows 0 to 2, `two` in 1 to 5; row 6 is no task."""
    rows: list[dict[str, Any]] = [
        {"user_prompt": f"What is {n} + 1? <b>Quick.</b>", "ground_truth": str(n + 1)} for n in range(ROWS)
    ]
    write_rows(tmp_path, *rows, {"user_prompt": 7})
    for name, right in (("one", range(3)), ("two", range(1, ROWS))):
        scripts = [
            {
                "match": f"What is {n} +",
                "replies": [{"tokens_per_second": 10_000, **submit(str(n + 1) if n in right else "?")}],
            }
            for n in range(ROWS)
        ]
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump({"scripts": scripts}))
        words = ["--model", f"scripted:{name}.yaml", "--grader", "exact", "--no-sandbox", "--n", "2"]
        code, _, err = agentscope(tmp_path, "run", "tasks.jsonl", *words, "--out", name)
        assert code == 1, err
    return tmp_path


def test_runs_are_reported_and_compared(runs: Path):
    code, out, _ = agentscope(runs, "report", "one")
    assert code == 0
    assert "14 rollouts: 12 done · 2 failed" in out
    assert "mean reward 0.5 ± 0.224" in out
    assert "pass@1 0.500 · pass@2 0.500" in out
    found = json.loads(agentscope(runs, "report", "one", "two", "--json")[1])
    assert found["same_dataset"] is True
    # Row 0 is worse, 3 to 5 are better, of 6: (-1 + 3) / 6.
    assert found["reward"]["difference"] == pytest.approx(1 / 3)
    assert (found["pass_no_more"], found["pass_now"]) == (1, 3)
    words = found["rows_worse"][0]["compare"].split()[1:]
    code, out, _ = agentscope(runs, *words)
    assert code == 1
    assert "first difference: call #1" in out
    worst = json.loads(agentscope(runs, "report", "one", "--json")[1])["worst"]
    assert [row["row"] for row in worst] == [6, 3, 4, 5, 0, 1, 2]
    assert worst[1]["task"] == "What is 3 + 1? <b>Quick.</b>"


@pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here (.ci/run installs it)")
def test_a_page_sorts_and_leads_to_the_recordings(runs: Path):
    code, _, err = agentscope(runs, "report", "one", "--html", "report.html", "--sessions")
    assert (code, err) == (0, "agentscope: wrote report.html\n")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1100, "height": 700})
        asked: list[str] = []
        said: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("console", lambda message: said.append(message.text))
        page.goto((runs / "report.html").as_uri())
        assert asked == [(runs / "report.html").as_uri()]
        first = page.locator("table.sorts tbody tr td:first-child")
        assert first.all_text_contents() == ["6", "3", "4", "5", "0", "1", "2"]
        page.click("table.sorts th:first-child button")
        assert first.all_text_contents() == [str(n) for n in range(7)]
        page.click("table.sorts th:nth-child(2) button")
        page.click("table.sorts th:nth-child(2) button")
        # Rows without a reward stay below, whichever way it is sorted.
        assert first.all_text_contents()[3:] == ["3", "4", "5", "6"]
        page.click("#theme")
        assert page.evaluate("document.documentElement.dataset.theme") in ("light", "dark")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.click(".rolls a >> nth=0")
        page.wait_for_selector("section.call")
        assert "What is" in page.title()
        assert said == []
        browser.close()
