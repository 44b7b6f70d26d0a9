"""A start of agentscope with folders of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from agentscope_tui.config import Config, load_settings


@dataclass(frozen=True)
class Start:
    """`user_file` and `local_file` are the two settings files; neither exists at first."""

    user_file: Path
    local_file: Path
    state: Path

    def load(self, flags: Mapping[str, object] | None = None, trust: bool = False, **environ: str) -> Config:
        env = {"AGENTSCOPE_HOME": str(self.state), **environ}
        return load_settings(flags or {}, cwd=self.local_file.parent, environ=env, trust=trust)


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Start:
    # platformdirs reads this variable on Linux; on a Mac it goes by HOME.
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    from agentscope_tui.folders import user_config_file

    user_file = user_config_file()
    user_file.parent.mkdir(parents=True)
    project = tmp_path / "project"
    project.mkdir()
    return Start(user_file, project / "agentscope.yaml", tmp_path / "state")
