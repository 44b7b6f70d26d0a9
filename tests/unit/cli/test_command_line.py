"""The command line: what it hands over, what it refuses, and its exit codes."""

from __future__ import annotations

import errno
import logging
import os
import pty
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from agentscope_tui import __version__
from agentscope_tui.cli import main
from agentscope_tui.errors import UserError
from agentscope_tui.options import SETTING_FLAGS, Options, RunOptions
from agentscope_tui.setting_paths import exists


class Handover:
    """Stands where the app and `run` would be: keeps what they were given, and fails if told to."""

    def __init__(self) -> None:
        self.config: Any = None
        self.options: Options | None = None
        self.error: Exception | None = None

    def __call__(self, config: Any, options: Options) -> int:
        self.config, self.options = config, options
        if self.error is not None:
            raise self.error
        return 7


@pytest.fixture
def handover(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("AGENTSCOPE_HOME", str(tmp_path / "state"))
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    taken = Handover()
    for module, function in (("tui.start", "run_app"), ("batch.run", "run_rows")):
        stand_in = ModuleType(module)
        setattr(stand_in, function, taken)
        monkeypatch.setitem(sys.modules, f"agentscope_tui.{module}", stand_in)
    return taken


@contextmanager
def on_a_terminal() -> Iterator[None]:
    """All three standard streams are a real terminal."""
    leader, follower = pty.openpty()
    with ExitStack() as stack:
        stack.callback(os.close, leader)
        stack.callback(os.close, follower)
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
            patch.setattr(sys, name, stack.enter_context(os.fdopen(os.dup(follower), mode)))
        yield


def test_run_hands_over_rows_and_settings(handover):
    words = "run data.jsonl --row 3 --row 7 --row 3 --events - --model openai:m --temperature 0 --no-sandbox"
    assert main([*words.split(), "--map", "user_prompt=question", "--map", "ground_truth=a=b"]) == 7
    assert handover.options == RunOptions(Path("data.jsonl"), ((3, 3), (7, 7)), events="-")
    settings = handover.config.settings
    assert (settings.model.name, settings.model.temperature, settings.sandbox.mode) == ("openai:m", 0, "none")
    assert (settings.dataset.map.user_prompt, settings.dataset.map.ground_truth) == ("question", "a=b")


def test_run_without_rows_or_dataset_means_all_of_the_demo(handover):
    assert main(["run"]) == 7
    assert handover.options == RunOptions(concurrency=8)


def test_run_hands_over_what_a_run_is(handover):
    words = "run data.jsonl --rows 0-4,9 --n 3 --concurrency 2 --out there --retry failed --json --events e"
    assert main(words.split()) == 7
    assert handover.options == RunOptions(
        Path("data.jsonl"),
        ((0, 4), (9, 9)),
        rollouts=3,
        concurrency=2,
        out=Path("there"),
        goes_on=True,
        retry_failed=True,
        events="e",
        as_json=True,
    )


def test_single_rows_are_shown_as_transcripts(handover):
    assert main(["run", "--row", "1", "--row", "0"]) == 7
    assert handover.options == RunOptions(rows=((1, 1), (0, 0)), transcript=True)


def test_a_dataset_opens_the_app(handover):
    with on_a_terminal():
        assert main(["data.jsonl", "--row", "2", "--mode", "run", "--theme", "nord"]) == 7
    assert handover.options == Options(Path("data.jsonl"), (2,))
    assert handover.config.settings.session.mode == "run"
    assert handover.config.origin("ui.theme") == "--theme"


def test_no_arguments_open_the_demo(handover):
    with on_a_terminal():
        assert main([]) == 7
    assert handover.options == Options()


def test_a_file_that_is_named_like_a_command_can_be_opened(handover):
    Path("run").touch()
    with on_a_terminal():
        assert main(["./run"]) == 7
    assert handover.options == Options(Path("run"))


def test_closed_standard_streams_are_not_a_terminal(handover, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", None)
    assert main([]) == 2
    assert "needs a terminal" in capsys.readouterr().err


def test_the_log_is_open_before_the_app_starts(handover, tmp_path):
    main(["run"])
    logging.getLogger("agentscope_tui.x").warning("hello")
    assert "hello" in (tmp_path / "state" / "agentscope.log").read_text()


def test_the_app_without_a_terminal_points_to_run(handover, capsys):
    assert main([]) == 2
    assert "agentscope run" in capsys.readouterr().err
    assert handover.options is None


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["run", "--row", "x"], "'x' is not a row index: rows are counted from 0"),
        (["run", "--row", "-1"], "'-1' is not a row index"),
        (["run", "--map", "question"], "user_prompt=question"),
        (["run", "--map", "prompt=question"], "--map: unknown key dataset.map.prompt"),
        (["run", "--temperature", "hot"], "--temperature"),
        (["run", "--temperature", "3"], "a number from 0 to 2 or null"),
        (["run", "--max-tokens", "0"], "--max-tokens: model.max_output_tokens cannot be 0"),
        (["run", "--offset", "-1"], "--offset: dataset.offset cannot be -1"),
        (["run", "--limit", "0"], "--limit: dataset.limit cannot be 0"),
        (["run", "--mod", "x"], "unrecognized arguments: --mod"),
        (["run", "a", "b"], "unrecognized arguments: b"),
        (["run", "--mode", "run"], "unrecognized arguments: --mode"),
        (["--row", "1", "--row", "2"], "one row at once"),
        (["--model", "x", "config"], "the command goes first"),
        (["config", "tasks.jsonl"], "unrecognized arguments: tasks.jsonl"),
    ],
)
def test_wrong_usage_is_one_line_and_2(handover, capsys, words, part):
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("agentscope: ")
    assert err.count("\n") == 1
    assert part in err


