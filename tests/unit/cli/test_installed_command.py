"""The command as a process: what it imports, and pipes that close."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SLOW = {"textual", "rich", "httpx", "pydantic", "yaml", "platformdirs", "asyncio"}
PROBE = """
import sys
from agentscope_tui.cli import main
code = main(sys.argv[1:])
print("\\n".join(sorted(sys.modules)), file=sys.stderr)
sys.exit(code)
"""


def run(*words: str, home: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PROBE, *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"PATH": "/usr/bin:/bin", "HOME": str(home), "AGENTSCOPE_HOME": f"{home}/state"},
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.parametrize(
    "words", [["--help"], ["--version"], ["run", "--help"], ["config", "--help"], ["--no"]]
)
def test_help_version_and_usage_errors_import_nothing_slow(words, tmp_path):
    done = run(*words, home=tmp_path)
    modules = set(done.stderr.split())
    assert "agentscope_tui.cli" in modules
    assert SLOW & modules == set()


def test_config_imports_neither_the_screen_nor_http(tmp_path):
    done = run("config", home=tmp_path)
    assert done.returncode == 0
    assert "calls: 60  # default" in done.stdout
    assert {"textual", "rich", "httpx"} & set(done.stderr.split()) == set()


def test_a_reader_that_leaves_gets_no_complaint(tmp_path):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-c", "import sys; from agentscope_tui.cli import main; sys.exit(main(['config']))"],
        stdout=writer,
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "AGENTSCOPE_HOME": str(tmp_path / "state")},
    )
    os.close(writer)
    assert done.returncode == 1
    assert done.stderr == b""
