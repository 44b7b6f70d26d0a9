"""Several calls that wait at once: the cursor says which one is stepped, else the oldest is."""

from __future__ import annotations

from agentscope_widgets.transcript import Transcript
from fakes.programs import write_program
from screens.stage import Stage

PARALLEL = """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(3) as pool:
    print(*pool.map(lambda name: ask(name)["content"], ["a", "b", "c"]))
"""


async def test_the_call_under_the_cursor_is_stepped_else_the_oldest(stage: Stage):
    settings = {"runner.program": write_program(stage.folder, PARALLEL)}
    async with stage.running(stage.app(settings)) as view:
        await view.open()
        await view.until(lambda: len(view.state.holds) == 3 and "PAUSED after call #1 (+2)" in view.status)
        place = next(
            position
            for position, entry in enumerate(view.state.entries)
            if entry.kind == "assistant" and entry.call == 2
        )
        view.pane(Transcript).cursor = place
        await view.press("n")
        await view.until(lambda: [hold.call for hold in view.state.holds] == [1, 3])
        view.pane(Transcript).cursor = None
        await view.press("n")
        await view.until(lambda: [hold.call for hold in view.state.holds] == [3])
        await view.press("c")
        await view.until(lambda: "DONE" in view.status)
