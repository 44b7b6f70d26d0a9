"""The events of a session: what the host observed, in order; a session *is* its events.

One frozen class a kind. `seq` counts from 1 without gaps, `at` is UTC; both and `session_id` are set by
the bus when the event is published. A recording is these events as JSON lines. New kinds and new fields
with a default may be added; a kind or field that was ever released is never renamed or given a new sense.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from agentscope_tui.models.chat import Message, ReasoningField, ToolCallPart
from agentscope_tui.tools.spec import Stream

_UNSET = datetime.fromtimestamp(0, UTC)

TurnOutcome = Literal["completed", "interrupted", "failed", "limit"]
StepKind = Literal["completion", "tool_call", "tool_result", "failed_call"]
DecisionKind = Literal["pass", "edit", "refuse"]
SteerStatus = Literal["queued", "edited", "withdrawn", "handed_over", "in_call", "answered", "returned"]
ToolStatus = Literal["done", "failed", "refused", "interrupted"]


class Event(BaseModel):
    """What every event has."""

    model_config = ConfigDict(frozen=True, defer_build=True, extra="ignore")

    seq: int = 0
    at: datetime = _UNSET
    session_id: str = ""
    kind: str


class SessionStarted(Event):
    """The first event: all that is needed to know what ran. `limits` are those in force.

    `history` are earlier messages, which every request has after its system messages. A session that goes on
    from another one names it as `parent`: the calls before number `parent_call` are that one's, replayed, and
    `change` says in words what is different from there on. `confinement` is empty where nobody knows: of an
    imported session.
    """

    kind: Literal["session_started"] = "session_started"
    version: str
    dataset: str = ""
    row: int | None = None
    runner: str = ""
    model: str = ""
    system: str = ""
    history: list[Message] = Field(default_factory=list)
    tools: list[dict[str, Any]] = Field(default_factory=list)
    limits: dict[str, Any] = Field(default_factory=dict)
    temperature: float | None = None
    confinement: str = "none"
    agent_confinement: str = ""
    grader: str | None = None
    folder: str = ""
    parent: str = ""
    parent_call: int | None = None
    change: str = ""


class UserMessageSent(Event):
    """A user message that starts turn number `turn`."""

    kind: Literal["user_message"] = "user_message"
    msg_id: str
    text: str
    turn: int


class Steer(Event):
    """One step in the life of a steer. One that is still queued as the session becomes idle starts a turn:
    the `user_message` of that turn has its `msg_id`.

    `queued` and `edited` carry the text, `position` its place in the queue; `in_call` and `answered` name
    the call. `returned` gives the text back to the user. `injected`: the host put it into the request of an
    agent that takes no messages while it runs.
    """

    kind: Literal["steer"] = "steer"
    msg_id: str
    status: SteerStatus
    text: str = ""
    position: int | None = None
    call: int | None = None
    injected: bool = False


class LlmRequestSent(Event):
    """A model call begins. The whole request is the first `kept` messages of the request of call
    `base` (0: nothing) followed by `messages`; `digest` is the SHA-256 of the whole list as canonical JSON,
    as it was sent: with the secrets that are masked in what is told here.

    `repairs` says in words what the host put right in the runner's messages; `overridden` is what the agent
    asked for and did not get, because the user set it: `{"model": ..., "temperature": ...}`.
    """

    kind: Literal["llm_request"] = "llm_request"
    call: int
    turn: int
    req_id: str
    attempt: int = 1
    base: int = 0
    kept: int = 0
    messages: list[Message] = Field(default_factory=list)
    digest: str = ""
    tools: list[str] = Field(default_factory=list)
    params: dict[str, Any] = Field(default_factory=dict)
    repairs: list[str] = Field(default_factory=list)
    overridden: dict[str, Any] = Field(default_factory=dict)


class RetryScheduled(Event):
    """A model call failed before its first token and is sent again after `seconds`.

    `attempt` is the number of the attempt to come, from 2 to `of`; `reason` the error before it.
    """

    kind: Literal["retry"] = "retry"
    call: int
    attempt: int
    of: int
    seconds: float
    reason: str


class ModelChanged(Event):
    """The calls from now on go to another model."""

    kind: Literal["model"] = "model"
    model: str


class AssistantDelta(Event):
    """Text, reasoning or tool-call arguments as they stream, joined for at most 1/30 s."""

    kind: Literal["assistant_delta"] = "assistant_delta"
    call: int
    text: str = ""
    reasoning: str = ""
    tool_calls: list[dict[str, Any]] = Field(default_factory=list)
    """`[{"index", "id", "name", "arguments"}]`: pieces to append, `index` says to which call."""


class AssistantMessage(Event):
    """A completion, also one with tool calls and no text. `partial`: cut off by an interrupt or an error."""

    kind: Literal["assistant_message"] = "assistant_message"
    call: int
    text: str = ""
    reasoning: str = ""
    tool_calls: list[ToolCallPart] = Field(default_factory=list)
    finish_reason: str | None = None
    reasoning_field: ReasoningField = ""
    extra: dict[str, Any] = Field(default_factory=dict)
    """What else of the message goes back to the provider, as in `Completion`."""
    partial: bool = False
    edited: bool = False
    duration: float = 0.0
    """Seconds from the request to the last token."""
    first_token: float | None = None


class UsageReported(Event):
    """Tokens of a call. `cost` is in US dollars, None where no price is configured."""

    kind: Literal["usage"] = "usage"
    call: int
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    cost: float | None = None
    partial: bool = False
    replayed: bool = False
    """Used when the call was recorded, not now."""


class GateModeChanged(Event):
    """`step` stops at each completion, with `fine` also at each tool call and result; `run` does not."""

    kind: Literal["gate_mode"] = "gate_mode"
    mode: Literal["step", "run"]
    fine: bool = False


class Paused(Event):
    """A step waits at the gate. `allows` says which decisions can be honoured here."""

    kind: Literal["paused"] = "paused"
    hold: int
    """Number of this hold in the session, from 1; its `resumed` carries the same."""
    step: StepKind
    call: int
    call_id: str | None = None
    allows: list[DecisionKind] = Field(default_factory=lambda: list[DecisionKind](["pass"]))
    patience: float | None = None
    """Seconds, from `at`, after which the step goes on by itself: the runner waits no longer. None: never."""
    commits_after: float | None = None
    """Seconds, from `at`, after which a refusal cannot reach the agent as an error any more. None: never."""


class Resumed(Event):
    """The step went on. `decision` None: it was interrupted at the gate."""

    kind: Literal["resumed"] = "resumed"
    hold: int
    decision: DecisionKind | None = None
    reason: str = ""


class ToolCallStarted(Event):
    """A tool begins to run. `call_id` is the model's own id where the host could match it."""

    kind: Literal["tool_call"] = "tool_call"
    call_id: str
    call: int
    req_id: str
    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    edited: bool = False
    """The arguments are the user's, not those that the model wrote."""
    own: bool = False
    """It runs in the agent's process, where the host neither runs nor limits it."""


