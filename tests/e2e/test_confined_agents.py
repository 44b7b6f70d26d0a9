"""`--confine-agent`: the agent's program sees its folder, writes to its session's, and reaches the model."""

from __future__ import annotations

import asyncio
import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from agentscope_tui.tools.sandbox import SandboxError
from agentscope_tui.tools.sandbox_probe import SandboxMode, find_sandbox
from e2e.terminal import COMMAND, environment, write_rows, write_script

PROGRAM = """
import json, os, sys, urllib.request
from pathlib import Path

def tried(act):
    try:
        act()
        return "yes"
    except OSError:
        return "no"

request = urllib.request.Request(
    os.environ["OPENAI_BASE_URL"] + "/chat/completions",
    json.dumps({"model": "m", "messages": [{"role": "user", "content": sys.argv[1]}]}).encode(),
    {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]},
)
with urllib.request.urlopen(request) as response:
    said = json.load(response)["choices"][0]["message"]["content"]
print(json.dumps({
    "said": said,
    "row": json.load(open(os.environ["AGENTSCOPE_ROW"]))["user_prompt"],
    "reads its folder": tried(lambda: Path("beside.txt").read_text()),
    "writes its folder": tried(lambda: Path("new.txt").write_text("x")),
    "reads what is outside": tried(lambda: Path(sys.argv[2]).read_text()),
    "writes its home": tried(lambda: (Path.home() / "made.txt").write_text("x")),
    "writes TMPDIR": tried(lambda: (Path(os.environ.get("TMPDIR", "/tmp")) / "t").write_text("x")),
}))
"""


def answer(folder: Path, mode: str, *flags: str) -> dict[str, str]:
    """What the program found, run in a folder below `folder`."""
    work = folder / "work"
    work.mkdir()
    (work / "beside.txt").write_text("beside")
    (work / "agent.py").write_text(PROGRAM)
    secret = folder / "secret.txt"
    secret.write_text("secret")
    rows = write_rows(work, {"user_prompt": "go"})
    model = write_script(work, {"text": "hello"})
    command = f"{shlex.quote(sys.executable)} agent.py {{user_prompt}} {shlex.quote(str(secret))}"
    done = subprocess.run(
        [COMMAND, "run", str(rows), "--model", model, "--command", command, "--events", "-", *flags],
        cwd=work,
        env=environment(folder) | {"AGENTSCOPE_SANDBOX__MODE": mode},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert events[0]["agent_confinement"] == (mode if flags else "none")
    submitted = next(event for event in events if event["kind"] == "submit")
    return json.loads(submitted["answer"])


@pytest.mark.parametrize("mode", ["bwrap", "landlock"])
def test_a_confined_program_reaches_its_folder_and_its_model_and_no_more(tmp_path: Path, mode: SandboxMode):
    try:
        asyncio.run(find_sandbox(mode))
    except SandboxError as error:
        pytest.skip(str(error))
    assert answer(tmp_path, mode, "--confine-agent") == {
        "said": "hello",
        "row": "go",
        "reads its folder": "yes",
        "writes its folder": "no",
        "reads what is outside": "no",
        "writes its home": "yes",
        "writes TMPDIR": "yes",
    }
    made = [*tmp_path.glob("state/sessions/*/files/made.txt")]
    assert len(made) == 1


def test_without_the_flag_it_runs_as_the_user(tmp_path: Path):
    found = answer(tmp_path, "auto")
    assert found["writes its folder"] == found["reads what is outside"] == "yes"
