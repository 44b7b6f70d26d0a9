"""Agents of real SDKs, in the environment that `.ci/run` installs."""

from __future__ import annotations

import os

import pytest

PYTHON = "AGENTSCOPE_TEST_AGENTS_PYTHON"


@pytest.fixture(scope="session")
def python() -> str:
    """The interpreter that has the SDKs."""
    if not os.environ.get(PYTHON):
        pytest.skip(f"needs the agents' SDKs of .ci/run: {PYTHON} not set")
    return os.environ[PYTHON]
