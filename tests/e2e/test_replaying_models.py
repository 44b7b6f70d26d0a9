"""Recorded sessions as a model, by the installed command: the demo again without its script, and as tests."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentscope_tui.resources import demo_dataset, demo_script, starter_files
from e2e.terminal import COMMAND, environment, submit, write_rows, write_script

ROWS = [json.loads(line) for line in demo_dataset().read_text(encoding="utf-8").splitlines()]
SLOW = [number for number, row in enumerate(ROWS) if "build.sh" in row["user_prompt"]]
TIMED = [
    number
    for number, row in enumerate(ROWS)
    if "unittest" in str(row.get("grader")) or "deploy.sh" in row["user_prompt"]
]
"""Their tools tell how long they took, or write to both streams at once, so that no two requests need be the
same."""
EXACT = [number for number in range(len(ROWS)) if number not in (*SLOW, *TIMED)]


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [COMMAND, *words],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return done


def events_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]


def course(folder: Path) -> list[Any]:
    """What was said and done in a session, without what is different each time."""
    told = {
        "assistant_message": ("text", "tool_calls"),
        "tool_call": ("name", "arguments"),
        "submit": ("answer",),
    }
    return [
        [event.get(name) for name in told[event["kind"]]]
        for event in events_of(folder)
        if event["kind"] in told
    ] + [event.get("reward") for event in events_of(folder) if event["kind"] == "graded"]


def sessions(folder: Path) -> list[Path]:
    return sorted((folder / "state" / "sessions").iterdir(), key=lambda path: path.stat().st_mtime_ns)


def with_rows(rows: Sequence[int]) -> list[str]:
    return [word for row in rows for word in ("--row", str(row))]


def quick_demo(folder: Path) -> str:
    """The demo's model without its pauses."""

    def quick(reply: dict[str, Any]) -> dict[str, Any]:
        then = {"then": [*map(quick, reply["then"])]} if "then" in reply else {}
        return {**reply, "tokens_per_second": 10_000, "delay": 0, **then}

    script = yaml.safe_load(demo_script().read_text(encoding="utf-8"))
    for part in script["scripts"]:
        part["replies"] = [*map(quick, part["replies"])]
    (folder / "demo.yaml").write_text(yaml.safe_dump(script))
    return f"scripted:{folder / 'demo.yaml'}"


def test_the_demo_again_from_its_recordings(tmp_path: Path):
    run(tmp_path, "run", *with_rows([*EXACT, *TIMED]), "--model", quick_demo(tmp_path))
    recorded = sessions(tmp_path)
    assert len(recorded) == len(EXACT) + len(TIMED)
    (tmp_path / "kept").mkdir()
    for folder in recorded:
        folder.rename(tmp_path / "kept" / folder.name)
    kept = {events_of(folder)[0]["row"]: folder for folder in (tmp_path / "kept").iterdir()}

    again = run(tmp_path, "run", *with_rows(EXACT), "--model", "replay:kept")
    assert "Not recorded" not in again.stdout
    for folder in sessions(tmp_path):
        assert course(folder) == course(kept[events_of(folder)[0]["row"]])
        used = [event for event in events_of(folder) if event["kind"] == "usage"]
        assert used
        assert all("cost" not in event and event["replayed"] for event in used)

    for row in TIMED:
        name = f"replay:{kept[row]}"
        run(tmp_path, "run", "--row", str(row), "--model", name, "--replay", "order")
        assert course(sessions(tmp_path)[-1]) == course(kept[row])


