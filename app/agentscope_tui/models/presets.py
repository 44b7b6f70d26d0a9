"""Providers by name: what `configs/providers.yaml` says of each, under what the user's settings say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

from agentscope_tui.errors import UsageError, UserError
from agentscope_tui.models.endpoint import KeyHeader, Wire
from agentscope_tui.models.openai import OpenAIFlags

Entries = Mapping[str, Mapping[str, Any]]
"""What is said of providers, by name; the keys of an entry are the fields of `Preset`."""

_VARIABLE = re.compile(r"\{(?P<name>\w+)(:(?P<default>[^}]*))?\}")
_FLAGS = ("token_field", "temperature", "developer_role", "stream_usage")


@dataclass(frozen=True)
class Preset:
    """One provider. `base_url` may hold `{VARIABLE}`, `{VARIABLE:default}` and `{model}`."""

    name: str
    title: str = ""
    wire: Wire = "openai"
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    api_key_env: str | None = None
    api_key_command: str | None = None
    key_header: KeyHeader = "bearer"
    key_needed: bool = False
    token_field: str = "max_tokens"
    temperature: bool = True
    developer_role: bool = False
    stream_usage: bool = True
    prompt_cache: bool = True
    params: Mapping[str, Any] = field(default_factory=dict)
    models: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def for_model(self, model: str) -> Preset:
        """The preset with what is different for one model; a maker's prefix (`openai/`) does not count."""
        names = (model, model.rpartition("/")[2])
        for pattern, different in self.models.items():
            if any(fnmatchcase(name, pattern) for name in names):
                return replace(self, **different)
        return self

    def flags(self) -> OpenAIFlags:
        """The flags for Chat Completions."""
        return OpenAIFlags(**{name: getattr(self, name) for name in _FLAGS})

    def url(self, model: str, environ: Mapping[str, str]) -> str:
        """The base URL with its variables put in.

        Raises:
            UserError: a variable is not set, or there is no URL.
        """
        if not self.base_url:
            raise UserError(f"where is {self.name}? give --base-url, or set providers.{self.name}.base_url")

        def value_of(found: re.Match[str]) -> str:
            name = found["name"]
            value = model if name == "model" else environ.get(name) or found["default"]
            if not value:
                raise UserError(f"{self.name} needs the variable {name}: set it, or give --base-url")
            return value

        return _VARIABLE.sub(value_of, self.base_url)


def load_presets(own: Entries) -> dict[str, Preset]:
    """All providers by name: the built-in ones in the order of their file, then the user's `own`.

    An own entry of a built-in name changes only what it says.
    """
    entries = {name: dict(entry) for name, entry in _built_in().items()}
    for name, entry in own.items():
        entries[name] = {**entries.get(name, {}), **entry}
    return {name: _preset(name, entry) for name, entry in entries.items()}


def find_preset(name: str, own: Entries) -> Preset:
    """The provider of that name.

    Raises:
        UsageError: there is none; says which there are.
    """
    presets = load_presets(own)
    if name not in presets:
        near = get_close_matches(name, presets, n=1)
        meant = f"did you mean {near[0]}? There are" if near else "there are"
        raise UsageError(
            f"no provider is called {name!r}: {meant} {', '.join(presets)}, local, scripted and replay; "
            "or add it to `providers:` in your settings"
        )
    return presets[name]


def _preset(name: str, entry: Mapping[str, Any]) -> Preset:
    known = {item.name for item in fields(Preset)}
    return Preset(name, **{key: value for key, value in entry.items() if key in known and key != "name"})


def _built_in() -> dict[str, dict[str, Any]]:
    from agentscope_tui.resources import configs_dir
    from agentscope_tui.yaml_file import read_settings_file

    file = configs_dir() / "providers.yaml"
    found = read_settings_file(file)
    if found is None:
        raise UserError(f"the file {file} of agentscope is missing: install agentscope again")
    return {str(name): dict(entry) for name, entry in found[0].items() if isinstance(entry, Mapping)}
