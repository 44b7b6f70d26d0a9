"""Logs of Inspect: `.eval`, an archive, and the older `.json`. Each sample is a trajectory."""

from __future__ import annotations

import re
from abc import abstractmethod
from pathlib import Path
from typing import Any

from agentscope_tui.errors import UserError
from agentscope_tui.store.imports.archives import Archive
from agentscope_tui.store.imports.building import EventBuilder
from agentscope_tui.store.imports.inspect_events import tell_sample
from agentscope_tui.store.imports.inspect_scores import reward_of
from agentscope_tui.store.imports.messages import content_text
from agentscope_tui.store.imports.openai_chat import first_prompt
from agentscope_tui.store.imports.reading import Unreadable, parse_json
from agentscope_tui.store.imports.trajectories import Summary, Trajectories

_SAMPLE = re.compile(r"samples/(.+_epoch_\d+)\.json")
_SUMMARIES = re.compile(r"summaries\.json|_journal/summaries/.+\.json")
_DIGITS = re.compile(r"(\d+)")


def is_archive(head: bytes) -> bool:
    """Whether a file that begins like that is an archive."""
    return head.startswith(b"PK\x03\x04")


def is_log(value: Any) -> bool:
    """Whether a JSON value is a whole log."""
    match value:
        case {"eval": {"task": _}, "status": _, "version": _}:
            return True
        case _:
            return False


class _Log(Trajectories):
    """What both sorts of logs have: a header, and samples in short."""

    def __init__(self, path: Path, header: Any) -> None:
        self._header: dict[str, Any] = header if isinstance(header, dict) else {}
        version = self._header.get("version")
        super().__init__(path, f"Inspect log {version}" if isinstance(version, int) else "Inspect log")

    @abstractmethod
    def _short(self, number: int) -> Any:
        """A sample, or its summary."""

    def summary(self, number: int) -> Summary:
        short = self._short(number)
        if not isinstance(short, dict):
            return Summary(problem="the sample is no object")
        asked = short.get("input")
        prompt = first_prompt(asked) if isinstance(asked, list) else content_text(asked)
        spec = self._header.get("eval")
        model = spec.get("model") if isinstance(spec, dict) else None
        return Summary(prompt, reward_of(short.get("scores")), model if isinstance(model, str) else "")


class EvalFile(_Log):
    """An `.eval` file. A sample is unpacked when it is opened."""

    def __init__(self, path: Path) -> None:
        """Raises:
        UserError: it cannot be read, or is another sort of archive.
        """
        self._archive = Archive(path)
        names = self._archive.names
        head = next((name for name in ("header.json", "_journal/start.json") if name in names), None)
        if head is None:
            raise UserError(f"{path} is an archive, but no log of Inspect: there is no header.json in it")
        self._problems: list[str] = []
        super().__init__(path, self._value(head))
        found = {name: match[1] for name in names if (match := _SAMPLE.fullmatch(name))}
        self._samples = sorted(found, key=lambda name: _natural(found[name]))
        if not found:
            raise UserError(f"{path} is a log of Inspect without samples: there is nothing to open")
        self._names = [found[name] for name in self._samples]
        self._summaries: dict[str, Any] = {}
        for name in names:
            if _SUMMARIES.fullmatch(name):
                self._add_summaries(self._value(name))

    def _value(self, name: str) -> Any:
        """A part; None where it cannot be read: the samples may be whole."""
        try:
            return parse_json(self._archive.read(name))
        except (Unreadable, UserError) as problem:
            self._problems.append(f"{name} of the archive cannot be read: {problem}")
            return None

    def _add_summaries(self, summaries: Any) -> None:
        for short in summaries if isinstance(summaries, list) else ():
            if isinstance(short, dict):
                self._summaries[f"{short.get('id')}_epoch_{short.get('epoch')}"] = short

    def __len__(self) -> int:
        return len(self._samples)

    def _short(self, number: int) -> Any:
        name = self._names[number]
        return self._summaries.get(name) or {"input": f"sample {name}"}

    def _tell(self, number: int, builder: EventBuilder) -> None:
        name = self._samples[number]
        try:
            value = parse_json(self._archive.read(name))
        except (Unreadable, UserError) as problem:
            builder.fails(f"{name} of the archive cannot be read: {problem}")
            return
        tell_sample(builder, value, self._header)
        for told in self._problems:
            builder.problem(told)


class LogFile(_Log):
    """A `.json` file, which is read as one piece."""

    def __init__(self, path: Path, value: dict[str, Any]) -> None:
        """Raises:
        UserError: there is no sample in it.
        """
        super().__init__(path, {name: item for name, item in value.items() if name != "samples"})
        samples = value.get("samples")
        self._samples: list[Any] = samples if isinstance(samples, list) else []
        if not self._samples:
            raise UserError(f"{path} is a log of Inspect without samples: there is nothing to open")

    def __len__(self) -> int:
        return len(self._samples)

    def _short(self, number: int) -> Any:
        return self._samples[number]

    def _tell(self, number: int, builder: EventBuilder) -> None:
        tell_sample(builder, self._samples[number], self._header)


def _natural(name: str) -> list[tuple[int, str]]:
    """A key that sorts the numbers in names as numbers."""
    parts = _DIGITS.split(name)
    return [(int(part[:18]), part) if part.isdecimal() else (0, part) for part in parts]
