"""What is known of a kind of runner beforehand: `configs/runners.yaml`, told apart by the runner's hello."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from agentscope_tui.errors import UsageError

DEFAULT = "default"


class Profile(BaseModel):
    """How a kind of runner behaves.

    `patience`: seconds that it lets a model answer wait before it goes on without; None: without end.
    `steers`: `native` if it takes messages while a turn runs; `inject`: the host puts them into requests.
    `tools`: `host` if it asks the host to run tools; `own`: it may run tools of its own.
    `params`: who decides on model, temperature and output limit: `host`, or `own` for the agent itself, as
    long as the user does not.
    `hello`: it is this kind of runner if its hello has all these fields; `*` stands for any value.
    """

    model_config = ConfigDict(frozen=True, defer_build=True, extra="forbid", allow_inf_nan=False)

    patience: float | None = Field(default=None, gt=0)
    steers: Literal["native", "inject"] = "native"
    tools: Literal["host", "own"] = "host"
    params: Literal["host", "own"] = "host"
    hello: dict[str, str] = Field(default_factory=dict)

    def fits(self, hello: Mapping[str, Any]) -> bool:
        """Whether a runner that says this is of this kind."""
        return bool(self.hello) and all(
            name in hello and wanted in ("*", str(hello[name])) for name, wanted in self.hello.items()
        )


@dataclass(frozen=True)
class Profiles:
    """The profiles by name. `named` is the one that the user chose, `patience` the user's own number."""

    known: Mapping[str, Profile] = field(default_factory=dict)
    named: str | None = None
    patience: float | None = None

    def choose(self, hello: Mapping[str, Any]) -> tuple[str, Profile]:
        """The profile for a runner that says this hello, and its name."""
        fitting = (name for name, profile in self.known.items() if profile.fits(hello))
        name = self.named or next(fitting, DEFAULT)
        profile = self.known.get(name, Profile())
        if self.patience is not None:
            profile = profile.model_copy(update={"patience": self.patience})
        return name, profile


_PROFILES = TypeAdapter(dict[str, Profile])


def load_profiles(file: Path, *, named: str | None = None, patience: float | None = None) -> Profiles:
    """The profiles in `file`.

    Raises:
        UsageError: it is no file of profiles, or has none of this name.
    """
    from agentscope_tui.yaml_file import read_settings_file

    found = read_settings_file(file)
    try:
        known = _PROFILES.validate_python({} if found is None else found[0])
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        where = ".".join(map(str, fault["loc"]))
        raise UsageError(f"{file}: {where}: {fault['msg']}") from None
    if named is not None and named not in known:
        raise UsageError(f"there is no runner profile {named!r}: known are {', '.join(known)}")
    return Profiles(known, named, patience)
