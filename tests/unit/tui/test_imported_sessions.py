"""What the screen shows of a session of another tool."""

from __future__ import annotations

from pathlib import Path

from agentscope_tui.tui.present.status import sandbox_segments
from agentscope_tui.tui.present.transcript import block_of
from fakes import foreign_files as foreign
from fakes import foreign_samples as samples


def test_what_was_kept_folds_to_a_line_that_tells_what_it_is(tmp_path: Path) -> None:
    state = foreign.open_file(tmp_path / "t", samples.atif()).state
    blocks = [block_of(state, place) for place, entry in enumerate(state.entries) if entry.kind == "extra"]
    assert [(block.title, block.folded) for block in blocks] == [
        ("ATIF trajectory", True),
        ("ATIF step 4", True),
    ]
    assert blocks[1].summary == '{ "extra": { "mood": "calm" } }'


def test_nothing_is_said_of_a_sandbox_that_nobody_knows_of(tmp_path: Path) -> None:
    state = foreign.open_file(tmp_path / "t", samples.atif()).state
    assert sandbox_segments(state) == []
