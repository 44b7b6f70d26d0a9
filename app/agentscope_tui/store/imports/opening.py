"""Which tool wrote a file: told by its content, never by its name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agentscope_tui.errors import UserError
from agentscope_tui.store.imports.atif import AtifFile, is_atif
from agentscope_tui.store.imports.claude_code import ClaudeFile, is_claude_entry
from agentscope_tui.store.imports.inspect_log import EvalFile, LogFile, is_archive, is_log
from agentscope_tui.store.imports.mini_swe_agent import MiniFile, is_mini_trajectory
from agentscope_tui.store.imports.openai_chat import ChatFile, is_chat, is_chat_list
from agentscope_tui.store.imports.our_html import PageFile, is_page
from agentscope_tui.store.imports.pi import PiFile, is_pi_entry
from agentscope_tui.store.imports.reading import BOM, LineFile, Unreadable, parse_json, read_whole
from agentscope_tui.store.imports.records import LineRecords, ListRecords, Records
from agentscope_tui.store.imports.swe_agent import SweFile, is_swe_trajectory
from agentscope_tui.store.imports.trajectories import Trajectories
from agentscope_tui.store.imports.verifiers import RolloutFile, is_rollout
from agentscope_tui.store.imports.verifiers_traces import TraceFile, is_episode

KNOWN = (
    "ATIF, OpenAI chat, Inspect logs, verifiers and prime-rl results, Claude Code and pi sessions, "
    "SWE-agent and mini-SWE-agent trajectories, and pages that agentscope wrote"
)
_LOOKED_AT = 50
"""Lines at the beginning that are looked at: the first may be broken, or of a sort that many formats have."""


def open_trajectories(path: Path) -> Trajectories:
    """The trajectories in a file of another tool. Reads no more than it must, but does block.

    Raises:
        UserError: the file cannot be read, or is of no format that is known.
    """
    head = _head(path)
    if is_page(head):
        return PageFile(path)
    if is_archive(head):
        return EvalFile(path)
    if head.lstrip()[:1] in (b"{", b"["):
        found, what = _open_json(path)
        if found is not None:
            return found
    else:
        what = _what(head)
    raise UserError(f"{path} is no trajectory that agentscope knows: it is {what}. Known are {KNOWN}.")


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(4096).removeprefix(BOM)
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error


def _what(head: bytes) -> str:
    """What a file that is no JSON looks like."""
    if not head.strip():
        return "empty"
    if b"\0" in head:
        return "binary data"
    first = head.decode("utf-8", "replace").strip().partition("\n")[0]
    return f"text that begins with {first[:40]!r}"


def _open_json(path: Path) -> tuple[Trajectories | None, str]:
    """Open JSON of either sort, or say what is in it."""
    lines = LineFile(path)
    values = list(_first_values(lines))
    if len(lines) > 1 and values and values[0][0] == 0:
        return _open_lines(lines, values), f"JSON lines, and in the first is {_told(values[0][1])}"
    # One value over many lines; or lines, and the first of them is broken.
    try:
        value = parse_json(read_whole(path))
    except Unreadable as problem:
        return _open_lines(lines, values), str(problem)
    return _open_value(path, value) or _open_lines(lines, [(0, value)]), _told(value)


def _first_values(lines: LineFile) -> Iterator[tuple[int, Any]]:
    """The objects in the first lines, with their places."""
    for place in range(min(len(lines), _LOOKED_AT)):
        try:
            value = lines.value(place)
        except Unreadable:
            continue
        if isinstance(value, dict):
            yield place, value


def _open_value(path: Path, value: Any) -> Trajectories | None:
    """Open a file that is one value."""
    if is_atif(value):
        return AtifFile(path, value)
    if is_log(value):
        return LogFile(path, value)
    if is_swe_trajectory(value):
        return SweFile(path, value)
    if is_mini_trajectory(value):
        return MiniFile(path, value)
    if is_chat_list(value):
        return ChatFile(ListRecords(path, [{"messages": value}]))
    values = value if isinstance(value, list) else [value]
    return _open_records(values[:_LOOKED_AT], ListRecords(path, values))


def _open_lines(lines: LineFile, first: list[tuple[int, Any]]) -> Trajectories | None:
    """Open a file of many lines, by what is in the first of them."""
    values = [value for _, value in first]
    if any(map(is_episode, values)):
        return TraceFile(lines)
    if any(map(is_pi_entry, values)):
        return PiFile(lines)
    if any(map(is_claude_entry, values)):
        return ClaudeFile(lines)
    return _open_records(values, LineRecords(lines.path, lines))


def _open_records(values: list[Any], records: Records) -> Trajectories | None:
    """Open a file whose records are each a trajectory."""
    if any(map(is_rollout, values)):
        return RolloutFile(records)
    if any(map(is_chat, values)):
        return ChatFile(records)
    return None


def _told(value: Any) -> str:
    match value:
        case dict():
            keys = ", ".join(map(repr, list(value)[:6]))
            return f"a JSON object with {keys}" if keys else "an empty JSON object"
        case [first, *_]:
            return f"a JSON array that begins with {_told(first)}"
        case []:
            return "an empty JSON array"
        case _:
            return f"the JSON value {str(value)[:40]!r}"
