"""The graders that compare text and numbers, and the names of all graders."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_tui.errors import UsageError
from agentscope_tui.grading.factory import Means, grader_of
from agentscope_tui.grading.grader import Grader, GraderError
from agentscope_tui.grading.spec import parse_spec, runs_code


def grader(name: str) -> Grader:
    return grader_of([name], Means(Path.cwd(), 60))


@pytest.mark.parametrize(
    ("name", "answer", "truth", "reward"),
    [
        ("exact", "Paris", "Paris", 1),
        ("exact", "  New \n York\t", "New York", 1),
        ("exact", "paris", "Paris", 0),
        ("exact", "Paris.", "Paris", 0),
        ("exact", "", "Paris", 0),
        ("contains", "It is New\nYork, I think.", "New York", 1),
        ("contains", "It is new york.", "New York", 0),
        ("contains", "", "x", 0),
        ("numeric", "The answer is 42.", "42", 1),
        ("numeric", "First 41, then 42", "42", 1),
        ("numeric", "42, not 41", "42", 0),
        ("numeric", "1,234,567.50", "1234567.5", 1),
        ("numeric", "1\u202f234 or 1'234 or 1_234", "1234", 1),
        ("numeric", "-$1,234.50", "-1234.5", 1),
        ("numeric", "€5", "5", 1),
        ("numeric", "−7", "-7", 1),
        ("numeric", "(+7)", "7", 1),
        ("numeric", "3-4", "4", 1),
        ("numeric", "x = -3", "-3", 1),
        ("numeric", "6.02e23", "602e21", 1),
        ("numeric", "1e-3", ".001", 1),
        ("numeric", "**\\boxed{12}**", "12", 1),
        ("numeric", "$42$", "42", 1),
        ("numeric", "12 %", "12%", 1),
        ("numeric", "50%", "0.5", 1),
        ("numeric", "50%", "50", 1),
        ("numeric", "0.5", "50%", 1),
        ("numeric", "5", "50%", 0),
        ("numeric", "1.0000001", "1", 1),
        ("numeric", "1.00001", "1", 0),
        ("numeric", "0.0000001", "0", 0),
        ("numeric", "12345678901234567890", "12345678901234567891", 1),
        ("numeric:0", "12345678901234567890", "12345678901234567891", 0),
        ("numeric:0", "1" + "0" * 400, "1e400", 1),
        ("numeric:0.01", "3.14", "3.1415", 1),
        ("numeric:0.001", "3.14", "3.1415", 0),
        ("numeric:1%", "99", "100", 1),
        ("numeric:1%", "98", "100", 0),
        ("numeric:1e-2", "1.005", "1", 1),
        ("numeric", "no idea", "42", 0),
        ("numeric", "H2O", "2", 0),
    ],
)
async def test_rewards(given, name, answer, truth, reward):
    grade = await grader(name).grade(given(answer, truth))
    assert grade.reward == reward
    assert grade.reason
    assert "\n" not in grade.reason


@pytest.mark.parametrize("name", ["exact", "contains", "regex", "numeric"])
@pytest.mark.parametrize("truth", [None, "", " \n"])
async def test_a_missing_ground_truth_is_the_graders_error(given, name, truth):
    with pytest.raises(GraderError, match=rf"grader `{name}` needs a ground truth and row 3 has none"):
        await grader(name).grade(given("x", truth))


async def test_a_ground_truth_without_a_number_is_the_graders_error(given):
    with pytest.raises(GraderError, match="no number in the ground truth 'about ten'"):
        await grader("numeric").grade(given("10", "about ten"))


async def test_a_number_out_of_all_bounds_is_the_graders_error(given):
    with pytest.raises(GraderError, match="too large to compare"):
        await grader("numeric").grade(given("1e99999999999999999999", "1"))


async def test_a_long_answer_gives_a_short_reason(given):
    grade = await grader("exact").grade(given("x" * 1_000_000, "y" * 1_000_000))
    assert len(grade.reason) < 300


@pytest.mark.parametrize(
    "name",
    [
        "exact",
        "contains",
        "regex",
        "regex:a:b|c",
        "numeric",
        "numeric:1%",
        "command:pytest -q",
        "my.mod:C.grade",
    ],
)
def test_a_graders_name_is_what_the_user_wrote(name):
    assert grader(name).name == name
    assert str(parse_spec(f" {name} ")) == name


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "unknown grader ''"),
        ("exakt", "unknown grader 'exakt': use exact, contains, regex"),
        ("Exact", "unknown grader"),
        ("exact:x", "`exact` takes nothing after it"),
        ("command", "`command` needs a command"),
        ("command: ", "`command` needs a command"),
        ("numeric:x", "numeric:0.01 or numeric:1%"),
        ("numeric:-1", "numeric:0.01 or numeric:1%"),
        ("numeric:nan", "numeric:0.01 or numeric:1%"),
        ("regex:(", "'\\(' is not a regular expression"),
        ("regex:" + "(" * 5000, "is not a regular expression"),
        ("mod.func", "unknown grader"),
        ("my-mod:func", "unknown grader"),
        ("mod:func()", "unknown grader"),
    ],
)
def test_an_unknown_grader_or_argument_is_wrong_usage(name, message):
    with pytest.raises(UsageError, match=message):
        grader(name)


def test_an_interpreter_that_is_not_there_is_wrong_usage(tmp_path):
    for python in ("no-such-python", "./python", str(tmp_path)):
        with pytest.raises(UsageError, match=r"no interpreter .* --python"):
            grader_of(["mod:func"], Means(tmp_path, 60, python))


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("exact", False),
        ("regex:x", False),
        ("numeric:1", False),
        ("command:true", True),
        ("mod:func", True),
        (" command:true", True),
        ("nonsense", True),
    ],
)
def test_which_graders_run_code(name, code):
    assert runs_code(name) is code
