"""The stage of screen tests, and the environment around it."""

from __future__ import annotations

from pathlib import Path

import pytest

from screens.stage import Stage


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    # No settings of the person who runs the tests.
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return Stage(tmp_path)
