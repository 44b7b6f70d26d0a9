"""Reports as text: lines that fit a terminal, and commands that are never cut."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.cells import cell_len

from agentscope_tui.report.pair import Pair
from agentscope_tui.report.pair_text import pair_lines
from agentscope_tui.report.recordings import Recordings
from agentscope_tui.report.run import Run
from agentscope_tui.report.text import run_lines
from agentscope_tui.report.words import bars, joined
from fakes.run_folders import failed, result, run_of, write_recording


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Run, Run]:
    """Runs of several rollouts, metrics and failures, with recordings."""
    monkeypatch.chdir(tmp_path)
    runs = []
    for name, shift in (("before", 0), ("after", 1)):
        run = run_of(
            Path(name),
            *(result(row, float((row + n + shift) % 3 == 0), n) for row in range(8) for n in range(2)),
            failed(9, "it broke"),
        )
        for one in run.rollouts:
            write_recording(run.folder / "sessions", one.session, "A task whose text is long. " * 10)
        runs.append(run)
    return runs[0], runs[1]


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_lines_fit_the_terminal_and_commands_are_whole(two: tuple[Run, Run], width: int, tmp_path: Path):
    recordings = Recordings(tmp_path / "sessions")
    lines = [line for line, _ in run_lines(two[0], recordings, width, every=False)]
    assert [line for line in lines if cell_len(line) > width] == []
    assert any(line.endswith("before/sessions/s7-0") for line in lines)
    compared = [line for line, _ in pair_lines(Pair(*two), recordings, width, every=True)]
    assert [line for line in compared if cell_len(line) > width and "agentscope compare" not in line] == []
    commands = [line for line in compared if "before/sessions" in line]
    assert len(commands) == len(Pair(*two).changes) > 4
    assert all(" after/sessions/s" in line and "…" not in line.split("before/")[1] for line in commands)


def test_parts_are_joined_on_lines_as_they_fit():
    assert [*joined(["one", "two", "three"], None)] == ["one · two · three"]
    assert [*joined(["one", "two", "three"], 10)] == ["one · two", "  three"]
    assert [*joined(["much too long for it", "b"], 10)] == ["much too long for it", "  b"]


def test_bars_are_as_long_as_their_counts_and_seen_where_there_is_one():
    assert [*bars([0, 1, 50, 100], 10)] == ["", "▏", "█████", "██████████"]
    assert [*bars([0, 0], 10)] == ["", ""]
