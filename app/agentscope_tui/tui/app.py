"""The app: themes, the debugger screen, and an orderly end."""

from __future__ import annotations

import asyncio
import signal
from typing import Any, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.events import Event, Key
from textual.worker import WorkerFailed

from agentscope_tui.config import Config
from agentscope_tui.datasets.dataset import Dataset
from agentscope_tui.options import Options
from agentscope_tui.resources import styles_dir
from agentscope_tui.secrets import MASKER
from agentscope_tui.session.forking import Fork
from agentscope_tui.session.launch import Launcher
from agentscope_tui.tui.attention import Attention
from agentscope_tui.tui.key_sequences import KeySequences
from agentscope_tui.tui.keymap import load_keymap
from agentscope_tui.tui.message_history import MessageHistory
from agentscope_tui.tui.outside_app import OutsideApp
from agentscope_tui.tui.recordings import Recordings
from agentscope_tui.tui.remembered import Remembered
from agentscope_tui.tui.screens.confirm import ConfirmScreen
from agentscope_tui.tui.screens.debugger import DebuggerScreen
from agentscope_tui.tui.themes import THEMES
from agentscope_tui.tui.typed_ahead import TypedAhead
from agentscope_tui.tui.workspace import Workspace
from agentscope_widgets.safe_text import cover_with
from agentscope_widgets.selecting_view import SelectingView


class AgentScopeApp(OutsideApp):
    """One dataset, one debugger screen."""

    TITLE = "agentscope"
    ENABLE_COMMAND_PALETTE = False
    CSS_PATH: ClassVar = sorted(styles_dir().glob("*.tcss"))
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "ctrl+c",
            "interrupt_or_copy",
            "interrupt",
            show=False,
            id="app.interrupt",
            tooltip="Copy what is selected, else interrupt the turn",
        ),
    ]

    def __init__(
        self,
        config: Config,
        options: Options,
        launcher: Launcher,
        dataset: Dataset,
        driver: type[Driver] | None = None,
        *,
        recordings: Recordings | None = None,
        fork: Fork | None = None,
    ) -> None:
        """`fork` is gone on with at once."""
        super().__init__(config, driver)
        cover_with(MASKER.mask)
        if "NO_COLOR" in config.environ:
            self.animation_level = "none"
        elif "TEXTUAL_ANIMATIONS" not in config.environ:
            self.animation_level = "basic"
        for theme in THEMES:
            self.register_theme(theme)
        self._options = options
        self._dataset = dataset
        self._fork = fork
        self.workspace = Workspace(launcher, dataset, recordings)
        self._history = MessageHistory(config.state / "messages.jsonl")
        self._keys = load_keymap(config.settings.ui.keymap)
        self._sequences = KeySequences(self._keys.sequences)
        self._attention = Attention(config.settings.ui.notify, config.environ)
        self._typed_ahead = TypedAhead()
        self.crash: Exception | None = None
        """The defect that ended the app."""

    def on_mount(self) -> None:
        self.theme = self._config.settings.ui.theme
        self.set_keymap(self._keys.overrides)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            loop.add_signal_handler(number, self.exit)
        first = self._options.rows[0] if self._options.rows else None
        layout = Remembered(self._config.state / "layout.json")
        screen = DebuggerScreen(
            self.workspace, self._history, layout, self._keys, first_row=first, first_fork=self._fork
        )
        self.push_screen(screen)

    def notify(self, message: str, **options: Any) -> None:
        """A toast, without secrets."""
        super().notify(MASKER.mask(message), **options)

    async def on_event(self, event: Event) -> None:
        if isinstance(event, Key) and not event.is_forwarded:
            focused = self.focused
            typing = focused is not None and focused.check_consume_key(event.key, event.character)
            for key in self._sequences.take(event, typing=typing):
                await super().on_event(self._typed_ahead.aim(key, self.focused))
        elif isinstance(event, Key) and self._typed_ahead.is_for(event, self.focused):
            again = Key(event.key, event.character)
            await super().on_event(self._typed_ahead.aim(again, self.focused))
        else:
            await super().on_event(event)

    @on(DebuggerScreen.SessionRested)
    def _session_rested(self, event: DebuggerScreen.SessionRested) -> None:
        if not self.app_focus and self._driver is not None:
            self._driver.write(self._attention.call(event.text))

    def action_interrupt_or_copy(self) -> None:
        """ctrl+c copies what is selected, else it interrupts the turn; it never quits."""
        focused = self.focused
        if isinstance(focused, SelectingView) and focused.selection is not None:
            focused.action_copy()
        elif isinstance(self.screen, DebuggerScreen):
            self.screen.action_interrupt()

    async def action_quit(self) -> None:
        """ctrl+q asks when something runs; pressed again at the question it quits."""
        debuggers = [screen for screen in self.screen_stack if isinstance(screen, DebuggerScreen)]
        if debuggers and not isinstance(self.screen, ConfirmScreen):
            debuggers[0].action_quit()
        else:
            self.exit()

    def _handle_exception(self, error: Exception) -> None:
        if self.crash is None:
            # What a worker raised comes wrapped.
            inner = error.error if isinstance(error, WorkerFailed) else error
            self.crash = inner if isinstance(inner, Exception) else error
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        """Leave without Textual's traceback: `run_app` raises the error, and the command line logs it."""
        self._close_messages_no_wait()

    async def on_unmount(self) -> None:
        await self.workspace.aclose()
