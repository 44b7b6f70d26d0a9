"""The entries of a pi session, told as events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentscope_tui.events import UsageReported
from agentscope_tui.models.chat import Message
from agentscope_tui.store.imports.building import EventBuilder
from agentscope_tui.store.imports.fields import Fields, time_of
from agentscope_tui.store.imports.messages import as_text, assistant_message, only_text, take_content
from agentscope_tui.store.imports.parts import Action, Answer, Beginning, Outcome, ProposedCall
from agentscope_tui.store.imports.trees import BadLine, Entry

IDS = "ids of the entries"
PRICES = "prices of the calls"
HEADER = "pi session"
FINISH = {"toolUse": "tool_calls"}
"""What a stop reason is called by OpenAI."""


def entry_about(line: int) -> str:
    """What an `extra` is about that keeps the rest of an entry."""
    return f"line {line}"


class Teller:
    """Tells the entries of one way through a session."""

    def __init__(self, builder: EventBuilder, header: Entry | None, model: str) -> None:
        self._builder = builder
        self._header = header
        self._model = model
        self._places: dict[str, int] = {}
        """How long the conversation was before each entry."""

    def start(self, entries: Sequence[Entry], parent: str = "", parent_call: int | None = None) -> None:
        header = Fields(self._header.value if self._header else {})
        times = [header.time("timestamp"), *(time_of(entry.value.get("timestamp")) for entry in entries[:1])]
        header.drop("type")
        self._builder.start(
            Beginning(
                runner="pi",
                model=self._model,
                parent=parent,
                parent_call=parent_call,
                change="another branch of the same session" if parent else "",
            ),
            min(filter(None, times), default=None),
        )
        self._builder.extra(HEADER, header.rest)

    def tell_bad(self, bad: BadLine) -> None:
        self._builder.problem(f"line {bad.line} of the file cannot be read: {bad.problem}")

    def tell(self, entry: Entry) -> None:
        """Tell one entry, and what is left of it."""
        fields = Fields(entry.value)
        self._places[entry.text("id") or str(entry.place)] = len(self._builder.messages)
        ids = {name: fields.any(name) for name in ("id", "parentId") if fields.has(name)}
        self._builder.aside(IDS, f"line {entry.line}", ids)
        at = fields.time("timestamp")
        kind = fields.peek("type")
        if kind == "message" and isinstance(fields.peek("message"), dict):
            fields.drop("type")
            self._tell_message(fields.inner("message"), at, entry.line)
        else:
            self._builder.at(at)
            self._tell_other(fields)
        self._builder.extra(entry_about(entry.line), fields.rest, call=self._builder.call or None)

    def _tell_other(self, fields: Fields) -> None:
        match fields.peek("type"):
            case "model_change" if isinstance(fields.peek("modelId"), str):
                fields.drop("type")
                name = f"{fields.text('provider')}/{fields.text('modelId')}"
                self._builder.note(f"the user chose {name}", title="model")
            case "thinking_level_change" if isinstance(fields.peek("thinkingLevel"), str):
                fields.drop("type")
                self._builder.note(fields.text("thinkingLevel"), title="thinking level")
            case "compaction" if isinstance(fields.peek("summary"), str):
                fields.drop("type")
                self._compact(fields)
            case "branch_summary" if isinstance(fields.peek("summary"), str):
                fields.drop("type")
                self._summarize(fields.text("summary"), "summary of a branch")
            case "custom_message":
                fields.drop("type")
                self._hear(fields)
            case _:
                pass

    def _compact(self, fields: Fields) -> None:
        """From here on the conversation is a summary, and what was kept of it."""
        kept = fields.peek("firstKeptEntryId")
        index = fields.peek("firstKeptEntryIndex")
        # The index counts the header too.
        name = kept if isinstance(kept, str) else str(index - 1) if isinstance(index, int) else ""
        messages = self._builder.messages
        rest = messages[self._places.get(name, len(messages)) :]
        self._summarize(fields.text("summary"), "compacted")
        self._builder.messages = [self._builder.messages[-1], *rest]

    def _summarize(self, summary: str, title: str) -> None:
        self._builder.note(summary, title=title)
        self._builder.messages.append({"role": "user", "content": summary})

    def _hear(self, message: Fields) -> None:
        """What an extension said in the user's name."""
        content = message.peek("content")
        text = take_content(message)
        self._builder.note(text, title=message.text("customType") or "extension")
        self._builder.messages.append({"role": "user", "content": content if content else text})

    # Messages

    def _tell_message(self, message: Fields, at: Any, line: int) -> None:
        began = message.time("timestamp")
        role = message.peek("role")
        if role != "assistant":
            self._builder.at(at or began)
        match role:
            case "user":
                message.drop("role")
                content = message.peek("content")
                self._builder.user(take_content(message), _user(content))
            case "assistant":
                message.drop("role")
                self._tell_assistant(message, began, at)
            case "toolResult":
                message.drop("role")
                self._tell_result(message)
            case "bashExecution":
                message.drop("role")
                self._tell_bash(message)
            case "custom" | "hookMessage":
                message.drop("role")
                self._hear(message)
            case "branchSummary" | "compactionSummary":
                message.drop("role")
                self._summarize(message.text("summary"), "summary")
            case _:
                self._builder.problem(
                    f"line {line} of the file cannot be read: its message has no known role"
                )

    def _tell_assistant(self, message: Fields, began: Any, at: Any) -> None:
        self._builder.at(began or at)
        names = (message.text("provider"), message.text("model"))
        self._builder.ask(model="/".join(filter(None, names)))
        self._builder.at(at)
        self._builder.aside(PRICES, f"api of call {self._builder.call}", message.any("api"))
        answer = _take_answer(message)
        reason, problem = message.text("stopReason"), message.text("errorMessage")
        answer.finish_reason = FINISH.get(reason, reason) or None
        answer.partial = reason in ("aborted", "error")
        said = bool(answer.text or answer.reasoning or answer.calls)
        if reason == "error":
            self._builder.model_error(problem or "the model call failed", partial=answer if said else None)
        elif reason != "aborted" or said:
            self._builder.answer(answer)
        self._tell_usage(message)
        if reason == "aborted":
            self._builder.interrupted(problem or "the user stopped the agent", in_call=True)

    def _tell_usage(self, message: Fields) -> None:
        usage = message.inner("usage")
        if not usage.names:
            return
        cost = usage.inner("cost")
        read, written = usage.whole("cacheRead") or 0, usage.whole("cacheWrite") or 0
        total = cost.number("total")
        self._builder.usage(
            UsageReported(
                call=0,
                input_tokens=(usage.whole("input") or 0) + read + written,
                output_tokens=usage.whole("output") or 0,
                cached_tokens=read,
                cost=total,
            )
        )
        prices = {"cacheWrite": written, **cost.rest}
        for name in cost.names:
            cost.drop(name)
        self._builder.aside(PRICES, f"call {self._builder.call}", prices)

    def _tell_result(self, message: Fields) -> None:
        self._builder.tool_result(
            Outcome(
                message.text("toolCallId"),
                take_content(message),
                failed=message.truth("isError") is True,
                name=message.text("toolName"),
            )
        )

    def _tell_bash(self, message: Fields) -> None:
        """A command that the user ran; the agent is told of it, unless the user wanted otherwise."""
        code, command = message.whole("exitCode"), message.text("command")
        cancelled = message.truth("cancelled") is True
        outcome = Outcome(
            "",
            message.text("output"),
            failed=bool(code),
            status="interrupted" if cancelled else None,
            exit_code=code,
            truncated=message.truth("truncated") is True,
            reason="run by the user",
        )
        told = None
        if message.peek("excludeFromContext") is not True:
            told = _user(f"$ {command}\n{outcome.content}")
        self._builder.action(Action("bash", {"command": command}, outcome), told)


def _user(content: Any) -> Message:
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else None
    return {"role": "user", "content": as_text(content) if parts is None else parts}


def _take_answer(message: Fields) -> Answer:
    """The completion in a message's content; what is left of a part stays there."""
    content = message.peek("content")
    if not isinstance(content, list):
        return Answer(take_content(message))
    if only_text(content):
        return Answer(take_content(message))
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[ProposedCall] = []
    for part in message.each("content"):
        match part.peek("type"):
            case "text":
                texts.append(part.text("text"))
            case "thinking":
                thoughts.append(part.text("thinking"))
            case "toolCall":
                arguments = part.any("arguments")
                arguments = as_text({} if arguments is None else arguments)
                calls.append(ProposedCall(part.text("id"), part.text("name"), arguments))
            case _:
                continue
        part.drop("type")
    answer = Answer("\n".join(texts), "\n".join(thoughts), calls)
    answer.message = assistant_message(answer)
    return answer
