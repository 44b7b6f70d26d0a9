"""A session as a regression test: a file for pytest, and beside it the recording that it replays.

docs/regression-tests.md explains it to users.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agentscope_tui.errors import UserError
from agentscope_tui.event_lines import event_to_json
from agentscope_tui.events import SessionEvent, SessionStarted
from agentscope_tui.grading.spec import runs_code
from agentscope_tui.printable import printable
from agentscope_tui.secrets import MASKER
from agentscope_tui.session.recorded_turns import recorded_turns
from agentscope_tui.session.rerun import repeatable
from agentscope_tui.store.export.formats import Choices
from agentscope_tui.store.export.source import STREAMED, Source
from agentscope_tui.store.folders import read_meta
from agentscope_tui.store.snapshots import Snapshots
from agentscope_tui.testing import END, START, ReplayedSession, observed, project_settings

MOST_FILES = 200
MOST_BYTES = 4 << 20
"""What a folder of files may hold to become part of a test."""

_OF_THE_AGENT = ("runner.", "session.", "tools.", "limits.", "sandbox.", "grading.")
_NOT_REPEATED = ("session.mode", "tools.mcp_headers")
"""Of the settings that a test repeats, where the project's own file does not say the same."""


_KEPT = ("version", "created", "row", "runner", "model", "task")
"""What of `meta.json` a test has."""
_NO_TESTS = """\
# What is in here is data of a test: pytest has nothing to look for.
collect_ignore_glob = ["*"]
"""


def write(source: Source, path: Path, choices: Choices) -> bool:
    """Write the test to `path` and the recording to the folder `<name>.session` beside it.

    Raises:
        UserError: no turn of the session can be repeated, or it cannot be written.
    """
    events = list(source.events(without=STREAMED))
    turns = repeatable(recorded_turns(events))
    if not turns:
        raise UserError(f"{source.name}: no turn came to its end by itself, so there is nothing to test")
    events = _up_to_turn(events, len(turns))
    recording = _folder_of(path)
    if recording.exists() and not (recording / "events.jsonl").is_file():
        raise UserError(f"{recording} is there already and is no recording: name another file with -o")
    try:
        if recording.exists():
            shutil.rmtree(recording)
        recording.mkdir(parents=True)
        meta = read_meta(source.folder.path) if source.folder else {}
        _write_recording(recording, events, meta)
        if source.folder is not None:
            graders = {reward.grader for turn in turns for reward in turn.rewards} - {"agent"}
            _write_files(source, recording, any(map(runs_code, graders)), choices)
        cwd = Path(str(meta.get("cwd") or ""))
        project = cwd if cwd.is_dir() else Path.cwd()
        settings = _settings(meta.get("settings"), project)
        text = _test(path, project, source.name, observed(events), settings)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror or error}") from error
    return True


def _folder_of(path: Path) -> Path:
    """Where the recording of a test is."""
    return path.with_name(f"{path.stem}.session")


def _up_to_turn(events: list[SessionEvent], turns: int) -> list[SessionEvent]:
    """The events until the last grading of so many turns is over."""
    last = max(place for place, event in enumerate(events) if getattr(event, "turn", None) == turns)
    return events[: last + 1]


def _write_recording(recording: Path, events: list[SessionEvent], meta: Mapping[str, Any]) -> None:
    """What a replay needs, and nothing of this machine."""
    with (recording / "events.jsonl").open("w", encoding="utf-8") as out:
        for event in events:
            if isinstance(event, SessionStarted):
                dataset = Path(event.dataset).name
                event = event.model_copy(update={"folder": "", "dataset": dataset})
            out.write(event_to_json(event) + "\n")
    kept = {name: meta[name] for name in _KEPT if name in meta}
    text = json.dumps(MASKER.masked(kept), indent=2, ensure_ascii=False)
    (recording / "meta.json").write_text(f"{text}\n", encoding="utf-8")
    (recording / "conftest.py").write_text(_NO_TESTS, encoding="utf-8")


