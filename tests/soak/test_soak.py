"""A soak: a random user at the real app, for a minute (ten with `-m long`).

`AGENTSCOPE_SOAK_SEED=N` does the acts of that seed again, `AGENTSCOPE_SOAK_SECONDS` for another time.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from pathlib import Path

import pytest

from screens.stage import Stage
from soak.acts import ROWS, acts, scripts
from soak.invariants import (
    GROWTH,
    GROWTH_OF_A_MINUTE,
    Faults,
    Resources,
    check_recordings,
    check_while_running,
    children,
    sessions_in_memory,
)
from soak.random_user import RandomUser, settle
from waiting import wait_until

SECONDS = float(os.environ.get("AGENTSCOPE_SOAK_SECONDS", 0))
WARM = 0.3
"""Part of the time after which what grows is a leak."""
SETTLING = 30.0


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return Stage(tmp_path)


async def test_a_random_user_for_a_minute(stage: Stage) -> None:
    await soak(stage, SECONDS or 30.0)


@pytest.mark.long
@pytest.mark.timeout(1200)
async def test_a_random_user_for_ten_minutes(stage: Stage) -> None:
    await soak(stage, SECONDS or 600.0)


async def soak(stage: Stage, seconds: float) -> None:
    seed = int(os.environ.get("AGENTSCOPE_SOAK_SEED") or random.randrange(1_000_000))
    stage.rows = [{"user_prompt": f"task {row} of the soak", "ground_truth": "1"} for row in range(ROWS)]
    stage.scripts = scripts(seed)
    settings = {
        "grading.grader": "exact",
        "model.retries": 1,
        "session.undelivered_steers": ("return", "send")[seed % 2],
        "limits.wall_clock": 20.0,
    }
    before, others, held_before = Resources.now(), set(children()), sessions_in_memory()
    user: RandomUser | None = None
    with Faults() as faults:
        try:
            async with stage.running(stage.app(settings)) as view:
                user = RandomUser(view)
                growth = await use(user, seed, seconds, before)
                await settle(view, SETTLING)
                held = sessions_in_memory() - held_before
                assert held <= len(view.app.workspace.sessions) + 1, f"{held} sessions are still held"
            await wait_until(lambda: others.issuperset(children()), "the end of all child processes")
            kinds = check_recordings(stage.state)
            assert kinds["session_started"] == kinds["session_ended"] == kinds["sessions"] > 1, kinds
            assert faults.lines == []
            await wait_until(lambda: len(asyncio.all_tasks()) <= before.tasks, "the end of all tasks")
            after = Resources.now()
            assert after.descriptors <= before.descriptors + 3, after
            assert growth <= GROWTH + GROWTH_OF_A_MINUTE * seconds / 60, f"{growth / (1 << 20):.0f} MiB more"
        except BaseException:
            done = user.done if user is not None else 0
            print(f"the soak failed: AGENTSCOPE_SOAK_SEED={seed} does it again; {done} acts, the last were:")
            print(*(user.last if user is not None else ()), sep="\n")
            print(*faults.lines, sep="\n")
            print(*asyncio.all_tasks(), sep="\n")
            raise
    print(
        f"seed {seed}: {user.done} acts, {kinds.total()} events, {growth / (1 << 20):.1f} MiB more once warm"
    )
    print(f"before: {before}; after: {after}; {dict(kinds)}")


async def use(user: RandomUser, seed: int, seconds: float, before: Resources) -> int:
    """Act for so long, with a look at what holds every second; the bytes that memory grew by once warm."""
    start = looked = time.monotonic()
    warm: Resources | None = None
    now = before
    for act in acts(seed):
        if (spent := time.monotonic() - start) > seconds:
            break
        await user.do(act)
        if time.monotonic() - looked > 1:
            looked = time.monotonic()
            now = check_while_running(user.view.app, before)
            if warm is None and spent > seconds * WARM:
                warm = now
    return max(0, now.memory - (warm or now).memory)
