"""From a model's name, as the user writes it, to the model. Cheap to import."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack
from urllib.parse import urlsplit

from agentscope_tui.errors import UsageError, UserError
from agentscope_tui.models.endpoint import Endpoint, Timeouts, api_url, checked_key
from agentscope_tui.secrets import MASKER

if TYPE_CHECKING:
    from agentscope_tui.models.chat import Model
    from agentscope_tui.models.key_command import KeyCommand
    from agentscope_tui.models.local_server import LocalOptions
    from agentscope_tui.models.presets import Preset
    from agentscope_tui.models.script import ScriptFile

LOCAL = "local"
REPLAY = "replay:"
"""What the names of models begin with that answer from a recording; `replay_source` opens those."""


@dataclass(frozen=True)
class LocalChoice:
    """What `--model local` runs; `weights` None: those of the installed package."""

    weights: Path | None = None
    context: int = 8192
    threads: int | None = None


@dataclass(frozen=True)
class Asked:
    """What was asked for beside a provider's own preset; it goes before the preset."""

    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    api_key_source: str = ""
    """Where the key came from, or would come from: it stands in errors, the key never."""
    api_key_command: str | None = None
    timeouts: Timeouts = field(default_factory=Timeouts)
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)


class ModelOptions(TypedDict, total=False):
    """What may be said of a model beside its name; see `model_opener`."""

    base_url: str | None
    api_key: str | None
    api_key_source: str
    api_key_command: str | None
    timeouts: Timeouts | None
    retries: int
    params: Mapping[str, Any] | None
    providers: Mapping[str, Mapping[str, Any]] | None
    environ: Mapping[str, str] | None
    local: LocalChoice


def open_model(name: str, **options: Unpack[ModelOptions]) -> Model:
    """The model for one session; raises as `model_opener`, and for a proxy that cannot be used."""
    return model_opener(name, **options)()


def model_opener(
    name: str,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    api_key_source: str = "",
    api_key_command: str | None = None,
    timeouts: Timeouts | None = None,
    retries: int = 5,
    params: Mapping[str, Any] | None = None,
    providers: Mapping[str, Mapping[str, Any]] | None = None,
    environ: Mapping[str, str] | None = None,
    local: LocalChoice = LocalChoice(),
) -> Callable[[], Model]:
    """What opens the model for one session: `PROVIDER:NAME`, `local[:WEIGHTS]` or `scripted:FILE`. Nothing
    runs yet.

    `providers` are the user's own entries (see `presets.Entries`). Opening the first model behind a server
    imports the HTTP client, which takes about 0.2 s; asking for what opens it does not.

    Raises:
        UserError: no such provider, a bad script, base URL or key, no key where one is needed, or a part of
            the local model is missing.
    """
    kind, _, rest = name.partition(":")
    wait = timeouts or Timeouts()
    if kind == "scripted" and rest:
        return partial(_scripted, _script(rest), name)
    if kind == LOCAL:
        choice = replace(local, weights=Path(rest).expanduser()) if rest else local
        return partial(_local, name, _local_options(choice), wait, retries, dict(params or {}))
    if not (kind and rest):
        which = f"no model is called {name!r}" if name else "no model is named"
        raise UsageError(
            f"{which}: use --model PROVIDER:NAME (as in openai:gpt-5-mini; `agentscope models` lists "
            "providers), --model local, --model scripted:FILE or --model replay:SESSION"
        )
    from agentscope_tui.models.presets import find_preset

    preset = find_preset(kind, providers or {})
    asked = Asked(base_url, api_key, api_key_source, api_key_command, wait, environ or os.environ)
    endpoint, command = endpoint_of(preset, rest, asked)
    return partial(_served, name, rest, preset, endpoint, command, retries, dict(params or {}))


