"""Answering `llm_request`: mend the conversation, stream the model, hold the completion, tell it all."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from agentscope_tui.clock import Clock
from agentscope_tui.events import (
    AgentNote,
    AssistantMessage,
    ErrorOccurred,
    Event,
    LlmRequestSent,
    ModelChanged,
    RetryScheduled,
    ToolResult,
    UsageReported,
)
from agentscope_tui.models.asked import answering
from agentscope_tui.models.chat import (
    ChatRequest,
    Completion,
    Delta,
    Message,
    Model,
    ModelError,
    RetryNotice,
    Usage,
)
from agentscope_tui.models.wire_log import WireFolder
from agentscope_tui.runners.profile import Profile
from agentscope_tui.session.amending import Amendments
from agentscope_tui.session.body import BodyError, ReadRequest
from agentscope_tui.session.call_ids import CallIds
from agentscope_tui.session.cancelling import cancellable
from agentscope_tui.session.earlier import EarlierMessages
from agentscope_tui.session.edited import with_secrets
from agentscope_tui.session.gate import PASS, Gate, Step
from agentscope_tui.session.history import Conversation, Difference
from agentscope_tui.session.ledger import REFUSED_BY_RUNNER, RefusedCall, ToolLedger
from agentscope_tui.session.limits import Meter
from agentscope_tui.session.own_tools import OwnTools
from agentscope_tui.session.requests import RequestReader
from agentscope_tui.session.settings import ModelSettings
from agentscope_tui.session.steering import SteerQueue, text_of
from agentscope_tui.session.streams import DeltaStream
from agentscope_tui.session.turn import Turn
from agentscope_tui.wire.frames import LlmRequest, LlmResponse, ReqId

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Call:
    """One model call: its number, what the runner asked and what that comes to, in which turn, and when
    (monotonic seconds)."""

    number: int
    frame: LlmRequest
    asked: ReadRequest
    turn: Turn
    received: float

    @property
    def request(self) -> ChatRequest:
        return self.asked.request


class ModelCalls:
    """The model calls of one session, numbered from 1."""

    def __init__(
        self,
        model: Model | None,
        settings: ModelSettings,
        *,
        earlier: EarlierMessages,
        publish: Callable[[Event], Event],
        gate: Gate,
        meter: Meter,
        steers: SteerQueue,
        ledger: ToolLedger,
        own_tools: OwnTools,
        host_tools: Collection[str],
        hand_over: Callable[[], None],
        inject: Callable[[], list[str]],
        profile: Callable[[], Profile],
        amendments: Amendments,
        wire: WireFolder | None,
        keep_files: Callable[[int], asyncio.Future[None]],
        clock: Clock,
    ) -> None:
        """`inject` gives the steers that the host is to put into the next request, `profile` what is known of
        the runner; `host_tools` the host runs. `wire` keeps what is sent and received, `keep_files` files."""
        self._model = model
        self._settings = settings
        self._publish = publish
        self._gate = gate
        self._meter = meter
        self._steers = steers
        self._ledger = ledger
        self._own_tools = own_tools
        self._host_tools = host_tools
        self._hand_over = hand_over
        self._inject = inject
        self._profile = profile
        self._reader = RequestReader(earlier, profile, amendments)
        self._wire = wire
        self._keep_files = keep_files
        self._clock = clock
        self._conversation = Conversation()
        self._ids = CallIds(earlier.call_ids)
        self.number = 0
        self.open: dict[int, ReqId] = {}
        """The calls that the runner waits for, and its names for them."""
        self.messages: list[Message] = []
        """The conversation as last sent, with the answer to it."""

    async def change_model(self, model: Model) -> None:
        """Send the calls from now on to another model; the one before is closed."""
        before, self._model = self._model, model
        self._publish(ModelChanged(model=model.name))
        if before is not None:
            await before.aclose()

    async def answer(self, frame: LlmRequest, turn: Turn) -> LlmResponse:
        """One request, from the runner's body to the answer it gets."""
        # Before the call is counted: a steer starts the counting again.
        steers = self._inject()
        reached = self._meter.take_call()
        if reached is not None:
            self._publish(reached)
            turn.limit = reached.reason
            return LlmResponse(req_id=frame.req_id, error=reached.reason)
        turn.limit = ""
        try:
            asked = self._reader.read(frame, steers, self._settings, self._model)
        except BodyError as error:
            return self._failed(frame, turn, f"the runner sent a request that no model can read: {error}")
        self.number += 1
        call = _Call(self.number, frame, asked, turn, self._clock.monotonic())
        self.open[call.number] = frame.req_id
        # Until the runner has an answer, no tool of it runs.
        kept = self._keep_files(call.number)
        try:
            response = await self._respond(call)
            await asyncio.shield(kept)
            return response
        finally:
            self.open.pop(call.number, None)

    def left(self, req_id: ReqId) -> None:
        """The runner said that it waits no more for the answer to this request."""
        self.open = {number: ident for number, ident in self.open.items() if ident != req_id}

    async def _respond(self, call: _Call) -> LlmResponse:
        difference = self._conversation.advance(call.number, call.request.messages)
        self._own_tools.read_results(difference, call.turn)
        for refused in self._ledger.refused_by_runner(difference.new):
            self._tell_refused(refused, REFUSED_BY_RUNNER)
        completion = await self._complete(call, difference)
        if isinstance(completion, str):
            return self._failed(call.frame, call.turn, completion, told=True)
        self._steers.answered(call.number, call.request.messages)
        return await self._pass_on(call, completion)

    def _time_left(self, call: _Call) -> float | None:
        """Seconds until the runner goes on without the answer; None: it does not."""
        return self._left_of(self._profile().patience, call)

    def _left_of(self, seconds: float | None, call: _Call) -> float | None:
        """What is left of so many seconds since the runner asked."""
        return None if seconds is None else max(seconds - (self._clock.monotonic() - call.received), 0.0)

    async def _complete(self, call: _Call, difference: Difference) -> Completion | str:
        """The completion, or why the user gave the call up."""
        request, turn = call.request, call.turn
        attempt = 0
        while True:
            attempt += 1
            self._publish(
                LlmRequestSent(
                    call=call.number,
                    turn=turn.number,
                    req_id=str(call.frame.req_id),
                    attempt=attempt,
                    base=difference.base,
                    kept=difference.kept,
                    messages=difference.new,
                    digest=difference.digest,
                    tools=[str(tool.get("function", tool).get("name")) for tool in request.tools],
                    params=_params(request),
                    repairs=call.asked.repairs,
                    overridden=call.asked.overridden,
                )
            )
            self._steers.read_receipts(difference.new, call.number)
            try:
                return await self._stream(call.number, request, turn)
            except ModelError as error:
                turn.call_failed, turn.failure = True, str(error)
                commits = self._left_of(call.frame.commits_after, call)
                step = Step("failed_call", call.number, allows=("pass", "refuse"), commits_after=commits)
                decision = await self._gate.hold(step, patience=self._time_left(call))
                if decision.kind != "pass":
                    return str(error)
                turn.call_failed = False

    async def _stream(self, call: int, request: ChatRequest, turn: Turn) -> Completion:
        if self._model is None:
            error = ModelError("no model is configured: name one with --model", kind="no_model")
            self._publish(ErrorOccurred(source="model", message=str(error), code=error.kind, call=call))
            raise error
        stream = DeltaStream(self._publish, call, self._clock.monotonic)
        started = self._clock.monotonic()
        answers = answering(self._model.name, request)
        wire = self._wire.open(call) if self._wire is not None else None

        def on_retry(notice: RetryNotice) -> None:
            self._publish(RetryScheduled(call=call, **vars(notice)))

        def on_delta(delta: Delta) -> None:
            if delta.note:
                self._publish(AgentNote(text=delta.note))
            else:
                stream.add(delta)

        try:
            completion = await cancellable(
                self._model.complete(request, on_delta, on_retry=on_retry, wire=wire)
            )
        except asyncio.CancelledError:
            if turn.interrupted is not None:
                turn.cut_call = call
            self._cut_off(call, stream, request, started, answers, None)
            raise
        except Exception as error:
            failure = error if isinstance(error, ModelError) else _unexpected(error)
            self._cut_off(call, stream, request, started, answers, failure)
            self._publish(
                ErrorOccurred(
                    source="model",
                    message=str(failure),
                    detail=failure.detail,
                    code=failure.kind,
                    call=call,
                )
            )
            raise failure from error
        stream.close()
        completion = self._ids.unique(completion, call)
        self._tell(call, completion, stream, started)
        self._spend(call, answers, completion.usage)
        return completion

    async def _pass_on(self, call: _Call, completion: Completion) -> LlmResponse:
        turn = call.turn
        self._ledger.propose(call.number, completion)
        patience = self._time_left(call)
        decision = PASS
        if patience is not None and self._ledger.will_be_requested(call.number):
            self._ledger.unseen.add(call.number)
        else:
            commits = self._left_of(call.frame.commits_after, call)
            step = Step("completion", call.number, commits_after=commits)
            decision = await self._gate.hold(step, patience=patience)
        if decision.kind == "refuse":
            reason = decision.reason or "refused by the user"
            for refused in self._ledger.withdraw(call.number):
                self._tell_refused(refused, reason)
            return self._failed(call.frame, turn, reason, told=True)
        if decision.kind == "edit" and decision.completion is not None:
            completion = self._replaced(call.number, completion, decision.completion)
            self._publish(_message(call.number, completion, edited=True))
        turn.call_failed = False
        turn.last_text = completion.text or turn.last_text
        self.messages = [*call.request.messages, completion.message()]
        if self._profile().tools == "own":
            own = self._ledger.take(call.number, lambda name: name not in self._host_tools)
            self._own_tools.began(own, str(call.frame.req_id))
        if not completion.tool_calls:
            self._hand_over()
        return LlmResponse(req_id=call.frame.req_id, completion=completion.to_openai())

    def _replaced(self, call: int, completion: Completion, edited: Completion) -> Completion:
        """The user's completion in place of the model's; calls keep their ids, what is gone will not run."""
        self._ids.forget(completion)
        edited = self._ids.unique(with_secrets(edited, completion), call)
        kept = {part.id for part in edited.tool_calls}
        for proposed in self._ledger.withdraw(call):
            if proposed.call_id not in kept:
                self._tell_refused(proposed, "taken out by the user")
        self._ledger.propose(call, edited)
        return edited

    def _tell_refused(self, refused: RefusedCall, reason: str) -> None:
        self._publish(
            ToolResult(
                call_id=refused.call_id,
                call=refused.call,
                name=refused.name,
                status="refused",
                content=refused.content,
                is_error=True,
                reason=reason,
            )
        )

    def _failed(self, frame: LlmRequest, turn: Turn, message: str, *, told: bool = False) -> LlmResponse:
        turn.call_failed, turn.failure = True, message
        if not told:
            self._publish(ErrorOccurred(source="runner", message=message))
        return LlmResponse(req_id=frame.req_id, error=message)

    def _cut_off(
        self,
        call: int,
        stream: DeltaStream,
        request: ChatRequest,
        started: float,
        answers: str,
        failure: ModelError | None,
    ) -> None:
        """Tell how far a call got that was interrupted or failed, and meter it."""
        stream.close()
        if stream.pieces or failure is None:
            partial = Completion(text=stream.text, reasoning=stream.reasoning)
            self._tell(call, partial, stream, started, partial=True)
        if failure is not None and failure.usage is not None:
            self._spend(call, answers, failure.usage)
        elif stream.pieces or failure is None:
            prompt = sum(len(text_of(message)) for message in request.messages)
            self._spend(call, answers, stream.partial_usage(prompt))

    def _tell(
        self,
        call: int,
        completion: Completion,
        stream: DeltaStream,
        started: float,
        *,
        partial: bool = False,
    ) -> None:
        self._publish(
            _message(
                call,
                completion,
                partial=partial,
                duration=self._clock.monotonic() - started,
                first_token=None if stream.first_at is None else stream.first_at - started,
            )
        )

    def _spend(self, call: int, model: str, usage: Usage) -> None:
        price = self._settings.prices.get(usage.model or model)
        cost = None if price is None else 0.0 if usage.replayed else price.of(usage)
        self._meter.spent(usage.input_tokens + usage.output_tokens, cost)
        self._publish(
            UsageReported(
                call=call,
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                cached_tokens=usage.cached_tokens,
                reasoning_tokens=usage.reasoning_tokens,
                cost=cost,
                partial=usage.partial,
                replayed=usage.replayed,
            )
        )


def _message(call: int, completion: Completion, **fields: Any) -> AssistantMessage:
    return AssistantMessage(
        call=call,
        text=completion.text,
        reasoning=completion.reasoning,
        tool_calls=list(completion.tool_calls),
        finish_reason=completion.finish_reason,
        reasoning_field=completion.reasoning_field,
        extra=completion.extra,
        **fields,
    )


def _params(request: ChatRequest) -> dict[str, Any]:
    """What a call is asked with, beside messages and tools."""
    model = {"model": request.asked_model} if request.asked_model else {}
    limit = request.max_output_tokens
    return {**model, "max_output_tokens": limit, "temperature": request.temperature, **request.params}


def _unexpected(error: Exception) -> ModelError:
    log.exception("the model client failed", exc_info=error)
    return ModelError(f"the model client failed: {type(error).__name__}: {error}", kind="internal")
