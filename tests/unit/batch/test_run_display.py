"""What `agentscope run` says of results and of how far it is."""

from __future__ import annotations

from rich.console import Console

from agentscope_tui.batch.batch import Progress
from agentscope_tui.batch.results import RolloutResult
from agentscope_tui.clock import Clock
from agentscope_tui.options import RunOptions
from agentscope_tui.run_display import RunDisplay, line_of, status_line


def progress() -> Progress:
    now = [0.0]
    made = Progress(1200, clock=Clock(monotonic=lambda: now[0]))
    now[0] = 10.0
    for row in range(10):
        result = RolloutResult(
            row=row,
            state="failed" if row == 3 else "done",
            reward=0.5,
            input_tokens=90,
            output_tokens=10,
            cost=0.01,
        )
        made.add(result)
    return made


def test_how_far_it_is() -> None:
    assert status_line(progress()) == (
        "10/1,200 · 0 running · 1 failed · reward 0.5 · 100 tok/s · $0.1 · 0:19:50 left"
    )
    assert status_line(Progress(3)).endswith("· … left")


def test_the_bar_has_a_line_of_its_own_and_nothing_is_cut() -> None:
    console = Console(width=90, force_terminal=True, color_system=None)
    with console.capture() as drawn:
        console.print(RunDisplay(progress(), RunOptions())._drawn())
    bar, words = drawn.get().rstrip().split("\n")
    assert bar.strip() == "╸"
    assert words.strip() == status_line(progress())


def test_a_result_on_a_line() -> None:
    done = RolloutResult(
        row=3,
        rollout=1,
        state="done",
        session="s",
        reward=1.0,
        metrics={"fast": 0.25},
        calls=2,
        input_tokens=950,
    )
    assert line_of(done) == "✓ row 3.1  reward 1  fast 0.25  2 calls  950 tokens  0.0 s  s"
    failed = RolloutResult(row=0, state="failed", error="no such folder", seconds=1.25)
    assert line_of(failed) == "✗ row 0  1.2 s  no such folder"
