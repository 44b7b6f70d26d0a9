"""Rollouts in this process: thousands at a time, as long as they mostly wait for their model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from agentscope_tui.batch.results import RolloutResult
from agentscope_tui.batch.rollout import Account, run_rollout
from agentscope_tui.bus import Callback
from agentscope_tui.session.launch import Launcher
from agentscope_tui.session.open_session import OpenSession


class LocalExecutor:
    """See `Executor`."""

    def __init__(
        self,
        launcher: Launcher,
        *,
        watchers: Sequence[Callable[[], Callback]] = (),
        labels: Mapping[str, object] | None = None,
        opened: Callable[[OpenSession], None] = lambda session: None,
    ) -> None:
        """`watchers` make what gets the events of each session; `labels` go into their `meta.json`; `opened`
        gets each session before it starts."""
        self._launcher = launcher
        self._watchers = watchers
        self._labels = labels or {}
        self._opened = opened

    async def run(self, account: Account) -> RolloutResult:
        return await run_rollout(
            self._launcher,
            account,
            opened=self._opened,
            watchers=[make() for make in self._watchers],
            labels={**self._labels, "rollout": account.job.rollout} if self._labels else {},
        )

    async def aclose(self) -> None:
        """Nothing is held: each rollout closes its own session."""
