"""The entries of a Claude Code session, told as events."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from agentscope_tui.events import UsageReported
from agentscope_tui.models.chat import Message
from agentscope_tui.store.imports.building import EventBuilder
from agentscope_tui.store.imports.fields import Fields, time_of
from agentscope_tui.store.imports.messages import as_text, assistant_message, content_text, only_text
from agentscope_tui.store.imports.parts import Answer, Beginning, Outcome, ProposedCall
from agentscope_tui.store.imports.trees import BadLine, Entry

ENTRY_TYPES = ("user", "assistant", "system", "summary", "attachment", "progress", "file-history-snapshot")
IDS = "ids of the entries"
FINISH = {"end_turn": "stop", "stop_sequence": "stop", "tool_use": "tool_calls", "max_tokens": "length"}
"""What a stop reason is called by OpenAI."""
_INTERRUPTED = "[Request interrupted by user"
_SAME = (
    "cwd",
    "version",
    "sessionId",
    "gitBranch",
    "userType",
    "isSidechain",
    "entrypoint",
    "slug",
    "agentId",
)
"""What every entry tells again: kept where it changes."""
_NAMES = ("uuid", "parentUuid", "requestId", "promptId", "sourceToolAssistantUUID", "logicalParentUuid")


def entry_about(line: int) -> str:
    """What an `extra` is about that keeps the rest of an entry."""
    return f"line {line}"


def first_user_text(entries: Iterable[Entry]) -> str:
    """The first text of the user that is not Claude Code's own."""
    texts = [
        content_text(message_of(entry).get("content"))
        for entry in entries
        if entry.text("type") == "user" and entry.value.get("isMeta") is not True
    ]
    return next(filter(None, texts), "")


def tool_uses(entry: Entry) -> Iterator[str]:
    """The ids of the tool calls that an entry makes."""
    content = message_of(entry).get("content") if entry.text("type") == "assistant" else None
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == "tool_use":
            yield str(block.get("id"))


def message_of(entry: Entry) -> dict[str, Any]:
    """The message of an entry; empty where it has none."""
    message = entry.value.get("message")
    return message if isinstance(message, dict) else {}


def is_message(entry: Entry) -> bool:
    """Whether an entry is a message of the conversation."""
    return entry.text("type") in ("user", "assistant") and isinstance(entry.value.get("message"), dict)


def answer_id(entry: Entry) -> str:
    """The id of the completion that an entry is a piece of; one of its own where the file has none."""
    found = message_of(entry).get("id")
    return found if isinstance(found, str) and found else f"line {entry.line}"


def first_model(entries: Iterable[Entry]) -> str:
    """The first model that answers."""
    models = (message_of(entry).get("model") for entry in entries if entry.text("type") == "assistant")
    return next((model for model in models if isinstance(model, str)), "")


