"""The acts on the session on screen: step, continue, interrupt, edit, refuse, and what works when."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import work
from textual.binding import BindingType
from textual.screen import Screen

from agentscope_tui.events import Paused
from agentscope_tui.session.gate import Decision
from agentscope_tui.session.session import Session
from agentscope_tui.tui.editing import decision_of, editable_text
from agentscope_tui.tui.keys import KEYS, bindings
from agentscope_tui.tui.screens.edit import EditScreen
from agentscope_tui.tui.workspace import RowSession, Workspace


class SessionControls(Screen[None]):
    """A screen that shows one session and turns keys into calls on it."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings()]

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self.current: RowSession | None = None
        self.index: int | None = None
        """The row on screen, also while it has no session."""
        self._acts: list[bool | None] = []

    def refresh_acts(self) -> None:
        """What works may have changed: only then is the footer drawn anew, which is slow."""
        acts = [self.check_action(key.name, ()) for key in KEYS]
        if acts != self._acts:
            self._acts = acts
            self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What works now: the footer shows just that."""
        current = self.current
        session = current.session if current else None
        holds = current.state.holds if current else []
        mode = current.state.mode if current else ""
        failed = any(hold.step == "failed_call" for hold in holds)
        match action:
            case "step" | "step_fine":
                return session is not None and session.status == "running" and not failed
            case "continue":
                return session is not None and mode == "step"
            case "pause":
                return session is not None and mode == "run"
            case "interrupt":
                return session is not None and session.status in ("running", "interrupting")
            case "retry":
                return failed
            case "edit" | "refuse":
                return bool(holds) and action in holds[0].allows
            case "model":
                return current is not None and current.state.streaming_call is None
            case "restart":
                return session is not None and session.status == "failed"
            case "compose" | "messages" | "tools" | "raw" | "runner":
                return session is not None
            case "rerun" | "back":
                return self.index is not None
            case _:
                return True

    def action_step(self) -> None:
        self._with_session(lambda session: session.step())

    def action_step_fine(self) -> None:
        self._with_session(lambda session: session.step(fine=True))

    def action_continue(self) -> None:
        self._with_session(lambda session: session.run_on())

    def action_pause(self) -> None:
        self._with_session(lambda session: session.pause())

    def action_interrupt(self) -> None:
        self._with_session(lambda session: session.interrupt())

    def action_retry(self) -> None:
        self._with_session(lambda session: session.retry())

    @work(group="ask")
    async def action_edit(self) -> None:
        """Edit the step that waits, then let it go on."""
        current = self.current
        if current is None or not current.state.holds:
            return
        state, hold = current.state, current.state.holds[0]
        text = await self.app.push_screen_wait(
            EditScreen(
                f"Edit the waiting {hold.step.replace('_', ' ')} · ctrl+s goes on with it",
                editable_text(state, hold),
                lambda text: decision_of(state, hold, text),
            )
        )
        if text is not None:
            self._decide(current, hold, decision_of(state, hold, text))

    @work(group="ask")
    async def action_refuse(self) -> None:
        """Refuse the step that waits; the agent reads the reason."""
        current = self.current
        if current is None or not current.state.holds:
            return
        hold = current.state.holds[0]
        reason: str | None = "given up"
        if hold.step != "failed_call":
            title = f"Why refuse this {hold.step.replace('_', ' ')}? · ctrl+s refuses it"
            reason = await self.app.push_screen_wait(EditScreen(title, "", lambda text: None))
        if reason is not None:
            self._decide(current, hold, Decision("refuse", reason.strip()))

    def _decide(self, row: RowSession, hold: Paused, decision: Decision) -> None:
        if hold not in row.state.holds or not row.session.decide(decision):
            self.notify("That step does not wait any more.", severity="warning")

    @work(group="ask")
    async def action_model(self) -> None:
        """Another model for the calls from now on; a failed call that is sent again goes to it too."""
        current = self.current
        if current is None:
            return
        launcher = self._workspace.launcher
        name = await self.app.push_screen_wait(
            EditScreen(
                "Model for the calls from now on, as PROVIDER:NAME · ctrl+s takes it",
                current.state.model,
                lambda text: launcher.model(text.strip()),
            )
        )
        if name is not None:
            name = name.strip()
            await current.session.change_model(launcher.model(name), launcher.price(name))

    def chosen_call(self) -> int:
        """The model call that the user looks at; the last one unless another is chosen."""
        return self.current.state.call if self.current is not None else 0

    def action_raw(self) -> None:
        from agentscope_tui.tui.screens.raw import RawScreen

        if self.current is not None:
            call = self.chosen_call()
            self.app.push_screen(RawScreen(self.current.opened.folder.wire_of(call), call))

    def action_runner(self) -> None:
        from agentscope_tui.tui.screens.runner_log import RunnerLogScreen

        if self.current is not None:
            self.app.push_screen(RunnerLogScreen(self.current.state))

    def action_messages(self) -> None:
        from agentscope_tui.tui.screens.messages import MessagesScreen

        if self.current is not None:
            self.app.push_screen(MessagesScreen(self.current.state))

    def action_tools(self) -> None:
        from agentscope_tui.tui.screens.tools import ToolsScreen

        if self.current is not None:
            self.app.push_screen(ToolsScreen(self.current.state))

    def action_help(self) -> None:
        from agentscope_tui.tui.screens.help import HelpScreen

        self.app.push_screen(HelpScreen())

    def _with_session(self, act: Callable[[Session], object]) -> None:
        if self.current is not None:
            act(self.current.session)
