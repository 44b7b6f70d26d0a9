"""Several graders as one: names and weights, their mean, their metrics, and what happens when one fails."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agentscope_tui.errors import UsageError
from agentscope_tui.grading.composed import ComposedGrader
from agentscope_tui.grading.factory import Means, grader_of
from agentscope_tui.grading.grader import Grade, GradeInput, GraderError
from agentscope_tui.grading.spec import needs_trust, parse_part, parse_parts, runs_code
from waiting import wait_until

GRADERS = """
def half(answer): return {"reward": 0.5, "reason": "so so", "metrics": {"length": len(answer)}}
def speed(answer): return 3
def fails(answer): raise ValueError("no way")
"""


def grader(folder: Path, *names: str) -> ComposedGrader:
    (folder / "mine.py").write_text(GRADERS)
    made = grader_of(names, Means(folder, 60))
    assert isinstance(made, ComposedGrader)
    return made


async def test_the_reward_is_the_weighted_mean_and_each_part_is_a_metric(given, tmp_path):
    made = grader(tmp_path, "correct@3=exact", "style=mine:half", "fast@0=mine:speed", "contains")
    assert await made.grade(given("4", "4")) == Grade(
        (3 * 1 + 0.5 + 1) / 5,
        "correct 1 (the answer is the ground truth) · style 0.5 (so so) · fast 3 · "
        "contains 1 (the answer contains '4')",
        {"correct": 1.0, "style": 0.5, "style.length": 1.0, "fast": 3.0, "contains": 1.0},
    )
    assert made.name == "correct + style + fast + contains"


async def test_the_error_of_a_part_is_the_error_of_all(given, tmp_path):
    made = grader(tmp_path, "exact", "other@0=mine:fails")
    with pytest.raises(GraderError, match="other: grader `mine:fails` failed: ValueError: no way") as caught:
        await made.grade(given("4", "4"))
    assert "raise ValueError" in caught.value.detail


class Waits:
    """A grader that is done once `others` have begun as well."""

    name = "waits"

    def __init__(self, others: int) -> None:
        self.begun = 0
        self.all_begun = asyncio.Event()
        self.others = others
        self.cancelled = 0

    async def grade(self, given: GradeInput) -> Grade:
        self.begun += 1
        if self.begun == self.others:
            self.all_begun.set()
        try:
            await self.all_begun.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return Grade(1.0)


async def test_the_parts_run_at_the_same_time(given):
    waits = Waits(2)
    made = ComposedGrader([(parse_part(f"{name}=exact"), waits) for name in "ab"])
    async with asyncio.timeout(20):
        assert (await made.grade(given("x"))).reward == 1


async def test_cancelling_ends_all_parts(given):
    waits = Waits(3)
    task = asyncio.create_task(
        ComposedGrader([(parse_part(f"{name}=exact"), waits) for name in "ab"]).grade(given("x"))
    )
    async with asyncio.timeout(20):
        await wait_until(lambda: waits.begun == 2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert waits.cancelled == 2


async def test_one_grader_without_a_name_stays_what_it_is(given):
    assert await grader_of(["exact"], Means(Path.cwd(), 60)).grade(given("4", "4")) == Grade(
        1.0, "the answer is the ground truth"
    )


async def test_one_grader_with_a_name_has_its_reward_as_a_metric(given, tmp_path):
    grade = await grader(tmp_path, "right=exact").grade(given("4", "4"))
    assert (grade.reward, grade.metrics) == (1.0, {"right": 1.0})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("correct@3=exact", ("correct", 3.0, "exact")),
        ("my-style@.5=rubric:be brief", ("my-style", 0.5, "rubric:be brief")),
        ("fast@0=my.mod:speed", ("fast", 0.0, "my.mod:speed")),
        ("a=command:test x = y", ("a", 1.0, "command:test x = y")),
        ("command:test x=y", ("command", 1.0, "command:test x=y")),
        ("regex:a=b", ("regex", 1.0, "regex:a=b")),
        ("my.mod:speed", ("speed", 1.0, "my.mod:speed")),
    ],
)
def test_a_prefix_is_a_name_and_a_weight(text: str, told: tuple[str, float, str]) -> None:
    part = parse_part(text)
    assert (part.name, part.weight, str(part.spec)) == told
    assert parse_part(str(part)) == part


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["a=exact", "a=numeric"], "two graders are called 'a'"),
        (["exact", "exact"], "two graders are called 'exact': give them names, as in first=exact"),
        (["fast@0=exact"], "no grader gives the reward: a weight of 0 makes 'fast' a metric only"),
        (["a@1.2.3=exact"], "'1.2.3' is no weight"),
        (["a=nothing"], "unknown grader 'nothing'"),
        (["rubric"], "rubric:rubric.md"),
    ],
)
def test_what_makes_no_grader(texts: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_parts(texts)


def test_a_name_hides_no_code_from_who_asks_for_trust() -> None:
    assert runs_code("nice=command:rm x")
    assert runs_code("nice@0=mod:f")
    assert not runs_code("nice=rubric:x")
    assert needs_trust("nice=rubric:x")
    assert not needs_trust("nice=exact")
