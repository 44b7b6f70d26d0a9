"""`agentscope doctor`: good runners pass, and each way of breaking the protocol is named."""

import asyncio
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agentscope_tui.cli import main
from fakes.processes import FRAME_TOOLS

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
PYTHON = EXAMPLES / "runner.py"
PASSED = "the runner keeps the protocol"


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTSCOPE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("AGENTSCOPE_TOKEN", "a token for runners that dial in")
    monkeypatch.chdir(tmp_path)


def examine(*flags: str) -> int:
    return main(["doctor", *flags])


def test_the_python_example_passes(capfd: pytest.CaptureFixture[str]) -> None:
    assert examine("--runner", shlex.join([sys.executable, str(PYTHON)])) == 0
    out = capfd.readouterr().out
    assert PASSED in out
    assert "✗" not in out
    for check in ("hello", "ready", "ping", "tool", "steer", "interrupt", "shutdown"):
        assert check in out


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_javascript_example_passes(capfd: pytest.CaptureFixture[str]) -> None:
    assert examine("--runner", f"node {EXAMPLES / 'runner.mjs'}") == 0
    assert PASSED in capfd.readouterr().out


def test_the_builtin_loop_passes(capfd: pytest.CaptureFixture[str]) -> None:
    assert examine() == 0
    assert PASSED in capfd.readouterr().out


def test_a_runner_that_dials_in_passes(capfd: pytest.CaptureFixture[str]) -> None:
    address = f"127.0.0.1:{_free_port()}"
    dialing = f"until {shlex.join([sys.executable, str(PYTHON), address])}; do sleep 0.05; done"
    runner = subprocess.Popen(["sh", "-c", dialing], stderr=subprocess.DEVNULL)
    try:
        assert examine("--listen", address) == 0
        assert PASSED in capfd.readouterr().out
    finally:
        runner.terminate()
        runner.wait()


def _free_port() -> int:
    async def port() -> int:
        server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
        number = int(server.sockets[0].getsockname()[1])
        server.close()
        return number

    return asyncio.run(port())


ANSWERS = """
def idle(**fields):
    send("state", status="idle", turns=0, **fields)
send("hello", name="broken")
receive()
idle()
"""

CASES = {
    "no hello": ("import time; time.sleep(1000)", "no hello within 1 s"),
    "dies at once": ("print('no such option', file=sys.stderr); sys.exit(64)", "exited with status 64"),
    "never ready": ('send("hello"); time.sleep(1000)', "no state idle within 1 s"),
    "reports an error": ('send("hello"); receive(); send("episode_error", note="no agent")', "no agent"),
    "no frame": ('send("hello", mode=5)', "bad hello frame: hello.mode"),
    "wrong nonce": (f'{ANSWERS}receive(); send("pong", nonce="x")', "the pong has nonce 'x'"),
    "asks for a tool first": (
        f"""{ANSWERS}
send("pong", nonce=receive()["nonce"]); receive()
send("tool_request", req_id="r1", name="echo", arguments={{}})
time.sleep(1000)""",
        "expected llm_request, but a tool_request came",
    ),
    "does not offer the tools": (
        f"""{ANSWERS}
send("pong", nonce=receive()["nonce"]); receive()
send("llm_request", req_id="r1", openai_body={{"messages": [{{"role": "user", "content": "x"}}]}})
time.sleep(1000)""",
        "does not offer the tool echo",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_broken_is_named(
    name: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    source, words = CASES[name]
    monkeypatch.setenv("AGENTSCOPE_RUNNER__START_TIMEOUT", "1")
    code = examine("--runner", shlex.join([sys.executable, "-I", "-S", "-c", FRAME_TOOLS + source]))
    out = capfd.readouterr().out
    assert code == 1
    assert words in out
    assert "a check failed" in out


def test_the_log_of_a_runner_that_failed_is_shown(capfd: pytest.CaptureFixture[str]) -> None:
    assert examine("--runner", "no-such-program") == 1
    out = capfd.readouterr().out
    assert "cannot run no-such-program" in out


def test_wrong_flags_are_usage_errors(capfd: pytest.CaptureFixture[str]) -> None:
    assert examine("--runner", "x", "--connect", "127.0.0.1:1") == 2
    assert "exclude each other" in capfd.readouterr().err