class ToolOutput(Event):
    """Output as it comes. Past 1 MiB of a call `text` is empty and `offset`, `length` (bytes) point into
    `outputs/<file>` of the session's folder."""

    kind: Literal["tool_output"] = "tool_output"
    call_id: str
    stream: Stream
    text: str = ""
    file: str | None = None
    offset: int | None = None
    length: int | None = None


class ToolResult(Event):
    """How a tool call ended. `refused`: it never ran, `reason` says why."""

    kind: Literal["tool_result"] = "tool_result"
    call_id: str
    call: int
    name: str
    status: ToolStatus
    content: str
    is_error: bool = False
    truncated: bool = False
    edited: bool = False
    exit_code: int | None = None
    duration: float = 0.0
    side_effects: bool = False
    reason: str = ""


class Submitted(Event):
    """The agent submitted an answer."""

    kind: Literal["submit"] = "submit"
    call_id: str
    answer: str


class LimitReached(Event):
    """A limit held something back. `limit` is the setting's name, `value` what it was set to."""

    kind: Literal["limit"] = "limit"
    limit: str
    value: float
    reason: str


class Interrupted(Event):
    """The truth about an interrupt, once the runner is idle again.

    Lists of call ids: `finished` had ended before, `killed` were running, `not_run` were proposed only;
    `side_effects` are those among finished and killed that may have changed something.
    """

    kind: Literal["interrupted"] = "interrupted"
    reason: str = ""
    model_call: int | None = None
    """The call whose stream was cut, if one was."""
    finished: list[str] = Field(default_factory=list)
    killed: list[str] = Field(default_factory=list)
    not_run: list[str] = Field(default_factory=list)
    side_effects: list[str] = Field(default_factory=list)


