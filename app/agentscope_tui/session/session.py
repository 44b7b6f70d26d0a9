"""A session: one agent at work on one row, seen and answered by the host.

Intents are plain methods; what comes of them is told on the bus.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Literal, assert_never

from agentscope_tui.bus import EventBus
from agentscope_tui.clock import Clock
from agentscope_tui.errors import UserError
from agentscope_tui.events import (
    ErrorOccurred,
    LimitReached,
    SessionEnded,
    StateChanged,
    UserMessageSent,
)
from agentscope_tui.models.chat import Model
from agentscope_tui.models.wire_log import WireFolder
from agentscope_tui.session.closing import release
from agentscope_tui.session.delivery import Delivery
from agentscope_tui.session.gate import Gate
from agentscope_tui.session.ledger import ToolLedger
from agentscope_tui.session.limits import Meter, wall_clock
from agentscope_tui.session.link import Request, Response, RunnerLink
from agentscope_tui.session.model_calls import ModelCalls
from agentscope_tui.session.opening import greeting, introduction
from agentscope_tui.session.own_tools import OwnTools
from agentscope_tui.session.remarks import Remarks
from agentscope_tui.session.reward import AnswerGrader, Grading
from agentscope_tui.session.runner_log import RunnerLog
from agentscope_tui.session.runner_watch import RunnerWatch
from agentscope_tui.session.settings import SessionSettings
from agentscope_tui.session.steering import QueuedSteer, SteerQueue
from agentscope_tui.session.stepping import Stepping
from agentscope_tui.session.tasks import Tasks, nothing, nothing_to_do
from agentscope_tui.session.tool_calls import ToolCalls
from agentscope_tui.session.turn import Turn
from agentscope_tui.tools.spec import Toolset, validate_tools
from agentscope_tui.waiting import set_within
from agentscope_tui.wire.channel import Channel
from agentscope_tui.wire.frames import (
    Abort,
    EpisodeError,
    Hello,
    LlmCancel,
    LlmRequest,
    Note,
    Pong,
    RunnerFrame,
    RunnerState,
    ToolReport,
    UserMessage,
)

log = logging.getLogger(__name__)

Status = Literal["starting", "idle", "running", "interrupting", "ended", "failed"]


class SessionError(UserError):
    """The session is over, or could not start."""


class Session(Stepping):
    """The host's side of one session."""

    def __init__(
        self,
        settings: SessionSettings,
        *,
        channel: Channel,
        model: Model | None,
        tools: Toolset,
        bus: EventBus,
        grader: AnswerGrader | None = None,
        scorer: AnswerGrader | None = None,
        runner_log: RunnerLog | None = None,
        wire: WireFolder | None = None,
        caught_up: Callable[[], Awaitable[None]] = nothing,
        keep_files: Callable[[int], asyncio.Future[None]] = nothing_to_do,
        clock: Clock | None = None,
    ) -> None:
        """`scorer` is as in `Grading`. `caught_up` waits while the recording is far behind, `keep_files`
        keeps the agent's files as they are at a call. The session opens and closes the channel, and closes
        model and tools."""
        self.settings = settings
        self.bus = bus
        self.status: Status = "starting"
        self.gate = Gate(bus.publish, mode=settings.mode, patient=settings.patient)
        self._model = model
        self._tools = tools
        self._clock = clock or Clock()
        self._steers = SteerQueue(bus.publish)
        self._meter = Meter(settings.limits)
        self._ledger = ToolLedger()
        self._own_tools = OwnTools(bus.publish, self._ledger, settings.outputs, self._clock)
        self._link = RunnerLink(
            channel, serve=self._serve, on_frame=self._on_frame, on_lost=self._fail, caught_up=caught_up
        )
        self._watch = RunnerWatch(
            settings.profiles, publish=bus.publish, post=self._link.post, new_id=self._clock.new_id
        )
        self._runner_log = runner_log or RunnerLog(bus.publish)
        self._remarks = Remarks(bus.publish)
        delivery = Delivery(
            self._steers, self._meter, profile=lambda: self._watch.profile, send=self._send_steer
        )
        self._model_calls = ModelCalls(
            model,
            settings.model,
            earlier=settings.earlier,
            publish=bus.publish,
            gate=self.gate,
            meter=self._meter,
            steers=self._steers,
            ledger=self._ledger,
            hand_over=delivery.hand_over,
            inject=delivery.inject,
            profile=lambda: self._watch.profile,
            own_tools=self._own_tools,
            host_tools={str(spec.get("name")) for spec in tools.specs},
            amendments=settings.amendments,
            wire=wire,
            keep_files=keep_files,
            clock=self._clock,
        )
        self._tool_calls = ToolCalls(
            tools,
            publish=bus.publish,
            gate=self.gate,
            meter=self._meter,
            ledger=self._ledger,
            hand_over=delivery.hand_over,
            caught_up=caught_up,
            outputs=settings.outputs,
            clock=self._clock,
        )
        self._turn = Turn(0)
        self._tasks = Tasks(self._fail)
        self._grading = Grading(grader, bus.publish, self._tasks, self._note_rest, self._clock, scorer)
        self._failure = ""
        self._closing: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()
        self._ended = asyncio.Event()
        self._rest = asyncio.Event()
        self._closed = asyncio.Event()

    # Life

    async def start(self) -> None:
        """Check the tools, connect and greet the runner, and return once it is idle.

        Raises:
            ToolSpecError: a tool declaration is bad; nothing has started.
            SessionError: the runner did not come up, or the session was ended meanwhile.
        """
        validate_tools(self._tools.specs)
        model = self._model.name if self._model else ""
        self.bus.publish(introduction(self.settings, self._tools, model=model, grader=self._grading.name))
        self.bus.publish(StateChanged(status="starting"))
        self.gate.announce()
        self._link.open()
        # How long it may take to connect, the channel itself knows.
        await self._reached(self._link.connected)
        await self._reached(self._watch.greeted, "said no hello")
        self._link.post(greeting(self.settings, self._tools, self.bus.session_id))
        await self._reached(self._ready, "was not ready")
        every, timeout = self.settings.ping_every, self.settings.ping_timeout
        if every is not None:
            self._tasks.spawn(self._watch.watch(every, timeout), "ping")

    async def _reached(self, event: asyncio.Event, fault: str = "") -> None:
        """Return once the runner has come this far; `fault` is what it did if it takes too long."""
        timeout = self.settings.start_timeout if fault else None
        if not await set_within(event, timeout):
            self._fail(f"the runner {fault} within {timeout:g} s")
        if self._ended.is_set():
            await self._closed.wait()
            raise SessionError(self._failure or "the session was ended before its runner was ready")

    async def end(self, reason: str = "") -> None:
        """Stop everything of this session and close it; returns when nothing of it runs any more."""
        if self._closing is None:
            self.interrupt("the session was ended")
            self._finish("ended", reason)
        await self._closed.wait()

    async def settled(self) -> None:
        """Return once no turn runs and nothing is being graded, or the session is over."""
        while not self._at_rest:
            await self._rest.wait()

    # What the user asks for

    def send(self, text: str) -> None:
        """Say something to the agent: a new turn when idle, a steer while it runs.

        What comes while the turn is being stopped waits, and starts the next turn.

        Raises:
            SessionError: the session is over.
        """
        self._begin_waiting_turn()
        match self.status:
            case "idle":
                self._begin_turn(self._clock.new_id(), text)
            case "running":
                self._steers.add(self._clock.new_id(), text, next_turn=self._turn.over)
            case "starting" | "interrupting":
                self._steers.add(self._clock.new_id(), text, next_turn=True)
            case "ended" | "failed":
                raise SessionError("this session is over: run the row again to go on")
            case _:
                assert_never(self.status)

    async def change_model(self, model: Model) -> None:
        """Send the calls from now on, and the failed one if it is retried, to another model."""
        self._model = model
        await self._model_calls.change_model(model)

    def score(self) -> bool:
        """As `Grading.score`, beside whatever runs. Raises UserError also once the session is over."""
        if self._closing is not None:
            raise SessionError("this session is over: `agentscope grade` grades it")
        return self._grading.score(self._turn, self._model_calls.messages)

    def interrupt(self, reason: str = "interrupted by the user") -> bool:
        """Abort the running turn now: model stream, tools and all they started. False when none runs."""
        self._begin_waiting_turn()
        if self.status != "running" or self._turn.over:
            return False
        self._turn.interrupted = reason
        self._set_status("interrupting")
        self._steers.turn_stopped(send=self._sends_undelivered)
        self._link.post(Abort(reason="user_interrupt"))
        self._link.cancel_requests()
        return True

    # Turns

    def _begin_turn(self, msg_id: str, text: str) -> None:
        turn = self._turn = Turn(self._turn.number + 1, {msg_id})
        self._meter.turn_started()
        self.bus.publish(UserMessageSent(msg_id=msg_id, text=text, turn=turn.number))
        self._link.post(UserMessage(msg_id=msg_id, text=text))
        self._set_status("running")
        if self.settings.limits.wall_clock is not None:
            self._tasks.spawn(self._watch_clock(turn, self.settings.limits.wall_clock), "wall clock")

    def _begin_waiting_turn(self) -> None:
        """Called at each idle, and by whoever acts while the idle is being told: the turn that is about to
        begin is the one that is meant."""
        waiting = self._steers.take_first() if self.status == "idle" else None
        if waiting is not None:
            self._begin_turn(waiting.msg_id, waiting.text)

    async def _watch_clock(self, turn: Turn, seconds: float) -> None:
        """Interrupt the turn when it has run this long."""
        reached = await wall_clock(
            seconds,
            runs=lambda: self._turn is turn and self.status == "running" and not turn.over,
            held=lambda: bool(self.gate.waiting),
            monotonic=self._clock.monotonic,
        )
        if reached is not None:
            turn.limit = reached.reason
            self.bus.publish(reached)
            self.interrupt(turn.limit)

    def _send_steer(self, steer: QueuedSteer) -> None:
        self._turn.message_ids.add(steer.msg_id)
        self._link.post(UserMessage(msg_id=steer.msg_id, text=steer.text))

    async def _end_turn(self, turn: Turn, frame: RunnerState) -> None:
        """The runner is idle: wait for what still ends, tell the outcome, grade, go on with what waits."""
        self._link.cancel_requests()
        await self._link.requests_ended()
        if self._closing is not None:
            return
        outcome, reason = turn.outcome(frame)
        self._own_tools.turn_ended(turn, completed=outcome == "completed")
        if turn.interrupted is not None:
            self._report_interrupt(turn)
        history_kept = self.settings.conversation_scope == "session"
        self._steers.turn_ended(send=self._sends_undelivered, history_kept=history_kept)
        self._runner_log.flush()
        for event in turn.last_words(frame):
            self.bus.publish(event)
        if outcome == "limit" and not turn.limit:
            self.bus.publish(LimitReached(limit="calls", value=self.settings.limits.calls, reason=reason))
        if outcome == "completed":
            self._grading.grade(turn, self._model_calls.messages, frame.reward)
        self._set_status("idle", outcome=outcome, reason=reason)
        self._begin_waiting_turn()

    def _report_interrupt(self, turn: Turn) -> None:
        self.bus.publish(turn.interrupt_report(self._ledger.not_run()))
        self._ledger.forget()

    @property
    def _sends_undelivered(self) -> bool:
        return self.settings.undelivered_steers == "send"

    def _serve(self, frame: Request) -> Coroutine[Any, Any, Response] | None:
        if isinstance(frame, LlmRequest):
            self._steers.note_request(frame.openai_body.get("messages"))
        if self.status != "running" or self._turn.over:
            return None
        if isinstance(frame, LlmRequest):
            return self._model_calls.answer(frame, self._turn)
        return self._tool_calls.answer(frame, self._turn, self._model_calls.number)

    def _on_frame(self, frame: RunnerFrame) -> None:
        match frame:
            case EpisodeError():
                self._fail(frame.note or "the runner reported an error")
            case RunnerState(status="idle"):
                self._on_idle(frame)
            case LlmCancel():
                self._model_calls.left(frame.req_id)
                self._link.cancel_requests(frame.req_id)
            case ToolReport() if self.status == "running" and not self._turn.over:
                self._own_tools.report(frame, self._turn, self._model_calls.number)
            case Note():
                self._remarks(frame.text)
            case Hello():
                self._watch.on_hello(frame)
            case Pong():
                self._watch.on_pong(frame)
            case _:
                pass

    def _on_idle(self, frame: RunnerState) -> None:
        turn = self._turn
        stale = frame.msg_id is not None and frame.msg_id not in turn.message_ids
        if self.status == "starting":
            self._set_status("idle")
            self._ready.set()
            self._begin_waiting_turn()
        elif self.status in ("running", "interrupting") and not stale and not turn.over:
            turn.over = True
            turn.abandoned(self._model_calls.open)
            self._tasks.spawn(self._end_turn(turn, frame), "turn ends")

    # The end

    def _fail(self, reason: str) -> None:
        if self._closing is None:
            self._failure = self._runner_log.with_end(reason)
            self.bus.publish(ErrorOccurred(source="runner", message=self._failure))
            self._finish("failed", self._failure)

    def _finish(self, status: Literal["ended", "failed"], reason: str) -> None:
        interrupting, self.status = self.status == "interrupting", status
        # A task of its own: whoever asked for the end may be cancelled, or be closed by it.
        self._closing = asyncio.create_task(
            self._close(status, reason, self._turn if interrupting else None), name="session closes"
        )
        self._ended.set()
        # Whoever waits for one of them looks whether this is the end.
        for awaited in (self._link.connected, self._watch.greeted, self._ready):
            awaited.set()

    async def _close(self, status: Literal["ended", "failed"], reason: str, interrupted: Turn | None) -> None:
        await self._link.aclose()
        self._runner_log.close()
        self._own_tools.turn_ended(self._turn, completed=False)
        if interrupted is not None:
            self._report_interrupt(interrupted)
        self._steers.session_ended()
        await self._tasks.cancel()
        await release("tools", self._tools, self.bus.publish)
        if self._model is not None:
            await release("model", self._model, self.bus.publish)
        self.bus.publish(SessionEnded(status=status, reason=reason))
        self._closed.set()
        self._note_rest()

    @property
    def _at_rest(self) -> bool:
        return self._closed.is_set() or (self.status == "idle" and not self._grading.pending)

    def _note_rest(self) -> None:
        if self._at_rest:
            self._rest.set()
        else:
            self._rest.clear()

    def _set_status(self, status: Literal["idle", "running", "interrupting"], **fields: Any) -> None:
        self.status = status
        self._note_rest()
        self.bus.publish(StateChanged(status=status, turn=self._turn.number, **fields))
