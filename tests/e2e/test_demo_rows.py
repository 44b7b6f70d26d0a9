"""Every row of the demo for real: run by the installed command, and with a user who steers and interrupts."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agentscope_tui.config import load_settings
from agentscope_tui.datasets.dataset import Dataset
from agentscope_tui.datasets.task import Task
from agentscope_tui.events import Graded, SessionEvent
from agentscope_tui.models.script import load_script
from agentscope_tui.options import Options
from agentscope_tui.resources import demo_dataset, demo_script
from agentscope_tui.session.forking import EditedResult, Fork
from agentscope_tui.session.launch import Launcher, open_rows
from agentscope_tui.session.open_session import OpenSession
from agentscope_tui.session.state import SessionState
from waiting import wait_until

ROWS = [json.loads(line) for line in demo_dataset().read_text(encoding="utf-8").splitlines()]
SCRIPTS = load_script(demo_script()).scripts

Event = dict[str, Any]


def index(word: str) -> int:
    """The row whose prompt has this word."""
    (found,) = [number for number, row in enumerate(ROWS) if word in row["user_prompt"]]
    return found


SLOW = index("build.sh")
"""Takes a minute unless it is interrupted."""
WRONG = index("strawberry")
LIED_TO = index("freezer")
"""Its tool gives a wrong result: only a fork with another one earns its reward."""
QUICK = [number for number in range(len(ROWS)) if number != SLOW]


def test_each_row_has_a_script_of_its_own():
    fits = [[script.match for script in SCRIPTS if script.fits(row["user_prompt"])] for row in ROWS]
    assert fits == [[script.match] for script in SCRIPTS]


# With a user


class Talk:
    """A session of the demo that a test talks to. `rewards` are those of its turns."""

    def __init__(self, opened: OpenSession) -> None:
        self.opened = opened
        self.session = opened.session
        self.files = opened.folder.files
        self.state = SessionState()
        self.rewards: list[float | None] = []
        opened.bus.subscribe(self.state.apply)
        opened.bus.subscribe(self._note)

    def _note(self, event: SessionEvent) -> None:
        if isinstance(event, Graded):
            self.rewards.append(event.reward)

    def output(self) -> str:
        """What the tools have written so far."""
        return "".join(piece.text for call in self.state.calls for piece in call.output)

    async def held(self, call: int) -> None:
        """Wait until this model call is held at the gate."""
        await wait_until(
            lambda: [hold.call for hold in self.state.holds] == [call], f"call {call}", seconds=60
        )

    async def run(self, *texts: str) -> None:
        """Send messages, stop no more, and wait until the agent is idle."""
        for text in texts:
            self.session.send(text)
        self.session.run_on()
        await self.settled()

    async def interrupt(self, after: str) -> None:
        """Run until the tools have written `after`, then interrupt."""
        self.session.run_on()
        await wait_until(lambda: after in self.output(), f"{after!r} in the output", seconds=60)
        self.session.interrupt()
        await self.settled()

    async def settled(self) -> None:
        await asyncio.wait_for(self.session.settled(), 60)

    def first_word(self, path: str) -> str:
        """The first word of a file that the agent has written."""
        return (self.files / path).read_text(encoding="utf-8").split()[0]


class Demo:
    """The demo's rows, to be opened one by one or several at once."""

    def __init__(self, launcher: Launcher, dataset: Dataset) -> None:
        self._launcher = launcher
        self._dataset = dataset

    @asynccontextmanager
    async def open(self, row: int, fork: Fork | None = None) -> AsyncIterator[Talk]:
        """Open a row, whose first model call is then held."""
        task = self._dataset.row(row)
        assert isinstance(task, Task)
        opened = await self._launcher.open(task, mode="step", fork=fork)
        talk = Talk(opened)
        try:
            await opened.start()
            await talk.held(1)
            yield talk
        finally:
            await opened.aclose()


