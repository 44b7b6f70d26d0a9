"""Settings laid over each other: which layer wins, and where each value says it came from."""

from __future__ import annotations

import re
from itertools import pairwise

import yaml

from agentscope_tui.config_report import report
from agentscope_tui.datasets.columns import Columns
from agentscope_tui.resources import default_settings
from agentscope_tui.settings import Settings


def test_the_defaults_file_alone_is_a_whole_configuration(start):
    config = start.load()
    assert config.settings.model.temperature == 0.7
    assert config.settings.limits.calls == 60
    assert config.settings.model.name is None
    assert {value.origin for value in config.values.values()} == {"default"}


def test_each_layer_wins_over_the_one_before(start):
    key = "limits.calls"
    seen = [start.load().settings.limits.calls]
    start.user_file.write_text("limits: {calls: 1}")
    seen.append(start.load().settings.limits.calls)
    start.local_file.write_text("limits: {calls: 2}")
    seen.append(start.load().settings.limits.calls)
    seen.append(start.load(AGENTSCOPE_LIMITS__CALLS="3").settings.limits.calls)
    config = start.load({key: 4}, AGENTSCOPE_LIMITS__CALLS="3")
    assert [*seen, config.settings.limits.calls] == [60, 1, 2, 3, 4]


def test_a_value_tells_its_origin(start):
    start.user_file.write_text("limits: {calls: 5, tool_actions: 6}")
    start.local_file.write_text("limits: {tool_actions: 7}")
    config = start.load({"model.temperature": 0.1}, AGENTSCOPE_UI__THEME="nord")
    assert config.origin("limits.calls") == str(start.user_file)
    assert config.origin("limits.tool_actions") == str(start.local_file)
    assert config.origin("ui.theme") == "AGENTSCOPE_UI__THEME"
    assert config.origin("model.temperature") == "--temperature"
    assert config.origin("limits.tokens") == "default"


def test_environment_values_get_the_type_of_their_setting(start):
    config = start.load(
        AGENTSCOPE_MODEL__NAME="1234",
        AGENTSCOPE_MODEL__TEMPERATURE="null",
        AGENTSCOPE_LIMITS__COST="2.5",
        AGENTSCOPE_SANDBOX__NETWORK="true",
        AGENTSCOPE_SANDBOX__READ_ONLY="[/data, /models]",
        AGENTSCOPE_GRADING__GRADER="null",
        AGENTSCOPE_MODEL__PRICES="{openai:m-1.5: {input: 1, output: 2}}",
        AGENTSCOPE_UI__THEME="",
    )
    settings = config.settings
    assert settings.model.name == "1234"
    assert settings.model.temperature is None
    assert settings.limits.cost == 2.5
    assert settings.sandbox.network is True
    assert settings.sandbox.read_only == ["/data", "/models"]
    assert settings.grading.grader is None
    assert settings.model.prices["openai:m-1.5"].output == 2
    assert config.origin("ui.theme") == "default"


def test_variables_that_are_no_settings_are_left_alone(start):
    config = start.load(AGENTSCOPE_TEST_LLAMA_PYTHON="x", AGENTSCOPE_ANSWER="y", OTHER="z")
    assert {value.origin for value in config.values.values()} == {"default"}


def test_maps_are_merged_entry_by_entry(start):
    start.user_file.write_text("model: {prices: {openai:a: {input: 1, output: 2, cached: 0.5}}}")
    start.local_file.write_text(
        "dataset: {map: {ground_truth: answer}}\nmodel: {prices: {openai:b: {input: 3, output: 4}}}"
    )
    config = start.load({"dataset.map": {"user_prompt": "question"}})
    assert config.columns == Columns(user_prompt="question", ground_truth="answer")
    assert config.origin("dataset.map.user_prompt") == "--map"
    prices = config.settings.model.prices
    assert (prices["openai:a"].cached, prices["openai:b"].cached) == (0.5, None)


def test_a_section_that_is_all_comments_changes_nothing(start):
    start.user_file.write_text("model:\n  # name: openai:x\nlimits:\n  calls: 9\n")
    assert start.load().settings.limits.calls == 9


def test_the_same_file_in_both_places_is_the_users_own(start):
    start.user_file.write_text("model: {base_url: 'http://mine', api_key: sk-1}")
    start.local_file.symlink_to(start.user_file)
    config = start.load()
    assert config.untrusted is None
    assert config.settings.model.base_url == "http://mine"


def test_the_key_comes_from_the_named_variable_or_the_users_file(start):
    assert start.load(OPENAI_API_KEY="sk-env").api_key() == (None, "")
    assert start.load(AGENTSCOPE_MODEL__API_KEY_ENV="MY_KEY").api_key() == (None, "MY_KEY")
    assert start.load(MY_KEY="sk-2", AGENTSCOPE_MODEL__API_KEY_ENV="MY_KEY").api_key() == ("sk-2", "MY_KEY")
    start.user_file.write_text("model: {api_key: sk-file}")
    key, place = start.load(OPENAI_API_KEY="sk-env").api_key()
    assert key == "sk-file"
    assert str(start.user_file) in place


def test_the_grader_of_a_row_is_the_flags_then_the_rows_then_the_files(start):
    start.user_file.write_text("grading: {grader: exact}")
    from_file = start.load()
    assert from_file.graders_of(None) == ("exact",)
    assert from_file.graders_of("numeric") == ("numeric",)
    assert start.load({"grading.grader": "contains"}).graders_of("numeric") == ("contains",)
    assert start.load(AGENTSCOPE_GRADING__GRADER="regex").graders_of("numeric") == ("regex",)


def test_the_report_is_yaml_with_the_values_in_force_and_their_origins(start):
    start.user_file.write_text('model: {api_key: sk-secret}\nsession: {system: "a\\nb \\u202e \\" \\\\ c"}')
    start.local_file.write_text("model: {prices: {openai:a: {input: 1, output: 2}}, max_output_tokens: 7}")
    config = start.load({"dataset.limit": 3})
    text = report(config)
    tree = yaml.safe_load(text)
    assert tree["session"]["system"] == 'a\nb \u202e " \\ c'
    assert "\u202e" not in text
    assert tree["model"]["prices"] == {"openai:a": {"input": 1, "output": 2}}
    assert tree["model"]["api_key"] == "***"
    assert "sk-secret" not in text + repr(config.settings)
    assert f"  max_output_tokens: 7  # {start.local_file}" in text.splitlines()
    assert "  limit: 3  # --limit" in text.splitlines()
    assert "  mode: step  # default" in text.splitlines()
    assert list(tree) == list(Settings.model_fields)


def test_each_default_has_a_comment_above_it():
    lines = default_settings().read_text().splitlines()
    bare = [
        line
        for above, line in pairwise(lines)
        if re.match(r"\s+\w+:", line) and not above.lstrip().startswith("#")
    ]
    assert bare == []