class StateChanged(Event):
    """`idle` ends a turn and carries its outcome; `interrupting` lasts from the interrupt to the idle."""

    kind: Literal["state"] = "state"
    status: Literal["starting", "idle", "running", "interrupting"]
    turn: int = 0
    outcome: TurnOutcome | None = None
    reason: str = ""


class ErrorOccurred(Event):
    """Something failed. `message` is one line that says what to do; `detail` may be longer.

    `code` is the kind of a model's error, as in `ModelError`: `authentication`, `quota`, `timeout` ...
    """

    kind: Literal["error"] = "error"
    source: Literal["model", "tool", "agent", "runner", "grader", "recorder", "session"]
    message: str
    detail: str = ""
    code: str = ""
    call: int | None = None


class Graded(Event):
    """A reward, or the grader's own error. `grader` is `agent` for what the agent itself reports.

    `metrics` are further numbers of the grader, by name; of one made of several, the reward of each.
    `sessions` are the ids of those in which a model judged. `provisional`: the user wanted to know how things
    stand in the middle of a turn, or once more; it is not the session's reward.
    """

    kind: Literal["graded"] = "graded"
    grader: str
    turn: int
    reward: float | None = None
    reason: str = ""
    metrics: dict[str, float] = Field(default_factory=dict)
    error: str | None = None
    duration: float = 0.0
    sessions: list[str] = Field(default_factory=list)
    provisional: bool = False


class AgentNote(Event):
    """A remark for the transcript: the agent's own, a model's on how it came to its answer, or the host's."""

    kind: Literal["note"] = "note"
    text: str
    title: str = ""
    """What the host remarks on; empty: the remark is not the host's."""


class ExtraKept(Event):
    """What an imported trajectory tells that no other kind of event has a place for: kept, and shown.

    `about` says in words what it is, or where in the file it stood; `data` is any JSON.
    """

    kind: Literal["extra"] = "extra"
    about: str
    data: Any = None
    call: int | None = None


class RunnerConnected(Event):
    """The runner said hello: all fields of it, and the profile that was chosen for it.

    `patience`: seconds that it lets a model answer wait, None: without end.
    """

    kind: Literal["runner_connected"] = "runner_connected"
    hello: dict[str, Any] = Field(default_factory=dict)
    profile: str = ""
    patience: float | None = None


class RunnerHealth(Event):
    """The runner left a ping unanswered for `seconds`, or answers again."""

    kind: Literal["runner_health"] = "runner_health"
    answering: bool
    seconds: float = 0.0


class RunnerLogged(Event):
    """Lines of the runner's log, each with its line end: what it printed that was no frame."""

    kind: Literal["runner_log"] = "runner_log"
    stream: Stream
    text: str


class RecordingChanged(Event):
    """Writing the recording failed, or goes on. What is kept in memory meanwhile is written then; the events
    from `lost_first` to `lost_last` were more than that, and are missing in it."""

    kind: Literal["recording"] = "recording"
    status: Literal["stopped", "resumed"]
    reason: str = ""
    lost_first: int | None = None
    lost_last: int | None = None

    @property
    def gap(self) -> str:
        """What is missing, in words."""
        if self.lost_first is None:
            return "nothing is missing in it"
        return f"events {self.lost_first} to {self.lost_last} are missing in it"


class SessionEnded(Event):
    """The last event. `failed`: the runner died or broke the protocol; `reason` says how."""

    kind: Literal["session_ended"] = "session_ended"
    status: Literal["ended", "failed"]
    reason: str = ""


class UnknownEvent(Event):
    """An event of a newer version: kept, with its fields, so that `seq` has no gap."""

    model_config = ConfigDict(frozen=True, defer_build=True, extra="allow")


SessionEvent = (
    SessionStarted
    | UserMessageSent
    | Steer
    | LlmRequestSent
    | RetryScheduled
    | ModelChanged
    | AssistantDelta
    | AssistantMessage
    | UsageReported
    | GateModeChanged
    | Paused
    | Resumed
    | ToolCallStarted
    | ToolOutput
    | ToolResult
    | Submitted
    | LimitReached
    | Interrupted
    | StateChanged
    | ErrorOccurred
    | Graded
    | AgentNote
    | ExtraKept
    | RunnerConnected
    | RunnerHealth
    | RunnerLogged
    | RecordingChanged
    | SessionEnded
    | UnknownEvent
)
