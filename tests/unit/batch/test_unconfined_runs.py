"""`agentscope run` where nothing can confine tools: refused, unless the user says that they need not be."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_tui import confining
from agentscope_tui.cli import main
from agentscope_tui.tools.sandbox import Sandbox


@pytest.fixture(autouse=True)
def no_sandbox(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def nothing(mode: str, **_: object) -> Sandbox:
        return Sandbox("none", reason="switched off" if mode == "none" else "bwrap is not installed")

    monkeypatch.setattr(confining, "find_sandbox", nothing)
    monkeypatch.setenv("AGENTSCOPE_HOME", str(tmp_path))


def test_it_is_refused_and_says_what_would_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--row", "3"]) == 2
    said = capsys.readouterr().err
    assert "nothing can confine the agent's tools here (bwrap is not installed)" in said
    assert "--no-sandbox" in said


def test_it_runs_for_whoever_means_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--row", "3", "--no-sandbox"]) == 0
    assert "tools: none" in capsys.readouterr().out
