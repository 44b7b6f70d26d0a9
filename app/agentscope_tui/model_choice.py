"""From the settings to the model that a session calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agentscope_tui.config import DEFAULT, Config
from agentscope_tui.errors import UsageError
from agentscope_tui.models.asked import AskedModel, follows_agent
from agentscope_tui.models.chat import Model
from agentscope_tui.models.endpoint import Timeouts
from agentscope_tui.models.factory import LocalChoice, ModelOptions, model_opener, open_model
from agentscope_tui.models.presets import load_presets
from agentscope_tui.replay_source import recording_of, replay_model, replays
from agentscope_tui.secrets import MASKER, SHORTEST, secret_values
from agentscope_tui.session.settings import ModelSettings, Price
from agentscope_tui.settings import Settings


def model_of(config: Config, name: str) -> Model:
    """The model called `name`, reached as the settings say. One for each session.

    Raises:
        UserError: as `open_model`.
    """
    if follows_agent(name):
        return AskedModel(name, lambda asked: model_of(config, asked))
    if replays(name):
        fallback = config.settings.model.replay_fallback
        return replay_model(config, name, None if fallback is None else model_of(config, _live(fallback)))
    return open_model(name, **_options(config))


def check_model(config: Config, name: str) -> None:
    """Find out whether there is such a model, and its key; nothing is opened, which takes longer.

    Raises:
        UserError: as `open_model`.
    """
    if replays(name):
        recording_of(config, name)
        if (fallback := config.settings.model.replay_fallback) is not None:
            check_model(config, _live(fallback))
    elif not follows_agent(name):
        model_opener(name, **_options(config))


def model_settings(config: Config) -> ModelSettings:
    """What the settings force on every call."""
    model = config.settings.model
    return ModelSettings(
        max_output_tokens=model.max_output_tokens,
        temperature=model.temperature,
        prices={name: Price(**price.model_dump()) for name, price in model.prices.items()},
        set_by_user=frozenset(
            name for name in ("temperature", "max_output_tokens") if config.origin(f"model.{name}") != DEFAULT
        ),
    )


def _live(fallback: str) -> str:
    """The model for what is not recorded: one more recording would need a fallback itself."""
    if replays(fallback):
        raise UsageError(f"--replay-fallback {fallback}: name a live model, not a recording")
    return fallback


def _options(config: Config) -> ModelOptions:
    model = config.settings.model
    key, source = config.api_key()
    return {
        "base_url": model.base_url,
        "api_key": key,
        "api_key_source": source,
        "api_key_command": model.api_key_command,
        "timeouts": Timeouts(**model.timeouts.model_dump()),
        "retries": model.retries,
        "params": model.params,
        "providers": own_providers(config.settings),
        "environ": config.environ,
        "local": local_choice(config.settings),
    }


def own_providers(settings: Settings) -> dict[str, dict[str, Any]]:
    """The user's entries of `providers`, with what they say and nothing else."""
    entries: dict[str, dict[str, Any]] = {}
    for name, provider in settings.providers.items():
        entries[name] = provider.model_dump(exclude_none=True, exclude={"api_key"})
        if provider.api_key is not None:
            entries[name]["api_key"] = provider.api_key.get_secret_value()
    return entries


def local_choice(settings: Settings) -> LocalChoice:
    """What `--model local` runs."""
    local = settings.model.local
    weights = None if local.weights is None else Path(local.weights).expanduser()
    return LocalChoice(weights, local.context, local.threads)


def known_keys(config: Config) -> list[str]:
    """Every key that the settings or the variables of any provider hold: what nobody else may see."""
    presets = load_presets(own_providers(config.settings)).values()
    variables = [preset.api_key_env for preset in presets]
    values = [config.api_key()[0], *(preset.api_key for preset in presets)]
    values += [config.environ.get(variable) for variable in variables if variable]
    return sorted({value.strip() for value in values if value and len(value.strip()) >= SHORTEST})


def guarded(config: Config) -> Config:
    """The same, with every secret that the settings and the environment hold masked wherever text leaves."""
    MASKER.learn([*known_keys(config), *secret_values(config.environ)])
    return config
