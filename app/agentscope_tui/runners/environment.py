"""The environment of a runner process: the user's, without credentials."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from agentscope_tui.secrets import opens_something


def runner_environment(
    environ: Mapping[str, str], secrets: Collection[str] = (), passed: Collection[str] = ()
) -> dict[str, str]:
    """The variables for a runner: all but those that are named like credentials or hold one of `secrets`,
    unless they are to be `passed`.

    A runner is the user's own program, so unlike a tool it gets the rest: HOME, NODE_PATH and the like.
    """
    hidden = [secret for secret in secrets if secret]
    return {
        name: value
        for name, value in environ.items()
        if name in passed or not (opens_something(name) or any(secret in value for secret in hidden))
    }