def test_last_stays_the_session_that_was_the_last(tmp_path: Path):
    rows = write_rows(tmp_path, *[{"user_prompt": "Say three."}] * 3)
    model = write_script(tmp_path, submit("3"), {"text": "It is three."})
    assert run(tmp_path, "run", str(rows), "--model", model, "--row", "0").returncode == 0
    [first] = sessions(tmp_path)
    again = run(tmp_path, "run", str(rows), "--model", "replay:last")
    assert again.returncode == 0
    models = [events_of(folder)[0]["model"] for folder in sessions(tmp_path)[1:]]
    assert models == [f"replay:{first.name}"] * 3
    assert [course(folder) for folder in sessions(tmp_path)] == [course(first)] * 4


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--model", "replay:nothing"], 1, "there is no session 'nothing'"),
        (["--model", "replay:last", "--replay", "loose"], 2, "--replay: model.replay cannot be 'loose'"),
        (["--model", "replay:last", "--replay-fallback", "replay:last"], 2, "name a live model"),
        (["--model", "replay:last", "--replay-fallback", "nobody:x"], 2, "no provider is called 'nobody'"),
        (["--model", "replay:two", "--replay", "order"], 2, "--replay order needs one session"),
        (["--model", "replay:empty"], 1, "no model was called in it"),
    ],
)
def test_what_cannot_be_replayed_is_said_before_anything_runs(
    tmp_path: Path, words: list[str], code: int, said: str
):
    rows = write_rows(tmp_path, {"user_prompt": "Say three."})
    run(tmp_path, "run", str(rows), "--model", write_script(tmp_path, {"text": "three"}))
    [folder] = sessions(tmp_path)
    lines = (folder / "events.jsonl").read_text().splitlines(keepends=True)
    for name in ("two/a", "two/b", "empty"):
        (tmp_path / name).mkdir(parents=True)
        kept = [line for line in lines if name != "empty" or '"kind":"llm_request"' not in line]
        (tmp_path / name / "events.jsonl").write_text("".join(kept))
    done = run(tmp_path, "run", str(rows), *words)
    assert (done.returncode, said in done.stderr) == (code, True), done.stderr
    assert done.stderr.count("\n") == 1
    assert len(sessions(tmp_path)) == 1


def test_another_prompt_is_answered_live_and_said(tmp_path: Path):
    rows = write_rows(tmp_path, {"user_prompt": "Say three."}, {"user_prompt": "Say four."})
    model = write_script(tmp_path, {"text": "three"})
    run(tmp_path, "run", str(rows), "--model", model, "--row", "0")
    failed = run(tmp_path, "run", str(rows), "--model", "replay:last", "--row", "1")
    assert failed.returncode == 1
    assert "Say three. → Say four." in failed.stdout
    live = run(tmp_path, "run", str(rows), "--model", "replay:last", "--row", "1", "--replay-fallback", model)
    assert live.returncode == 1, "the last session is the one that failed, in which nothing was answered"
    name = f"replay:{sessions(tmp_path)[0].name}"
    live = run(tmp_path, "run", str(rows), "--model", name, "--row", "1", "--replay-fallback", model)
    assert live.returncode == 0
    assert f"{model} answers." in live.stdout


# As a test of pytest


def pytest_of(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """pytest as a user runs it, in a project."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_a_session_of_the_demo_becomes_a_test(tmp_path: Path):
    run(tmp_path, "run", "--row", str(TIMED[0]), "--model", quick_demo(tmp_path))
    (tmp_path / "demo.yaml").unlink()
    done = run(tmp_path, "export", "last", "--pytest", "-o", "tests/test_cart.py")
    assert done.returncode == 0, done.stderr
    passed = pytest_of(tmp_path, "tests")
    assert passed.returncode == 0, passed.stdout
    assert "1 passed" in passed.stdout
    (tmp_path / "agentscope.yaml").write_text("session: {system: Be quick.}")
    failed = pytest_of(tmp_path, "tests")
    assert "1 failed" in failed.stdout
    assert (
        "differs from call #1 of test_cart.session: ~ message 1 (system): You are an agent" in failed.stdout
    )
    assert "→ Be quick." in failed.stdout


def test_a_session_of_a_python_agent_becomes_a_test(tmp_path: Path):
    for file in starter_files():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    assert run(tmp_path, "run", "tasks.jsonl", "--row", "0", "--trust").returncode == 0
    (tmp_path / "script.yaml").unlink()
    assert run(tmp_path, "export", "last", "--pytest", "-o", "test_words.py").returncode == 0
    passed = pytest_of(tmp_path)
    assert passed.returncode == 0, passed.stdout
    agent = tmp_path / "agent.py"
    changed = agent.read_text().replace("Answer with the number alone.", "Answer with the digits alone.")
    agent.write_text(changed)
    failed = pytest_of(tmp_path)
    assert "1 failed" in failed.stdout
    assert "Answer with the number alone. → " in failed.stdout
    assert "Answer with the digits alone." in failed.stdout
    agent.write_text(changed.replace("digits", "number").replace("return len(words)", "return 7"))
    failed = pytest_of(tmp_path)
    assert "differs from call #2 of test_words.session: ~ message 4 (tool): 4 → 7" in failed.stdout
