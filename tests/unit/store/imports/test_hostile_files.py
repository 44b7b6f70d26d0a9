"""Whatever stands in a file, it opens with its problems told, or says that it cannot be opened."""

from __future__ import annotations

import json
import tempfile
import zipfile
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentscope_tui.errors import UserError
from agentscope_tui.store.imports import open_trajectories
from agentscope_tui.store.imports.archives import Archive
from fakes import foreign_files as foreign
from fakes import foreign_samples as samples

LEAVES: list[Any] = [
    None,
    True,
    0,
    -1,
    3.7,
    1e300,
    2**80,
    float("nan"),
    float("inf"),
    "",
    "text",
    "\ud800",
    "\x1b[31m[/x]",
    "c1",
    "user",
    "assistant",
    "attachment://aa",
    "2026-13-99",
    "0001-01-01T00:00:00+23:59",
    "9999-12-31T23:59:59Z",
    [],
    {},
    [[]],
    [None],
    [{}],
    {"": {}},
    [[0, 10**12], [5, 2], ["a", None]],
    {"role": "tool", "content": 5, "tool_call_id": []},
]


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every place in JSON data, as the container and the key or index."""
    found = []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found.append((value, key))
        found += _places(item)
    return found


def _changed(data: st.DataObject, value: Any) -> Any:
    """JSON data with a few of its places replaced, removed, or put there twice."""
    value = deepcopy(value)
    for _ in range(data.draw(st.integers(1, 4))):
        places = _places(value)
        if not places:
            break
        holder, key = places[data.draw(st.integers(0, len(places) - 1))]
        match data.draw(st.sampled_from(["replace", "replace", "remove", "move", "twice"])):
            case "replace":
                holder[key] = deepcopy(LEAVES[data.draw(st.integers(0, len(LEAVES) - 1))])
            case "remove":
                del holder[key]
            case "move":
                other, at = places[data.draw(st.integers(0, len(places) - 1))]
                holder[key] = deepcopy(other[at])
            case _:
                if isinstance(holder, list):
                    holder.append(deepcopy(holder[key]))
    return value


def _text(value: Any, *, as_lines: bool) -> str:
    return foreign.lines(*value) if as_lines and isinstance(value, list) else json.dumps(value)


@pytest.mark.parametrize("name", samples.FILES)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_file_with_anything_anywhere_keeps_the_promises_of_a_session(
    name: str, data: st.DataObject
) -> None:
    written = samples.FILES[name]()
    as_lines = isinstance(written, str)
    value = [json.loads(line) for line in written.splitlines()] if as_lines else written
    check(_text(_changed(data, value), as_lines=as_lines).encode("utf-8", "surrogatepass"))


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_sample_of_a_log_with_anything_anywhere_does_too(data: st.DataObject) -> None:
    sample = _changed(data, samples.inspect_sample())
    parts = {**samples.inspect_parts(), "samples/1_epoch_1.json": json.dumps(sample).encode()}
    check(foreign.archive(parts, data.draw(st.sampled_from([0, 93]))))


@pytest.mark.parametrize("name", [*samples.FILES, "eval"])
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_file_with_other_bytes_in_it_is_opened_or_refused(name: str, data: st.DataObject) -> None:
    written = samples.inspect_eval() if name == "eval" else samples.FILES[name]()
    text = written if isinstance(written, bytes) else _text(written, as_lines=False).encode()
    text = written.encode() if isinstance(written, str) else text
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 40)))
    check(text[:start] + data.draw(st.binary(max_size=12)) + text[end:])


def check(data: bytes) -> None:
    """Open all of a file; it may be refused, and nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        path = foreign.write(Path(folder) / "file", data)
        try:
            trajectories = open_trajectories(path)
        except UserError:
            return
        for number in range(len(trajectories)):
            foreign.shown(trajectories, number)


