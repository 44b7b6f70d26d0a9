"""What `--model replay:SESSION` names: recorded sessions, or a file of another tool, read once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from agentscope_tui.errors import UsageError, UserError
from agentscope_tui.folders import sessions_dir
from agentscope_tui.models.factory import REPLAY
from agentscope_tui.store.find import find_session

if TYPE_CHECKING:
    from agentscope_tui.config import Config
    from agentscope_tui.models.chat import Model
    from agentscope_tui.session.recording import RecordedAnswer, Recording


def replays(name: str) -> bool:
    """Whether this name of a model means recorded sessions."""
    return name.startswith(REPLAY)


def pinned(config: Config, name: str) -> str:
    """The name with the session's whole id in it: once a session replays, `last` would be that one.

    Raises:
        UserError: there is no such session.
    """
    if not replays(name):
        return name
    sessions = sessions_dir(config.state)
    place = _place(name.removeprefix(REPLAY), sessions)
    return f"{REPLAY}{place.name if place.parent == sessions else place}"


def recording_of(config: Config, name: str) -> Recording:
    """What a name `replay:SESSION` means: a session, a folder of sessions, or a file of another tool.

    Raises:
        UserError: there is none, it cannot be read, or no model was called in it; or answers of several
            sessions are to come in order.
    """
    place = _place(name.removeprefix(REPLAY), sessions_dir(config.state))
    files = _recordings_in(place) if place.is_dir() else [place]
    try:
        states = [os.stat(file) for file in files]
    except OSError as error:
        raise UserError(f"cannot read {error.filename}: {error.strerror}") from error
    recording = _read(
        tuple((file, state.st_mtime_ns, state.st_size) for file, state in zip(files, states, strict=True))
    )
    if not recording.answers:
        raise UserError(f"there is nothing to replay in {place}: no model was called in it")
    if config.settings.model.replay == "order" and recording.sessions > 1:
        raise UsageError(
            f"--replay order needs one session, and {place} has {recording.sessions}: use --replay strict"
        )
    return recording


def replay_model(config: Config, name: str, fallback: Model | None) -> Model:
    """The model of one session that replays; raises as `recording_of`."""
    from agentscope_tui.models.replay import ReplayModel

    model = config.settings.model
    return ReplayModel(
        recording_of(config, name),
        name=name,
        mode=model.replay,
        fallback=fallback,
        tokens_per_second=model.replay_tokens_per_second,
    )


def _place(name: str, sessions: Path) -> Path:
    """A session's folder, a folder of them, or a file."""
    path = Path(name).expanduser()
    if path.is_file() and path.name != "events.jsonl":
        return path.absolute()
    if path.is_dir() and _recordings_in(path):
        return path.absolute()
    return find_session(name, sessions).absolute()


def _recordings_in(folder: Path) -> list[Path]:
    own = folder / "events.jsonl"
    return [own] if own.is_file() else sorted(folder.glob("*/events.jsonl"))


@lru_cache(maxsize=4)
def _read(files: tuple[tuple[Path, int, int], ...]) -> Recording:
    """Many sessions of one process replay the same: it is read again only after it has grown."""
    from agentscope_tui.session.recording import Recording

    return Recording(answer for file, _, _ in files for answer in _answers(file))


def _answers(file: Path) -> Iterator[RecordedAnswer]:
    from agentscope_tui.session.recording import recorded_answers

    if file.name == "events.jsonl":
        from agentscope_tui.store.export.source import STREAMED, recorded

        source = recorded(file.parent)
        yield from recorded_answers(source.name, source.events(without=STREAMED))
        return
    from agentscope_tui.store.imports import open_trajectories

    trajectories = open_trajectories(file)
    for number in range(len(trajectories)):
        past = trajectories.session(number)
        yield from recorded_answers(past.session_id, past.events)
