"""The errors a user can cause: each message says what is wrong and what to do."""

from __future__ import annotations


class UserError(Exception):
    """Something the user can put right. `str(error)` is shown as it is, never with a traceback."""


class UsageError(UserError):
    """Wrong arguments or settings: the command line exits with 2."""
