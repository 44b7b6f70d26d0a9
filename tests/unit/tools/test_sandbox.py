"""What a sandbox shows and hides, checked from inside."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tool_rig import Shell

from agentscope_tui.runners.home import confined_home
from agentscope_tui.tools import sandbox_probe
from agentscope_tui.tools.environment import tool_environment
from agentscope_tui.tools.process import ProcessHost
from agentscope_tui.tools.sandbox import Sandbox, SandboxError
from agentscope_tui.tools.sandbox_probe import find_sandbox, remedy

PREFIX = str(Path(sys.base_prefix).resolve())

CANARIES = {
    "OPENAI_API_KEY": "canary-openai",
    "ANTHROPIC_API_KEY": "canary-anthropic",
    "AWS_SECRET_ACCESS_KEY": "canary-aws",
    "GITHUB_TOKEN": "canary-github",
    "MY_PASSWORD": "canary-password",
    "HTTPS_PROXY": "http://user:canary-proxy@localhost:1",
    "AGENTSCOPE_MODEL": "canary-agentscope",
    "SSH_AUTH_SOCK": "/tmp/canary-ssh",
    "LD_PRELOAD_NOTE": "canary-loader",
    "PYTHONPATH": "/tmp/canary-pythonpath",
    "BASH_ENV": "/tmp/canary-bash-env",
    "LC_API_KEY": "canary-locale",
}


async def inside(sandbox: Sandbox, folder: Path, command: str) -> tuple[int | None, str]:
    """Exit code and output of one command in a session of its own."""
    host = await ProcessHost.start(sandbox, folder)
    try:
        shell = Shell(host, sandbox, folder)
        status = await shell(command)
    finally:
        await host.aclose()
    return status.code, (shell.sink.bytes() + shell.sink.bytes("stderr")).decode()


def test_the_environment_is_an_allow_list(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in CANARIES.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("LC_NUMERIC", "C")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    environment = tool_environment(tmp_path)
    assert not any("canary" in value for value in environment.values())
    assert environment["LC_NUMERIC"] == "C"
    assert environment["TZ"] == "Asia/Tokyo"
    assert environment["HOME"] == str(tmp_path)
    assert environment["TERM"] == "dumb"
    assert environment["PAGER"] == "cat"
    assert environment["GIT_TERMINAL_PROMPT"] == "0"
    assert environment["PYTHONDONTWRITEBYTECODE"] == "1"


async def test_no_key_reaches_a_command(
    sandbox: Sandbox, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in CANARIES.items():
        monkeypatch.setenv(name, value)
    code, output = await inside(sandbox, folder, "env; tr '\\0' '\\n' < /proc/$PPID/environ")
    assert code == 0
    assert "HOME=" in output
    assert "canary" not in output


READ_ALL = """
import asyncio, sys
from pathlib import Path
from agentscope_tui.tools.local import LocalTools
from agentscope_tui.tools.sandbox_probe import find_sandbox

async def main():
    tools = LocalTools(Path(sys.argv[1]), sandbox=await find_sandbox("bwrap"))
    status, text = await tools.run_command("cat /proc/*/environ /proc/*/cmdline", timeout=30)
    await tools.aclose()
    print(text)

