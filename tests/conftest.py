"""Fixtures for the whole suite."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import rig


@pytest.fixture(scope="session")
def llama_server() -> Iterator[str]:
    """The base URL of a real llama.cpp server, model `local`; skips where it is not installed."""
    reason = rig.missing()
    if reason:
        pytest.skip(reason)
    with rig.llama_server() as base_url:
        yield base_url
