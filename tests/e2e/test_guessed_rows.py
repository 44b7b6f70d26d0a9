"""`agentscope run` on rows of other people's columns: what was guessed, and a row that cannot be opened."""

from __future__ import annotations

import subprocess
from pathlib import Path

from e2e.terminal import COMMAND, bash, environment, submit, write_rows, write_script


def test_columns_are_guessed_and_told_and_a_row_without_its_folder_is_one_row(tmp_path: Path):
    rows = write_rows(
        tmp_path,
        {"id": "gone", "question": "first", "answer": 1},
        {"id": "there", "question": "second", "answer": 2},
    )
    (tmp_path / "tasks" / "there").mkdir(parents=True)
    (tmp_path / "tasks" / "there" / "hint").write_text("the hint\n")
    model = write_script(tmp_path, bash("cat hint row.json"), submit("2"))
    done = subprocess.run(
        [
            *(COMMAND, "run", str(rows), "--row", "0", "--row", "1"),
            *("--model", model, "--files", "tasks/{id}", "--grader", "exact"),
        ],
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    told = "agentscope: columns: question → user_prompt, answer → ground_truth (guessed; --map changes it)"
    assert told in done.stderr
    assert "row 0: the row's folder tasks/gone is missing (setting dataset.files)" in done.stderr
    assert "user:\n  second" in done.stdout
    assert "│ the hint" in done.stdout
    assert '"question": "second"' in done.stdout
    assert '"answer"' not in done.stdout.partition("proposes submit")[0]
    assert "reward (exact): 1" in done.stdout
    assert len(list((tmp_path / "state" / "sessions").iterdir())) == 1
