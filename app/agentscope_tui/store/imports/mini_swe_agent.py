"""Trajectories of mini-SWE-agent (`.traj.json`): a file with its messages, or in old ones only the messages.

See `commands` for what is kept of the file and of the messages.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from agentscope_tui.events import UsageReported
from agentscope_tui.models.chat import Message
from agentscope_tui.store.imports.building import EventBuilder
from agentscope_tui.store.imports.commands import (
    FILE,
    MESSAGES,
    code_in,
    command_in,
    tell_command,
    tell_end,
)
from agentscope_tui.store.imports.fields import Fields, number_of
from agentscope_tui.store.imports.messages import SYSTEM, as_text, sendable, take_content
from agentscope_tui.store.imports.openai_chat import ROLES, answer_of, first_prompt, tell_role
from agentscope_tui.store.imports.parts import Beginning, Outcome
from agentscope_tui.store.imports.trajectories import Summary, Trajectories

_OLD = re.compile(r"mswea_bash_command|<returncode>|COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT")
"""What an old file, which says nothing of its format, has in its messages."""


def is_mini_trajectory(value: Any) -> bool:
    """Whether a JSON value is a trajectory of mini-SWE-agent."""
    match value:
        case {"trajectory_format": str(name), "messages": list()}:
            return name.startswith("mini-swe-agent")
        case {"info": dict(), "messages": [{"role": str()}, *_]}:
            return True
        case [{"role": str()}, *_]:
            texts = (message.get("content") for message in value[:6] if isinstance(message, dict))
            return any(_OLD.search(text) for text in texts if isinstance(text, str))
        case _:
            return False


class MiniFile(Trajectories):
    """The one trajectory of a file."""

    def __init__(self, path: Path, value: Any) -> None:
        self._value: dict[str, Any] = value if isinstance(value, dict) else {"messages": value}
        name = self._value.get("trajectory_format")
        super().__init__(path, name if isinstance(name, str) else "mini-swe-agent")
        messages = self._value.get("messages")
        self._messages: list[Any] = messages if isinstance(messages, list) else []

    def __len__(self) -> int:
        return 1

    def summary(self, number: int) -> Summary:
        return Summary(first_prompt(self._messages), model=self._model())

    def _model(self) -> str:
        found: Any = self._value
        for name in ("info", "config", "model", "model_name"):
            found = found.get(name) if isinstance(found, dict) else None
        return found if isinstance(found, str) else ""

    def _tell(self, number: int, builder: EventBuilder) -> None:
        file = Fields({name: item for name, item in self._value.items() if name != "messages"})
        version = file.inner("info").peek("mini_version")
        system = [sendable(one) for one in self._messages[:1] if _role(one) in SYSTEM]
        runner = f"mini-SWE-agent {version}" if isinstance(version, str) else "mini-SWE-agent"
        builder.start(Beginning(runner=runner, model=self._model(), system=system))
        builder.extra(FILE, file.rest)
        teller = _Teller(builder)
        for place, value in enumerate(self._messages, start=1):
            message = Fields(value)
            if place == 1 and system:
                message.drop("role")
                take_content(message)
            else:
                teller.tell(message, value, place)
            builder.aside(MESSAGES, f"message {place}", message.rest)
        tell_end(builder, self._value.get("info"))


class _Teller:
    """Tells the messages. `_commands` are those of the newest answer that nothing was observed of yet."""

    def __init__(self, builder: EventBuilder) -> None:
        self._builder = builder
        self._commands: list[str] = []

    def tell(self, message: Fields, value: Any, number: int) -> None:
        role = _role(value)
        extra = message.inner("extra")
        self._builder.at(extra.time("timestamp"))
        # Models do not get what the agent remembers of its messages.
        sent = {name: item for name, item in sendable(value).items() if name != "extra"}
        if role == "exit":
            message.drop("role")
            self._builder.note(take_content(message), title="exit")
        elif role == "assistant":
            message.drop("role")
            self._tell_answer(message, extra, sent)
        elif role == "tool":
            message.drop("role")
            call_id = message.text("tool_call_id") or self._builder.next_result or ""
            self._builder.tool_result(_outcome(call_id, message, extra), sent)
        elif role == "user" and self._commands:
            message.drop("role")
            tell_command(self._builder, self._commands.pop(0), _outcome("", message, extra), sent)
        elif role in ROLES:
            tell_role(self._builder, message, role, sent)
        else:
            self._builder.problem(f"message {number} cannot be read: it has no role that is known")

    def _tell_answer(self, message: Fields, extra: Fields, sent: Message) -> None:
        response = extra.inner("response")
        text = take_content(Fields(sent))
        answer = answer_of(message, sent)
        answer.finish_reason = _finish_reason(response.peek("choices"))
        self._builder.answer(answer, model=response.text("model"))
        usage = response.inner("usage")
        taken, made = usage.whole("prompt_tokens"), usage.whole("completion_tokens")
        cost = extra.number("cost")
        if cost is not None or taken is not None or made is not None:
            self._builder.usage(
                UsageReported(call=0, input_tokens=taken or 0, output_tokens=made or 0, cost=cost)
            )
        actions = (
            [Fields(action).peek("command") for action in extra.peek("actions") or ()]
            if isinstance(extra.peek("actions"), list)
            else [command_in(text)]
        )
        commands = [as_text(command) for command in actions if command]
        self._commands = [] if answer.calls else commands
        if commands:
            extra.drop("actions")


def _role(value: Any) -> str:
    role = value.get("role") if isinstance(value, dict) else None
    return role if isinstance(role, str) else ""


def _finish_reason(choices: Any) -> str | None:
    match choices:
        case [{"finish_reason": str(reason)}, *_]:
            return reason
        case _:
            return None


def _outcome(call_id: str, message: Fields, extra: Fields) -> Outcome:
    content = take_content(message)
    told = number_of(extra.peek("returncode"))
    code = code_in(content) if told is None or told != int(told) else int(told)
    extra.drop("returncode")
    return Outcome(call_id, content, failed=bool(code), exit_code=code)
