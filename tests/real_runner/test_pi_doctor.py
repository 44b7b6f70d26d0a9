"""`agentscope doctor` on the stock pi runner."""

from __future__ import annotations

import shlex
from pathlib import Path

import pi
import pytest

from agentscope_tui.cli import main


def test_the_doctor_passes_it_and_knows_its_habits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    reason = pi.missing()
    if reason:
        pytest.skip(reason)
    monkeypatch.setenv("AGENTSCOPE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(pi.workdir(tmp_path))
    files = tmp_path / "files"
    for name, text in pi.AGENT.items():
        (files / name).parent.mkdir(parents=True)
        (files / name).write_text(text)
    code = main(["doctor", "--runner", shlex.join(pi.command()), "--runner-files", str(files)])
    out = capfd.readouterr().out
    assert code == 0, out
    assert "pi_version" in out
    assert "profile pi: it lets a model answer wait for" in out
    assert "left out a second result" in out
