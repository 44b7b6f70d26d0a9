"""`agentscope serve` on the command line: what it refuses, and what its apps are started with."""

from __future__ import annotations

import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agentscope_tui import cli
from agentscope_tui.config import Config
from agentscope_tui.options import Options
from agentscope_tui.serve import command


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("AGENTSCOPE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(cli, "_start_log", lambda config: None)
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    return project


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--host", "0.0.0.0"], "add --remote"),
        (["-"], "rows from standard input cannot be served"),
        (["nothing.jsonl", "--model", "openai:m"], "nothing.jsonl"),
        (["--port", "70000"], "--port"),
        (["--tabs", "3"], "agentscope serve --help"),
    ],
)
def test_what_cannot_be_served_is_one_line(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["serve", *words]) in (1, 2)
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert said in err


def test_a_taken_port_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert cli.main(["serve", "--port", str(port)]) == 1
    assert f"127.0.0.1:{port} (Address already in use): name another --port" in capsys.readouterr().err


@pytest.mark.parametrize("package", ["aiohttp", "textual_serve"])
def test_a_missing_package_is_one_line(
    package: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "agentscope_tui.serve.server", raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    assert cli.main(["serve"]) == 1
    err = capsys.readouterr().err
    assert f"serve needs the package {package}: " in err
    assert "agentscope-tui[serve]" in err


def test_a_strangers_folder_does_not_open_the_port(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "agentscope.yaml").write_text("serve: {host: 0.0.0.0, remote: true}\n")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert cli.main(["serve", "--port", str(taken.getsockname()[1])]) == 1
    err = capsys.readouterr().err
    assert "ignored serve.host, serve.remote" in err
    assert "cannot listen at 127.0.0.1:" in err


@pytest.mark.parametrize(
    ("words", "of_app"),
    [
        (["rows.jsonl"], ["rows.jsonl"]),
        (["--port", "0", "rows.jsonl", "--model", "m"], ["rows.jsonl", "--model", "m"]),
        (
            ["--model=m", "--port=0", "--remote", "--host", "h", "r", "--row", "3"],
            ["--model=m", "r", "--row", "3"],
        ),
        (
            ["r", "--system", "use --port 7", "--command", "a 'b c' --host x"],
            ["r", "--system", "use --port 7", "--command", "a 'b c' --host x"],
        ),
        (["--map", "user_prompt=q", "--map", "files=f"], ["--map", "user_prompt=q", "--map", "files=f"]),
    ],
)
def test_apps_get_the_words_that_are_not_the_servers(
    words: list[str], of_app: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    got: list[Any] = []

    def serve(config: Config, options: Options, words: Sequence[str]) -> int:
        got.append((config.settings.serve, list(words)))
        return 0

    monkeypatch.setattr(command, "serve", serve)
    assert cli.main(["serve", *words]) == 0
    settings, rest = got[0]
    assert rest == of_app
    assert settings.remote == ("--remote" in words)
    assert settings.host == ("h" if "h" in words else "127.0.0.1")


def test_apps_see_the_pages_terminal_and_not_the_servers() -> None:
    seen = command._page_environment({"TERM": "dumb", "TMUX": "x", "COLUMNS": "7", "PATH": "/bin"})
    assert seen == {
        "PATH": "/bin",
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "TERM_PROGRAM": "textual",
    }
