"""How the screens look, at two sizes. `pytest --snapshot-update` accepts a new look.

Time and ids stand still, nothing blinks or moves, and no path of the machine is in sight.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from itertools import count

import pytest
from textual.pilot import Pilot

from agentscope_tui.clock import Clock
from agentscope_tui.tui.screens.detail import DetailScreen
from agentscope_widgets.row_list import RowList
from screens.stage import UNTIL_GO, Stage, View, bash, reply

WIDE, NARROW, LARGE = (120, 40), (80, 24), (200, 60)
NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

Act = Callable[[View], Awaitable[None]]
Look = Callable[..., None]

ANSWER = """\
# Findings

The **culprit** is `cron.sh`, see line *42*:

```python
def clean(path: str) -> int:
    return sum(1 for name in scan(path) if name.endswith(".tmp"))
```

| file      | lines | size |
|-----------|------:|-----:|
| `cron.sh` |    42 | 1 kB |
| `app.log` | 9,113 | 2 MB |

1. Rotate the log
2. Quote the path, as [the manual](https://example.org/manual) says

> Nothing else was changed.
"""


@pytest.fixture
def looks(stage: Stage, snap_compare: Callable[..., bool]) -> Look:
    """Compare the screen with its picture after an act."""

    def compare(act: Act, size: tuple[int, int], **settings: object) -> None:
        numbers = count(1)
        clock = Clock(now=lambda: NOON, monotonic=lambda: 0.0, new_id=lambda: f"{next(numbers):012x}")
        app = stage.app({"sandbox.mode": "none", **settings}, clock=clock)
        app.animation_level = "none"

        async def before(pilot: Pilot[None]) -> None:
            view = View(app, pilot)
            await view.until(lambda: len(app.screen_stack) > 1)
            view.composer.cursor_blink = False
            title = view.debugger.query_one("#rows-pane")
            await view.until(lambda: title.border_subtitle and "+" not in str(title.border_subtitle))
            # Columns only grow: as wide as the longest state, whichever of them come to be drawn.
            layout = view.pane(RowList)._layout
            layout.grow(next(column for column in layout.columns if column.key == "state"), 12)
            await act(view)
            await at_rest(view)

        assert snap_compare(app, terminal_size=size, run_before=before)

    return compare


async def at_rest(view: View) -> None:
    """Wait until three pictures in a row are the same."""
    pictures: list[str] = []
    deadline = asyncio.get_running_loop().time() + 10
    while len(pictures) < 3 or len(set(pictures[-3:])) > 1:
        assert asyncio.get_running_loop().time() < deadline, "the screen does not come to rest"
        await view.pilot.pause(0.1)
        pictures.append(view.app.export_screenshot())


def rows(stage: Stage) -> None:
    stage.rows = [
        {"user_prompt": "Fix the failing test in calc.py", "ground_truth": "42", "grader": "exact"},
        {"user_prompt": "Find the culprit in app.log", "ground_truth": "41", "grader": "exact"},
        {"user_prompt": 7},
        {"user_prompt": "Rename `load` to `read` in every file of the package, and keep the tests green"},
    ]


async def nothing(view: View) -> None:
    return None


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_welcome(stage: Stage, looks: Look, size: tuple[int, int]):
    rows(stage)
    looks(nothing, size)


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_paused(stage: Stage, looks: Look, size: tuple[int, int]):
    rows(stage)
    stage.says(
        reply(
            "I look at the files, then I run the tests.",
            bash("ls -la"),
            ("read_file", {"path": "calc.py"}),
            reasoning="First I need to know what is there.\nThen I decide.",
        )
    )
    looks(View.opened_and_paused, size)


async def at_work(view: View) -> None:
    """A tool has run, and another waits."""
    await view.opened_and_paused()
    await view.press("n")
    await view.paused(2)


def works(stage: Stage) -> None:
    rows(stage)
    stage.says(
        reply(
            "I look at the **log**:\n\n```python\nprint('x' * 3)  # three\n```", bash("echo ok; echo no >&2")
        ),
        reply("", bash("make test"), reasoning="One is left."),
    )


@pytest.mark.parametrize("theme", ["light", "contrast", "ansi"])
def test_themes(stage: Stage, looks: Look, theme: str):
    works(stage)
    looks(at_work, WIDE, **{"ui.theme": f"agentscope-{theme}"})


def test_large(stage: Stage, looks: Look):
    works(stage)
    looks(at_work, LARGE)


def test_zoomed_output(stage: Stage, looks: Look):
    works(stage)

    async def act(view: View) -> None:
        await at_work(view)
        await view.press("3", "up", "4", "z")
        await view.until(lambda: view.debugger.zoomed and "ok" in view.output)

    looks(act, WIDE)


def test_running_tool_with_a_queued_message(stage: Stage, looks: Look):
    rows(stage)
    noise = "for i in 1 2 3 4 5 6; do echo test $i ok; done; echo warning: slow >&2; "
    stage.says(reply("I run the tests.", bash(noise + UNTIL_GO)))

    async def act(view: View) -> None:
        await view.opened_and_paused()
        await view.press("n")
        await view.until(lambda: "test 6 ok" in view.output and "warning" in view.output)
        await view.say("use pytest, please")
        await view.until(lambda: "queued" in view.queue)
        await view.type("and then")

    looks(act, WIDE)


def test_interrupted(stage: Stage, looks: Look):
    rows(stage)
    stage.says(reply("I wait for the build.", bash("sleep 600"), bash("make install")))

    async def act(view: View) -> None:
        await view.opened_and_paused()
        await view.press("n")
        await view.until(lambda: "RUNNING bash" in view.status)
        await view.press("i")
        await view.until(lambda: "never run" in view.transcript)

    looks(act, NARROW)


def test_markdown_answer(stage: Stage, looks: Look):
    rows(stage)
    stage.says(reply(ANSWER))
    looks(View.opened_and_paused, WIDE)


def test_rewards(stage: Stage, looks: Look):
    rows(stage)
    # Slow enough for the row to be drawn while it runs: its column keeps the width.
    last = reply("I have submitted 42.", tokens_per_second=12)
    stage.says(reply("", ("submit", {"answer": "42"})), last)

    async def act(view: View) -> None:
        await view.open(0)
        await view.until(lambda: "★ reward 1" in view.transcript)
        await view.open(1)
        await view.until(lambda: "☆ reward 0" in view.transcript)

    looks(act, WIDE, **{"session.mode": "run"})


def test_failed_call(stage: Stage, looks: Look):
    rows(stage)
    stage.says({"error": {"kind": "rate_limit", "message": "too many requests: try again in 20 s"}})

    async def act(view: View) -> None:
        await view.open()
        await view.until(lambda: "CALL #1 FAILED" in view.status)

    looks(act, NARROW)


@pytest.mark.parametrize(
    ("key", "size"),
    [("m", WIDE), ("t", NARROW), ("question_mark", WIDE)],
    ids=["messages", "tools", "help"],
)
def test_details(stage: Stage, looks: Look, key: str, size: tuple[int, int]):
    rows(stage)
    stage.says(reply("I look.", bash("echo 'a b c'")), reply("Done."))

    async def act(view: View) -> None:
        await view.opened_and_paused()
        await view.press("n")
        await view.paused(2)
        await view.press(key)
        await view.until(lambda: isinstance(view.app.screen, DetailScreen))

    looks(act, size, **{"session.system": "You are an agent that works on one task."})


def test_question(stage: Stage, looks: Look):
    rows(stage)
    stage.says(reply("", bash("sleep 600")))

    async def act(view: View) -> None:
        await view.opened_and_paused()
        await view.press("q")
        await view.until(lambda: getattr(view.app.screen, "listening", False))

    looks(act, NARROW)
