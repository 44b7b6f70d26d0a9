"""What `agentscope open` opens: a session's recording, or a file of another tool, and the rows beside it."""

from __future__ import annotations

import itertools
import threading
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentscope_tui.config import Config
from agentscope_tui.datasets.dataset import Dataset
from agentscope_tui.datasets.given_rows import GivenRows
from agentscope_tui.datasets.source import open_dataset
from agentscope_tui.errors import UsageError, UserError
from agentscope_tui.event_lines import event_from_json
from agentscope_tui.events import UserMessageSent
from agentscope_tui.folders import sessions_dir
from agentscope_tui.session.launch import Launcher
from agentscope_tui.session.meta import config_of
from agentscope_tui.store.find import find_session
from agentscope_tui.store.folders import SessionFolder, read_meta
from agentscope_tui.store.tape import Progress
from agentscope_tui.tui.recorded_session import RecordedRow

if TYPE_CHECKING:
    from agentscope_tui.store.imports import Trajectories

_LINES_TO_PROMPT = 1_000
"""Lines of a recording in which its prompt is looked for."""


class Recordings(ABC):
    """The rows of the open dataset that are recordings from the start."""

    @abstractmethod
    def __contains__(self, index: int) -> bool:
        """Whether the row with this index is one."""

    def rewards(self, stop: threading.Event) -> dict[int, float]:
        """The rewards that are told without opening a row, by index: for a thread, until `stop` is set.

        Raises:
            UserError: they cannot be read.
        """
        return {}

    @abstractmethod
    def open(self, index: int, stop: threading.Event, progress: Progress) -> RecordedRow:
        """The recording of such a row: for a thread.

        Raises:
            UserError: it cannot be read.
            Stopped: `stop` was set.
        """


class _OneFolder(Recordings):
    """One session's folder, which is one row's."""

    def __init__(self, folder: Path, index: int) -> None:
        self._folder = folder
        self._index = index

    def __contains__(self, index: int) -> bool:
        return index == self._index

    def open(self, index: int, stop: threading.Event, progress: Progress) -> RecordedRow:
        return RecordedRow.of_folder(self._folder, index, stop, progress)


class _OneFile(Recordings):
    """A file of another tool: each of its trajectories is a row."""

    def __init__(self, trajectories: Trajectories) -> None:
        self._trajectories = trajectories

    def __contains__(self, index: int) -> bool:
        return 0 <= index < len(self._trajectories)

    def open(self, index: int, stop: threading.Event, progress: Progress) -> RecordedRow:
        return RecordedRow.of_past(self._trajectories.session(index), index)

    def rewards(self, stop: threading.Event) -> dict[int, float]:
        numbers = itertools.takewhile(lambda _: not stop.is_set(), range(len(self._trajectories)))
        found = ((number, self._trajectories.summary(number).reward) for number in numbers)
        return {number: reward for number, reward in found if reward is not None}

    def row(self, number: int) -> dict[str, Any]:
        """What the rows pane shows of a trajectory."""
        summary = self._trajectories.summary(number)
        told = {"reward": summary.reward, "model": summary.model, "problem": summary.problem}
        known = {key: value for key, value in told.items() if value not in (None, "")}
        return {"user_prompt": summary.prompt or "-", **known}


@dataclass(frozen=True)
class Opened:
    """What the app shows: rows, which of them are recordings, and which is opened at once."""

    launcher: Launcher
    dataset: Dataset
    recordings: Recordings
    first: int | None


def open_named(config: Config, name: str) -> Opened:
    """The session, or the file of another tool, that `name` names. No model is needed.

    Raises:
        UserError: there is none, it cannot be read, or the state folder cannot be written.
    """
    path = Path(name).expanduser()
    if path.is_file() and path.name != "events.jsonl":
        return _open_file(config, path)
    folder = find_session(name, sessions_dir(config.state))
    # What goes on from it does so with the settings that it was run with; to look at it takes none.
    with suppress(UsageError):
        config = config_of(config, SessionFolder(folder))
    meta = read_meta(folder)
    row = meta.get("row")
    dataset = _same_dataset(config, meta)
    if dataset is None or not isinstance(row, int) or not 0 <= row - dataset.offset < len(dataset):
        dataset, row = _made_dataset(folder), 0
    return Opened(_launcher(config, dataset), dataset, _OneFolder(folder, row), row)


def _open_file(config: Config, path: Path) -> Opened:
    from agentscope_tui.store.imports import open_trajectories

    trajectories = open_trajectories(path)
    if not len(trajectories):
        raise UserError(f"{path} ({trajectories.format}) has no trajectory in it")
    recordings = _OneFile(trajectories)
    dataset = Dataset(path, GivenRows(len(trajectories), recordings.row, str(path.absolute())))
    first = 0 if len(trajectories) == 1 else None
    return Opened(_launcher(config, dataset), dataset, recordings, first)


def _launcher(config: Config, dataset: Dataset) -> Launcher:
    return Launcher(config, dataset.path, model=config.settings.model.name or "", identity=dataset.identity())


def _same_dataset(config: Config, meta: dict[str, Any]) -> Dataset | None:
    """The dataset that a session was recorded on, if it is still there and what it was."""
    path, identity = meta.get("dataset"), meta.get("dataset_identity")
    if not isinstance(path, str) or not identity or not (file := config.cwd / path).exists():
        return None
    try:
        dataset = open_dataset(file, columns=config.columns)
        if dataset.identity() == identity:
            row = meta.get("row")
            if isinstance(row, int):
                dataset.row(row)
            return dataset
        dataset.close()
    except UserError:
        # It is shown without its dataset then.
        return None
    return None


def _made_dataset(folder: Path) -> Dataset:
    row = {"user_prompt": _prompt_of(folder) or "-"}
    return Dataset(folder, GivenRows(1, lambda number: row, str(folder.absolute())))


def _prompt_of(folder: Path) -> str:
    """The first message to the agent, if it is near the beginning of the recording."""
    try:
        with (folder / "events.jsonl").open("rb") as file:
            for _, line in zip(range(_LINES_TO_PROMPT), file, strict=False):
                event = event_from_json(line)
                if isinstance(event, UserMessageSent):
                    return event.text
    except (OSError, ValueError):
        # Opening the recording says what is wrong with it.
        return ""
    return ""
