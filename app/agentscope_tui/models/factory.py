"""From a model's name, as the user writes it, to the model. Cheap to import."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from agentscope_tui.errors import UsageError, UserError
from agentscope_tui.models.endpoint import Endpoint, Timeouts, checked_key, completions_url

if TYPE_CHECKING:
    from agentscope_tui.models.chat import Model

_OPENAI = "https://api.openai.com/v1"
_OPENAI_HOST = "api.openai.com"


def open_model(
    name: str,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    api_key_source: str = "OPENAI_API_KEY",
    timeouts: Timeouts | None = None,
) -> Model:
    """The model for one session: `scripted:FILE` or `openai:NAME`. Nothing is connected yet.

    The first `openai:` model of a process imports the HTTP client, which takes about 0.2 s.
    `api_key_source` says where a key came from, or would come from: it stands in errors, the key never.

    Raises:
        UserError: no such kind of model, a bad script, base URL or key, or no key for OpenAI's own API.
    """
    kind, _, rest = name.partition(":")
    if kind == "scripted" and rest:
        return _scripted(rest)
    if kind == "openai" and rest:
        return _openai(rest, base_url or _OPENAI, api_key, api_key_source, timeouts or Timeouts())
    which = f"no model is called {name!r}" if name else "no model is named"
    raise UsageError(f"{which}: use --model openai:NAME or --model scripted:FILE")


def _scripted(file: str) -> Model:
    from agentscope_tui.models.script import load_script
    from agentscope_tui.models.scripted import ScriptedModel

    return ScriptedModel(load_script(Path(file).expanduser()), name=f"scripted:{file}")


def _openai(name: str, base_url: str, key: str | None, source: str, timeouts: Timeouts) -> Model:
    endpoint = Endpoint(completions_url(base_url), checked_key(key, source), source, timeouts)
    theirs = urlsplit(endpoint.url).hostname == _OPENAI_HOST
    if theirs and endpoint.key is None:
        raise UserError(f"OpenAI needs a key: set {source}, or name another server with --base-url")
    from agentscope_tui.models.openai import OpenAIModel

    return OpenAIModel(name, endpoint, token_field="max_completion_tokens" if theirs else "max_tokens")
