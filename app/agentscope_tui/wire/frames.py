"""The frames between host and runner: one model each, told apart by `type`.

The protocol is the live-session protocol; unknown types and unknown fields are ignored, so that either
side can be newer than the other.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr, TypeAdapter, ValidationError

from agentscope_tui.errors import UserError
from agentscope_tui.wire.arguments import deeper_than

FrameData = dict[str, Any]
"""A frame as JSON data, before it is validated."""

ReqId = StrictStr | StrictInt
"""The runner's name for a request; its answer has the same."""


class Frame(BaseModel):
    """What every frame is."""

    model_config = ConfigDict(frozen=True, defer_build=True, extra="ignore")


class SessionStart(Frame):
    """`row` and `row_index` are ours: the dataset's row, as JSON data, and its index from 0."""

    type: Literal["session_start"] = "session_start"
    session_id: str
    system: str = ""
    tools: list[dict[str, Any]] = Field(default_factory=list)
    files: dict[str, str] = Field(default_factory=dict)
    turn_cap: int = Field(default=60, ge=1)
    max_output_tokens: int = Field(default=4096, ge=1)
    temperature: float | None = Field(default=0.7, ge=0, le=2)
    """The host forces it on every call; None leaves it to the provider."""
    conversation_scope: Literal["session", "turn"] = "session"
    context_window: int | None = None
    row: dict[str, Any] | None = None
    row_index: int | None = None


class UserMessage(Frame):
    type: Literal["user_message"] = "user_message"
    msg_id: str
    text: str


class LlmResponse(Frame):
    """Either `completion` (an OpenAI chat completion) or `error`."""

    type: Literal["llm_response"] = "llm_response"
    req_id: ReqId
    completion: dict[str, Any] | None = None
    error: str | None = None


class ToolResponse(Frame):
    type: Literal["tool_response"] = "tool_response"
    req_id: ReqId
    content: str
    is_error: bool = False


class Abort(Frame):
    type: Literal["abort"] = "abort"
    reason: str = ""


class Ping(Frame):
    type: Literal["ping"] = "ping"
    nonce: str = ""


class Shutdown(Frame):
    type: Literal["shutdown"] = "shutdown"


HostFrame = Annotated[
    SessionStart | UserMessage | LlmResponse | ToolResponse | Abort | Ping | Shutdown,
    Field(discriminator="type"),
]


class Hello(Frame):
    """What the runner is; a runner says more here than is modelled, and that is kept, all but the
    `token` that a runner dialed in with."""

    model_config = ConfigDict(frozen=True, defer_build=True, extra="allow")

    type: Literal["hello"] = "hello"
    mode: str = "session"
    name: str = ""
    token: Any = Field(default=None, exclude=True, repr=False)


class LlmRequest(Frame):
    """Ours: `api`, the kind of provider that the agent believes it talks to, and `commits_after`, the seconds
    after which an error can no longer be told to it as one; None: it always can.
    """

    type: Literal["llm_request"] = "llm_request"
    req_id: ReqId
    openai_body: dict[str, Any]
    api: Literal["openai", "anthropic"] = "openai"
    commits_after: float | None = None


class LlmCancel(Frame):
    """Ours: the runner waits no more for the answer to this request, which becomes `interrupted`."""

    type: Literal["llm_cancel"] = "llm_cancel"
    req_id: ReqId


class ToolRequest(Frame):
    type: Literal["tool_request"] = "tool_request"
    req_id: ReqId
    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class ToolReport(Frame):
    """Ours: a tool that runs in the agent's own process; `report_id` is the same in all reports of a call.

    `started` tells name and arguments, `output` what the tool prints, `finished` its content.
    """

    type: Literal["tool_report"] = "tool_report"
    report_id: str
    status: Literal["started", "output", "finished"]
    name: str = ""
    arguments: dict[str, Any] = Field(default_factory=dict)
    stream: Literal["stdout", "stderr"] = "stdout"
    text: str = ""
    content: str = ""
    is_error: bool = False


class Note(Frame):
    """Ours: a remark of the agent, for the transcript."""

    type: Literal["note"] = "note"
    text: str


class RunnerState(Frame):
    """`reason` comes with `idle`: `completed`, `aborted`, `turn_limit` or `error`.

    Ours, all with `idle`: `answer`, what the agent itself takes for its answer; `reward`, what it gives that;
    with the reason `error`, `error` says in one line what went wrong, and `detail` at length.
    """

    type: Literal["state"] = "state"
    status: Literal["idle", "running"]
    turns: int = 0
    reason: str | None = None
    cleared_steers: list[str] | None = None
    msg_id: str | None = None
    reward: float | None = None
    answer: str | None = None
    error: str | None = None
    detail: str | None = None


class Pong(Frame):
    type: Literal["pong"] = "pong"
    nonce: str = ""


class EpisodeError(Frame):
    """Fatal: the session fails with `note`."""

    type: Literal["episode_error"] = "episode_error"
    note: str = ""


class TransportKeepalive(Frame):
    type: Literal["transport_keepalive"] = "transport_keepalive"


RunnerFrame = Annotated[
    Hello
    | LlmRequest
    | LlmCancel
    | ToolRequest
    | ToolReport
    | Note
    | RunnerState
    | Pong
    | EpisodeError
    | TransportKeepalive,
    Field(discriminator="type"),
]

MAX_DEPTH = 100
"""Levels of nesting that a frame may have."""

T = TypeVar("T")

_HOST: TypeAdapter[HostFrame] = TypeAdapter(HostFrame, config=ConfigDict(defer_build=True))
_RUNNER: TypeAdapter[RunnerFrame] = TypeAdapter(RunnerFrame, config=ConfigDict(defer_build=True))


class FrameError(UserError):
    """A frame that is not what its type promises."""


def as_data(frame: Frame | FrameData) -> FrameData:
    """A frame as JSON data, if it is none yet."""
    return frame.model_dump(mode="json", exclude_none=True) if isinstance(frame, Frame) else frame


def parse_runner_frame(data: object) -> RunnerFrame | None:
    """A runner's frame, or None for a type that this version does not know; what is one already is taken.

    Raises:
        FrameError: not an object with a `type`, or fields that do not fit; names the first of them.
    """
    if isinstance(data, Frame):
        return cast(RunnerFrame, data)
    frame = _parse(_RUNNER, data)
    if frame is not None and deeper_than(MAX_DEPTH, data):
        raise FrameError(f"bad {frame.type} frame: nested too deeply")
    return frame


def parse_host_frame(data: object) -> HostFrame | None:
    """A host's frame, as `parse_runner_frame`."""
    return cast(HostFrame, data) if isinstance(data, Frame) else _parse(_HOST, data)


def _parse(adapter: TypeAdapter[T], data: object) -> T | None:
    if not isinstance(data, dict) or not isinstance(data.get("type"), str):
        raise FrameError("a frame is a JSON object with a `type`")
    try:
        return adapter.validate_python(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        if first["type"] == "union_tag_invalid":
            return None
        where = ".".join(str(part) for part in first["loc"])
        raise FrameError(f"bad {data['type']} frame: {where}: {first['msg']}") from None
