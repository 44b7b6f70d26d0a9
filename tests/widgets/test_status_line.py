"""The status line: the first facts stay, the last ones go when there is no room."""

from __future__ import annotations

import pytest
from pane_app import PaneApp, lines

from agentscope_widgets.look import Tone
from agentscope_widgets.status_line import StatusLine
from waiting import wait_until

FACTS: list[tuple[str, Tone]] = [
    ("PAUSED after call #3", "warning"),
    ("step", "normal"),
    ("", "normal"),
    ("calls 3/60", "muted"),
    ("$0.02", "muted"),
]


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (80, "PAUSED after call #3 · step · calls 3/60 · $0.02"),
        (44, "PAUSED after call #3 · step · calls 3/60"),
        (30, "PAUSED after call #3 · step"),
        (12, "PAUSED af…"),
    ],
)
async def test_what_does_not_fit_is_left_out_from_the_end(width: int, expected: str) -> None:
    status = StatusLine()
    app = PaneApp(status)
    async with app.run_test(size=(width, 5)):
        status.show(FACTS)
        await wait_until(lambda: lines(status)[0].strip() == expected, expected)
        assert len(lines(status)) == 1
