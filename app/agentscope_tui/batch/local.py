"""Rollouts in this process: thousands at a time, as long as they mostly wait for their model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, nullcontext

from agentscope_tui.batch.results import RolloutResult
from agentscope_tui.batch.rollout import Account
from agentscope_tui.bus import Callback
from agentscope_tui.errors import UserError
from agentscope_tui.session.launch import Launcher
from agentscope_tui.session.open_session import OpenSession

_STARTING = 8
"""Sessions that start at a time: of hundreds at once, the first would be ready as late as the last."""


class LocalExecutor:
    """See `Executor`."""

    def __init__(
        self,
        launcher: Launcher,
        *,
        watchers: Sequence[Callable[[], Callback]] = (),
        labels: Mapping[str, object] | None = None,
        opened: Callable[[OpenSession], None] | None = None,
    ) -> None:
        """`watchers` make what gets the events of each session; `labels` go into their `meta.json`; `opened`
        gets each session before it starts, and may keep it."""
        self._launcher = launcher
        self._watchers = watchers
        self._labels = labels or {}
        self._opened = opened
        self._starting = asyncio.Semaphore(_STARTING)

    async def run(self, account: Account) -> RolloutResult:
        try:
            await self._run(account)
        except UserError as error:
            return account.result(error=str(error))
        return account.result()

    async def _run(self, account: Account) -> None:
        """A session from its start to its end, with nobody who must press a key."""
        labels = {**self._labels, "rollout": account.job.rollout} if self._labels else {}
        # One that has to wait for a program of the user's must not keep the others waiting.
        place = self._starting if self._launcher.starts_alone else nullcontext()
        async with AsyncExitStack() as stack:
            async with place:
                session = await self._launcher.open(account.task, mode="run", patient=False, labels=labels)
                if self._opened is None:
                    stack.callback(session.dissolve)
                await stack.enter_async_context(aclosing(session))
                account.session = session.folder.path.name
                session.bus.subscribe(account)
                for make in self._watchers:
                    session.bus.subscribe(make())
                if self._opened is not None:
                    self._opened(session)
                await session.start()
            await session.session.settled()

    async def aclose(self) -> None:
        """Nothing is held: each rollout closes its own session."""
