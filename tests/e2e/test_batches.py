"""Whole datasets from the command line: many rows at a time, killed, resumed, retried, stopped."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agentscope_tui.batch.results import RolloutResult, read_results
from agentscope_tui.trust import is_own
from e2e.terminal import (
    COMMAND,
    DEADLINE,
    bash,
    environment,
    processes,
    submit,
    write_rows,
    write_script,
)
from fakes.raw_server import RawServer, plain

ROWS = 40


def started(folder: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [COMMAND, "run", *words],
        cwd=folder,
        env={**environment(folder), "NO_PROXY": "127.0.0.1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(folder: Path, *words: str) -> tuple[int, str, str]:
    process = started(folder, *words)
    out, err = process.communicate(timeout=60)
    assert "Traceback" not in err
    return process.returncode, out, err


def until(predicate: Callable[[], Any], what: str) -> None:
    deadline = time.monotonic() + DEADLINE
    while not predicate():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def results(folder: Path) -> list[RolloutResult]:
    return [RolloutResult.model_validate_json(line) for line in (folder / "results.jsonl").open("rb")]


def done(folder: Path) -> Counter[int]:
    """How often each row was run to its end."""
    return Counter(result.row for result in results(folder) if result.state == "done")


@pytest.fixture(params=["local:1", "local:2"])
def slow(tmp_path: Path, request: pytest.FixtureRequest) -> list[str]:
    """A dataset of many rows, each of which takes a moment and a tool call, in one process and in two."""
    rows = write_rows(tmp_path, *({"user_prompt": f"task {n}", "ground_truth": "7"} for n in range(ROWS)))
    model = write_script(tmp_path, {**bash("sleep 0.1; echo 7", "I look."), "delay": 0.1}, submit("7"))
    words = ["--model", model, "--grader", "exact", "--concurrency", "4", "--out", "out"]
    return [str(rows), *words, "--engine", request.param]


def test_a_run_that_was_killed_is_resumed_and_no_row_is_done_twice(tmp_path: Path, slow: list[str]) -> None:
    out = tmp_path / "out"
    process = started(tmp_path, *slow)
    until(lambda: (out / "results.jsonl").exists() and len(results(out)) >= 5, "some results")
    process.kill()
    process.communicate(timeout=DEADLINE)
    before = done(out)
    assert 5 <= len(before) < ROWS
    code, said, err = run(tmp_path, *slow)
    assert code == 1
    assert "holds a run already: go on with --resume" in err
    code, said, err = run(tmp_path, *slow, "--resume")
    assert (code, done(out)) == (0, Counter(range(ROWS))), err
    assert f"{ROWS} done · 0 failed · mean reward 1" in said
    assert said.count("✓ row") == ROWS - len(before)
    for result in results(out):
        assert (result.reward, result.answer, result.calls) == (1.0, "7", 2)
        events = (out / "sessions" / result.session / "events.jsonl").read_text().splitlines()
        assert json.loads(events[0])["row"] == result.row
        meta = json.loads((out / "sessions" / result.session / "meta.json").read_text())
        assert (meta["run"], meta["rollout"]) == ("out", 0)
    code, said, _ = run(tmp_path, *slow, "--resume")
    assert (code, said.count("row"), done(out)) == (0, 0, Counter(range(ROWS)))
    state = tmp_path / "state"
    assert is_own(state, out / "sessions" / results(out)[0].session / "meta.json")


def test_ctrl_c_takes_no_more_rows_and_twice_ends_those_that_run(tmp_path: Path, slow: list[str]) -> None:
    out = tmp_path / "out"
    process = started(tmp_path, *slow)
    until(lambda: (out / "results.jsonl").exists() and len(results(out)) >= 2, "some results")
    process.send_signal(signal.SIGINT)
    said, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 130
    assert "the running ones come to their end: ctrl+c again ends them" in err
    assert {result.state for result in results(out)} == {"done"}
    ended = len(results(out))
    assert ended < ROWS
    assert f"{ended} done · 0 failed · {ROWS - ended} not run" in said

    process = started(tmp_path, *slow, "--resume")
    until(lambda: len(results(out)) >= ended + 1, "one more result")
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    said, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 130
    stopped = [result for result in results(out) if result.state == "stopped"]
    assert all(result.error == "interrupted" for result in stopped)
    code, _, _ = run(tmp_path, *slow, "--resume")
    assert (code, done(out)) == (0, Counter(range(ROWS)))


def test_nothing_is_left_of_a_run_in_several_processes_that_was_killed(tmp_path: Path) -> None:
    rows = write_rows(tmp_path, *({"user_prompt": f"task {n}"} for n in range(2)))
    model = write_script(tmp_path, bash("echo > here; sleep 977.25"))
    process = started(tmp_path, str(rows), "--model", model, "--out", "out", "--engine", "local:2")
    made = partial((tmp_path / "out" / "sessions").glob, "*/files/here")
    until(lambda: len([*made()]) == 2, "two tools")
    workers = children_of(process.pid)
    assert len(workers) == 2
    process.kill()
    process.communicate(timeout=DEADLINE)
    until(lambda: not processes("977.25") and not any(map(alive, workers)), "the end of all processes")


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--engine", "local:0"), "'0' is not a number from 1 up"),
        (("--engine", "here"), "'here' is neither local nor local:N nor ray nor ray:ADDRESS"),
        (
            ("--engine", "local:2", "--events", "e"),
            "only one process can run these sessions: what happens in",
        ),
        (("--engine", "local:2", "--listen", "127.0.0.1:0"), "runners dial in at one process (--listen)"),
    ],
)
def test_what_several_processes_cannot_run_is_refused(
    tmp_path: Path, words: tuple[str, ...], problem: str
) -> None:
    rows = write_rows(tmp_path, {"user_prompt": "a"})
    model = write_script(tmp_path, submit("7"))
    code, _, err = run(tmp_path, str(rows), "--model", model, "--out", "out", *words)
    assert (code, problem in err) == (2, True), err
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "e").exists()


def test_another_run_is_not_mixed_in(tmp_path: Path, slow: list[str]) -> None:
    assert run(tmp_path, *slow, "--rows", "0")[0] == 0
    code, _, err = run(tmp_path, *slow, "--resume", "--temperature", "0.5")
    assert code == 1
    assert "holds another run, it cannot be resumed: model.temperature was not set and is 0.5" in err


def test_failed_rows_are_retried(tmp_path: Path) -> None:
    rows = write_rows(
        tmp_path, {"user_prompt": "a", "ground_truth": "7"}, {"user_prompt": "b"}, {"user_prompt": 1}
    )
    words = [str(rows), "--model", write_script(tmp_path, submit("7")), "--grader", "exact", "--out", "out"]
    code, said, _ = run(tmp_path, *words, "--n", "2")
    assert code == 1
    assert "2 done · 4 failed · mean reward 1" in said
    assert "row 1 has none" in said
    assert run(tmp_path, *words, "--n", "2", "--resume")[:2] == (
        1,
        f"2 done · 4 failed · mean reward 1 · {tokens(tmp_path)} tokens\nresults: out\n",
    )
    code, said, _ = run(tmp_path, *words, "--n", "2", "--retry", "failed")
    assert (code, said.count("✗ row")) == (1, 4)
    assert {key: result.state for key, result in read_results(tmp_path / "out").items()} == {
        (row, rollout): "failed" if row else "done" for row in range(3) for rollout in range(2)
    }


def tokens(folder: Path) -> str:
    newest = read_results(folder / "out").values()
    return f"{sum(result.input_tokens + result.output_tokens for result in newest):,}"


def test_a_summary_for_programs(tmp_path: Path) -> None:
    rows = write_rows(tmp_path, *({"user_prompt": "a", "ground_truth": "7"} for _ in range(3)))
    model = write_script(tmp_path, submit("7"))
    code, said, _ = run(tmp_path, str(rows), "--model", model, "--grader", "exact", "--json", "--events", "e")
    summary = json.loads(said)
    assert code == 0
    assert (summary["total"], summary["done"], summary["failed"], summary["left"]) == (3, 3, 0, 0)
    assert summary["mean_reward"] == 1
    assert {result.row for result in read_results(Path(summary["run"])).values()} == {0, 1, 2}
    assert len({json.loads(line)["session_id"] for line in (tmp_path / "e").open()}) == 3


async def test_a_wrong_key_stops_the_run_and_costs_no_row(tmp_path: Path) -> None:
    rows = write_rows(tmp_path, *({"user_prompt": f"task {n}"} for n in range(30)))
    wrong = plain(401, {"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}})
    async with RawServer([wrong] * 30) as server:
        words = [str(rows), "--model", "openai:m", "--base-url", server.base_url, "--out", "out"]
        code, said, err = await asyncio.to_thread(run, tmp_path, *words, "--concurrency", "2")
    assert code == 3
    assert "agentscope: stopped: " in err
    assert "Incorrect API key" in err
    assert "30 not run" in said
    assert {result.state for result in read_results(tmp_path / "out").values()} == {"stopped"}
