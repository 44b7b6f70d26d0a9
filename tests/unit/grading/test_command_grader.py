"""The grader that is a shell command in the row's folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentscope_tui.grading.factory import Means, grader_of
from agentscope_tui.grading.grader import Grade, GradeInput, GraderError


async def grade(command: str, given: GradeInput, timeout: float = 60) -> Grade:
    grader = grader_of([f"command:{command}"], Means(Path.cwd(), timeout))
    return await grader.grade(given)


async def test_exit_0_is_1_and_all_else_0_with_the_last_line(given):
    assert await grade("true", given("x")) == Grade(1.0, "exit 0")
    assert await grade("echo a; echo; echo '2 failed'; exit 3", given("x")) == Grade(0.0, "exit 3: 2 failed")


async def test_the_command_runs_in_the_folder_the_agent_left(given):
    case = given("x")
    (case.workdir / "made.txt").write_text("by the agent")
    assert (await grade("grep -q agent made.txt", case)).reward == 1
    assert (await grade("grep -q nobody made.txt", case)).reward == 0


async def test_the_answer_and_the_truth_are_in_the_environment(given):
    case = given('it\'s\n"42" $HOME é', "it's")
    command = (
        'printf %s "$AGENTSCOPE_ANSWER" >got; printf \'it\\047s\\n"42" $HOME é\' | cmp - got'
        ' && test "$AGENTSCOPE_GROUND_TRUTH" = "it\'s" && grep -c é got'
    )
    assert await grade(command, case) == Grade(1.0, "exit 0: 1")


async def test_a_command_that_searches_the_folder_does_not_find_the_answer(given):
    case = given("no more get_user")
    assert (await grade('! grep -r get_user . && test -z "${AGENTSCOPE_ANSWER_FILE+set}"', case)).reward == 1


async def test_an_answer_too_large_for_the_environment_is_whole_in_the_file(given):
    case = given("\0" + "é" * 200_000, "\0" + "é" * 200_000)
    found = await grade('wc -c <"$AGENTSCOPE_ANSWER_FILE"; test ${#AGENTSCOPE_ANSWER} -gt 30000', case)
    assert found == Grade(1.0, "exit 0: 400001")


async def test_the_answer_file_is_gone_afterwards_and_follows_no_link(given, tmp_path):
    case = given("secret " * 20_000)
    target = tmp_path / "target"
    for name in (".answer", ".answer.txt", ".answer-.txt"):
        (case.workdir / name).symlink_to(target)
    assert (await grade('grep -q secret "$AGENTSCOPE_ANSWER_FILE"', case)).reward == 1
    assert not target.exists()
    assert len(os.listdir(case.workdir)) == 3


async def test_a_command_that_hangs_is_the_graders_error(given):
    with pytest.raises(GraderError, match=r"ran longer than 0\.2 s \(setting grading\.timeout\)"):
        await grade("exec sleep 60", given("x"), timeout=0.2)


async def test_a_command_that_is_not_there_is_the_graders_error(given):
    with pytest.raises(GraderError, match=r"cannot run \(exit 127\): .*no-such-thing"):
        await grade("no-such-thing", given("x"))


async def test_a_folder_that_is_gone_is_the_graders_error(given):
    case = given("x" * 70_000)
    case.workdir.rmdir()
    with pytest.raises(GraderError, match="cannot be written"):
        await grade("true", case)
