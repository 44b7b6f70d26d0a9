"""The random user at the real app: does the acts, and keeps the last of them for whoever reads a failure."""

from __future__ import annotations

import asyncio
from collections import deque

from textual.command import CommandPalette

from agentscope_tui.session.session import Session
from agentscope_tui.tui.screens.confirm import ConfirmScreen
from agentscope_tui.tui.screens.debugger import DebuggerScreen
from agentscope_tui.tui.screens.edit import EditScreen
from agentscope_widgets.safe_area import SafeTextArea
from screens.stage import View
from soak.acts import KEYS, ROWS, SIZES, Act
from waiting import wait_until

KEPT = 50
"""Acts that a failure shows."""
ACT_SECONDS = 30.0
"""Seconds after which an act hangs."""


class RandomUser:
    """Acts on the app as keys, clicks and intents come."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.done = 0
        self.last: deque[Act] = deque(maxlen=KEPT)
        self._texts = 0

    async def do(self, act: Act) -> None:
        """Do one act.

        Raises:
            TimeoutError: the app did not take it.
        """
        self.last.append(act)
        self.done += 1
        async with asyncio.timeout(ACT_SECONDS):
            await self._do(act)
            await self._taken()
        await asyncio.sleep(act.pause)

    async def _do(self, act: Act) -> None:
        match act.name:
            case "key":
                await self._press(KEYS[act.number % len(KEYS)])
            case "step" | "continue" | "interrupt" | "retry":
                key = {"step": "f10", "continue": "f5", "interrupt": "f9", "retry": "f7"}[act.name]
                await self._at_the_debugger()
                await self._press(key)
            case "say":
                await self._at_the_debugger()
                if self._session is not None:
                    await self._press("f2")
                    self.view.composer.text = self._text()
                    await self._press("enter")
            case "row":
                await self._at_the_debugger()
                await self._press("alt+1")
                await self._press("home", *["down"] * (act.number % ROWS), "enter")
            case "rerun":
                await self._at_the_debugger()
                await self._press("ctrl+r")
                await self._answer("y")
            case "edit" | "refuse":
                await self._at_the_debugger()
                await self._press("f12" if act.name == "edit" else "f8")
                await self._write(act.number)
            case "resize":
                await self.view.pilot.resize_terminal(*SIZES[act.number % len(SIZES)])
            case "click":
                size = self.view.app.size
                place = act.number % size.width, act.number // size.width % size.height
                await self.view.pilot.click(offset=place, times=1 + act.number % 2)
            case "type":
                await self._press(*"some text "[: act.number % 10])
            case "give up" | "withdraw" | "move":
                self._intend(act)
            case _:
                pass

    @property
    def _session(self) -> Session | None:
        current = self.view.debugger.current
        return current.session if current is not None else None

    def _intend(self, act: Act) -> None:
        """What has no key of its own from everywhere."""
        session, current = self._session, self.view.debugger.current
        if session is None or current is None:
            return
        steers = [steer.msg_id for steer in current.state.steers][-5:]
        steer = steers[act.number % len(steers)] if steers else "none"
        match act.name:
            case "give up":
                session.give_up()
            case "withdraw":
                session.withdraw_steer(steer)
            case "move":
                session.move_steer(steer, act.number % 3)

    def _text(self) -> str:
        """A message that no other is like."""
        self._texts += 1
        return f"message {self._texts} [/x]"

    async def _press(self, *keys: str) -> None:
        """Press keys; what would quit is left instead."""
        for key in keys:
            quits = isinstance(self.view.app.screen, CommandPalette) and key == "enter"
            self.view.app.simulate_key("escape" if quits else key)
            await self._taken()

    async def _taken(self) -> None:
        """Return when what came before has been taken: nothing on its way hangs.

        A key goes from the app to its screen and to what has the focus, and back up from there. Until it is
        back it may answer what a later key asks.
        """
        app = self.view.app
        focused = app.focused
        for pump in (app, app.screen, *(focused.ancestors_with_self if focused is not None else ()), app):
            taken = asyncio.Event()
            if pump.call_later(taken.set):
                await taken.wait()

    async def _at_the_debugger(self) -> None:
        """Leave whatever lies on top."""
        while not isinstance(self.view.app.screen, DebuggerScreen):
            top = self.view.app.screen
            await self._press("escape")
            if self.view.app.screen is top:
                # A list or a text box in it took the first.
                await self._press("escape")
                await asyncio.sleep(0.01)

    async def _answer(self, key: str) -> None:
        screen = self.view.app.screen
        if isinstance(screen, ConfirmScreen):
            await self.view.answer(key)

    async def _write(self, number: int) -> None:
        """In the editor that has opened: change the text, and accept or leave it."""
        screen = self.view.app.screen
        if not isinstance(screen, EditScreen):
            return
        await wait_until(lambda: screen.query(SafeTextArea), "the editor")
        area = screen.query_one(SafeTextArea)
        if number % 3 == 0:
            area.load_text("{" if number % 2 else '{"command": "echo edited"}')
        elif number % 3 == 1:
            area.load_text(f"{area.text} edited")
        await self._press("ctrl+s")
        await self._at_the_debugger()


async def settle(view: View, seconds: float) -> None:
    """Let every session run to its rest: nothing waits at a gate, failed calls are given up, and messages are
    taken back that would begin one turn after the other, each as long as the wall clock allows.

    Raises:
        TimeoutError: one of them does not come to rest; names the rows.
    """
    sessions = {index: row.session for index, row in view.app.workspace.sessions.items()}
    resting = {index: asyncio.create_task(session.settled()) for index, session in sessions.items()}
    try:
        async with asyncio.timeout(seconds):
            while not all(task.done() for task in resting.values()):
                for index, session in sessions.items():
                    if not resting[index].done():
                        session.run_on()
                        session.give_up()
                        for steer in view.app.workspace.sessions[index].state.steers:
                            session.withdraw_steer(steer.msg_id)
                await asyncio.sleep(0.05)
    except TimeoutError:
        waiting = {
            index: f"{sessions[index].status}, waits {sessions[index].gate.waiting}"
            for index, task in resting.items()
            if not task.done()
        }
        raise TimeoutError(f"not settled within {seconds:g} s: {waiting}") from None
    finally:
        for task in resting.values():
            task.cancel()