def endpoint_of(preset: Preset, model: str, asked: Asked) -> tuple[Endpoint, KeyCommand | None]:
    """Where a provider's model is reached, and the command that prints its key, if one does.

    Raises:
        UserError: a bad URL or key, a variable that the URL needs, or no key where one is needed.
    """
    base_url = asked.base_url or preset.url(model, asked.environ)
    key, source = asked.api_key, asked.api_key_source
    command = None if key else asked.api_key_command or preset.api_key_command
    if key is None and command is None and not source:
        key, source = _own_key(preset, asked.environ)
    endpoint = Endpoint(
        api_url(base_url, preset.wire),
        checked_key(key, source),
        source or "a key",
        asked.timeouts,
        preset.wire,
        preset.key_header,
    )
    MASKER.learn(endpoint.secrets)
    if endpoint.key is None and command is None and preset.key_needed and not asked.base_url:
        name = preset.title.partition(" (")[0] or preset.name
        raise UserError(
            f"{name} needs a key: set {source or 'model.api_key_env'}, or name another server with --base-url"
        )
    if command is None:
        return endpoint, None
    from agentscope_tui.models.key_command import shared_key_command

    where = "model" if asked.api_key_command else f"providers.{preset.name}"
    return endpoint, shared_key_command(command, f"{where}.api_key_command")


def _own_key(preset: Preset, environ: Mapping[str, str]) -> tuple[str | None, str]:
    if preset.api_key is not None:
        return preset.api_key, f"providers.{preset.name}.api_key"
    variable = preset.api_key_env
    return (environ.get(variable) or None, variable) if variable else (None, "")


def _served(
    name: str,
    model: str,
    preset: Preset,
    endpoint: Endpoint,
    command: KeyCommand | None,
    retries: int,
    params: dict[str, Any],
) -> Model:
    from agentscope_tui.models.anthropic import AnthropicDialect
    from agentscope_tui.models.http_model import HttpModel
    from agentscope_tui.models.openai import OpenAIDialect, OpenAIFlags
    from agentscope_tui.models.retries import RetryPolicy

    special = preset.for_model(model)
    if preset.wire == "anthropic":
        dialect: AnthropicDialect | OpenAIDialect = AnthropicDialect(
            model, temperature=special.temperature, cache=special.prompt_cache
        )
    else:
        dialect = OpenAIDialect(model, OpenAIFlags() if _is_elsewhere(preset, endpoint) else special.flags())
    return HttpModel(
        name,
        model,
        endpoint,
        dialect,
        key_command=command,
        retries=RetryPolicy(retries),
        params={**special.params, **params},
    )


def _is_elsewhere(preset: Preset, endpoint: Endpoint) -> bool:
    """Whether `openai:` only names the API, of another server: OpenAI's own ways are not expected there."""
    if preset.name != "openai":
        return False
    return urlsplit(endpoint.url).hostname != urlsplit(preset.base_url or "").hostname


def _script(file: str) -> ScriptFile:
    from agentscope_tui.models.script import load_script

    return load_script(os.path.expanduser(file))


def _scripted(script: ScriptFile, name: str) -> Model:
    from agentscope_tui.models.scripted import ScriptedModel

    return ScriptedModel(script, name=name)


def _local_options(choice: LocalChoice) -> LocalOptions:
    from agentscope_tui.models.local_model import find_weights, missing_parts
    from agentscope_tui.models.local_server import LocalOptions

    missing = missing_parts(choice.weights)
    weights = find_weights(choice.weights)
    if missing or weights is None:
        raise UserError(f"--model local lacks {'; and '.join(missing)}")
    return LocalOptions(weights, choice.context, choice.threads)


def _local(
    name: str, options: LocalOptions, timeouts: Timeouts, retries: int, params: dict[str, Any]
) -> Model:
    from agentscope_tui.models.local_model import LocalModel
    from agentscope_tui.models.retries import RetryPolicy

    return LocalModel(name, options, timeouts=timeouts, retries=RetryPolicy(retries), params=params)
