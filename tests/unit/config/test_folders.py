"""Where things are kept: the state folder, the log in it, and the files that come with the package."""

from __future__ import annotations

import logging
import stat
from pathlib import Path

import pytest

from agentscope_tui import resources
from agentscope_tui.errors import UserError
from agentscope_tui.folders import open_state_dir, sessions_dir, state_dir
from agentscope_tui.logs import log_crash, log_file, start_log


@pytest.fixture
def root_log():
    return logging.getLogger()


def test_the_state_folder_is_where_the_variable_says(tmp_path):
    assert state_dir({"AGENTSCOPE_HOME": str(tmp_path / "x")}) == tmp_path / "x"
    assert state_dir({"AGENTSCOPE_HOME": "~/x"}) == Path.home() / "x"
    assert state_dir({}).name == "agentscope"


def test_the_state_folder_is_made_for_the_user_alone(tmp_path):
    state = open_state_dir({"AGENTSCOPE_HOME": str(tmp_path / "a" / "b")})
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    assert list(sessions_dir(state).iterdir()) == []


def test_a_state_folder_that_cannot_be_written_names_the_variable(tmp_path):
    (tmp_path / "file").write_text("")
    for home in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(UserError, match=r"cannot write to the state folder .*AGENTSCOPE_HOME"):
            open_state_dir({"AGENTSCOPE_HOME": str(home)})


def test_the_log_keeps_what_is_serious_enough(tmp_path, root_log, capsys):
    file = start_log({"AGENTSCOPE_HOME": str(tmp_path)}, "warning")
    logging.getLogger("agentscope_tui.test").info("quiet")
    logging.getLogger("agentscope_tui.test").warning("loud \ud800")
    assert "loud" in file.read_text()
    assert "quiet" not in file.read_text()
    assert capsys.readouterr().err == ""


def test_a_crash_is_logged_with_its_traceback(tmp_path, root_log):
    try:
        raise KeyError("boom")
    except KeyError as error:
        file = log_crash({"AGENTSCOPE_HOME": str(tmp_path)}, error)
    assert file == log_file(tmp_path)
    assert "Traceback" in file.read_text()
    assert "KeyError: 'boom'" in file.read_text()


def test_the_files_of_the_package_are_found():
    assert resources.default_settings().is_file()
    assert resources.styles_dir().is_dir()
    assert resources.demo_dataset().parent == resources.configs_dir() / "demo"
    assert resources.demo_script().parent == resources.configs_dir() / "demo"
