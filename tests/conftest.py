"""Fixtures for the whole suite."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from logging.handlers import RotatingFileHandler

import pytest
from hypothesis import HealthCheck, settings

import mock_rig
import rig
from agentscope_tui.secrets import MASKER

# How fast examples are made says something of the machine, and nothing of the program.
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")


@pytest.fixture(autouse=True)
def no_secrets_learnt() -> Iterator[None]:
    """What one test teaches the process to mask is none of the next one's business."""
    yield
    MASKER.forget()


@pytest.fixture(autouse=True)
def no_log_begun() -> Iterator[None]:
    """The log of a command that one test has run in this process is none of the next one's."""
    root = logging.getLogger()
    level = root.level
    yield
    for handler in root.handlers[:]:
        if isinstance(handler, RotatingFileHandler):
            root.removeHandler(handler)
            handler.close()
    root.setLevel(level)


@pytest.fixture(scope="session")
def llama_server() -> Iterator[str]:
    """The base URL of a real llama.cpp server, model `local`; skips where it is not installed."""
    reason = rig.missing()
    if reason:
        pytest.skip(reason)
    with rig.llama_server() as base_url:
        yield base_url


@pytest.fixture(scope="session")
def mock_server() -> Iterator[str]:
    """The address of a mock of many providers; skips where it is not installed."""
    reason = mock_rig.missing()
    if reason:
        pytest.skip(reason)
    with mock_rig.mock_server() as address:
        yield address