def test_what_is_nested_without_end_is_cut(tmp_path: Path) -> None:
    deep: Any = "end"
    for _ in range(300):
        deep = {"a": [deep]}
    opened = foreign.open_file(tmp_path / "chat", {**samples.chat(), "metadata": deep})
    told = json.dumps(opened.extras()["chat"]["metadata"], ensure_ascii=False)
    assert told.count("[") < 40
    assert "…" in told
    with pytest.raises(UserError, match="nested too deeply"):
        open_trajectories(foreign.write(tmp_path / "deeper", '{"a":' * 200_000))


def test_numbers_that_are_none_are_told_as_words(tmp_path: Path) -> None:
    row = foreign.lines({**samples.rollout(), "reward": float("nan"), "advantage": float("inf")})
    opened = foreign.open_file(tmp_path / "results", row)
    assert opened.state.reward is None
    assert opened.extras()["rollout"]["reward"] == "NaN"
    assert opened.extras()["rollout"]["advantage"] == "Infinity"


def test_an_archive_that_would_fill_the_memory_is_refused(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("agentscope_tui.store.imports.archives.LARGEST_PART", 100_000)
    parts = {**samples.inspect_parts(), "samples/2_epoch_1.json": b" " * 10_000_000}
    for method in (zipfile.ZIP_DEFLATED, 93):
        path = foreign.write(tmp_path / f"{method}.eval", foreign.archive(parts, method))
        trajectories = open_trajectories(path)
        assert foreign.shown(trajectories, 0).problems() == []
        (problem,) = foreign.shown(trajectories, 1).problems()
        assert "too large when it is unpacked" in problem


def test_an_archive_whose_part_was_changed_says_so(tmp_path: Path) -> None:
    data = foreign.archive(samples.inspect_parts(), zipfile.ZIP_STORED)
    path = foreign.write(tmp_path / "x.eval", data.replace(b"One file.", b"Two files", 1))
    (problem,) = foreign.shown(open_trajectories(path)).problems()
    assert "checksum" in problem


def test_an_attachment_or_a_message_that_is_named_very_often_is_put_in_place_only_so_often(
    tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr("agentscope_tui.store.imports.inspect_pools.MOST_CHARACTERS", 5_000)
    monkeypatch.setattr("agentscope_tui.store.imports.inspect_pools.MOST_MESSAGES", 1_000)
    sample = samples.inspect_sample()
    sample["attachments"]["aa"] = "x" * 2_000
    sample["events"][2]["result"] = ["attachment://aa"] * 1_000
    sample["events"][1]["input_refs"] = [[0, 3]] * 100_000
    path = foreign.write(tmp_path / "x.eval", foreign.archive(samples.inspect_parts(sample)))
    opened = foreign.shown(open_trajectories(path))
    assert len(opened.state.request_messages(1)) <= 1_000
    assert sum(len(call.content) for call in opened.state.calls) < 100_000


def test_the_names_in_an_archive_lead_nowhere(tmp_path: Path) -> None:
    parts = {**samples.inspect_parts(), "samples/../../../evil_epoch_1.json": samples.inspect_sample(2)}
    (tmp_path / "deep").mkdir()
    path = foreign.write(tmp_path / "deep" / "x.eval", foreign.archive(parts))
    assert "samples/../../../evil_epoch_1.json" in Archive(path).names
    trajectories = open_trajectories(path)
    assert foreign.shown(trajectories, 0).state.call == 2
    assert [found.name for found in tmp_path.rglob("*")] == ["deep", "x.eval"]


def test_a_tree_without_end_and_a_branch_at_every_entry_open(tmp_path: Path) -> None:
    entries = [
        {
            "type": "message",
            "id": f"e{number}",
            "parentId": f"e{number // 2}",
            "timestamp": "2026-01-01T10:00:00Z",
            "message": {"role": "user", "content": f"say {number}"},
        }
        for number in range(400)
    ]
    entries[0]["parentId"] = "e399"
    path = foreign.write(tmp_path / "pi", foreign.lines(*entries))
    trajectories = open_trajectories(path)
    assert len(trajectories) == 200
    for number in (0, 1, 199):
        foreign.shown(trajectories, number)
