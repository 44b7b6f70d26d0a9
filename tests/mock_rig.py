"""The npm mock `@copilotkit/aimock`, which speaks for many providers, where `.ci/run` has installed it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import ProxyHandler, Request, build_opener

PROGRAM = "AGENTSCOPE_TEST_AIMOCK"

_FIXTURES = Path(__file__).parent / "aimock" / "fixtures.json"
_DEADLINE = 60.0
_direct = build_opener(ProxyHandler({}))


def missing() -> str:
    """Why the mock cannot be started here; empty if it can."""
    return "" if os.environ.get(PROGRAM) else f"needs the npm mock of .ci/run: {PROGRAM} not set"


@contextmanager
def mock_server() -> Iterator[str]:
    """Run the mock; its address. It streams three characters at a time."""
    command = [os.environ[PROGRAM], "-p", "0", "-c", "3", "-f", str(_FIXTURES), "--log-level", "info"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            yield _address(process)
        finally:
            process.terminate()
            process.communicate(timeout=_DEADLINE)


@contextmanager
def chaos(address: str, **rates: float) -> Iterator[None]:
    """What the mock does instead of answering: `rateLimitRate`, `disconnectRate`, `malformedRate` ..."""
    _send(address, "POST", rates)
    try:
        yield
    finally:
        _send(address, "DELETE", None)


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    said = []
    for line in process.stdout:
        said.append(line)
        if "listening on " in line:
            return line.strip().rpartition(" ")[2]
    raise RuntimeError(f"the mock ended: {''.join(said)}")


def _send(address: str, method: str, body: Any) -> None:
    data = None if body is None else json.dumps(body).encode()
    headers = {"content-type": "application/json"}
    request = Request(f"{address}/__aimock/chaos", data, headers, method=method)
    with _direct.open(request, timeout=_DEADLINE) as response:
        response.read()
