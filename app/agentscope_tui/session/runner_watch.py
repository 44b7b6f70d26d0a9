"""What the host knows of its runner: what it says it is, how long it waits, and whether it answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from agentscope_tui.events import Event, RunnerConnected, RunnerHealth
from agentscope_tui.runners.profile import Profile, Profiles
from agentscope_tui.waiting import set_within
from agentscope_tui.wire.frames import Hello, Ping, Pong


class RunnerWatch:
    """Takes the runner's hello and its pongs; `watch` sends the pings."""

    def __init__(
        self,
        profiles: Profiles,
        *,
        publish: Callable[[Event], Event],
        post: Callable[[Ping], None],
        new_id: Callable[[], str],
    ) -> None:
        self._profiles = profiles
        self._publish = publish
        self._post = post
        self._new_id = new_id
        self._nonce = ""
        self._ponged = asyncio.Event()
        self.greeted = asyncio.Event()
        """Whether the runner has said hello."""
        self.profile = Profile()
        """What is known of its kind."""

    def on_hello(self, hello: Hello) -> None:
        """The first hello says what the runner is; others say nothing."""
        if self.greeted.is_set():
            return
        said = hello.model_dump(exclude={"type"}, exclude_defaults=True)
        name, profile = self._profiles.choose(hello.model_dump())
        self.profile = profile
        self._publish(RunnerConnected(hello=said, profile=name, patience=profile.patience))
        self.greeted.set()

    def on_pong(self, pong: Pong) -> None:
        if pong.nonce == self._nonce:
            self._ponged.set()

    async def watch(self, every: float, timeout: float) -> None:
        """Ping the runner every so many seconds; tell when it leaves one unanswered, and when it is back."""
        answering = True
        while True:
            await asyncio.sleep(every)
            self._nonce = self._new_id()
            self._ponged.clear()
            self._post(Ping(nonce=self._nonce))
            if await set_within(self._ponged, timeout) != answering:
                answering = not answering
                self._publish(RunnerHealth(answering=answering, seconds=0.0 if answering else timeout))