@pytest.fixture
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Demo]:
    # No settings of the person who runs the tests.
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    config = load_settings({}, cwd=tmp_path, environ={"AGENTSCOPE_HOME": str(tmp_path / "state")})
    launcher, dataset = open_rows(config, Options())
    yield Demo(launcher, dataset)
    dataset.close()


WELCOMES = {
    "in French, please": "Bienvenue",
    "auf Deutsch": "Willkommen",
    "mejor en español": "¡Bienvenidos",
    "use tabs": "Welcome",
}


async def test_the_welcome_page_follows_the_steer_and_the_user_after_the_end(demo):
    async def first_words(steer: str) -> tuple[str, str]:
        async with demo.open(index("welcome page")) as talk:
            await talk.run(steer)
            steered = talk.first_word("welcome.txt")
            await talk.run("now in French")
            assert talk.rewards == [1.0, 1.0]
            return steered, talk.first_word("welcome.txt")

    words = await asyncio.gather(*map(first_words, WELCOMES))
    assert words == [(word, "Bienvenue") for word in WELCOMES.values()]


async def test_the_slow_build_is_interrupted_and_done_another_way(demo):
    async with demo.open(SLOW) as talk:
        await talk.interrupt("checking link 1 ")
        assert talk.state.outcome == "interrupted"
        assert not (talk.files / "out").exists()
        await talk.run("quick")
        assert talk.rewards == [1.0]
        assert talk.first_word("out/about.html") == "<!doctype"


async def test_an_interrupted_deploy_is_run_again(demo):
    async with demo.open(index("deploy.sh")) as talk:
        await talk.interrupt("index.html")
        await talk.run("go on")
        assert talk.rewards == [1.0]


async def test_a_fix_that_was_held_back_is_made_after_all(demo):
    async with demo.open(index("failing test")) as talk:
        for call in (2, 3):
            talk.session.step()
            await talk.held(call)
        assert [call.name for call in talk.state.calls if call.state == "proposed"] == ["edit_file"]
        talk.session.interrupt()
        await talk.settled()
        await talk.run("go on")
        assert talk.rewards == [1.0]


async def test_the_wrong_answer_is_put_right_when_told(demo):
    async with demo.open(WRONG) as talk:
        await talk.run()
        await talk.run("count again")
        await talk.run("are you sure?")
        assert talk.rewards == [0.0, 1.0, 1.0]


async def test_a_fork_with_the_right_result_earns_the_reward(demo):
    async with demo.open(LIED_TO) as talk:
        await talk.run()
        await talk.opened.recorder.flush()
        (result, _) = [event for event in talk.opened.past().events if event.kind == "tool_result"]
        edit = EditedResult(result.call_id, "freezer: -18 °C")
        async with demo.open(LIED_TO, Fork(talk.opened.past(), result.call, edit)) as fork:
            await fork.run()
            assert (talk.rewards, fork.rewards) == ([0.0], [1.0])


async def test_any_row_bears_messages_while_it_runs_and_after_its_end(demo):
    async def rewards(row: int) -> list[float | None]:
        async with demo.open(row) as talk:
            await talk.run("hello", "are you there?")
            await talk.run("thank you")
            return talk.rewards

    others = (index("deploy.sh"), index("welcome page"), LIED_TO)
    rows = [row for row in QUICK if row not in others]
    assert await asyncio.gather(*map(rewards, rows)) == [[1.0, 1.0]] * len(rows)


# Through the command


