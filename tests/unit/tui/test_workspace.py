"""The sessions behind the screen: real ones, with tools that run and a scripted model."""

from __future__ import annotations

import pytest

from agentscope_tui.datasets.task import Task
from agentscope_tui.errors import UserError
from agentscope_tui.tui.workspace import RowSession, Workspace
from screens.stage import Stage, bash, reply
from waiting import wait_until

RUN = {"session.mode": "run"}


async def opened(workspace: Workspace, index: int = 0) -> RowSession:
    task = workspace.row(index)
    assert isinstance(task, Task)
    return await workspace.open(task)


async def pumped(row: RowSession, status: str) -> list[str]:
    """Fold what comes until the session has this status; the texts that were given back."""
    returned: list[str] = []

    def arrived() -> bool:
        returned.extend(row.pump()[1])
        return row.state.status == status

    await wait_until(arrived, status)
    return returned


async def test_output_past_what_events_carry_is_read_from_its_file(stage: Stage):
    stage.says(reply("", bash("seq 400000")), reply("", bash("true")), reply("end"))
    workspace = stage.app(RUN).workspace
    row = await opened(workspace)
    await pumped(row, "idle")
    numbers, silent = row.state.calls
    buffer = row.output_of(numbers)
    assert row.has_more_output(numbers)
    await wait_until(lambda: row.output_of(numbers) and not row.has_more_output(numbers), "all output")
    assert any(piece.file for piece in numbers.output)
    assert "".join(run.text for run in buffer.line(buffer.end - 1).runs) == "400000"
    assert row.output_of(numbers) is buffer
    assert row.output_of(silent).line_count <= 1
    assert not row.active
    await workspace.aclose()


async def test_a_row_that_is_opened_again_ends_its_first_session(stage: Stage):
    stage.says(reply("", bash("sleep 600")))
    workspace = stage.app(RUN).workspace
    first = await opened(workspace)
    await wait_until(lambda: first.pump() and first.state.running_calls)
    assert workspace.active() == [first]
    second = await opened(workspace)
    assert first.session.status == "ended"
    assert workspace.sessions == {0: second}
    await workspace.aclose()
    assert second.session.status == "ended"


@pytest.mark.parametrize(("setting", "given_back"), [("return", ["too late"]), ("send", [])])
async def test_undelivered_messages_are_given_back_unless_they_are_sent(
    stage: Stage, setting: str, given_back: list[str]
):
    stage.says(reply("", bash("sleep 600")), reply("next"))
    workspace = stage.app({**RUN, "session.undelivered_steers": setting}).workspace
    row = await opened(workspace)
    await wait_until(lambda: row.pump() and row.state.running_calls)
    row.session.send("too late")
    row.session.interrupt()
    assert await pumped(row, "idle") == given_back
    await workspace.aclose()


async def test_a_session_that_cannot_be_opened_leaves_its_reason(stage: Stage):
    workspace = stage.app().workspace
    (stage.state / "sessions").rmdir()
    (stage.state / "sessions").write_text("in the way")
    with pytest.raises(UserError):
        await opened(workspace)
    assert "AGENTSCOPE_HOME" in workspace.problems[0]
    (stage.state / "sessions").unlink()
    await opened(workspace)
    assert workspace.problems == {}
    await workspace.aclose()
