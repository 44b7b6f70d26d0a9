"""What the runner is, and the last lines of its log."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import ClassVar

from agentscope_tui.session.state import SessionState
from agentscope_tui.tui.screens.detail import DetailScreen
from agentscope_widgets.blocks import Block


class RunnerLogScreen(DetailScreen):
    """The runner's greeting and profile, and what it printed that was no frame."""

    HEADING: ClassVar[str] = "Runner"
    HAS_JSON: ClassVar[bool] = False

    def __init__(self, state: SessionState) -> None:
        super().__init__()
        self._state = state

    def blocks(self, as_json: bool) -> Sequence[Block]:
        runner = self._state.runner
        patience = "without end" if runner.patience is None else f"{runner.patience:g} s"
        about = f"profile {runner.profile or '-'} · waits {patience} for a model's answer\n\n"
        lines = [f"! {line}" if stream == "stderr" else f"  {line}" for stream, line in runner.log]
        left_out = runner.logged - len(runner.log)
        margin = (
            (f"{runner.logged} lines",) if not left_out else (f"the last {len(lines)} of {runner.logged}",)
        )
        return [
            Block(
                key="hello",
                title=self._state.started.runner if self._state.started else "runner",
                body=about + json.dumps(runner.hello, indent=2, ensure_ascii=False),
                foldable=True,
                summary=about.strip(),
            ),
            Block(
                key="log",
                title="log",
                body="\n".join(lines) or "It printed nothing.",
                format="ansi",
                margin=margin,
            ),
        ]
