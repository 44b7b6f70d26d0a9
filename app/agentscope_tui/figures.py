"""How numbers are written, on screen and in reports: durations, moments, tokens, dollars."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime


def seconds(value: float) -> str:
    """A duration: `0.1 s`, `42 s`, `3:07`, `1:02:07`."""
    if value < 9.95:
        return f"{value:.1f} s"
    if value < 60:
        return f"{value:.0f} s"
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def clock(at: datetime) -> str:
    """A moment as the user's clock shows it: `14:03:22`."""
    return f"{at.astimezone():%H:%M:%S}"


def thousands(value: int) -> str:
    """A count of tokens: `950`, `12.3k`, `1.2M`, `2.8B`."""
    if value < 1000:
        return str(value)
    if value < 999_950:
        return f"{value / 1000:.1f}k"
    if value < 999_950_000:
        return f"{value / 1_000_000:.1f}M"
    return f"{value / 1_000_000_000:.1f}B"


def dollars(value: float) -> str:
    """A cost: `$0.0042` while it is small, `$1.25` later."""
    return f"${value:.4f}" if value < 0.1 else f"${value:,.2f}"


def named(values: Mapping[str, float]) -> str:
    """Metrics on a line: `style 0.6667 · tools 12`."""
    return " · ".join(f"{name} {value:.4g}" for name, value in values.items())


def file_size(value: float) -> str:
    """Bytes: `950 B`, `12.3 kB`, `1.2 GB`."""
    if value < 1000:
        return f"{value:.0f} B"
    for unit in ("kB", "MB"):
        value /= 1000
        if value < 999.95:
            return f"{value:.1f} {unit}"
    return f"{value / 1000:.1f} GB"