class Teller:
    """Tells the entries of one trajectory."""

    def __init__(self, builder: EventBuilder, entries: Sequence[Entry], bad: Sequence[BadLine]) -> None:
        self._builder = builder
        self._entries = entries
        self._bad = list(bad)
        self._known: dict[str, Any] = {}
        self._answers: dict[str, list[Entry]] = {}
        """The pieces of each completion."""
        for entry in entries:
            if entry.text("type") == "assistant":
                self._answers.setdefault(answer_id(entry), []).append(entry)
        self._told: set[str] = set()

    def start(self, parent: str = "", shared: int = 0) -> None:
        """`shared`: how many entries at the beginning are those of the session `parent`."""
        versions = (entry.text("version") for entry in self._entries)
        calls = {answer_id(one) for one in self._entries[:shared] if one.text("type") == "assistant"}
        beginning = Beginning(
            runner=f"Claude Code {next(filter(None, versions), '')}".strip(),
            model=first_model(self._entries),
            parent=parent,
            parent_call=len(calls) + 1 if parent else None,
            change="another branch of the same session" if parent else "",
        )
        times = (time_of(entry.value.get("timestamp")) for entry in self._entries)
        self._builder.start(beginning, next(filter(None, times), None))

    def tell(self, subagents: Mapping[str, int]) -> None:
        """Tell all entries; `subagents` are the numbers of the trajectories by what they were asked."""
        for entry in self._entries:
            while self._bad and self._bad[0].line < entry.line:
                self._tell_bad(self._bad.pop(0))
            self._tell_entry(entry, subagents)
        for bad in self._bad:
            self._tell_bad(bad)

    def _tell_bad(self, bad: BadLine) -> None:
        self._builder.problem(f"line {bad.line} of the file cannot be read: {bad.problem}")

    def _tell_entry(self, entry: Entry, subagents: Mapping[str, int]) -> None:
        fields = Fields(entry.value)
        self._builder.at(fields.time("timestamp"))
        self._keep_ids(fields, entry.line)
        match entry.text("type"):
            case "user" if isinstance(entry.value.get("message"), dict):
                self._tell_user(fields)
            case "assistant" if isinstance(entry.value.get("message"), dict):
                self._tell_assistant(entry, fields, subagents)
            case "user" | "assistant":
                self._builder.problem(f"line {entry.line} of the file cannot be read: it has no message")
            case "summary":
                fields.drop("type")
                self._builder.note(fields.text("summary"), title="summary of a session")
            case "system":
                self._tell_system(fields)
            case _:
                pass
        self._builder.extra(entry_about(entry.line), fields.rest, call=self._builder.call or None)

    def _keep_ids(self, fields: Fields, line: int) -> None:
        ids = {name: fields.any(name) for name in _NAMES if fields.has(name)}
        for name in _SAME:
            if fields.has(name) and self._known.get(name) == fields.peek(name):
                fields.drop(name)
            elif fields.has(name):
                self._known[name] = ids[name] = fields.any(name)
        self._builder.aside(IDS, f"line {line}", ids)

    def _tell_system(self, fields: Fields) -> None:
        """What Claude Code says; after a compaction the conversation is the summary that comes next."""
        fields.drop("type")
        if fields.peek("subtype") == "compact_boundary":
            self._builder.messages = []
        title = fields.text("subtype").replace("_", " ")
        self._builder.note(fields.text("content"), title=title or "system")

    # User entries

    def _tell_user(self, fields: Fields) -> None:
        fields.drop("type")
        message = fields.inner("message")
        message.drop("role")
        content = message.peek("content")
        if isinstance(content, str):
            message.drop("content")
            self._tell_text(content, {"role": "user", "content": content})
            return
        details = fields.peek("toolUseResult")
        blocks = [
            block if isinstance(block, dict) else {"type": "text", "text": as_text(block)}
            for block in (content if isinstance(content, list) else [])
        ]
        results = [Fields(block) for block in blocks if block.get("type") == "tool_result"]
        texts = [block for block in blocks if block.get("type") != "tool_result"]
        if only_text(texts):
            message.drop("content")
        for result in results:
            told = self._tell_result(result, details)
            if told == details or details == f"Error: {told}":
                fields.drop("toolUseResult")
            self._builder.extra("tool result", result.rest, call=self._builder.call or None)
        if texts:
            self._tell_text(content_text(texts), {"role": "user", "content": texts})

    def _tell_text(self, text: str, message: Message) -> None:
        if text.startswith(_INTERRUPTED):
            self._builder.interrupted(text)
            self._builder.messages.append(message)
        else:
            self._builder.user(text, message)

    def _tell_result(self, result: Fields, details: Any) -> str:
        result.drop("type")
        call_id = result.text("tool_use_id")
        content = result.peek("content")
        text = content_text(content)
        if isinstance(content, str) or only_text(content):
            result.drop("content")
        cut = isinstance(details, dict) and details.get("interrupted") is True
        outcome = Outcome(
            call_id,
            text,
            failed=result.truth("is_error") is True,
            status="interrupted" if cut else None,
        )
        self._builder.tool_result(outcome)
        return text

    # Assistant entries

    def _tell_assistant(self, entry: Entry, fields: Fields, subagents: Mapping[str, int]) -> None:
        """A completion, at the first of its entries; the others add nothing."""
        fields.drop("type")
        name = answer_id(entry)
        rest = fields.inner("message")
        rest.drop("role", "type", "content", "usage", "model", "stop_reason", "id")
        if name in self._told:
            return
        self._told.add(name)
        pieces = [Fields(message_of(one)) for one in self._answers[name]]
        blocks = [block for piece in pieces for block in map(Fields, _blocks(piece.peek("content")))]
        answer = _answer(blocks)
        stops = [piece.text("stop_reason") for piece in pieces if piece.peek("stop_reason")]
        answer.finish_reason = FINISH.get(stops[-1], stops[-1]) if stops else None
        model = pieces[0].text("model")
        if entry.value.get("isApiErrorMessage") is True:
            self._builder.model_error(answer.text.partition("\n")[0], answer.text)
            return
        self._builder.answer(answer, model="" if model == "<synthetic>" else model)
        self._tell_usage(pieces, fields)
        for block in blocks:
            self._builder.extra("content of the answer", block.rest, call=self._builder.call)
        self._builder.aside(IDS, f"call {self._builder.call}", {"message": name})
        for call in answer.calls:
            self._link(call, subagents)

    def _tell_usage(self, pieces: Sequence[Fields], fields: Fields) -> None:
        """Every piece tells it again; the last one knows all of the output."""
        usage = pieces[-1].inner("usage")
        if not usage.names:
            return
        read = usage.whole("cache_read_input_tokens") or 0
        written = usage.whole("cache_creation_input_tokens") or 0
        self._builder.usage(
            UsageReported(
                call=0,
                input_tokens=(usage.whole("input_tokens") or 0) + read + written,
                output_tokens=usage.whole("output_tokens") or 0,
                cached_tokens=read,
                cost=fields.number("costUSD"),
            )
        )
        self._builder.aside("usage", f"call {self._builder.call}", {"cache_written": written, **usage.rest})

    def _link(self, call: ProposedCall, subagents: Mapping[str, int]) -> None:
        for asked, number in subagents.items():
            if asked and json.dumps(asked, ensure_ascii=False)[1:-1] in call.arguments:
                self._builder.note(f"a subagent ran: trajectory {number} of the file", title="subagent")


def _blocks(content: Any) -> list[Any]:
    if isinstance(content, list):
        return content
    return [] if content is None else [{"type": "text", "text": as_text(content)}]


def _answer(blocks: Sequence[Fields]) -> Answer:
    """The completion that content blocks are; what they have beside their text stays in them."""
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[ProposedCall] = []
    for block in blocks:
        match block.peek("type"):
            case "text" if isinstance(block.peek("text"), str):
                block.drop("type")
                texts.append(block.text("text"))
            case "thinking" if isinstance(block.peek("thinking"), str):
                block.drop("type")
                thoughts.append(block.text("thinking"))
            case "tool_use":
                block.drop("type")
                arguments = block.any("input")
                arguments = as_text({} if arguments is None else arguments)
                calls.append(ProposedCall(block.text("id"), block.text("name"), arguments))
            case _:
                pass
    answer = Answer("\n".join(texts), "\n".join(thoughts), calls)
    answer.message = assistant_message(answer)
    return answer
