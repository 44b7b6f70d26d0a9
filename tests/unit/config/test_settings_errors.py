"""A bad setting is one line that names where it stands, the key and what is allowed."""

from __future__ import annotations

import pytest

from agentscope_tui.errors import UsageError, UserError

BAD_FILES = {
    "unknown section": ("modle: {}", ["unknown key modle", "model", "limits"]),
    "unknown key": ("model: {nmae: x}", ["unknown key model.nmae", "name", "base_url"]),
    "unknown nested key": ("model: {timeouts: {conect: 1}}", ["model.timeouts.conect", "first_token"]),
    "unknown part of a task": ("dataset: {map: {prompt: q}}", ["dataset.map.prompt", "user_prompt"]),
    "key that is no text": ("1: 2", ["unknown key 1"]),
    "temperature too high": ("model: {temperature: 3}", ["model.temperature", "3", "from 0 to 2 or null"]),
    "temperature not a number": ("model: {temperature: [1]}", ["model.temperature", "[1]"]),
    "not a number at all": ("model: {temperature: .nan}", ["model.temperature", "nan"]),
    "no output tokens": ("model: {max_output_tokens: 0}", ["model.max_output_tokens", "from 1"]),
    "half a call": ("limits: {calls: 1.5}", ["limits.calls", "1.5", "a whole number"]),
    "truth for a number": ("limits: {calls: true}", ["limits.calls", "True"]),
    "unknown mode": ("session: {mode: fast}", ["session.mode", "'fast'", "step, run"]),
    "unknown scope": ("session: {conversation_scope: row}", ["conversation_scope", "session, turn"]),
    "number for text": ("ui: {theme: 5}", ["ui.theme", "5", "text"]),
    "date for text": ("ui: {theme: 2024-01-01}", ["ui.theme", "text"]),
    "text for a section": ("model: fast", ["model", "'fast'", "a section with name"]),
    "list for a section": ("limits: [1]", ["limits", "a section with calls"]),
    "list for prices": ("model: {prices: [1]}", ["model.prices", "a mapping"]),
    "price without output": ("model: {prices: {m: {input: 1}}}", ["model.prices.m.output", "missing"]),
    "price below zero": (
        "model: {prices: {m: {input: -1, output: 1}}}",
        ["model.prices.m.input", "a number from 0"],
    ),
    "unknown tool": ("tools: {builtin: [rm]}", ["tools.builtin", "'rm'", "a list of bash, read_file,"]),
    "header for a URL": ("tools: {mcp_headers: {u: 1}}", ["tools.mcp_headers.u", "a mapping"]),
    "a list as file": ("- a", ["sections", "list"]),
    "broken YAML": ("model: {name: x", ["not valid YAML", "line 2, column 1", "'}'"]),
    "a tab": ("model:\n\tname: x", ["not valid YAML", "line 2, column 1"]),
    "control characters": ("model: \x00", ["not valid YAML"]),
    "deep nesting": ("a: " + "[" * 5000, ["not valid YAML"]),
    "a file that holds itself": ("model: &m {timeouts: *m}", ["model.timeouts.timeouts"]),
    "an object of code": ("model: {name: !!python/object:os.system x}", ["not valid YAML"]),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_is_one_line_naming_file_key_and_what_is_allowed(start, name):
    text, parts = BAD_FILES[name]
    for file in (start.user_file, start.local_file):
        file.write_text(text)
        with pytest.raises(UsageError) as caught:
            start.load()
        message = str(caught.value)
        assert message.startswith(str(file))
        assert "\n" not in message
        assert len(message) < 400
        for part in parts:
            assert part in message
        file.unlink()


def test_a_bomb_of_aliases_is_refused_quickly(start):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    start.local_file.write_text("\n".join(lines) + "\nsandbox: {read_only: *a11}")
    with pytest.raises(UsageError, match="unknown key a0"):
        start.load()
    start.local_file.unlink()
    start.user_file.write_text("sandbox: {read_only: [&a [x], &b [*a, *a], &c [*b, *b], [*c, *c, *c]]}")
    with pytest.raises(UsageError, match=r"sandbox\.read_only"):
        start.load()


@pytest.mark.parametrize(
    ("environ", "parts"),
    [
        ({"AGENTSCOPE_MODEL__NMAE": "x"}, ["AGENTSCOPE_MODEL__NMAE", "model.nmae", "base_url"]),
        ({"AGENTSCOPE_LIMITS__CALLS": "many"}, ["AGENTSCOPE_LIMITS__CALLS", "limits.calls", "'many'"]),
        ({"AGENTSCOPE_LIMITS__CALLS": "{"}, ["AGENTSCOPE_LIMITS__CALLS", "not valid YAML"]),
        ({"AGENTSCOPE_MODEL_NAME": "x"}, ["AGENTSCOPE_MODEL_NAME", "AGENTSCOPE_MODEL__NAME"]),
        ({"AGENTSCOPE_A__B": "x"}, ["AGENTSCOPE_A__B", "unknown key a.b"]),
    ],
)
def test_a_bad_variable_is_named(start, environ, parts):
    with pytest.raises(UsageError) as caught:
        start.load(**environ)
    for part in parts:
        assert part in str(caught.value)


def test_a_bad_flag_is_named(start):
    with pytest.raises(UsageError, match=r"--temperature: model\.temperature cannot be 3\.0"):
        start.load({"model.temperature": 3.0})
    with pytest.raises(UsageError, match=r"--map: unknown key dataset\.map\.question"):
        start.load({"dataset.map": {"question": "user_prompt"}})


def test_a_key_stands_only_in_the_users_file(start):
    start.local_file.write_text("model: {api_key: sk-secret}")
    with pytest.raises(UsageError) as caught:
        start.load()
    message = str(caught.value)
    assert message.startswith(str(start.local_file))
    assert str(start.user_file) in message
    assert "sk-secret" not in message
    start.local_file.unlink()
    with pytest.raises(UsageError, match=r"AGENTSCOPE_MODEL__API_KEY: model\.api_key is allowed only in"):
        start.load(AGENTSCOPE_MODEL__API_KEY="sk-secret")


def test_a_bad_key_is_not_shown(start):
    start.user_file.write_text("model: {api_key: 987654321}")
    with pytest.raises(UsageError) as caught:
        start.load()
    assert "987654321" not in str(caught.value)


def test_a_settings_file_that_is_no_file_is_said_so(start):
    start.local_file.mkdir()
    with pytest.raises(UserError, match="is not a regular file"):
        start.load()


def test_a_settings_file_of_many_megabytes_is_refused(start):
    start.local_file.write_text("#" * (1 << 20) + "\n")
    with pytest.raises(UsageError, match="larger than 1 MiB"):
        start.load()
