"""The session pane: the transcript, the messages that wait, and the composer that writes to the agent."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from agentscope_tui.errors import UserError
from agentscope_tui.session.session import Session
from agentscope_tui.tui.message_history import MessageHistory
from agentscope_tui.tui.shown_row import ShownRow
from agentscope_widgets.composer import Composer
from agentscope_widgets.prompt_line import PromptLine
from agentscope_widgets.steer_queue import SteerQueue
from agentscope_widgets.transcript import Transcript


class SessionPane(Vertical):
    """Writes to one session at a time; each keeps its own draft."""

    class StepRequested(Message):
        """Enter was pressed on an empty composer."""

    def __init__(self, history: MessageHistory, *, id: str, classes: str) -> None:
        super().__init__(id=id, classes=classes)
        self._history = history
        self._current: ShownRow | None = None
        self._editing: str | None = None
        self._put_aside = ""

    def compose(self) -> ComposeResult:
        yield Transcript(id="transcript")
        yield PromptLine(id="session-prompt")
        yield SteerQueue(id="queue")
        yield Composer(id="composer")

    def on_mount(self) -> None:
        self._composer.past_messages = self._history.messages

    def show(self, row: ShownRow | None) -> None:
        """Write to this session from now on, or to none."""
        self._stop_editing()
        composer = self._composer
        if self._current is not None:
            self._current.draft = composer.text
        self._current = row
        composer.text = row.draft if row else ""
        composer.disabled = self._session is None

    def give_back(self, row: ShownRow, texts: Sequence[str]) -> None:
        """Undelivered steers return to the row's composer, before what is being typed there."""
        shown = row is self._current
        if shown:
            edited = self._composer.text if self._editing is not None else ""
            self._stop_editing()
            row.draft = _joined(self._composer.text, edited)
        row.draft = _joined(*texts, row.draft)
        if shown:
            self._fill(row.draft)
        self.notify(
            "A message that no model call took is back in the composer.", title="Not delivered", timeout=4
        )

    @property
    def _session(self) -> Session | None:
        """Where messages go; a recording takes none."""
        return self._current.session if self._current is not None else None

    @property
    def _composer(self) -> Composer:
        return self.query_one(Composer)

    def _fill(self, text: str) -> None:
        self._composer.text = text
        self._composer.move_cursor(self._composer.document.end)

    @on(Composer.Submitted)
    def _message_sent(self, event: Composer.Submitted) -> None:
        session, editing = self._session, self._editing
        if session is None:
            return
        self._stop_editing()
        self._history.add(event.text)
        if editing is not None:
            if session.edit_steer(editing, event.text):
                return
            self.notify("The message you edited had gone; this was sent as a new one.", severity="warning")
        self.query_one(Transcript).go_end()
        try:
            session.send(event.text)
        except UserError as error:
            self._fill(_joined(event.text, self._composer.text))
            self.notify(str(error), severity="error", markup=False)

    @on(Composer.EmptySubmitted)
    def _nothing_sent(self) -> None:
        if self._editing is None:
            self.post_message(self.StepRequested())

    @on(Composer.Left)
    def _composer_left(self) -> None:
        self._stop_editing()

    @on(SteerQueue.SteerEditRequested)
    def _edit_steer(self, event: SteerQueue.SteerEditRequested) -> None:
        """Edit a queued steer in the composer; it keeps its place and may be taken meanwhile."""
        for steer in self._current.state.steers if self._current else []:
            if steer.msg_id == event.key:
                self._stop_editing()
                self._put_aside = self._composer.text
                self._editing = steer.msg_id
                self._composer.border_title = "editing · esc leaves it as it was"
                self._fill(steer.text)

    def _stop_editing(self) -> None:
        """The composer is for new messages again, and has the text that an edit had put aside."""
        if self._editing is not None:
            self._editing = None
            self._composer.border_title = ""
            self._fill(self._put_aside)

    @on(SteerQueue.SteerWithdrawRequested)
    def _withdraw_steer(self, event: SteerQueue.SteerWithdrawRequested) -> None:
        if self._session is not None:
            self._session.withdraw_steer(event.key)

    @on(SteerQueue.SteerMoveRequested)
    def _move_steer(self, event: SteerQueue.SteerMoveRequested) -> None:
        if self._current is not None and self._session is not None:
            queued = [one.msg_id for one in self._current.state.steers if one.status == "queued"]
            if event.key in queued:
                self._session.move_steer(event.key, queued.index(event.key) + event.offset)


def _joined(*texts: str) -> str:
    """Several messages as one; empty ones are left out."""
    return "\n\n".join(filter(None, texts))
