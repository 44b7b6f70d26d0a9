"""Tools that run in the agent's own process: the host sees the conversation, and what the runner reports.

A call begins when its completion is passed on, and has ended when a later request carries its result, or
the runner says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from agentscope_tui.clock import Clock
from agentscope_tui.events import ErrorOccurred, Event, ToolCallStarted, ToolResult
from agentscope_tui.models.chat import Message
from agentscope_tui.session.history import Difference
from agentscope_tui.session.ledger import ProposedCall, ToolLedger, best_match, results_in
from agentscope_tui.session.steering import text_of
from agentscope_tui.session.streams import OutputStream
from agentscope_tui.session.turn import Turn
from agentscope_tui.wire.arguments import BadArguments, parse_arguments
from agentscope_tui.wire.frames import ToolReport, ToolRequest


class OwnTools:
    """The calls of one session whose results are still to come."""

    def __init__(
        self, publish: Callable[[Event], Event], ledger: ToolLedger, outputs: Path | None, clock: Clock
    ) -> None:
        """`outputs` is the folder for whole outputs."""
        self._publish = publish
        self._ledger = ledger
        self._outputs = outputs
        self._clock = clock
        self._count = 0
        self._reported: dict[str, tuple[str, OutputStream]] = {}
        self._running: dict[str, tuple[ProposedCall, float]] = {}

    def began(self, calls: Sequence[ProposedCall], req_id: str) -> None:
        """The agent gets the completion of `req_id`, with these calls, now."""
        for due in calls:
            self._begin(due, req_id, _shown(due.arguments))

    def report(self, frame: ToolReport, turn: Turn, call: int) -> None:
        """What the runner says of a tool that runs; `call` is the last model call."""
        if frame.status == "started":
            self._on_started(frame, call)
        elif frame.report_id in self._reported:
            call_id, output = self._reported[frame.report_id]
            output.write(frame.stream, frame.text.encode("utf-8", "replace"))
            if frame.status == "finished":
                self._end_output(frame.report_id)
                if call_id in self._running:
                    turn.finished.append(call_id)
                    self._tell(call_id, frame.content, is_error=frame.is_error)

    def read_results(self, difference: Difference, turn: Turn) -> None:
        """Tell the results that a request carries for the first time."""
        for call_id, message in results_in(difference.new).items():
            if call_id in self._running:
                failed = bool(message.get("is_error"))
                turn.finished.append(call_id)
                self._tell(call_id, text_of(message), is_error=failed)
        if written := _written(difference.new):
            for call_id, (due, _) in [*self._running.items()]:
                if due.call == difference.base:
                    turn.finished.append(call_id)
                    self._tell(call_id, written, reason="as the agent wrote it in a message")

    def turn_ended(self, turn: Turn, *, completed: bool) -> None:
        """The agent has ended: no more results come. One that is content took its last calls for its answer,
        as agents with structured answers do."""
        unfinished = {call_id for call_id, _ in self._reported.values()}
        for report_id in [*self._reported]:
            self._end_output(report_id)
        for call_id in [*self._running]:
            done = completed and call_id not in unfinished
            if turn.interrupted is not None:
                turn.killed.append(call_id)
            turn.side_effects.append(call_id)
            reason = "the agent gave no result to the model"
            self._tell(call_id, "", status="done" if done else "interrupted", reason=reason)

    def _begin(self, due: ProposedCall, req_id: str, arguments: dict[str, object]) -> None:
        self._running[due.call_id] = (due, self._clock.monotonic())
        self._publish(
            ToolCallStarted(
                call_id=due.call_id,
                call=due.call,
                req_id=req_id,
                name=due.name,
                arguments=arguments,
                own=True,
            )
        )

    def _on_started(self, frame: ToolReport, call: int) -> None:
        """Find the call of the model that this is, which the host may have taken for one of its own tools."""
        taken = {call_id for call_id, _ in self._reported.values()}
        waiting = [
            due for due, _ in self._running.values() if due.call_id not in taken and due.name == frame.name
        ]
        due = best_match(waiting, frame.arguments)
        if due is None:
            request = ToolRequest(req_id=frame.report_id, name=frame.name, arguments=frame.arguments)
            due = self._ledger.match(request, call)
            due.started = due.told = due.answered = True
            self._begin(due, frame.report_id, frame.arguments)
        self._running[due.call_id] = (due, self._clock.monotonic())
        self._count += 1
        file = self._outputs / f"own-{self._count:04d}.out" if self._outputs else None
        self._reported[frame.report_id] = due.call_id, OutputStream(self._publish, due.call_id, file)

    def _end_output(self, report_id: str) -> None:
        call_id, output = self._reported.pop(report_id)
        output.close()
        if output.file_error is not None:
            message = f"cannot keep the output of {call_id} on disk: {output.file_error}"
            self._publish(ErrorOccurred(source="recorder", message=message))

    def _tell(
        self,
        call_id: str,
        content: str,
        *,
        is_error: bool = False,
        status: Literal["done", "interrupted"] = "done",
        reason: str = "",
    ) -> None:
        due, started = self._running.pop(call_id)
        self._publish(
            ToolResult(
                call_id=call_id,
                call=due.call,
                name=due.name,
                status="failed" if is_error else status,
                content=content,
                is_error=is_error,
                duration=self._clock.monotonic() - started,
                side_effects=True,
                reason=reason,
            )
        )


def _written(new: Sequence[Message]) -> str:
    """The results of an agent that writes calls and results as text, as smolagents does: what the user says
    after an assistant message without the calls. Empty where a request has something else."""
    match new:
        case [{"role": "assistant"} as said, {"role": "user"} as result, *_] if not said.get("tool_calls"):
            return text_of(result)
        case _:
            return ""


def _shown(arguments: str) -> dict[str, object]:
    """The arguments as an object; empty where they are none: the completion has them as they were written."""
    try:
        return parse_arguments(arguments)
    except BadArguments:
        return {}
