"""What the doctor tries on a runner, one check after the other; each leaves the runner idle."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any

from agentscope_tui.doctor.host import DoctorHost, Failed
from agentscope_tui.models.chat import Message
from agentscope_tui.runners.profile import Profiles
from agentscope_tui.session.history import mend
from agentscope_tui.session.steering import text_of
from agentscope_tui.tools.declarations import SUBMIT
from agentscope_tui.wire.frames import (
    Abort,
    Hello,
    LlmRequest,
    Ping,
    Pong,
    RunnerState,
    SessionStart,
    Shutdown,
    ToolRequest,
    ToolResponse,
    UserMessage,
)

ECHO = {
    "name": "echo",
    "description": "Give the text back.",
    "parameters": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
}
_LEAVE_SECONDS = 3.0

Check = Callable[[], Awaitable[str]]


class RunnerChecks:
    """The checks of one runner; `all` names them. A check gives a note, or raises `Failed`."""

    def __init__(
        self, host: DoctorHost, profiles: Profiles, files: dict[str, str], *, start_timeout: float = 60.0
    ) -> None:
        self._host = host
        self._profiles = profiles
        self._files = files
        self._start_timeout = start_timeout
        self._messages = 0
        self.notes: list[str] = []
        """What the runner does not do though it may, and what agentscope does because of it."""

    @property
    def all(self) -> list[tuple[str, Check]]:
        """The checks by what they are about, in order."""
        return [
            ("hello", self.hello),
            ("ready", self.ready),
            ("ping", self.ping),
            ("turn with a tool", self.turn),
            ("steer", self.steer),
            ("interrupt of a model call", self.interrupt_model),
            ("interrupt of a tool", self.interrupt_tool),
            ("turn after an interrupt", self.turn_after_interrupt),
            ("shutdown", self.shutdown),
        ]

    async def hello(self) -> str:
        await self._host.open()
        hello = await self._host.expect(Hello, "hello", self._start_timeout)
        said = hello.model_dump(exclude={"type"}, exclude_defaults=True)
        name, profile = self._profiles.choose(hello.model_dump())
        if profile.patience is not None:
            self.notes.append(
                f"profile {name}: it lets a model answer wait for {profile.patience:g} s, so steps are held "
                "at the first tool call of a completion"
            )
        return ", ".join(f"{key} {value}" for key, value in said.items()) or "says nothing about itself"

    async def ready(self) -> str:
        start = SessionStart(
            session_id="doctor", system="You are being checked.", tools=[ECHO, SUBMIT], files=self._files
        )
        await self._host.send(start)
        started = time.monotonic()
        while True:
            state = await self._host.expect(RunnerState, "state idle", self._start_timeout)
            if state.status == "idle":
                return _took(started)

    async def ping(self) -> str:
        started = time.monotonic()
        await self._ping("idle")
        return _took(started)

    async def turn(self) -> str:
        request = await self._begin("Say hello with the tool.")
        if not any(_name(tool) == "echo" for tool in request.openai_body.get("tools") or []):
            raise Failed("the llm_request does not offer the tool echo of session_start")
        await self._ping("model call")
        await self._host.answer(request, "I use the tool.", _call("call_a", "hello"))
        tool = await self._tool_request("hello")
        await self._host.send(ToolResponse(req_id=tool.req_id, content="hello"))
        request = await self._host.expect(LlmRequest, "llm_request after the tool result")
        _check_result(request, "call_a", "hello")
        await self._host.answer(request, "Done.")
        state = await self._idle("completed")
        if not any(state.status == "running" for state in self._host.states):
            self.notes.append("it sends no state `running`; agentscope does not need it")
        if state.msg_id is None:
            self.notes.append("it sends no msg_id with its states: a late idle cannot be told from a new one")
        elif state.msg_id != f"doctor-{self._messages}":
            raise Failed(f"the idle has msg_id {state.msg_id}, the last user_message doctor-{self._messages}")
        return ""

    async def steer(self) -> str:
        request = await self._begin("Use the tool, and listen.")
        await self._host.answer(request, "", _call("call_b", "one"), _call("call_c", "two"))
        tool = await self._tool_request("one")
        await self._ping("tool call")
        await self._say("A steer.")
        await self._host.send(ToolResponse(req_id=tool.req_id, content="one"))
        tool = await self._tool_request("two")
        await self._host.send(ToolResponse(req_id=tool.req_id, content="two"))
        request = await self._host.expect(LlmRequest, "llm_request with the steer")
        _check_result(request, "call_c", "two")
        if _last_user(request) != "A steer.":
            raise Failed("the steer is not the last message of the next llm_request")
        await self._say("Another steer.")
        await self._host.answer(request, "A last reply.")
        request = await self._host.expect(
            LlmRequest, "llm_request with the steer that came with the last reply"
        )
        if _last_user(request) != "Another steer.":
            raise Failed("a steer that came with the last reply is not in the next llm_request")
        await self._host.answer(request, "Done.")
        await self._idle("completed")
        return "after the tool results, and after a last reply"

    async def interrupt_model(self) -> str:
        request = await self._begin("Think for long.")
        started = time.monotonic()
        await self._host.send(Abort(reason="user_interrupt"))
        await self._idle("aborted")
        took = _took(started)
        await self._host.answer(request, "This answer is late.")
        await self._ping("late answer")
        return f"idle after {took}"

    async def interrupt_tool(self) -> str:
        request = await self._begin("Use the tool for long.")
        await self._host.answer(request, "", _call("call_d", "one"), _call("call_e", "two"))
        tool = await self._tool_request("one")
        started = time.monotonic()
        await self._host.send(Abort(reason="user_interrupt"))
        await self._host.send(ToolResponse(req_id=tool.req_id, content="interrupted", is_error=True))
        await self._idle("aborted")
        return f"idle after {_took(started)}"

    async def turn_after_interrupt(self) -> str:
        request = await self._begin("Go on.")
        if _last_user(request) != "Go on.":
            raise Failed("the new message is not the last one of the llm_request")
        messages: list[Message] = request.openai_body.get("messages") or []
        if any("This answer is late." in text_of(message) for message in messages):
            raise Failed("the answer that came after the interrupt is in the conversation")
        _, mended = mend(messages)
        self.notes += [f"after an interrupt agentscope mends its conversation: {note}" for note in mended]
        await self._host.answer(request, "Done.")
        await self._idle("completed")
        return ""

    async def shutdown(self) -> str:
        await self._host.send(Shutdown())
        if not await self._host.leaves(_LEAVE_SECONDS):
            raise Failed(f"it was still there {_LEAVE_SECONDS:g} s after shutdown; agentscope would kill it")
        return ""

    async def _say(self, text: str) -> None:
        self._messages += 1
        await self._host.send(UserMessage(msg_id=f"doctor-{self._messages}", text=text))

    async def _begin(self, text: str) -> LlmRequest:
        await self._say(text)
        return await self._host.expect(LlmRequest, "llm_request")

    async def _ping(self, when: str) -> None:
        nonce = f"nonce {when}"
        await self._host.send(Ping(nonce=nonce))
        pong = await self._host.expect(Pong, f"pong ({when})")
        if pong.nonce != nonce:
            raise Failed(f"the pong has nonce {pong.nonce!r}, not {nonce!r}")

    async def _tool_request(self, text: str) -> ToolRequest:
        request = await self._host.expect(ToolRequest, "tool_request for echo")
        if request.name != "echo" or request.arguments != {"text": text}:
            raise Failed(
                f"the tool_request is {request.name} {request.arguments}, not echo {{'text': '{text}'}}"
            )
        return request

    async def _idle(self, reason: str) -> RunnerState:
        state = await self._host.idle("state idle at the end of the turn")
        if state.reason not in (None, reason):
            raise Failed(f"the idle has reason {state.reason}, not {reason}")
        return state


def _call(call_id: str, text: str) -> dict[str, Any]:
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": "echo", "arguments": f'{{"text": "{text}"}}'},
    }


def _name(tool: Any) -> object:
    function = tool.get("function") if isinstance(tool, dict) else None
    return function.get("name") if isinstance(function, dict) else None


def _check_result(request: LlmRequest, call_id: str, content: str) -> None:
    messages = request.openai_body.get("messages") or []
    results = [message for message in messages if message.get("tool_call_id") == call_id]
    if [text_of(message) for message in results] != [content]:
        raise Failed(f"the llm_request has not exactly one result {content!r} for {call_id}")


def _last_user(request: LlmRequest) -> str:
    messages = request.openai_body.get("messages") or [{}]
    return text_of(messages[-1]) if messages[-1].get("role") == "user" else ""


def _took(started: float) -> str:
    return f"{(time.monotonic() - started) * 1000:.0f} ms"
