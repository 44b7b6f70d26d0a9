"""Trajectories of SWE-agent (`.traj`): the history that the agent had, and beside it what each step took.

What is left of a step is kept under `step_about`; see `commands` for the file and the messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentscope_tui.models.chat import Message
from agentscope_tui.store.imports.building import EventBuilder
from agentscope_tui.store.imports.commands import FILE, MESSAGES, tell_command, tell_end
from agentscope_tui.store.imports.fields import Fields
from agentscope_tui.store.imports.messages import SYSTEM, sendable, take_content
from agentscope_tui.store.imports.openai_chat import ROLES, answer_of, first_prompt, tell_role
from agentscope_tui.store.imports.parts import Beginning, Outcome
from agentscope_tui.store.imports.trajectories import Summary, Trajectories


def step_about(number: int) -> str:
    """What an `extra` is about that keeps the rest of a step."""
    return f"step {number}"


def is_swe_trajectory(value: Any) -> bool:
    """Whether a JSON value is a trajectory of SWE-agent."""
    match value:
        case {"trajectory": [{"action": _} | {"observation": _} | {"response": _}, *_]}:
            return True
        case {"history": [{"role": str()}, *_]}:
            return True
        case _:
            return False


class SweFile(Trajectories):
    """The one trajectory of a file."""

    def __init__(self, path: Path, value: dict[str, Any]) -> None:
        super().__init__(path, "SWE-agent")
        self._value = value
        self._steps = [step for step in _list(value.get("trajectory")) if isinstance(step, dict)]
        self._messages = _list(value.get("history")) or _from_steps(self._steps)

    def __len__(self) -> int:
        return 1

    def summary(self, number: int) -> Summary:
        return Summary(first_prompt([one for one in self._messages if not _is_demo(one)]))

    def _tell(self, number: int, builder: EventBuilder) -> None:
        messages = self._messages
        system = _leading(messages)
        # What the agent was shown before it was asked: demonstrations.
        asked = max(
            (n for n in range(_first_answer(messages)) if _role(messages[n]) == "user"), default=system
        )
        builder.start(
            Beginning(
                runner="SWE-agent",
                system=[sendable(message) for message in messages[:system]],
                history=[sendable(message) for message in messages[system:asked]],
            )
        )
        builder.extra(FILE, Fields({**self._value, "trajectory": None, "history": None}).rest)
        teller = _Teller(builder, self._steps)
        for place, value in enumerate(messages):
            message = Fields(value)
            if place < asked:
                message.drop("role")
                take_content(message)
            else:
                teller.tell(message, value, place + 1)
            builder.aside(MESSAGES, f"message {place + 1}", message.rest)
        teller.end()
        tell_end(builder, self._value.get("info"))


class _Teller:
    """Tells the messages, each answer with the step that it was."""

    def __init__(self, builder: EventBuilder, steps: Sequence[dict[str, Any]]) -> None:
        self._builder = builder
        self._steps = list(map(Fields, steps))
        self._answers = 0
        self._command = ""

    @property
    def _step(self) -> Fields:
        """The step of the newest answer."""
        place = self._answers - 1
        return self._steps[place] if 0 <= place < len(self._steps) else Fields({})

    def tell(self, message: Fields, value: Any, number: int) -> None:
        role = _role(value)
        if role not in ROLES:
            self._builder.problem(f"message {number} cannot be read: it has no role that is known")
            return
        self._builder.at(None)
        sent = sendable(value)
        if role == "assistant":
            self._tell_answer(message, sent)
        elif role == "tool":
            message.drop("role")
            self._tell_results(message, sent)
        elif role == "user" and self._command:
            message.drop("role")
            outcome = Outcome("", take_content(message), duration=self._step.number("execution_time"))
            self._step.drop("observation")
            tell_command(self._builder, self._command, outcome, sent)
            self._command = ""
        else:
            tell_role(self._builder, message, role, sent)

    def _tell_answer(self, message: Fields, sent: Message) -> None:
        self._answers += 1
        message.drop("role")
        step = self._step
        action = message.text("action") or step.text("action")
        if message.peek("thought") in (message.peek("content"), ""):
            message.drop("thought")
        query = [sendable(one) for one in step.items("query")]
        if query:
            self._builder.ask(query)
        self._builder.answer(answer_of(message, sent))
        step.drop("response", "action", *(["thought"] if step.peek("thought") == sent.get("content") else []))
        self._command = "" if sent.get("tool_calls") else action.strip()

    def _tell_results(self, message: Fields, sent: Message) -> None:
        """One message may have the result of several calls."""
        ids = [one for one in message.items("tool_call_ids") if isinstance(one, str)]
        call_id = message.text("tool_call_id") or (ids[0] if ids else self._builder.next_result or "")
        content = take_content(message)
        self._step.drop("observation")
        seconds = self._step.number("execution_time")
        sent.pop("tool_call_ids", None)
        self._builder.tool_result(
            Outcome(call_id, content, duration=seconds), {**sent, "tool_call_id": call_id}
        )
        for other in ids[1:]:
            self._builder.tool_result(
                Outcome(other, content), {"role": "tool", "tool_call_id": other, "content": content}
            )

    def end(self) -> None:
        """Keep what is left of the steps."""
        for number, step in enumerate(self._steps, start=1):
            self._builder.aside("rest of the steps", step_about(number), step.rest)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _role(value: Any) -> str:
    role = value.get("role") if isinstance(value, dict) else None
    return role if isinstance(role, str) else ""


def _is_demo(value: Any) -> bool:
    return isinstance(value, dict) and (
        value.get("is_demo") is True or value.get("message_type") == "demonstration"
    )


def _leading(messages: Sequence[Any]) -> int:
    """How many system messages there are at the beginning."""
    return next((n for n, one in enumerate(messages) if _role(one) not in SYSTEM), len(messages))


def _first_answer(messages: Sequence[Any]) -> int:
    """Where the first message is that the agent itself wrote."""
    answers = (n for n, one in enumerate(messages) if _role(one) == "assistant" and not _is_demo(one))
    return next(answers, len(messages))


def _from_steps(steps: Sequence[dict[str, Any]]) -> list[Any]:
    """The messages of a file without a history."""
    messages = list(_list(steps[0].get("query"))) if steps else []
    for step in steps:
        texts = (step.get(name) for name in ("response", "thought"))
        said = next((text for text in texts if isinstance(text, str) and text), "")
        messages.append({"role": "assistant", "content": said, "action": step.get("action")})
        if isinstance(step.get("observation"), str):
            messages.append({"role": "user", "content": step["observation"]})
    return messages
