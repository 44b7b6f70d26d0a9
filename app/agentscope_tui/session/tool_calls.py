"""Answering `tool_request`: match it, hold it, run it through the toolset, tell its output and result."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from agentscope_tui.clock import Clock
from agentscope_tui.errors import UserError
from agentscope_tui.events import (
    ErrorOccurred,
    Event,
    LimitReached,
    Submitted,
    ToolCallStarted,
    ToolResult,
    ToolStatus,
)
from agentscope_tui.secrets import MASKER
from agentscope_tui.session.cancelling import cancellable
from agentscope_tui.session.gate import Decision, Gate, Step
from agentscope_tui.session.ledger import ProposedCall, ToolLedger
from agentscope_tui.session.limits import Meter
from agentscope_tui.session.streams import OutputStream
from agentscope_tui.session.turn import Turn
from agentscope_tui.tools.spec import Stream, ToolOutcome, Toolset
from agentscope_tui.wire.frames import ToolRequest, ToolResponse

log = logging.getLogger(__name__)

SUBMIT = "submit"


@runtime_checkable
class _Remembers(Protocol):
    """A toolset that may also answer a call of a tool that is not declared."""

    def remembers(self, name: str) -> bool: ...


class ToolCalls:
    """The tool calls of one session."""

    def __init__(
        self,
        tools: Toolset,
        *,
        publish: Callable[[Event], Event],
        gate: Gate,
        meter: Meter,
        ledger: ToolLedger,
        hand_over: Callable[[], None],
        caught_up: Callable[[], Awaitable[None]],
        outputs: Path | None,
        clock: Clock,
    ) -> None:
        """`outputs` is the folder for whole outputs, `caught_up` waits while recording is far behind."""
        self._tools = tools
        self._publish = publish
        self._gate = gate
        self._meter = meter
        self._ledger = ledger
        self._hand_over = hand_over
        self._caught_up = caught_up
        self._outputs = outputs
        self._clock = clock
        self._count = 0

    async def answer(self, frame: ToolRequest, turn: Turn, call: int) -> ToolResponse:
        """One request, from matching it to the answer the runner gets."""
        due = self._ledger.match(frame, call)
        result = await self._decide(due, frame, turn)
        due.told = True
        self._publish(result)
        if due.started:
            turn.finished.append(due.call_id)
        if result.side_effects:
            turn.side_effects.append(due.call_id)
        if result.status == "done" and frame.name == SUBMIT and turn.answer is not None:
            self._publish(Submitted(call_id=due.call_id, answer=turn.answer))
        held = await self._gate.hold(Step("tool_result", due.call, due.call_id, allows=("pass", "edit")))
        if held.kind == "edit" and held.content is not None:
            content = MASKER.restored(held.content, result.content)
            result = result.model_copy(update={"content": content, "edited": True})
            self._publish(result)
        if self._ledger.answer(due):
            self._hand_over()
        return ToolResponse(req_id=frame.req_id, content=result.content, is_error=result.is_error)

    async def _decide(self, due: ProposedCall, frame: ToolRequest, turn: Turn) -> ToolResult:
        """Run the call, or say why it does not run."""
        if due.cut_off:
            reason = "The call was cut off at the output limit (max_output_tokens) and was not run."
            return self._refused(due, reason)
        if not self._has(frame.name):
            return _result(due, "failed", f"tool '{frame.name}' not available", is_error=True)
        step = Step("tool_call", due.call, due.call_id, for_completion=due.call in self._ledger.unseen)
        decision = await self._gate.hold(step)
        self._ledger.unseen.discard(due.call)
        if decision.kind == "refuse":
            return self._refused(due, decision.reason or "refused by the user")
        reached = self._meter.take_action(frame.name)
        if reached is not None:
            self._publish(reached)
            return self._refused(due, "environment action budget exhausted", reached.reason)
        return await self._run(due, frame, decision, turn)

    def _has(self, name: str) -> bool:
        """Whether a tool can be called: it is declared, or its result is recorded."""
        if any(spec["name"] == name for spec in self._tools.specs):
            return True
        return isinstance(self._tools, _Remembers) and self._tools.remembers(name)

    async def _run(self, due: ProposedCall, frame: ToolRequest, decision: Decision, turn: Turn) -> ToolResult:
        edited = decision.kind == "edit" and decision.arguments is not None
        arguments = frame.arguments
        if decision.arguments is not None:
            arguments = MASKER.restored(decision.arguments, frame.arguments)
        due.started = True
        self._publish(
            ToolCallStarted(
                call_id=due.call_id,
                call=due.call,
                req_id=str(frame.req_id),
                name=frame.name,
                arguments=arguments,
                edited=edited,
            )
        )
        started = self._clock.monotonic()
        status: ToolStatus
        try:
            outcome = await self._execute(due, frame.name, arguments, turn)
            for hit in outcome.limits:
                self._publish(LimitReached(limit=hit.name, value=hit.value, reason=hit.reason))
            status = "failed" if outcome.is_error else "done"
        except asyncio.CancelledError:
            turn.killed.append(due.call_id)
            turn.side_effects.append(due.call_id)
            duration = self._clock.monotonic() - started
            self._publish(_result(due, "interrupted", "interrupted", is_error=True, duration=duration))
            raise
        except UserError as error:
            outcome, status = ToolOutcome(content=str(error), is_error=True), "failed"
        except Exception as error:
            log.exception("the tool %s failed", frame.name)
            message = f"tool '{frame.name}' failed: {error}"
            self._publish(ErrorOccurred(source="tool", message=message, call=due.call))
            outcome, status = ToolOutcome(content=message, is_error=True), "failed"
        return _result(
            due,
            status,
            outcome.content,
            is_error=outcome.is_error,
            truncated=outcome.truncated,
            exit_code=outcome.exit_code,
            side_effects=outcome.side_effects,
            duration=self._clock.monotonic() - started,
        )

    async def _execute(
        self, due: ProposedCall, name: str, arguments: dict[str, Any], turn: Turn
    ) -> ToolOutcome:
        if name == SUBMIT:
            answer = arguments.get("answer")
            if not isinstance(answer, str):
                raise UserError("submit needs the argument `answer`, a string")
            turn.answer = answer
            return ToolOutcome(content="submitted")
        self._count += 1
        file = self._outputs / f"{self._count:04d}.out" if self._outputs else None
        output = OutputStream(self._publish, due.call_id, file)

        async def on_output(stream: Stream, data: bytes) -> None:
            output.write(stream, data)
            await self._caught_up()

        try:
            return await cancellable(self._tools.call(name, arguments, on_output))
        finally:
            output.close()
            if output.file_error is not None:
                message = f"cannot keep the output of {name} on disk: {output.file_error}"
                self._publish(ErrorOccurred(source="recorder", message=message, call=due.call))

    def _refused(self, due: ProposedCall, content: str, reason: str = "") -> ToolResult:
        return _result(due, "refused", content, is_error=True, reason=reason or content)


def _result(due: ProposedCall, status: ToolStatus, content: str, **fields: Any) -> ToolResult:
    return ToolResult(
        call_id=due.call_id, call=due.call, name=due.name, status=status, content=content, **fields
    )
