"""The environment of a runner process: the user's, without credentials."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

_CREDENTIAL = re.compile(
    r"(^|_)(APIKEY|KEYS?|TOKENS?|SECRETS?|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|AUTH|PAT)(_|$)",
    re.IGNORECASE,
)
"""Parts of a name that say that the value opens something."""


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
        if name in passed or not (_CREDENTIAL.search(name) or any(secret in value for secret in hidden))
    }
