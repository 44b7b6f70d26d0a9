"""A session: one agent at work on one row, seen and answered by the host.

Intents are plain methods; what comes of them is told on the bus.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Literal, assert_never

from agentscope_tui import __version__
from agentscope_tui.bus import EventBus
from agentscope_tui.clock import Clock
from agentscope_tui.errors import UserError
from agentscope_tui.events import (
    ErrorOccurred,
    Graded,
    LimitReached,
    SessionEnded,
    SessionStarted,
    StateChanged,
    UserMessageSent,
)
from agentscope_tui.models.chat import Model
from agentscope_tui.session.gate import Decision, Gate
from agentscope_tui.session.ledger import ToolLedger
from agentscope_tui.session.limits import Meter
from agentscope_tui.session.link import Request, Response, RunnerLink, interrupted_answer
from agentscope_tui.session.model_calls import ModelCalls
from agentscope_tui.session.reward import AnswerGrader, graded
from agentscope_tui.session.settings import SessionSettings
from agentscope_tui.session.steering import QueuedSteer, SteerQueue
from agentscope_tui.session.tool_calls import ToolCalls
from agentscope_tui.session.turn import Turn
from agentscope_tui.tools.spec import Toolset, validate_tools
from agentscope_tui.wire.channel import Channel
from agentscope_tui.wire.frames import (
    Abort,
    EpisodeError,
    LlmRequest,
    RunnerFrame,
    RunnerState,
    SessionStart,
    Shutdown,
    UserMessage,
)

Status = Literal["starting", "idle", "running", "interrupting", "ended", "failed"]

START_TIMEOUT = 60.0
"""Seconds that a runner has to become idle after `session_start`."""


class SessionError(UserError):
    """The session is over, or could not start."""


async def _no_wait() -> None:
    return None


class Session:
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
        caught_up: Callable[[], Awaitable[None]] = _no_wait,
        clock: Clock | None = None,
    ) -> None:
        """`caught_up` waits while the recording is far behind. The session closes model and tools."""
        self.settings = settings
        self.bus = bus
        self.status: Status = "starting"
        self.gate = Gate(bus.publish, mode=settings.mode, patient=settings.patient)
        self._model = model
        self._tools = tools
        self._grader = grader
        self._clock = clock or Clock()
        self._steers = SteerQueue(bus.publish)
        self._meter = Meter(settings.limits)
        self._ledger = ToolLedger()
        self._link = RunnerLink(
            channel,
            serve=self._serve,
            on_frame=self._on_frame,
            on_lost=lambda reason: self._spawn(self._fail(reason), "fails"),
            caught_up=caught_up,
        )
        self._model_calls = ModelCalls(
            model,
            settings.model,
            publish=bus.publish,
            gate=self.gate,
            meter=self._meter,
            steers=self._steers,
            ledger=self._ledger,
            hand_over=self._hand_over,
            clock=self._clock,
        )
        self._tool_calls = ToolCalls(
            tools,
            publish=bus.publish,
            gate=self.gate,
            meter=self._meter,
            ledger=self._ledger,
            hand_over=self._hand_over,
            caught_up=caught_up,
            outputs=settings.folder / "outputs" if settings.folder else None,
            clock=self._clock,
        )
        self._turn = Turn(0)
        self._deferred: list[str] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._ready = asyncio.Event()
        self._at_rest = asyncio.Event()
        self._closed = asyncio.Event()

    # Life

    async def start(self) -> None:
        """Check the tools, greet the runner, and return once it is idle.

        Raises:
            ToolSpecError: a tool declaration is bad; nothing has started.
            SessionError: the runner did not come up.
        """
        validate_tools(self._tools.specs)
        self.bus.publish(self._introduction())
        self.bus.publish(StateChanged(status="starting"))
        self.gate.announce()
        self._link.open()
        self._link.post(self._greeting())
        try:
            await asyncio.wait_for(self._ready.wait(), START_TIMEOUT)
        except TimeoutError:
            await self._fail(f"the runner was not ready within {START_TIMEOUT:.0f} s")
        if self.status == "failed":
            raise SessionError(self._turn.failure)

    async def end(self, reason: str = "") -> None:
        """Stop everything of this session and close it; returns when nothing of it runs any more."""
        if self.status not in ("ended", "failed"):
            self.interrupt("the session was ended")
            self._link.post(Shutdown())
            await self._close("ended", reason)
        await self._closed.wait()

    async def settled(self) -> None:
        """Return once no turn runs and nothing is being graded, or the session is over."""
        while True:
            await self._at_rest.wait()
            grading = [task for task in self._tasks if task.get_name() == "grading"]
            if not grading:
                return
            await asyncio.wait(grading)

    # What the user asks for

    def send(self, text: str) -> None:
        """Say something to the agent: a new turn when idle, a steer while it runs.

        Raises:
            SessionError: the session is over.
        """
        match self.status:
            case "idle":
                self._begin_turn(text)
            case "running":
                self._steers.add(self._clock.new_id(), text)
            case "starting" | "interrupting":
                self._deferred.append(text)
            case "ended" | "failed":
                raise SessionError("this session is over: run the row again to go on")
            case _:
                assert_never(self.status)

    def edit_steer(self, msg_id: str, text: str) -> bool:
        """Change a steer that still waits in the queue; False when it has gone."""
        return self._steers.edit(msg_id, text)

    def withdraw_steer(self, msg_id: str) -> bool:
        """Take back a steer that still waits in the queue; False when it has gone."""
        return self._steers.withdraw(msg_id)

    def move_steer(self, msg_id: str, position: int) -> bool:
        """Put a steer that still waits at a place of the queue, from 0; False when it has gone."""
        return self._steers.move(msg_id, position)

    def step(self, *, fine: bool = False) -> None:
        """Let the waiting step go and stop at the next completion (`fine`: call or result)."""
        self.gate.step(fine=fine)

    def run_on(self) -> None:
        """Stop no more in this session."""
        self.gate.run()

    def pause(self) -> None:
        """Stop at the next completion."""
        self.gate.pause()

    def decide(self, decision: Decision) -> bool:
        """Answer the step that waits; False when none waits or it does not allow this."""
        return self.gate.decide(decision)

    def retry(self) -> bool:
        """Send a failed call's request again; False when none waits."""
        return self.gate.decide(Decision("pass"), kind="failed_call")

    def give_up(self) -> bool:
        """Let a failed call fail the turn; False when none waits."""
        return self.gate.decide(Decision("refuse", "given up"), kind="failed_call")

    def interrupt(self, reason: str = "interrupted by the user") -> bool:
        """Abort the running turn now: model stream, tools and all they started. False when none runs."""
        if self.status != "running":
            return False
        self._turn.interrupted = reason
        self._set_status("interrupting")
        self._give_back(self._steers.return_undelivered(handed_over=False))
        self._link.post(Abort(reason="user_interrupt"))
        self._link.cancel_requests()
        return True

    # Turns

    def _begin_turn(self, text: str) -> None:
        turn = self._turn = Turn(self._turn.number + 1)
        message = UserMessage(msg_id=self._clock.new_id(), text=text)
        turn.message_ids.add(message.msg_id)
        self._meter.turn_started()
        self.bus.publish(UserMessageSent(msg_id=message.msg_id, text=text, turn=turn.number))
        self._set_status("running")
        self._link.post(message)
        if self.settings.limits.wall_clock is not None:
            self._spawn(self._watch_clock(turn, self.settings.limits.wall_clock), "wall clock")

    async def _watch_clock(self, turn: Turn, seconds: float) -> None:
        """Interrupt the turn when it has run this long; time held at the gate does not count."""
        used, last = 0.0, self._clock.monotonic()
        while used < seconds:
            await asyncio.sleep(min(0.2, seconds - used))
            now = self._clock.monotonic()
            used += 0.0 if self.gate.waiting else now - last
            last = now
            if self._turn is not turn or self.status != "running":
                return
        turn.limit = f"limit reached: {seconds:g} s in this turn (setting limits.wall_clock)"
        self.bus.publish(LimitReached(limit="wall_clock", value=seconds, reason=turn.limit))
        self.interrupt(turn.limit)

    def _hand_over(self) -> None:
        """Give the queued steers to the runner; called just before the frame after which it looks."""
        steers = self._steers.hand_over()
        for steer in steers:
            self._turn.message_ids.add(steer.msg_id)
            self._link.post(UserMessage(msg_id=steer.msg_id, text=steer.text))
        if steers:
            self._meter.steered()

    async def _end_turn(self, turn: Turn, frame: RunnerState) -> None:
        """The runner is idle: wait for what still ends, tell the outcome, grade, go on with what waits."""
        self._link.cancel_requests()
        await self._link.requests_ended()
        if self.status not in ("running", "interrupting"):
            return
        if turn.interrupted is not None:
            self.bus.publish(turn.interrupt_report(self._ledger.not_run()))
        returned = self._steers.return_undelivered(handed_over=True)
        outcome, reason = turn.outcome(frame.reason)
        if outcome == "limit" and not turn.limit:
            self.bus.publish(LimitReached(limit="calls", value=self.settings.limits.calls, reason=reason))
        if outcome == "completed":
            self._grade(turn, frame.reward)
        self._set_status("idle", outcome=outcome, reason=reason)
        self._give_back(returned)
        self._send_deferred()

    def _give_back(self, steers: list[QueuedSteer]) -> None:
        if self.settings.undelivered_steers == "send":
            self._deferred.extend(steer.text for steer in steers)

    def _send_deferred(self) -> None:
        deferred, self._deferred = self._deferred, []
        for text in deferred:
            self.send(text)

    def _grade(self, turn: Turn, own_reward: float | None) -> None:
        if own_reward is not None:
            self.bus.publish(Graded(grader="agent", turn=turn.number, reward=own_reward))
        if self._grader is not None:
            self._spawn(self._run_grader(self._grader, turn), "grading")

    async def _run_grader(self, grader: AnswerGrader, turn: Turn) -> None:
        answer = turn.last_text if turn.answer is None else turn.answer
        messages = self._model_calls.messages
        self.bus.publish(
            await graded(grader, answer, messages, turn=turn.number, monotonic=self._clock.monotonic)
        )

    # Frames

    async def _serve(self, frame: Request) -> Response:
        if self.status != "running":
            return interrupted_answer(frame)
        if isinstance(frame, LlmRequest):
            return await self._model_calls.answer(frame, self._turn)
        return await self._tool_calls.answer(frame, self._turn, self._model_calls.number)

    def _on_frame(self, frame: RunnerFrame) -> None:
        if isinstance(frame, EpisodeError):
            self._spawn(self._fail(frame.note or "the runner reported an error"), "fails")
        elif isinstance(frame, RunnerState) and frame.status == "idle":
            self._on_idle(frame)

    def _on_idle(self, frame: RunnerState) -> None:
        stale = frame.msg_id is not None and frame.msg_id not in self._turn.message_ids
        if self.status == "starting":
            self._set_status("idle")
            self._ready.set()
            self._send_deferred()
        elif self.status in ("running", "interrupting") and not stale:
            self._spawn(self._end_turn(self._turn, frame), "turn ends")

    # The end

    async def _fail(self, reason: str) -> None:
        if self.status not in ("ended", "failed"):
            self._turn.failure = reason
            self.bus.publish(ErrorOccurred(source="runner", message=reason))
            await self._close("failed", reason)

    async def _close(self, status: Literal["ended", "failed"], reason: str) -> None:
        interrupting, self.status = self.status == "interrupting", status
        self._link.cancel_requests()
        await self._link.requests_ended()
        if interrupting:
            self.bus.publish(self._turn.interrupt_report(self._ledger.not_run()))
        self._steers.return_undelivered(handed_over=True)
        await self._tools.aclose()
        if self._model is not None:
            await self._model.aclose()
        await self._link.aclose()
        others = self._tasks - {asyncio.current_task()}
        for task in others:
            task.cancel()
        if others:
            await asyncio.wait(others)
        self.bus.publish(SessionEnded(status=status, reason=reason))
        for event in (self._closed, self._ready, self._at_rest):
            event.set()

    # Small things

    def _introduction(self) -> SessionStarted:
        settings = self.settings
        return SessionStarted(
            version=__version__,
            dataset=settings.dataset,
            row=settings.row,
            runner=settings.runner,
            model=self._model.name if self._model else "",
            system=settings.system,
            tools=[dict(spec) for spec in self._tools.specs],
            limits={name: value for name, value in vars(settings.limits).items() if value is not None},
            temperature=settings.model.temperature,
            confinement=self._tools.confinement,
            grader=self._grader.name if self._grader else None,
            folder=str(settings.folder or ""),
        )

    def _greeting(self) -> SessionStart:
        settings = self.settings
        return SessionStart(
            session_id=self.bus.session_id,
            system=settings.system,
            tools=[dict(spec) for spec in self._tools.specs],
            turn_cap=settings.limits.calls,
            max_output_tokens=settings.model.max_output_tokens,
            temperature=settings.model.temperature,
            conversation_scope=settings.conversation_scope,
            context_window=settings.context_window,
        )

    def _set_status(self, status: Literal["idle", "running", "interrupting"], **fields: Any) -> None:
        self.status = status
        if status == "idle":
            self._at_rest.set()
        else:
            self._at_rest.clear()
        self.bus.publish(StateChanged(status=status, turn=self._turn.number, **fields))

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
