"""The real app for screen tests: real engine, tools and state folder; only the model is scripted."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import yaml
from textual.pilot import Pilot
from textual.widget import Widget

from agentscope_tui.clock import Clock
from agentscope_tui.config import load_settings
from agentscope_tui.options import Options
from agentscope_tui.session.launch import Launcher
from agentscope_tui.session.state import SessionState
from agentscope_tui.tui.app import AgentScopeApp
from agentscope_tui.tui.screens.confirm import ConfirmScreen
from agentscope_tui.tui.screens.debugger import DebuggerScreen
from agentscope_tui.tui.workspace import RowSession
from agentscope_widgets.call_list import CallList
from agentscope_widgets.composer import Composer
from agentscope_widgets.output_view import OutputView
from agentscope_widgets.row_list import RowList
from agentscope_widgets.status_line import StatusLine
from agentscope_widgets.steer_queue import SteerQueue
from agentscope_widgets.transcript import Transcript
from waiting import wait_until
from widgets.pane_app import shown

W = TypeVar("W", bound=Widget)
Reply = dict[str, Any]

PANES: tuple[type[Widget], ...] = (RowList, Transcript, CallList, OutputView, StatusLine)
UNTIL_GO = "while [ ! -e go ]; do sleep 0.02; done"
"""A command that runs until the test calls `View.let_go`."""


def reply(text: str = "", *calls: tuple[str, dict[str, Any]], **more: Any) -> Reply:
    """A scripted reply that streams at once unless told otherwise; calls are (name, arguments)."""
    made: Reply = {"tokens_per_second": 10_000, **more}
    if text:
        made["text"] = text
    if calls:
        made["tool_calls"] = [{"name": name, "arguments": arguments} for name, arguments in calls]
    return made


def bash(command: str) -> tuple[str, dict[str, Any]]:
    return "bash", {"command": command}


class Stage:
    """A folder with a dataset, a script and a state folder, and the app on them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state = folder / "state"
        self.rows: list[dict[str, Any] | str] = [{"user_prompt": "do the task"}]
        self.scripts: list[dict[str, Any]] = []

    def says(self, *replies: Reply, match: str | None = None) -> None:
        """Add a script: for the tasks that `match` finds, or for all."""
        script: dict[str, Any] = {"replies": list(replies)}
        self.scripts.append(script if match is None else {"match": match, **script})

    def app(
        self,
        settings: Mapping[str, object] | None = None,
        *,
        name: str = "tasks.jsonl",
        row: int | None = None,
        clock: Clock | None = None,
    ) -> AgentScopeApp:
        """The app, as `run_app` makes it."""
        dataset, script = self.folder / name, self.folder / "script.yaml"
        lines = [row if isinstance(row, str) else json.dumps(row) for row in self.rows]
        text = "\n".join(lines) + "\n"
        if not dataset.exists() or dataset.read_text(encoding="utf-8") != text:
            # What is there already is the same dataset to a second app.
            dataset.write_text(text, encoding="utf-8")
        script.write_text(yaml.safe_dump({"scripts": self.scripts or [{"replies": [reply("hello")]}]}))
        flags = {"model.name": f"scripted:{script}", **(settings or {})}
        environ = {"AGENTSCOPE_HOME": str(self.state)}
        config = load_settings(flags, cwd=self.folder, environ=environ)
        launcher = Launcher(config, dataset, model=config.settings.model.name or "", clock=clock)
        rows = launcher.open_dataset()
        return AgentScopeApp(config, Options(dataset, () if row is None else (row,)), launcher, rows)

    @asynccontextmanager
    async def running(
        self, app: AgentScopeApp | None = None, *, size: tuple[int, int] = (112, 24)
    ) -> AsyncIterator[View]:
        """The app in a headless terminal of this size."""
        app = app or self.app()
        app.animation_level = "none"
        async with app.run_test(size=size) as pilot:
            await wait_until(lambda: isinstance(app.screen, DebuggerScreen), "the debugger screen")
            yield View(app, pilot)


class View:
    """What a user does and sees; and the session behind it, for what is not on screen."""

    def __init__(self, app: AgentScopeApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    # What is seen

    @property
    def debugger(self) -> DebuggerScreen:
        return next(screen for screen in self.app.screen_stack if isinstance(screen, DebuggerScreen))

    def pane(self, kind: type[W]) -> W:
        return self.debugger.query_one(kind)

    def text(self, kind: type[Widget]) -> str:
        """What a pane shows."""
        return shown(self.pane(kind))

    @property
    def status(self) -> str:
        return self.text(StatusLine)

    @property
    def transcript(self) -> str:
        return self.text(Transcript)

    @property
    def calls(self) -> str:
        return self.text(CallList)

    @property
    def output(self) -> str:
        return self.text(OutputView)

    @property
    def queue(self) -> str:
        return self.text(SteerQueue) if self.pane(SteerQueue).display else ""

    @property
    def composer(self) -> Composer:
        return self.pane(Composer)

    def row_line(self, index: int) -> str:
        """The line of the rows pane that shows this row."""
        lines = self.text(RowList).split("\n")
        return next(line for line in lines if line.lstrip("* ").split()[:1] == [str(index)])

    def focus(self) -> str | None:
        return self.app.focused.id if self.app.focused else None

    def picture(self) -> str:
        """The whole screen, frames and titles too."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text for strip in strips)

    # The session on screen

    @property
    def row(self) -> RowSession:
        assert self.debugger.current is not None
        return self.debugger.current

    @property
    def state(self) -> SessionState:
        return self.row.state

    @property
    def files(self) -> Path:
        return self.row.opened.folder.files

    def let_go(self) -> None:
        """End the `UNTIL_GO` commands of the session on screen."""
        (self.files / "go").touch()

    # What is done

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def type(self, text: str) -> None:
        await self.pilot.press(*("space" if key == " " else key for key in text))

    async def answer(self, key: str) -> None:
        """Wait for a question, and until it takes keys; then answer it."""

        def asked() -> bool:
            screen = self.app.screen
            return isinstance(screen, ConfirmScreen) and screen.listening

        await self.until(asked, "a question that takes keys")
        await self.press(key)

    async def say(self, text: str) -> None:
        """Send a message from the composer, and stay there."""
        if self.focus() != "composer":
            await self.press("s")
        await self.until(lambda: self.focus() == "composer", "the composer's focus")
        self.composer.text = text
        await self.press("enter")

    async def until(self, predicate: Callable[[], object], what: str = "") -> None:
        try:
            await wait_until(predicate, what)
        except AssertionError as error:
            seen = "\n".join(shown(pane) for pane in self.app.screen.query(Widget) if pane.id in _LOOKED_AT)
            raise AssertionError(f"{error}; on screen:\n{seen}") from None

    async def open(self, index: int = 0) -> None:
        """Open a row with the keyboard and wait until it is on screen."""
        rows = self.pane(RowList)
        await self.until(lambda: rows.row_count > index, "the rows")
        self.debugger.action_pane("rows")
        rows.cursor = index
        await self.press("enter")
        await self.until(lambda: self.debugger.current and self.row.index == index, f"row {index}")

    async def paused(self, call: int = 1) -> None:
        """Wait until the session stands after this model call, and the screen says so."""
        await self.until(lambda: f"PAUSED after call #{call} " in self.status + " ", f"a pause after #{call}")

    async def opened_and_paused(self, index: int = 0) -> None:
        await self.open(index)
        await self.paused()


_LOOKED_AT = {"rows", "transcript", "queue", "calls", "output", "status", "detail"}
