"""What a provider's answer says about sending the request again: whether, and when."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_STATUSES = frozenset({408, 409, 429})


def may_retry(status: int, headers: Mapping[str, str]) -> bool:
    """Whether the same request may work later; the provider's own `x-should-retry` goes first."""
    match headers.get("x-should-retry", "").strip().lower():
        case "true":
            return True
        case "false":
            return False
        case _:
            return status in _STATUSES or status >= 500


def asked_wait(headers: Mapping[str, str], *, now: datetime | None = None) -> float | None:
    """Seconds that the provider asks to wait, from `retry-after-ms` or `retry-after` (seconds or a date)."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    try:
        when = parsedate_to_datetime(value)
    except ValueError:
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max((when - (now or datetime.now(UTC))).total_seconds(), 0.0)


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None