asyncio.run(main())
"""


def test_no_process_inside_shows_a_key(bwrap: Sandbox, folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", READ_ALL, str(folder)],
        env={"PATH": "/usr/bin:/bin", **CANARIES},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "inside.py�supervisor" in done.stdout
    assert "canary" not in done.stdout


async def test_only_the_folder_and_tmp_can_be_written(bwrap: Sandbox, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "beside").write_text("another session's")
    places = [tmp_path, folder, "/", "/usr", "/etc", "/run", "/tmp", "/var", Path.home()]
    tries = "; ".join(f"(echo x > {place}/new) 2>/dev/null && echo {place}" for place in places)
    _, output = await inside(bwrap, folder, tries)
    # Beside the folder is the private /tmp, where pytest's folders are.
    assert [place for place in output.split() if place != str(tmp_path)] == [str(folder), "/tmp"]
    assert sorted(os.listdir(tmp_path)) == ["beside", "work"]
    assert (folder / "new").read_text() == "x\n"


@pytest.mark.parametrize(
    "command",
    [
        "ls {beside}",
        "find {home} -xdev -type f -not -path '{prefix}/*' | grep .",
        "cat /etc/shadow",
        "echo x >> {supervisor}",
        "mount -o remount,rw /usr && touch /usr/new",
        "umount /tmp",
        "touch /usr/bin/new",
        "kill -0 {pid}",
        "cat /proc/{pid}/environ",
        "cat /proc/{pid}/maps",
        "ls /sys/class",
    ],
)
async def test_what_is_outside_is_out_of_reach(
    confined: Sandbox, folder: Path, tmp_path: Path, command: str
) -> None:
    (tmp_path / "beside").mkdir()
    places = {
        "beside": tmp_path / "beside",
        "home": Path.home(),
        "prefix": PREFIX,
        "supervisor": confined.module("supervisor")[-2],
        "pid": os.getpid(),
    }
    code, output = await inside(confined, folder, command.format(**places))
    assert code not in (0, None), output


async def test_tmp_lasts_for_the_session_and_is_its_own(bwrap: Sandbox, folder: Path) -> None:
    host = await ProcessHost.start(bwrap, folder)
    shell = Shell(host, bwrap, folder)
    await shell("echo kept > /tmp/agentscope-note")
    await shell("cat /tmp/agentscope-note; pwd")
    await host.aclose()
    assert shell.sink.bytes().decode() == f"kept\n{folder}\n"
    assert (await inside(bwrap, folder, "ls -A /tmp"))[1].split() == (
        [folder.relative_to("/tmp").parts[0]] if folder.is_relative_to("/tmp") else []
    )


async def test_python_is_the_one_that_runs_agentscope(sandbox: Sandbox, folder: Path) -> None:
    code, output = await inside(sandbox, folder, f"python{sys.version_info[0]} -c 'import sys, ssl, ctypes'")
    assert (code, output) == (0, "")
    if sandbox.name == "bwrap":
        _, output = await inside(sandbox, folder, "python3 -c 'import sys; print(sys.prefix)'")
        assert output.strip() == PREFIX


@pytest.fixture
def port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize("network", [False, True])
async def test_there_is_a_network_only_if_allowed(
    bwrap: Sandbox, folder: Path, port: int, network: bool
) -> None:
    sandbox = await find_sandbox("bwrap", network=network)
    code, _ = await inside(sandbox, folder, f"exec 3<>/dev/tcp/127.0.0.1/{port}")
    assert (code == 0) is network


async def test_read_only_folders_are_shown_and_their_programs_found(
    bwrap: Sandbox, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs, inner = tmp_path / "programs", folder / "inner"
    programs.mkdir()
    inner.mkdir()
    (programs / "greet").write_text("#!/bin/sh\necho hello\n")
    (programs / "greet").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{tmp_path / 'hidden'}:/usr/bin:/bin")
    sandbox = await find_sandbox("bwrap", read_only=[programs, inner])
    code, output = await inside(sandbox, folder, "greet; echo $PATH; touch ok")
    assert code == 0
    assert output.startswith("hello\n")
    assert "hidden" not in output
    for place in (programs, inner):
        assert (await inside(sandbox, folder, f"touch {place}/new"))[0] == 1


async def test_a_missing_read_only_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match=r"read_only: there is no folder .*nowhere"):
        await find_sandbox("auto", read_only=[tmp_path / "nowhere"])


async def test_no_sandbox_wraps_nothing(folder: Path) -> None:
    sandbox = await find_sandbox("none")
    assert (sandbox.name, sandbox.reason) == ("none", "switched off")
    assert sandbox.wrap(["a", "b"], folder) == ["a", "b"]


async def test_without_bwrap_auto_says_so_and_bwrap_refuses(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sandbox_probe, "bwrap_program", lambda: "")
    found = await find_sandbox("auto")
    assert (found.name, found.reason) == ("landlock", "bwrap is not installed")
    with pytest.raises(SandboxError, match="bwrap is not installed; install"):
        await find_sandbox("bwrap")


@pytest.mark.parametrize("network", [False, True])
async def test_with_neither_auto_says_why_and_required_refuses(
    monkeypatch: pytest.MonkeyPatch, network: bool
) -> None:
    monkeypatch.setattr(sandbox_probe, "bwrap_program", lambda: "")
    monkeypatch.setitem(sandbox_probe._tried, ("landlock", ""), "landlock does not work here: none")
    found = await find_sandbox("auto", network=network)
    assert (found.name, found.network) == ("none", True)
    assert found.reason == "bwrap is not installed; landlock does not work here: none"
    for mode in ("required", "landlock"):
        with pytest.raises(SandboxError, match=r"landlock does not work here: none; .*set `sandbox.mode`"):
            await find_sandbox(mode)


async def test_advice_about_bwrap_is_not_given_for_landlock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sandbox_probe._tried, ("landlock", ""), "landlock does not work here: none")
    with pytest.raises(SandboxError) as caught:
        await find_sandbox("landlock")
    assert str(caught.value) == "landlock does not work here: none; set `sandbox.mode` to auto"


def test_what_would_help_is_said_for_what_bwrap_says() -> None:
    assert "apt install bubblewrap" in remedy("bwrap is not installed")
    assert "apparmor" in remedy("bwrap does not work here: bwrap: setting up uid map: Permission denied")
    assert "userns" in remedy("bwrap does not work here: bwrap: No permissions to create new namespace")
    assert "--security-opt" in remedy("bwrap: Creating new namespace failed: Operation not permitted")
    assert "to see what it needs" in remedy("bwrap does not work here: it hangs")


async def test_landlock_gives_a_tmp_of_its_own_that_goes_with_the_session(
    landlock: Sandbox, folder: Path
) -> None:
    host = await ProcessHost.start(landlock, folder)
    shell = Shell(host, landlock, folder)
    await shell("echo kept > $TMPDIR/note; mktemp > name; cat $TMPDIR/note; echo x > /tmp/agentscope-new")
    tmp = landlock.private_tmp(folder)
    assert tmp is not None
    assert shell.sink.bytes() == b"kept\n"
    assert b"Permission denied" in shell.sink.bytes("stderr")
    assert Path((folder / "name").read_text().strip()).parent == tmp
    assert tmp.stat().st_mode & 0o777 == 0o700
    await host.aclose()
    assert not tmp.exists()


async def test_under_landlock_a_confined_agent_and_its_tools_have_each_a_tmp(
    landlock: Sandbox, folder: Path
) -> None:
    agent = confined_home(landlock, ["sh"], cwd=folder, folder=folder, environ={}, network=False)
    assert agent.environment({})["TMPDIR"] == str(agent.sandbox.private_tmp(folder))
    agents, tools = await ProcessHost.start(agent.sandbox, folder), await ProcessHost.start(landlock, folder)
    of_agent, of_tools = Shell(agents, agent.sandbox, folder), Shell(tools, landlock, folder)
    await of_tools("echo $TMPDIR >tools_tmp; echo x >$TMPDIR/note")
    await of_agent("echo kept >$TMPDIR/note; cat $(cat tools_tmp)/note")
    await tools.aclose()
    await of_agent("cat $TMPDIR/note")
    await agents.aclose()
    assert of_agent.sink.bytes() == b"kept\n"
    assert b"Permission denied" in of_agent.sink.bytes("stderr")
    assert [path.name for path in folder.parent.iterdir() if "tmp" in path.name] == []


async def test_landlock_has_tcp_only_if_allowed(landlock: Sandbox, folder: Path, port: int) -> None:
    connect = f"exec 3<>/dev/tcp/127.0.0.1/{port}"
    allowed = await find_sandbox("landlock", network=True)
    assert (await inside(landlock, folder, connect))[0] == 1
    assert (await inside(allowed, folder, connect))[0] == 0


async def test_a_bwrap_that_does_not_work_is_tried_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program, tries = tmp_path / "bwrap", tmp_path / "tries"
    program.write_text(f"#!/bin/sh\necho try >> {tries}\necho 'bwrap: No permissions' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    for _ in range(2):
        found = await find_sandbox("auto")
        assert found.name == "landlock"
        assert found.reason == "bwrap does not work here: bwrap: No permissions"
    assert tries.read_text() == "try\n"
