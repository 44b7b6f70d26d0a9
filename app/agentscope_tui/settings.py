"""The settings: their names, what values they take, and which of them a stranger's file may not set.

The defaults are in `configs/default.yaml` and nowhere else: no field here has one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from agentscope_tui.grading.spec import needs_trust

Notify = Literal["off", "bell", "desktop"]
"""How the user is called to a terminal that has not the focus."""


@dataclass(frozen=True)
class NeedsTrust:
    """Marks what the file of an untrusted working folder may not set: a value for which `when` holds."""

    when: Callable[[object], bool] = lambda value: True


class OnlyUserFile:
    """Marks what only the file in the user's config folder may set."""


def _names_a_file(value: object) -> bool:
    return isinstance(value, str) and value.startswith(("scripted:", "local:", "replay:"))


def _grades_by_more(value: object) -> bool:
    names = value if isinstance(value, list) else [value]
    return any(isinstance(name, str) and needs_trust(name) for name in names)


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class Price(_Section):
    """US dollars per million tokens. `cached` None: cached input costs as much as other input."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached: float | None = Field(default=None, ge=0)


class TimeoutSettings(_Section):
    """Seconds to wait for a model server."""

    connect: float = Field(gt=0)
    first_token: float = Field(gt=0)
    between_tokens: float = Field(gt=0)


class LocalSettings(_Section):
    """The model that `--model local` runs on this machine."""

    weights: Annotated[str | None, NeedsTrust()]
    context: int = Field(ge=256)
    threads: int | None = Field(ge=1)


class ModelSettings(_Section):
    """Which model answers, and how it is asked."""

    name: Annotated[str | None, NeedsTrust(_names_a_file)]
    base_url: Annotated[str | None, NeedsTrust()]
    api_key_env: Annotated[str | None, NeedsTrust()]
    api_key: Annotated[SecretStr | None, OnlyUserFile()]
    api_key_command: Annotated[str | None, NeedsTrust()]
    params: dict[str, Any]
    retries: int = Field(ge=0, le=20)
    temperature: float | None = Field(ge=0, le=2)
    max_output_tokens: int = Field(ge=1)
    context_window: int | None = Field(ge=1)
    prices: dict[str, Price]
    timeouts: TimeoutSettings
    local: LocalSettings
    replay: Literal["strict", "order"]
    replay_fallback: Annotated[str | None, NeedsTrust(_names_a_file)]
    replay_tokens_per_second: float | None = Field(gt=0)


class ModelFlags(_Section):
    """In what servers and models differ; None: as the preset says."""

    token_field: Literal["max_tokens", "max_completion_tokens"] | None = None
    temperature: bool | None = None
    developer_role: bool | None = None
    stream_usage: bool | None = None
    prompt_cache: bool | None = None


class ProviderSettings(ModelFlags):
    """A provider of the user's own, or what differs from the built-in one of its name."""

    title: str | None = None
    wire: Literal["openai", "anthropic"] | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    api_key: Annotated[SecretStr | None, OnlyUserFile()] = None
    api_key_command: str | None = None
    key_header: Literal["bearer", "x-api-key", "api-key"] | None = None
    key_needed: bool | None = None
    params: dict[str, Any] | None = None
    models: dict[str, ModelFlags] | None = None


class SessionSettings(_Section):
    """How a session behaves."""

    mode: Literal["step", "run"]
    undelivered_steers: Literal["return", "send"]
    conversation_scope: Literal["session", "turn"]
    system: str


class RunnerSettings(_Section):
    """Which program runs the agent loop: the user's Python, a process, or one behind a socket; without, the
    built-in loop."""

    agent: str | None
    python: str | None
    program: str | None
    pass_env: list[str]
    command: str | None
    listen: str | None
    connect: str | None
    remote: bool
    files: str | None
    profile: str | None
    patience: float | None = Field(gt=0)
    start_timeout: float = Field(gt=0)
    ping_every: float = Field(gt=0)
    ping_timeout: float = Field(gt=0)
    max_frame: int = Field(ge=1, le=1024)


class LimitSettings(_Section):
    """Where a turn or a session ends by itself. None: no limit."""

    calls: int = Field(ge=1)
    tool_actions: int = Field(ge=0)
    count_by: Literal["message", "turn"]
    wall_clock: float | None = Field(gt=0)
    tokens: int | None = Field(ge=1)
    cost: float | None = Field(gt=0)


class CommandLimitSettings(_Section):
    """What one command of a tool may use."""

    cpu: int | None = Field(ge=1)
    memory: int | None = Field(ge=1)
    processes: int | None = Field(ge=1)
    open_files: int | None = Field(ge=16)
    file_size: int | None = Field(ge=1)
    output: int | None = Field(ge=1)
    disk: int | None = Field(ge=1)


class ToolSettings(_Section):
    """Which tools there are, and what they may use."""

    builtin: list[Literal["bash", "read_file", "write_file", "edit_file", "list_files", "submit"]]
    python: Annotated[str | None, NeedsTrust()]
    mcp: Annotated[list[str], NeedsTrust()]
    mcp_headers: Annotated[dict[str, dict[str, str]], NeedsTrust()]
    skills: str | None
    bash_timeout: float = Field(gt=0)
    result_cap: int = Field(ge=100)
    limits: CommandLimitSettings


class SandboxSettings(_Section):
    """What holds the tools in."""

    mode: Literal["auto", "required", "bwrap", "landlock", "none"]
    network: bool
    read_only: list[str]
    confine_agent: bool


class ColumnSettings(_Section):
    """The dataset's column for each part of a task, as a dotted path. None: found by its name."""

    user_prompt: str | None
    system_prompt: str | None
    ground_truth: str | None
    grader: str
    files: str


class DatasetSettings(_Section):
    """Which rows are shown, and what their columns mean."""

    map: ColumnSettings
    prompt: str | None
    files: Annotated[str | None, NeedsTrust()]
    row_file: Literal["full", "without_answer", "none"]
    offset: int = Field(ge=0)
    limit: int | None = Field(ge=1)


class GradingSettings(_Section):
    """Who gives the rewards."""

    grader: Annotated[str | list[str] | None, NeedsTrust(_grades_by_more)]
    judge: Annotated[str | None, NeedsTrust(_names_a_file)]
    judge_temperature: float | None = Field(ge=0, le=2)
    python: Annotated[str | None, NeedsTrust()]
    timeout: float = Field(gt=0)


class UiSettings(_Section):
    """The look and the keys."""

    theme: str
    keymap: str
    notify: Notify


class ServeSettings(_Section):
    """Where `agentscope serve` listens."""

    host: str
    port: int = Field(ge=0, le=65535)
    remote: bool
    tabs: int = Field(ge=1, le=64)


class LogSettings(_Section):
    """The log file."""

    level: Literal["debug", "info", "warning", "error"]


class Settings(_Section):
    """All settings, with the sections of `configs/default.yaml`."""

    model: ModelSettings
    providers: Annotated[dict[str, ProviderSettings], NeedsTrust()]
    session: SessionSettings
    runner: Annotated[RunnerSettings, NeedsTrust()]
    limits: LimitSettings
    tools: ToolSettings
    sandbox: Annotated[SandboxSettings, NeedsTrust()]
    dataset: DatasetSettings
    grading: GradingSettings
    ui: UiSettings
    serve: Annotated[ServeSettings, NeedsTrust()]
    log: LogSettings
