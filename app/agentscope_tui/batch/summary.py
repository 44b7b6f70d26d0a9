"""What came of a run, in numbers: as JSON, and as the last lines that `agentscope run` prints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from agentscope_tui.batch.batch import Progress
from agentscope_tui.batch.results import RolloutResult


def summary(progress: Progress, results: Iterable[RolloutResult], folder: Path | None) -> dict[str, Any]:
    """The run as JSON data; `seconds` are those of this time, all else counts earlier times too."""
    return {
        "run": str(folder) if folder else None,
        "total": progress.total,
        "done": progress.done,
        "failed": progress.failed,
        "left": progress.left,
        "mean_reward": progress.mean_reward,
        "metrics": {name: sum(values) / len(values) for name, values in _metrics(results).items()},
        "input_tokens": progress.input_tokens,
        "output_tokens": progress.output_tokens,
        "cost": progress.cost,
        "seconds": round(progress.seconds, 3),
    }


def conclusion(progress: Progress, folder: Path | None) -> Iterator[str]:
    """The run in words, line by line."""
    parts = [f"{progress.done:,} done", f"{progress.failed:,} failed"]
    if progress.left:
        parts.append(f"{progress.left:,} not run")
    if progress.mean_reward is not None:
        parts.append(f"mean reward {progress.mean_reward:.3g}")
    parts.append(f"{progress.input_tokens + progress.output_tokens:,} tokens")
    if progress.cost is not None:
        parts.append(f"${progress.cost:.4g}")
    yield " · ".join(parts)
    if folder is not None:
        yield f"results: {folder}"


def _metrics(results: Iterable[RolloutResult]) -> dict[str, list[float]]:
    values: dict[str, list[float]] = {}
    for result in results:
        for name, value in result.metrics.items():
            values.setdefault(name, []).append(value)
    return values
