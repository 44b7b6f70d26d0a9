"""The stock pi runner for its tests; they skip where `.ci/run` has not fetched it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pi
import pytest

from agentscope_tui.resources import runner_profiles
from agentscope_tui.runners.profile import load_profiles
from fakes.processes import process_rig
from fakes.session_rig import Rig

MakeRig = Callable[..., Rig]


@pytest.fixture
def pi_rig(tmp_path: Path) -> MakeRig:
    """Makes a session behind the runner; `patience` replaces the profile's seconds."""
    reason = pi.missing()
    if reason:
        pytest.skip(reason)
    folder = pi.workdir(tmp_path)

    def make(model: Any, tools: Any, /, *, patience: float | None = None, **settings: Any) -> Rig:
        profiles = load_profiles(runner_profiles(), patience=patience)
        return process_rig(pi.command(), folder, model, tools, files=pi.AGENT, profiles=profiles, **settings)

    return make
