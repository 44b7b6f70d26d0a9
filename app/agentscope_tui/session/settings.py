"""What a session runs with, checked before anything starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from agentscope_tui.errors import UsageError
from agentscope_tui.models.chat import Usage
from agentscope_tui.runners.profile import Profiles
from agentscope_tui.session.amending import Amendments
from agentscope_tui.session.earlier import EarlierMessages
from agentscope_tui.session.limits import Limits


class BadSetting(UsageError, ValueError):
    """A setting that no session can run with."""


@dataclass(frozen=True)
class Price:
    """US dollars for a million tokens; `cached` None: cached input costs the same."""

    input: float
    output: float
    cached: float | None = None

    def of(self, usage: Usage) -> float:
        """What a call cost, in US dollars."""
        cached = self.input if self.cached is None else self.cached
        fresh = max(usage.input_tokens - usage.cached_tokens, 0)
        total = fresh * self.input + usage.cached_tokens * cached + usage.output_tokens * self.output
        return total / 1_000_000


@dataclass(frozen=True)
class ModelSettings:
    """What the host forces on every call; `temperature` None leaves it to the provider.

    `prices` are by the full name of a model. `set_by_user` names the fields that the user set:
    they count also for an agent that has its own.
    """

    max_output_tokens: int = 4096
    temperature: float | None = 0.7
    prices: Mapping[str, Price] = field(default_factory=dict)
    set_by_user: frozenset[str] = frozenset()


@dataclass(frozen=True)
class SessionSettings:
    """Everything about a session that is plain data.

    Raises:
        BadSetting: at construction, for a value that no session can run with.
    """

    system: str = ""
    earlier: EarlierMessages = field(default_factory=EarlierMessages)
    """The conversation before the first turn."""
    dataset: str = ""
    row: int | None = None
    row_data: Mapping[str, Any] = field(default_factory=dict)
    """The row as it stands in the dataset."""
    runner: str = "builtin"
    agent_confinement: str = ""
    """What holds the agent's own program in: `none`, `bwrap` ...; empty: it is none of ours to start."""
    model: ModelSettings = field(default_factory=ModelSettings)
    limits: Limits = field(default_factory=Limits)
    conversation_scope: Literal["session", "turn"] = "session"
    context_window: int | None = None
    undelivered_steers: Literal["return", "send"] = "return"
    """What becomes of steers that no call took: back to the composer, or sent as the next turn."""
    mode: Literal["step", "run"] = "step"
    patient: bool = True
    """False without a screen: nothing waits for a decision, a failed call is given up at once."""
    start_timeout: float = 60.0
    """Seconds that a runner has to say hello, and then to become idle after `session_start`."""
    profiles: Profiles = field(default_factory=Profiles)
    """What is known of kinds of runners; one of them is chosen by the hello."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Text files for the runner, by relative path."""
    ping_every: float | None = None
    """Seconds between pings; None: a runner in our own event loop, which answers as long as we can ask."""
    ping_timeout: float = 10.0
    """Seconds until a ping without an answer is told."""
    amendments: Amendments = field(default_factory=Amendments)
    """What a fork puts into the agent's requests."""
    parent: str = ""
    parent_call: int | None = None
    change: str = ""
    """For a fork: the session before, the first call that is not that one's, and what is different."""
    folder: Path | None = None
    """The session's own folder; None keeps no outputs."""

    @property
    def outputs(self) -> Path | None:
        """The folder for the whole outputs of tools."""
        return self.folder / "outputs" if self.folder else None

    def __post_init__(self) -> None:
        temperature = self.model.temperature
        if self.model.max_output_tokens < 1:
            raise BadSetting("max_output_tokens must be at least 1")
        if temperature is not None and not 0 <= temperature <= 2:
            raise BadSetting("temperature must be from 0 to 2")
        if self.conversation_scope not in ("session", "turn"):
            raise BadSetting("conversation_scope must be `session` or `turn`")
        if self.limits.calls < 1:
            raise BadSetting("limits.calls must be at least 1")
