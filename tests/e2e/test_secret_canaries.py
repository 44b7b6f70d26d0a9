"""Canaries for secrets: planted wherever keys are kept, and looked for in all that the program leaves."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.terminal import COMMAND, bash, environment, write_rows, write_script
from fakes.raw_server import DONE, Answer, RawServer, delta, plain, stream
from waiting import wait_until

CONFIG_KEY = "canary-of-the-config-file-1"
COMMAND_KEY = "canary-of-the-command-22"
VARIABLES = {
    "OPENAI_API_KEY": "canary-of-a-variable-333",
    "GITHUB_TOKEN": 'canary of "another" variable',
    "DB_PASSWORD": "cänary-of-a-password",
}
SHAPE = "sk-proj-CANARY0of0a0known0shape0that0nobody0configured"
CANARIES = [CONFIG_KEY, COMMAND_KEY, *VARIABLES.values(), SHAPE]
WAITS = "while [ ! -e go ]; do sleep 0.02; done"


def forms(canary: str) -> list[bytes]:
    return [canary.encode(), json.dumps(canary)[1:-1].encode()]


def canaries_in(data: bytes) -> list[str]:
    return [canary for canary in CANARIES if any(form in data for form in forms(canary))]


def calls_bash(command: str, text: str = "") -> Answer:
    pieces = [text[place : place + 5] for place in range(0, len(text), 5)]
    call = {"name": "bash", "arguments": json.dumps({"command": command})}
    tool_call = {"index": 0, "id": "c1", "type": "function", "function": call}
    return stream(
        *(delta(content=piece) for piece in pieces), delta("tool_calls", tool_calls=[tool_call]), DONE
    )


def prints(*texts: str) -> str:
    """A command that prints these, and holds none of them as a whole."""
    words = ["'" + text[:9] + "''" + text[9:] + "'" for text in texts]
    return f'for text in {" ".join(words)}; do echo "$text"; sleep 0.05; echo "$text" >&2; done'


def descendants(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [one for child in map(int, children) for one in (child, *descendants(child))]


def held_by(pid: int) -> bytes:
    """A process's environment, arguments and, as far as we may read it, memory; empty when it has ended."""
    try:
        own = b"".join(Path(f"/proc/{pid}/{name}").read_bytes() for name in ("environ", "cmdline"))
        return own + b"".join(memory_of(pid))
    except (FileNotFoundError, ProcessLookupError):
        return b""


def memory_of(pid: int) -> Iterator[bytes]:
    if not os.access(f"/proc/{pid}/mem", os.R_OK):
        return
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            where, rights, *_ = line.split()
            start, end = (int(part, 16) for part in where.split("-"))
            if "r" in rights and "[v" not in line:
                memory.seek(start)
                yield memory.read(min(end - start, 64 << 20))


def scratch_of(folder: Path) -> list[Path]:
    return list(folder.glob("state/sessions/*/files"))


def settings(folder: Path, key: str) -> None:
    config = folder / "config" / "agentscope" / "agentscope.yaml"
    config.parent.mkdir(parents=True)
    config.write_text(f"model: {{{key}}}\n")


