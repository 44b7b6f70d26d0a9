"""A sample of Inspect, told as events: its model calls with their whole requests, tools at their own times.

What is left of the sample is kept under `SAMPLE`, of the log's header under `LOG`, of a model call under
`CALL`; events that we have no kind for are kept in their places, those that follow each other together.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from agentscope_tui.events import UsageReported
from agentscope_tui.models.chat import Message
from agentscope_tui.store.imports.building import EventBuilder
from agentscope_tui.store.imports.exchanged import Exchanged
from agentscope_tui.store.imports.fields import Fields
from agentscope_tui.store.imports.inspect_pools import Pools, message_key, sent_message
from agentscope_tui.store.imports.inspect_scores import tell_scores
from agentscope_tui.store.imports.messages import SYSTEM, as_text, content_text, take_tools
from agentscope_tui.store.imports.parts import Answer, Beginning, Outcome, ProposedCall

SAMPLE = "Inspect sample"
LOG = "Inspect log"
CALL = "model call"
IDS = "ids of the events"
FINISH = {"max_tokens": "length", "model_length": "length", "unknown": ""}
"""What a stop reason is called by OpenAI."""
_SPANS = ("span_begin", "span_end", "step")
"""Events that only frame others: kept at the end."""
_CANCELLED = "Cancelled by "
_NAMES = ("uuid", "span_id", "working_start", "working_time", "message_id")


def tell_sample(builder: EventBuilder, value: Any, header: dict[str, Any]) -> None:
    """Tell one sample."""
    if not isinstance(value, dict):
        builder.fails("the sample is no object")
        builder.extra(SAMPLE, value)
        return
    sample = Fields(value)
    # The oldest logs have their events, and what they refer to, one level below.
    below = sample.inner("transcript")
    attachments = sample.any("attachments") or below.any("content")
    data = sample.inner("events_data")
    pool = data.items("messages") or sample.items("message_pool")
    pools = Pools(attachments if isinstance(attachments, dict) else {}, pool)
    events = sample.items("events") or below.items("events")
    _Teller(builder, sample, pools, events).tell(header)


class _Teller:
    def __init__(self, builder: EventBuilder, sample: Fields, pools: Pools, events: list[Any]) -> None:
        self._builder = builder
        self._sample = sample
        self._pools = pools
        self._events = [Fields(event) for event in events]
        self._exchanged = Exchanged(builder, self._tell_message)
        self._ends: list[tuple[datetime, int, Fields]] = []
        """Tools that run: when each ends."""
        self._results = set(_tool_ids(events))
        """The ids of the calls whose results are told by an event, or were by a message."""
        self._group: list[Any] = []
        """Events of no kind of ours that follow each other."""
        self._tools: Any = None
        self._errors: set[str] = set()
        self._numbered = 0
        """The events so far that we have kinds for."""

    def tell(self, header: dict[str, Any]) -> None:
        self._start(header)
        self._builder.extra(LOG, header)
        self._tell_events(self._events)
        self._finish_tools(None)
        if not self._builder.call:
            self._tell_conversation()
        self._close_group()
        self._tell_end()

    def _start(self, header: dict[str, Any]) -> None:
        spec = Fields(header).inner("eval")
        call = next((event for event in self._events if event.peek("event") == "model"), None)
        if call is not None:
            first = self._pools.request(call.peek_items("input"), call.peek("input_refs"))
            self._tools = call.peek("tools")
        else:
            first = self._pools.request(self._sample.peek_items("messages"), None)
        leading = next((n for n, said in enumerate(first) if said.sent["role"] not in SYSTEM), len(first))
        for said in first[:leading]:
            self._exchanged.know(said.key)
        scores = self._sample.peek("scores")
        times = (event.peek_time("timestamp") for event in self._events)
        self._builder.start(
            Beginning(
                runner=f"Inspect {spec.text('task')}".strip(),
                model=spec.text("model"),
                system=[said.sent for said in first[:leading]],
                tools=take_tools(Fields({"tools": self._pools.whole(self._tools)})),
                dataset=spec.inner("dataset").text("name"),
                grader=next(iter(scores), None) if isinstance(scores, dict) else None,
            ),
            next(filter(None, times), None),
        )

    # Events

    def _tell_events(self, events: list[Fields]) -> None:
        for event in events:
            at = event.time("timestamp")
            self._finish_tools(at)
            self._tell_event(event, at)

    def _tell_event(self, event: Fields, at: datetime | None) -> None:
        kind = event.peek("event")
        if kind not in ("model", "tool", "error", "sample_limit", "interrupt", "input"):
            rest = event.rest if at is None else {"timestamp": at.isoformat(), **event.rest}
            if kind in _SPANS:
                self._numbered += 1
                self._builder.aside("spans", f"event {self._numbered}", rest)
            else:
                self._group.append(rest)
            return
        self._close_group()
        self._builder.at(at)
        event.drop("event")
        ids = {name: event.any(name) for name in _NAMES if event.has(name)}
        match kind:
            case "model":
                self._tell_call(event)
                self._builder.extra(CALL, event.rest, call=self._builder.call)
            case "tool":
                self._begin_tool(event, at)
            case "error":
                error = event.inner("error")
                self._tell_error(error)
                self._builder.extra("error", event.rest)
            case "sample_limit":
                limit = event.number("limit") or 0.0
                self._builder.limit(event.text("type"), limit, event.text("message"))
                self._builder.extra("limit", event.rest)
            case "interrupt":
                self._builder.interrupted(f"interrupted by {event.text('source')}".replace("_", " "))
                self._builder.extra("interrupt", event.rest)
            case _:
                self._builder.note(event.text("input"), title="input")
                event.drop("input_ansi")
                self._builder.extra("input", event.rest)
        self._numbered += 1
        self._builder.aside(IDS, f"{kind} {self._numbered}", ids)

    def _tell_error(self, error: Fields) -> str:
        """Tell an error, unless an event told it; gives its first line. Empty: there is none."""
        message = error.text("message").strip()
        first = message.partition("\n")[0]
        detail = error.text("traceback") or message
        error.drop("traceback_ansi")
        if message and message not in self._errors:
            self._builder.agent_error(first, detail)
        self._errors.add(message)
        return first

    def _close_group(self) -> None:
        kinds = dict.fromkeys(as_text(_kind(event)) for event in self._group)
        self._builder.extra(", ".join(kinds), self._group)
        self._group = []

    # Model calls

    def _tell_call(self, event: Fields) -> None:
        messages = self._pools.request(event.items("input"), event.any("input_refs"))
        if event.peek("tools") == self._tools:
            event.drop("tools")
        else:
            self._tools = event.peek("tools")
        params = event.inner("config")
        choice = {"tool_choice": event.any("tool_choice")} if event.has("tool_choice") else {}
        self._exchanged.ask(
            messages,
            event.text("model"),
            tools=_names(self._tools),
            params=choice | {name: params.any(name) for name in params.names if params.has(name)},
        )
        self._builder.at(event.time("completed"))
        output, problem = event.inner("output"), event.text("error")
        choices = output.each("choices")
        if problem.startswith(_CANCELLED):
            self._builder.interrupted(problem, in_call=True)
        elif problem or not choices:
            problem = problem or output.text("error") or "the file has no answer of this call"
            self._builder.model_error(problem.partition("\n")[0], event.text("traceback"))
        else:
            self._tell_answer(choices[0], output)
        event.drop("traceback_ansi")
        output.drop("completion", "time")
        if output.peek("model") and str(output.peek("model")) in self._builder.model:
            output.drop("model")

    def _tell_answer(self, choice: Fields, output: Fields) -> None:
        value = self._pools.whole(choice.peek("message"))
        self._exchanged.know(message_key(value))
        message = choice.inner("message")
        answer = _take_answer(message, value)
        stop = choice.text("stop_reason")
        answer.finish_reason = FINISH.get(stop, stop) or None
        self._builder.answer(answer)
        usage = output.inner("usage")
        if usage.names:
            read = usage.whole("input_tokens_cache_read") or 0
            written = usage.whole("input_tokens_cache_write") or 0
            self._builder.usage(
                UsageReported(
                    call=0,
                    input_tokens=(usage.whole("input_tokens") or 0) + read + written,
                    output_tokens=usage.whole("output_tokens") or 0,
                    cached_tokens=read,
                    reasoning_tokens=usage.whole("reasoning_tokens") or 0,
                    cost=usage.number("total_cost"),
                )
            )
            usage.drop("total_tokens")

    # Tools

    def _begin_tool(self, event: Fields, at: datetime | None) -> None:
        self._builder.tool_began(as_text(event.peek("id") or ""))
        self._numbered += 1
        self._tell_events(event.each("events"))
        end = event.time("completed")
        if end is None or at is None:
            self._end_tool(event)
        else:
            heapq.heappush(self._ends, (end, self._numbered, event))

    def _finish_tools(self, until: datetime | None) -> None:
        """Tell the ends of the tools that had ended by then; None: of all."""
        while self._ends and (until is None or self._ends[0][0] <= until):
            end, _, event = heapq.heappop(self._ends)
            self._close_group()
            self._builder.at(end)
            self._end_tool(event)

    def _end_tool(self, event: Fields) -> None:
        event.drop("type", "view")
        call_id, name, error = event.text("id"), event.text("function"), event.inner("error")
        result = self._pools.whole(event.any("result"))
        problem = error.text("message")
        cancelled = error.peek("type") == "cancelled"
        if self._builder.proposed(call_id):
            event.drop("arguments")
        content = content_text(result) or problem
        self._builder.tool_result(
            Outcome(
                call_id,
                content,
                failed=bool(problem) or event.truth("failed") is True,
                name=name,
                status="interrupted" if cancelled else None,
                truncated=event.has("truncated"),
                reason=problem if content != problem else "",
            )
        )
        self._builder.extra(f"tool {name}", event.rest)

    # Messages

    def _tell_message(self, builder: EventBuilder, message: Fields, sent: Message) -> None:
        match sent["role"]:
            case "tool":
                call_id = sent["tool_call_id"]
                if call_id not in self._results:
                    self._results.add(call_id)
                    problem = message.inner("error").text("message")
                    outcome = Outcome(call_id, content_text(sent["content"]), failed=bool(problem))
                    builder.tool_result(outcome, sent)
            case "user":
                builder.user(content_text(sent["content"]), sent)
            case _:
                builder.system(sent)
        message.drop(
            "id", "role", "content", "source", "tool_call_id", "function", "error", "model", "tool_calls"
        )
        builder.extra("message", message.rest)

    def _tell_conversation(self) -> None:
        """A sample without model calls: what was said at its end is all there is."""
        for said in self._pools.request(self._sample.items("messages"), None):
            self._builder.at(None)
            if said.sent["role"] == "assistant":
                message = Fields(said.value)
                self._builder.answer(_take_answer(message, said.value))
                message.drop("id", "source", "model")
                self._builder.extra("message", message.rest, call=self._builder.call)
            else:
                self._exchanged.tell_late(said)

    # The end

    def _tell_end(self) -> None:
        sample, builder = self._sample, self._builder
        ended = [sent_message(self._pools.whole(one)) for one in sample.peek_items("messages")]
        if ended == builder.messages:
            sample.drop("messages")
        sample.drop("output" if builder.call else "")
        error, limit = sample.inner("error"), sample.inner("limit")
        kind = limit.text("type")
        if message := self._tell_error(error):
            builder.ends("failed", message)
        elif kind:
            builder.ends("limit", f"the limit of {kind} was reached")
        else:
            builder.ends("completed")
        tell_scores(builder, sample.inner("scores"))
        builder.extra(SAMPLE, sample.rest)
        builder.extra("attachments", self._pools.unused)


def _tool_ids(events: list[Any]) -> Iterator[str]:
    """The ids of the calls that events tell of, also of those inside of others."""
    for event in events:
        if isinstance(event, dict):
            if event.get("event") == "tool":
                yield as_text(event.get("id") or "")
            inner = event.get("events")
            yield from _tool_ids(inner if isinstance(inner, list) else [])


def _names(tools: Any) -> list[str]:
    names = [tool.get("name") for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    return [name for name in names if isinstance(name, str)]


def _kind(event: Any) -> Any:
    return event.get("event", "event") if isinstance(event, dict) else "event"


def _take_answer(message: Fields, value: Any) -> Answer:
    """The completion that an assistant message is; `value` is the message whole."""
    sent = sent_message(value)
    sent["role"] = "assistant"
    content = value.get("content") if isinstance(value, dict) else None
    thoughts = [
        str(part.get("reasoning"))
        for part in (content if isinstance(content, list) else ())
        if isinstance(part, dict) and part.get("type") == "reasoning"
    ]
    calls = [
        ProposedCall(call["id"], call["function"]["name"], call["function"]["arguments"])
        for call in sent.get("tool_calls", ())
    ]
    message.drop("role", "content", "id", "source", "model")
    for call in message.each("tool_calls"):
        call.drop("id", "function", "arguments", "type", "view")
    return Answer(content_text(sent["content"]), "\n".join(thoughts), calls, message=sent)
