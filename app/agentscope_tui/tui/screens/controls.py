"""The acts on the session on screen: step, continue, interrupt, edit, refuse, and what works when."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ClassVar

from textual import work
from textual.binding import BindingType
from textual.screen import Screen

from agentscope_tui.errors import UserError
from agentscope_tui.events import Paused
from agentscope_tui.session.gate import Decision
from agentscope_tui.session.session import Session
from agentscope_tui.tui.editing import decision_of, editable_text
from agentscope_tui.tui.keys import KEYS, bindings
from agentscope_tui.tui.screens.edit import EditScreen
from agentscope_tui.tui.shown_row import ShownRow
from agentscope_tui.tui.workspace import Workspace


class SessionControls(Screen[None]):
    """A screen that shows one session and turns keys into calls on it."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings()]

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self.current: ShownRow | None = None
        self.index: int | None = None
        """The row on screen, also while it has no session."""
        self._acts: list[bool | None] = []

    def refresh_acts(self) -> None:
        """What works may have changed: only then is the footer drawn anew, which is slow."""
        acts = [self.check_action(key.name, ()) for keys in KEYS.values() for key in keys]
        if acts != self._acts:
            self._acts = acts
            self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What works now: the footer shows just that."""
        current = self.current
        session = current.session if current else None
        hold = self._hold if session else None
        mode = current.state.mode if current else ""
        failed = hold is not None and hold.step == "failed_call"
        match action:
            case "step" | "step_fine":
                return session is not None and session.status == "running" and not failed
            case "continue":
                return session is not None and mode == "step"
            case "pause":
                return session is not None and mode == "run"
            case "interrupt" | "leave":
                return session is not None and session.status in ("running", "interrupting")
            case "retry":
                return failed
            case "edit" | "refuse":
                return hold is not None and action in hold.allows
            case "model":
                return current is not None and session is not None and current.state.streaming_call is None
            case "score":
                return session is not None and session.status not in ("starting", "ended", "failed")
            case "restart":
                return session is not None and session.status in ("failed", "ended")
            case "compare":
                return current is not None and current.state.started is not None
            case "compose":
                return session is not None
            case "messages" | "tools" | "runner":
                return current is not None
            case "raw":
                return current is not None and current.folder is not None
            case "rerun":
                return self.index is not None
            case "back":
                return current is not None or self.index is not None
            case _:
                return True

    @property
    def _hold(self) -> Paused | None:
        """The step that acts are for: that of the call under the cursor, else the one that waits longest."""
        holds = self.current.state.holds if self.current else []
        call = self.call_under_cursor()
        return next((hold for hold in holds if hold.call == call), holds[0] if holds else None)

    def action_step(self) -> None:
        self._step(fine=False)

    def action_step_fine(self) -> None:
        self._step(fine=True)

    def _step(self, *, fine: bool) -> None:
        hold = self._hold
        number = None if hold is None else hold.hold
        self._with_session(lambda session: session.step(fine=fine, hold=number))

    def action_continue(self) -> None:
        self._with_session(lambda session: session.run_on())

    def action_pause(self) -> None:
        self._with_session(lambda session: session.pause())

    def action_interrupt(self) -> None:
        self._with_session(lambda session: session.interrupt())

    def action_score(self) -> None:
        """Grade what there is now; the transcript tells what came of it."""
        if self.current is None or (session := self.current.session) is None:
            return
        try:
            began = session.score()
        except UserError as error:
            self.notify(str(error), severity="warning", markup=False)
        else:
            said = "Grading a copy of what there is now …" if began else "The grading was stopped."
            self.notify(said, timeout=3)

    def action_retry(self) -> None:
        hold = self._hold
        if hold is not None:
            self._with_session(lambda session: session.retry(hold=hold.hold))

    @work(group="ask")
    async def action_edit(self) -> None:
        """Edit the step that waits, then let it go on."""
        current, hold = self.current, self._hold
        if current is None or hold is None:
            return
        state = current.state
        text = await self.app.push_screen_wait(
            EditScreen(
                f"Edit the waiting {hold.step.replace('_', ' ')}",
                "goes on with it",
                editable_text(state, hold),
                lambda text: decision_of(state, hold, text),
            )
        )
        if text is not None:
            self._decide(current, hold, decision_of(state, hold, text))

    @work(group="ask")
    async def action_refuse(self) -> None:
        """Refuse the step that waits; the agent reads the reason."""
        current, hold = self.current, self._hold
        if current is None or hold is None:
            return
        reason: str | None = "given up"
        if hold.step != "failed_call":
            title = f"Why refuse this {hold.step.replace('_', ' ')}?"
            reason = await self.app.push_screen_wait(EditScreen(title, "refuses it", "", lambda text: None))
        if reason is not None:
            self._decide(current, hold, Decision("refuse", reason.strip()))

    def _decide(self, row: ShownRow, hold: Paused, decision: Decision) -> None:
        session = row.session
        if session is None or hold not in row.state.holds or not session.decide(decision, hold=hold.hold):
            self.notify("That step does not wait any more.", severity="warning")

    @work(group="ask")
    async def action_model(self) -> None:
        """Another model for the calls from now on; a failed call that is sent again goes to it too."""
        current = self.current
        session = current.session if current else None
        if current is None or session is None:
            return
        launcher = self._workspace.launcher
        name = await self.app.push_screen_wait(
            EditScreen(
                "Model for the calls from now on, as PROVIDER:NAME",
                "takes it",
                current.state.model,
                lambda text: launcher.model(text.strip()),
            )
        )
        if name is not None:
            await session.change_model(launcher.model(name.strip()))

    def call_under_cursor(self) -> int | None:
        """The model call that the user has chosen, if one is."""
        return None

    def chosen_call(self) -> int:
        """The model call that the user looks at; the last one unless another is chosen."""
        return self.call_under_cursor() or (self.current.state.call if self.current is not None else 0)

    def action_raw(self) -> None:
        from agentscope_tui.tui.screens.raw import RawScreen

        if self.current is not None and (folder := self.current.folder) is not None:
            call = self.chosen_call()
            self.app.push_screen(RawScreen(folder.wire_of(call), call))

    def action_runner(self) -> None:
        from agentscope_tui.tui.screens.runner_log import RunnerLogScreen

        if self.current is not None:
            self.app.push_screen(RunnerLogScreen(self.current.state))

    def action_messages(self) -> None:
        from agentscope_tui.tui.screens.messages import MessagesScreen

        if self.current is not None:
            state, call = self.current.state, self.chosen_call()
            answered = state.reply(state.call) is not None
            shows_next = not call or (call == state.call and answered)
            self.app.push_screen(MessagesScreen(state, None if shows_next else call))

    def action_tools(self) -> None:
        from agentscope_tui.tui.screens.tools import ToolsScreen

        if self.current is not None:
            self.app.push_screen(ToolsScreen(self.current.state))

    @work(group="compare", exclusive=True)
    async def action_compare(self) -> None:
        """A fork beside the session that it goes on from; any other one is chosen from the list."""
        from agentscope_tui.tui.screens.compare import CompareScreen

        current = self.current
        started = current.state.started if current else None
        if current is None or started is None:
            return
        if not started.parent:
            self.notify("Mark two sessions with space, then D compares them.", timeout=4)
            await self.run_action("sessions")
            return
        try:
            parent = await self._workspace.past_of(started.parent)
            self.app.push_screen(CompareScreen(parent, await asyncio.to_thread(current.past)))
        except UserError as error:
            self.notify(str(error), severity="error", markup=False)

    def _with_session(self, act: Callable[[Session], object]) -> None:
        if self.current is not None and (session := self.current.session) is not None:
            act(session)
