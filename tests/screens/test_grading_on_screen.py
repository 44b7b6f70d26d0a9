"""Graders on the screen: score now, a grader's metrics as columns, and rows filtered and sorted by them."""

from __future__ import annotations

from pathlib import Path

from agentscope_tui.tui.panes.rows_pane import RowsPane
from agentscope_widgets.row_list import RowList
from screens.stage import UNTIL_GO, Stage, View, bash, reply

SUBMIT = ("submit", {"answer": "4"})
GRADERS = """
def score(answer, row):
    return {"reward": 0.5, "reason": "so so", "metrics": {"length": len(answer), "row": row["id"]}}
"""


def stage_of(folder: Path, *, rows: int = 1) -> Stage:
    (folder / "graders.py").write_text(GRADERS)
    stage = Stage(folder)
    stage.rows = [{"user_prompt": "2 + 2?", "ground_truth": "4", "id": number} for number in range(rows)]
    return stage


async def test_score_now_is_told_and_is_not_the_reward(tmp_path: Path) -> None:
    stage = stage_of(tmp_path)
    stage.says(reply("I look.", bash(UNTIL_GO)), reply("4", SUBMIT))
    app = stage.app({"grading.grader": "graders:score", "session.mode": "run"})
    async with stage.running(app) as view:
        await view.open()
        await view.until(lambda: view.state.running_calls, "the tool")
        await view.press("dollar_sign")
        await view.until(lambda: "score now 0.5 · graders:score" in view.transcript, "the score")
        assert "length 7 · row 0" in view.transcript
        assert view.state.reward is None
        assert "reward" not in view.status
        view.let_go()
        await view.until(lambda: view.state.reward == 0.5, "the reward")
        await view.until(lambda: "★ reward 0.5" in view.transcript)
        await view.press("alt+s")
        scores = view.state.entries
        await view.until(lambda: sum(entry.provisional for entry in scores) == 2, "another score")


async def test_score_now_without_a_grader_says_what_to_do(tmp_path: Path) -> None:
    stage = stage_of(tmp_path)
    stage.says(reply("4", SUBMIT))
    async with stage.running(stage.app()) as view:
        await view.opened_and_paused()
        await view.press("dollar_sign")
        await view.until(lambda: _told(view, "name one with --grader"), "the hint")


async def test_metrics_are_columns_to_filter_and_sort_by(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, rows=3)
    stage.says(reply("4", SUBMIT))
    settings = {"grading.grader": ["right@3=exact", "mine=graders:score"], "session.mode": "run"}
    async with stage.running(stage.app(settings), size=(200, 30)) as view:
        pane, rows = view.debugger.query_one(RowsPane), view.pane(RowList)
        for index in (1, 2):
            await view.open(index)
            await view.until(lambda: view.state.reward == (3 + 0.5) / 4, "the reward")
        keys = [column.key for column in pane.rows.columns]
        assert keys[-5:] == ["prompt", "reward.right", "reward.mine", "reward.mine.length", "reward.mine.row"]
        cells = pane.rows.cells(2).texts
        assert [cells[key] for key in keys[-4:]] == ["1", "0.5", "1", "2"]
        pane.post_message(RowList.SortRequested("reward.mine.row"))
        await view.until(lambda: [pane.rows.index(place) for place in range(3)] == [1, 2, 0], "the order")
        pane.post_message(RowList.SortRequested("reward.mine.row"))
        await view.until(
            lambda: [pane.rows.index(place) for place in range(3)] == [2, 1, 0], "the other order"
        )
        view.debugger.action_pane("rows")
        await view.press("f")
        await view.type("reward.mine.row > 1")
        await view.press("enter")
        await view.until(lambda: rows.row_count == 1 and pane.rows.index(0) == 2, "the filtered rows")


async def test_recorded_metrics_are_columns_again(tmp_path: Path) -> None:
    stage = stage_of(tmp_path)
    stage.says(reply("4", SUBMIT))
    settings = {"grading.grader": "graders:score", "session.mode": "run"}
    async with stage.running(stage.app(settings)) as view:
        await view.open()
        await view.until(lambda: view.state.reward == 0.5, "the reward")
    async with stage.running(stage.app(settings), size=(200, 30)) as view:
        pane = view.debugger.query_one(RowsPane)
        await view.until(
            lambda: "reward.length" in [column.key for column in pane.rows.columns], "the column"
        )
        await view.until(lambda: pane.rows.cells(0).texts.get("reward.length") == "1")


def _told(view: View, text: str) -> bool:
    return any(text in notice.message for notice in view.app._notifications)