def test_a_users_error_is_one_line_and_1(handover, capsys):
    handover.error = UserError("no such dataset: \x1b[2Jx")
    assert main(["run", "x"]) == 1
    assert capsys.readouterr().err == "agentscope: no such dataset: \\u001b[2Jx\n"


def test_an_unexpected_error_names_the_log_that_holds_its_traceback(handover, capsys, tmp_path):
    handover.error = KeyError("boom")
    assert main(["run"]) == 1
    err = capsys.readouterr().err
    log = tmp_path / "state" / "agentscope.log"
    assert err == f"agentscope: unexpected error KeyError: 'boom' (the traceback is in {log})\n"
    assert "in __call__" in log.read_text()


def test_an_unexpected_error_without_a_log_is_still_one_line(handover, capsys, tmp_path, monkeypatch):
    handover.error = KeyError("boom")
    monkeypatch.setattr("agentscope_tui.cli._start_log", lambda config: None)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("AGENTSCOPE_HOME", str(tmp_path / "file"))
    assert main(["run"]) == 1
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "KeyError" in err
    assert "AGENTSCOPE_HOME" in err


def test_an_unwritable_state_folder_is_said_before_anything_runs(handover, capsys, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("AGENTSCOPE_HOME", str(tmp_path / "file"))
    assert main(["run"]) == 1
    assert "AGENTSCOPE_HOME" in capsys.readouterr().err
    assert handover.options is None


def test_ctrl_c_ends_quietly(handover, capsys, monkeypatch):
    monkeypatch.setattr(handover, "error", KeyboardInterrupt())
    assert main(["run"]) == 130
    assert capsys.readouterr().err == ""


def test_an_untrusted_file_is_warned_about_and_trust_ends_it(handover, capsys, tmp_path):
    local = tmp_path / "project" / "agentscope.yaml"
    local.write_text("model: {base_url: 'http://x'}")
    assert main(["run"]) == 7
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "model.base_url" in err
    assert "--trust" in err
    assert handover.config.untrusted.file == local
    for words in (["run", "--trust"], ["run"]):
        assert main(words) == 7
        assert capsys.readouterr().err == ""
        assert handover.config.settings.model.base_url == "http://x"


def test_config_prints_yaml_with_origins(handover, capsys):
    assert main(["config", "--model", "openai:m", "--mode", "run"]) == 0
    out = capsys.readouterr().out
    assert yaml.safe_load(out)["model"]["name"] == "openai:m"
    assert "  name: openai:m  # --model" in out.splitlines()
    assert "  mode: run  # --mode" in out.splitlines()


@pytest.mark.parametrize("words", [["--help"], ["run", "-h"], ["config", "--help"]])
def test_help_shows_usage_and_is_0(handover, capsys, words):
    assert main(words) == 0
    assert "usage: agentscope" in capsys.readouterr().out


def test_help_names_every_setting_flag_of_the_app(handover, capsys):
    main(["--help"])
    out = capsys.readouterr().out
    assert [flag for flag in SETTING_FLAGS.values() if f"{flag} " not in out and f"{flag}\n" not in out] == []
    assert "agentscope run tasks.jsonl" in out


def test_version(handover, capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"agentscope {__version__}\n"


def test_each_flag_sets_a_setting_that_exists():
    assert [key for key in SETTING_FLAGS if not exists(tuple(key.split(".")))] == []


def test_a_full_disk_is_no_broken_pipe(handover, capsys):
    handover.error = OSError(errno.ENOSPC, "No space left on device")
    assert main(["run"]) == 1
    assert "No space left on device" in capsys.readouterr().err
