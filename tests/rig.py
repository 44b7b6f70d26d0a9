"""A real model for tests: llama.cpp's server with real weights, where `.ci/run` has installed them."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

PYTHON = "AGENTSCOPE_TEST_LLAMA_PYTHON"
WEIGHTS = "AGENTSCOPE_TEST_LLAMA_WEIGHTS"

_FILES = Path(__file__).parent / "llama"
_DEADLINE = 60.0
_direct = build_opener(ProxyHandler({}))


def missing() -> str:
    """Why the server cannot be started here; empty if it can."""
    unset = [name for name in (PYTHON, WEIGHTS) if not os.environ.get(name)]
    return f"needs the llama.cpp server of .ci/run: {' and '.join(unset)} not set" if unset else ""


@contextmanager
def llama_server() -> Iterator[str]:
    """Run the server; its base URL. It ends with the block, and with this process."""
    port = _free_port()
    command = [
        os.environ[PYTHON],
        str(_FILES / "serve.py"),
        os.environ[WEIGHTS],
        str(port),
        str(_FILES / "worked_examples.jinja"),
    ]
    with TemporaryFile() as log:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT)
        try:
            _wait_until_healthy(port, process)
            yield f"http://127.0.0.1:{port}/v1"
        except RuntimeError as error:
            log.seek(0)
            raise RuntimeError(f"{error}:\n{log.read().decode(errors='replace')}") from error
        finally:
            process.communicate(timeout=_DEADLINE)


def generates(base_url: str) -> bool:
    """Whether the server works on an answer now."""
    slots = _get(base_url.removesuffix("/v1") + "/slots")
    return any(slot["is_processing"] for slot in slots)


def wait_until_idle(base_url: str, seconds: float = 10.0) -> None:
    """Return when the server works on no answer; fails after some seconds."""
    deadline = time.monotonic() + seconds
    while generates(base_url):
        assert time.monotonic() < deadline, f"the server still generates after {seconds:g} s"
        time.sleep(0.05)


def _wait_until_healthy(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _DEADLINE
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the llama.cpp server ended with {process.returncode}")
        try:
            if _get(f"http://127.0.0.1:{port}/health")["status"] == "ok":
                return
        except (URLError, ConnectionError):
            time.sleep(0.05)
    raise RuntimeError(f"the llama.cpp server was not ready after {_DEADLINE:g} s")


def _get(url: str) -> Any:
    with _direct.open(url, timeout=_DEADLINE) as response:
        return json.load(response)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