@pytest.mark.parametrize("kept", ["file", "command"])
async def test_no_secret_is_in_anything_that_is_left(tmp_path: Path, kept: str) -> None:
    key = CONFIG_KEY if kept == "file" else COMMAND_KEY
    (tmp_path / "key").write_text(COMMAND_KEY)
    settings(tmp_path, f"api_key: {key}" if kept == "file" else f"api_key_command: cat {tmp_path / 'key'}")
    rows = write_rows(tmp_path, {"user_prompt": f"use {SHAPE} for it"})
    shown = [*VARIABLES.values(), SHAPE, key]
    answers = [
        calls_bash(WAITS, f"I know {' and '.join(shown)}."),
        calls_bash(prints(*shown)),
        plain(400, {"error": {"message": f"bad request with {' '.join(shown)}"}}),
    ]
    environ = environment(tmp_path) | VARIABLES | {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    async with RawServer(answers) as server:
        process = await asyncio.create_subprocess_exec(
            *(COMMAND, "run", str(rows), "--model", "openai:m", "--base-url", server.base_url),
            *("--events", "events.jsonl", "--no-sandbox"),
            cwd=tmp_path,
            env={**environ, "NO_PROXY": "127.0.0.1", "AGENTSCOPE_LOG__LEVEL": "debug"},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        said = asyncio.create_task(process.communicate())
        await wait_until(lambda: scratch_of(tmp_path), "a session", seconds=30)
        (files,) = scratch_of(tmp_path)
        await wait_until(lambda: any_runs_in(files, process.pid), "the command runs", seconds=30)
        held = [held_by(pid) for pid in descendants(process.pid)]
        assert any(b"PATH=" in data for data in held)
        assert canaries_in(b"".join(held)) == []
        (files / "go").touch()
        out, err = await asyncio.wait_for(said, 60)
    assert process.returncode == 1, err
    left = {"stdout": out, "stderr": err, "events": (tmp_path / "events.jsonl").read_bytes()}
    written = [file for file in (tmp_path / "state").rglob("*") if file.is_file()]
    # The scratch folder is the agent's, and so are its snapshots: its row.json says what the task says.
    agents = (files, files.parent / "snapshots" / "blobs")
    left |= {str(file): file.read_bytes() for file in written if not any(map(file.is_relative_to, agents))}
    assert {name: found for name, data in left.items() if (found := canaries_in(data))} == {}
    assert sum(b"***" in data for data in left.values()) >= 5, left.keys()
    # What the model is sent is what it is about.
    assert canaries_in(server.requests[0].body) == [SHAPE]
    assert set(shown) <= set(canaries_in(server.requests[2].body))
    assert server.requests[0].headers["authorization"] == f"Bearer {key}"


def any_runs_in(folder: Path, pid: int) -> bool:
    for child in descendants(pid):
        try:
            if Path(f"/proc/{child}/cwd").resolve() == folder.resolve():
                return b"sleep" in Path(f"/proc/{child}/cmdline").read_bytes()
        except OSError:
            continue
    return False


POWERLESS = """
import ctypes, os, sys
for capability in range(64):
    ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
"""Takes from root what it has over other users; it is said in docs/security.md that root can look."""
CLIMB = r"""
process=$PPID
while [ "$process" -gt 1 ]; do
    echo "above: $(tr '\0' ' ' </proc/$process/cmdline)"
    for file in environ maps mem; do (: </proc/$process/$file) 2>/dev/null && echo "opened $file"; done
    grep -ao 'canary-[a-z0-9-]*' /proc/$process/environ 2>/dev/null
    process=$(sed -n 's/^PPid:[^0-9]*//p' /proc/$process/status)
done >seen
"""
"""Tells what a command can see of the processes above it."""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /proc")
@pytest.mark.parametrize("host", ["agentscope", "one that does nothing about it"])
def test_a_command_without_a_sandbox_cannot_look_into_the_process_that_holds_the_keys(
    tmp_path: Path, host: str
) -> None:
    rows = write_rows(tmp_path, {"user_prompt": "go"})
    if host == "agentscope":
        model = write_script(tmp_path, bash(CLIMB), {"text": "done"})
        command = [COMMAND, "run", str(rows), "--model", model, "--no-sandbox"]
    else:
        program = f"import subprocess; subprocess.run(['bash', '-c', {CLIMB!r}])"
        command = [sys.executable, "-c", program, "run"]
    environ = environment(tmp_path) | {"OPENAI_API_KEY": CONFIG_KEY}
    subprocess.run([sys.executable, "-c", POWERLESS, *command], cwd=tmp_path, env=environ, check=True)
    (seen,) = [file.read_text() for file in tmp_path.rglob("seen")]
    (of_host,) = [part for part in seen.split("above: ") if " run " in part.partition("\n")[0]]
    found = of_host.splitlines()[1:]
    if host == "agentscope":
        assert found == []
        assert CONFIG_KEY not in seen
    else:
        assert {"opened environ", CONFIG_KEY} <= {*found}


def test_everything_left_is_private(tmp_path: Path) -> None:
    rows = write_rows(tmp_path, {"user_prompt": "go"})
    script = "import os, sys; os.umask(0); os.execv(sys.argv[1], sys.argv[1:])"
    command = [COMMAND, "run", str(rows), "--model", f"scripted:{demo(tmp_path)}"]
    ran = os.spawnve(
        os.P_WAIT, sys.executable, [sys.executable, "-c", script, *command], environment(tmp_path)
    )
    assert ran == 0
    state = tmp_path / "state"
    session = next(state.glob("sessions/*"))
    found = [file for file in state.rglob("*") if not file.is_relative_to(session / "files")]
    modes = {str(file): oct(file.stat().st_mode & 0o777) for file in [state, *found]}
    assert {name for name, mode in modes.items() if mode not in ("0o700", "0o600")} == set()
    assert len(modes) > 6


def demo(folder: Path) -> Path:
    script = folder / "script.yaml"
    script.write_text("scripts: [{replies: [{text: done}]}]\n")
    return script