class Command:
    """The installed command at work on some rows."""

    def __init__(self, home: Path, rows: list[int]) -> None:
        self._rows = rows
        self._events = home / "events.jsonl"
        environ = {"HOME": str(home), "XDG_CONFIG_HOME": str(home), "AGENTSCOPE_HOME": str(home / "state")}
        words = [word for row in rows for word in ("--row", str(row))]
        self.process = subprocess.Popen(
            [Path(sys.executable).with_name("agentscope"), "run", *words, "--events", str(self._events)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            cwd=home,
            env={"PATH": os.environ["PATH"], **environ},
        )

    def events(self) -> dict[int, list[Event]]:
        """The events of each row, once the command has done them all."""
        assert self.process.wait(100) == 0
        sessions: dict[str, list[Event]] = {}
        for line in self._events.read_text(encoding="utf-8").splitlines():
            event = json.loads(line)
            sessions.setdefault(event["session_id"], []).append(event)
        runs = list(sessions.values())
        assert [run[0]["row"] for run in runs] == self._rows
        return dict(zip(self._rows, runs, strict=True))


@pytest.fixture(scope="module", autouse=True)
def commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Command]]:
    """Commands that share all rows but the slow one: begun before the first test, looked at by the last."""
    shares = [QUICK[first::4] for first in range(4)]
    running = [Command(tmp_path_factory.mktemp("home"), rows) for rows in shares]
    yield running
    for command in running:
        command.process.terminate()
        command.process.wait(100)


@pytest.fixture(scope="module")
def runs(commands: list[Command]) -> dict[int, list[Event]]:
    """The events of all rows but the slow one."""
    return {row: events for command in commands for row, events in command.events().items()}


def of(kind: str, events: list[Event]) -> list[Event]:
    return [event for event in events if event["kind"] == kind]


@pytest.mark.parametrize("row", QUICK)
def test_each_row_ends_with_its_reward(runs, row):
    (graded,) = of("graded", runs[row])
    assert graded["reward"] == (0.0 if row in (WRONG, LIED_TO) else 1.0), graded
    assert [event["outcome"] for event in of("state", runs[row]) if "outcome" in event] == ["completed"]
    assert of("error", runs[row]) == []


@pytest.mark.long
def test_the_slow_row_ends_by_itself_too(tmp_path):
    events = Command(tmp_path, [SLOW]).events()[SLOW]
    assert [event["reward"] for event in of("graded", events)] == [1.0]


def test_the_rows_show_every_tool(runs):
    used = {event["name"] for events in runs.values() for event in of("tool_call", events)}
    declared = {tool["name"] for events in runs.values() for tool in events[0]["tools"]}
    assert used == declared


def test_the_deploy_streams_on_both_channels_with_colours_and_carriage_returns(runs):
    output = of("tool_output", runs[index("deploy.sh")])
    text = {name: "".join(e["text"] for e in output if e["stream"] == name) for name in ("stdout", "stderr")}
    assert "\rapp.js     [####    ]  50%" in text["stdout"]
    assert "\x1b[32mhealthy\x1b[0m" in text["stdout"]
    assert "warning" in text["stderr"]
    assert len(output) > 20


def test_the_long_output_is_whole_for_the_user_and_cut_for_the_model(runs):
    events = runs[index("sensors.py")]
    result = of("tool_result", events)[0]
    output = [e["text"] for e in of("tool_output", events) if e["call_id"] == result["call_id"]]
    assert "".join(output).count("\n") == 5000
    assert result["truncated"]
    assert "TOO HOT" not in result["content"]


def test_a_completion_has_two_calls_and_both_run(runs):
    events = runs[index("get_user")]
    (ids,) = [
        [call["id"] for call in event["tool_calls"]]
        for event in of("assistant_message", events)
        if len(event["tool_calls"]) == 2
    ]
    assert [e["status"] for e in of("tool_result", events) if e["call_id"] in ids] == ["done", "done"]


@pytest.mark.parametrize(
    ("word", "statuses"),
    [
        ("failing test", ["failed", "done", "done", "done", "done"]),
        ("report.py", ["failed", "done", "done", "done", "done", "done"]),
        ("settings.toml", ["failed", "refused", "done", "done"]),
    ],
)
def test_the_agent_recovers_from_calls_that_fail(runs, word, statuses):
    assert [event["status"] for event in of("tool_result", runs[index(word)])] == statuses