def _write_files(source: Source, recording: Path, graded: bool, choices: Choices) -> None:
    """The files at the first call, and those at the end where a grader may look at them."""
    assert source.folder is not None
    snapshots = Snapshots(source.folder.snapshots)
    if calls := snapshots.calls():
        (recording / START).mkdir()
        snapshots.restore(min(calls), recording / START)
    if graded and source.folder.files.is_dir():
        shutil.copytree(source.folder.files, recording / END, symlinks=True)
    for folder in (recording / START, recording / END):
        if folder.is_dir() and (problem := _unfit(folder)):
            shutil.rmtree(folder)
            choices.say(f"left out the files of {source.name} ({folder.name}): {problem}")


def _unfit(folder: Path) -> str:
    """Why files are not to be part of a test; empty: they may."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    if len(files) > MOST_FILES or sum(path.stat().st_size for path in files) > MOST_BYTES:
        return f"more than {MOST_FILES} files or {MOST_BYTES >> 20} MiB"
    for path in files:
        text = path.read_bytes().decode("latin-1")
        if MASKER.mask(text) != text:
            return f"{path.relative_to(folder)} holds a secret"
    return ""


def _settings(recorded: object, project: Path) -> dict[str, object]:
    """What has to be set beside the project's own settings, so that the same agent runs, by key."""
    with tempfile.TemporaryDirectory(prefix="agentscope-") as home:
        here = project_settings(project, {}, home)
    values = {".".join(path): value.value for path, value in here.values.items()}
    chosen = _flat(recorded) if isinstance(recorded, dict) else {}
    return {
        key: value
        for key, value in chosen.items()
        if key.startswith(_OF_THE_AGENT) and not key.startswith(_NOT_REPEATED) and values.get(key) != value
    }


def _flat(tree: Mapping[str, Any], above: str = "") -> dict[str, object]:
    values: dict[str, object] = {}
    for name, value in tree.items():
        if isinstance(value, dict) and value:
            values |= _flat(value, f"{above}{name}.")
        else:
            values[f"{above}{name}"] = value
    return values


def _test(path: Path, project: Path, name: str, seen: ReplayedSession, settings: Mapping[str, object]) -> str:
    way = os.path.relpath(project, path.absolute().parent)
    folder = "HERE" if way == "." else f"HERE / {way!r}"
    function = re.sub(r"\W+", "_", path.stem, flags=re.ASCII).strip("_").lower().removeprefix("test_")
    lines = [
        '"""The agent again, on the recorded answers of its model: no tokens, and nothing may change."""',
        "",
        f"# Of session {printable(name)}, by `agentscope export --pytest`. Edit it as you like.",
        "",
        "from pathlib import Path",
        "",
        "from agentscope_tui.testing import replay_session",
        "",
        "HERE = Path(__file__).resolve().parent",
        "",
        "",
        f"def test_{function}():",
        "    run = replay_session(",
        f"        HERE / {_folder_of(path).name!r},",
        f"        folder={folder},",
    ]
    if settings:
        lines += ["        settings={", *_pairs(settings), "        },"]
    lines += [
        '        tools="recorded",  # or "run": what the tools do now',
        "    )",
        '    assert not run.differences, "\\n".join(run.differences)',
        f"    assert run.outcome == {seen.outcome!r}, run.error",
        f"    assert run.calls == {seen.calls}",
        "    assert run.tool_calls == [",
        *(f"        {call!r}," for call in seen.tool_calls),
        "    ]",
        f"    assert run.answer == {seen.answer!r}",
    ]
    if seen.reward is not None:
        lines.append(f"    assert run.reward == {seen.reward!r}")
    return "\n".join(lines) + "\n"


def _pairs(settings: Mapping[str, object]) -> Iterator[str]:
    for key, value in settings.items():
        yield f"            {key!r}: {value!r},"
