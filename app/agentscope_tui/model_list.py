"""`agentscope models`: which providers there are, whether each has a key, and what their servers say."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from agentscope_tui.config import Config
from agentscope_tui.errors import UsageError, UserError
from agentscope_tui.model_choice import local_choice, own_providers
from agentscope_tui.models.chat import ModelError
from agentscope_tui.models.endpoint import Endpoint, Timeouts
from agentscope_tui.models.factory import LOCAL, Asked, endpoint_of
from agentscope_tui.models.http import get_json
from agentscope_tui.models.key_command import KeyCommand
from agentscope_tui.models.local_model import find_weights, missing_parts
from agentscope_tui.models.presets import Preset, load_presets
from agentscope_tui.printable import printable

_TO_ANSWER = 5.0
"""Seconds that a server has to list its models."""
_NAMED = 5
"""Models that are named in the list of all providers."""


@dataclass(frozen=True)
class Provider:
    """One line of the list. `endpoint` None: it cannot be asked; `problem` says why, if `key` does not."""

    preset: Preset
    address: str
    key: str
    endpoint: Endpoint | None = None
    command: KeyCommand | None = None
    problem: str = ""


def list_models(config: Config, names: Sequence[str], *, check: bool) -> str:
    """The list as text. `names` are the providers to show, none: all; `check` asks their servers.

    Raises:
        UsageError: there is no provider of one of the names.
    """
    presets = load_presets(own_providers(config.settings))
    unknown = [name for name in names if name not in (*presets, LOCAL)]
    if unknown:
        known = ", ".join((*presets, LOCAL))
        raise UsageError(f"no provider is called {unknown[0]!r}: there are {known}")
    providers = [_provider(config, preset) for name, preset in presets.items() if not names or name in names]
    answers = asyncio.run(_ask_all(providers, every=bool(names))) if check else {}
    lines = _table(providers, answers)
    if not names or LOCAL in names:
        lines += _local_lines(config, check)
    if not names:
        lines += ["replay: always ready, --model replay:SESSION answers as in a recorded session"]
        lines += ["", "Use one as --model PROVIDER:NAME. " + ("" if check else "--check asks the servers.")]
    return "\n".join(printable(line).rstrip() for line in lines) + "\n"


def _provider(config: Config, preset: Preset) -> Provider:
    asked = _asked(config, preset)
    address = asked.base_url or preset.base_url or "none"
    if asked.api_key_command or preset.api_key_command:
        key = "from its command"
    elif asked.api_key or preset.api_key:
        key = f"{asked.api_key_source or 'providers.' + preset.name + '.api_key'}: set"
    elif variable := asked.api_key_source or preset.api_key_env:
        optional = "" if preset.key_needed else " (not needed)"
        key = f"{variable}: {'set' if config.environ.get(variable) else 'not set' + optional}"
    else:
        key = "none needed"
    try:
        endpoint, command = endpoint_of(preset, "NAME", asked)
    except UserError as error:
        return Provider(preset, address, key, problem="no key" if key.endswith(": not set") else str(error))
    return Provider(preset, address, key, endpoint, command)


def _asked(config: Config, preset: Preset) -> Asked:
    """What the `model` section says counts for the provider of `model.name` only."""
    if (config.settings.model.name or "").partition(":")[0] != preset.name:
        return Asked(timeouts=Timeouts(connect=_TO_ANSWER), environ=config.environ)
    model = config.settings.model
    key, source = config.api_key()
    return Asked(
        model.base_url,
        key,
        source,
        model.api_key_command,
        Timeouts(connect=_TO_ANSWER),
        config.environ,
    )


async def _ask_all(providers: Sequence[Provider], *, every: bool) -> dict[str, str]:
    """What each server says, by the provider's name."""
    answers = await asyncio.gather(*(_ask(provider, every) for provider in providers))
    return {provider.preset.name: answer for provider, answer in zip(providers, answers, strict=True)}


async def _ask(provider: Provider, every: bool) -> str:
    if provider.endpoint is None:
        return f"not asked: {provider.problem}"
    try:
        endpoint = provider.endpoint
        if provider.command is not None:
            endpoint = replace(endpoint, key=await provider.command.key())
        models = _names(await get_json(endpoint, _TO_ANSWER))
    except ModelError as error:
        silent = error.kind in ("connection", "timeout")
        return f"no answer: {error.detail or error}" if silent else f"error: {error}"
    if not models:
        return "answers, and lists no models"
    shown = models if every else models[:_NAMED]
    more = f" and {len(models) - len(shown)} more" if len(models) > len(shown) else ""
    return f"serves {', '.join(shown)}{more}"


def _names(answer: Any) -> list[str]:
    """The models in an answer: `{"data": [{"id"}]}`, or only the list."""
    listed = answer.get("data") if isinstance(answer, dict) else answer
    entries = listed if isinstance(listed, list) else []
    names = [str(entry["id"]) for entry in entries if isinstance(entry, dict) and entry.get("id")]
    return [name.removeprefix("models/") for name in names]


def _table(providers: Sequence[Provider], answers: dict[str, str]) -> list[str]:
    rows = [("PROVIDER", "WIRE", "KEY", "ADDRESS")]
    rows += [(item.preset.name, item.preset.wire, item.key, item.address) for item in providers]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = []
    for row in rows:
        lines.append(
            "  ".join((*(text.ljust(width) for text, width in zip(row, widths, strict=False)), row[3]))
        )
        if row[0] in answers:
            lines.append(f"  {answers[row[0]]}")
    return lines


def _local_lines(config: Config, check: bool) -> list[str]:
    choice = local_choice(config.settings)
    missing = missing_parts(choice.weights)
    weights = find_weights(choice.weights)
    if not missing:
        return [f"{LOCAL}: ready, --model {LOCAL} runs {weights}"]
    if not check:
        return [f"{LOCAL}: not ready (--check says what is missing)"]
    return [f"{LOCAL}: not ready", *(f"  missing is {part}" for part in missing)]
