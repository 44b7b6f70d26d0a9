"""Any program as an agent: how it is started, what it sees, and what becomes of how it ends."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from agentscope_tui.errors import UsageError
from agentscope_tui.events import ErrorOccurred, Submitted
from agentscope_tui.grading.grader import Grade
from agentscope_tui.runners.program import Command
from agentscope_tui.runners.source import RunnerChoice, RunnerSource
from fakes.engine import says
from fakes.programs import is_alive, is_there, logged, program, write_program
from waiting import wait_until

ENVIRON = {"PATH": os.environ["PATH"]}


def test_a_template_is_split_first_and_filled_in_for_each_argument(tmp_path: Path) -> None:
    command = Command.parse("""sh -c 'echo "{q}"' {meta.id} --json={{}} {list}""", tmp_path, ENVIRON)
    row = {"q": "a b; $(rm -rf /) 'x' {y}", "meta": {"id": 7}, "list": [1]}
    assert command.fill(row) == [
        "sh",
        "-c",
        """echo "a b; $(rm -rf /) 'x' {y}\"""",
        "7",
        "--json={}",
        "[1]",
    ]


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("", "names no program"),
        ("sh 'x", "no closing quotation"),
        ("Sh 'X", "--command Sh 'X: no closing quotation"),
        ("no-such-program-here x", "there is no program no-such-program-here"),
        ("sh {", "is no {field}"),
    ],
)
def test_a_bad_template_is_refused_at_the_start(command: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=reason):
        Command.parse(command, tmp_path, ENVIRON)


def test_a_program_and_a_runner_exclude_each_other() -> None:
    with pytest.raises(UsageError, match="--command and --runner exclude each other"):
        RunnerSource(RunnerChoice(program="sh", command="r", environ=ENVIRON))


def test_the_variables_of_the_endpoint_cannot_be_passed() -> None:
    with pytest.raises(UsageError, match="--pass-env OPENAI_API_KEY"):
        RunnerSource(RunnerChoice(program="sh", pass_env=["OPENAI_API_KEY"], environ=ENVIRON))


async def test_what_it_prints_is_its_answer(tmp_path: Path) -> None:
    command = write_program(tmp_path, 'print("<", ask(sys.argv[1])["content"], ">")')
    async with program(command, tmp_path, says("five")) as rig:
        await rig.run("two and three?")
        assert rig.asked(1) == [("user", "two and three?")]
        assert [event.answer for event in rig.of(Submitted)] == ["< five >"]
        assert logged(rig, "stdout") == "< five >\n"
        assert rig.outcomes() == ["completed"]


async def test_without_output_the_last_text_of_the_model_is_the_answer(tmp_path: Path) -> None:
    graded: list[str] = []

    class Grader:
        name = "g"

        async def grade(self, answer: str, messages: object) -> object:
            graded.append(answer)
            return Grade(1.0)

    command = write_program(tmp_path, "ask(sys.argv[1])")
    async with program(command, tmp_path, says("five"), grader=Grader()) as rig:
        await rig.run()
    assert graded == ["five"]


async def test_what_a_program_sees(tmp_path: Path) -> None:
    code = """
row = json.load(open(os.environ["AGENTSCOPE_ROW"]))
print(json.dumps([sys.argv[1], row, json.load(sys.stdin), dict(os.environ), os.getcwd()]))
"""
    environ = {
        **ENVIRON,
        "OPENAI_API_KEY": "sk-real",
        "ANTHROPIC_BASE_URL": "http://real.example",
        "OPENAI_API_BASE": "http://real.example/v1",
        "ANTHROPIC_API_URL": "http://real.example",
        "MY_TOKEN": "t",
        "OTHER_TOKEN": "o",
        "HIDDEN": "has sk-real inside",
        "PLAIN": "p",
        "NO_PROXY": "intern.example",
    }
    choice = {"secrets": ["sk-real"], "pass_env": ["MY_TOKEN"]}
    row = {"question": "q", "id": 3}
    command = write_program(tmp_path, code)
    async with program(command, tmp_path, environ=environ, choice=choice, row=row) as rig:
        await rig.run("first $HOME `x`")
        argument, file, stdin, env, cwd = json.loads(rig.of(Submitted)[0].answer)
    assert argument == "first $HOME `x`"
    assert file == stdin == {**row, "user_prompt": "first $HOME `x`"}
    assert cwd == str(tmp_path)
    assert env["OPENAI_BASE_URL"].startswith("http://127.0.0.1:")
    assert env["OPENAI_BASE_URL"] == env["ANTHROPIC_BASE_URL"] + "/v1"
    assert env["OPENAI_API_BASE"] == env["OPENAI_BASE_URL"]
    assert env["ANTHROPIC_API_URL"] == env["ANTHROPIC_BASE_URL"]
    assert env["OPENAI_AGENTS_DISABLE_TRACING"] == "1"
    assert env["OPENAI_API_KEY"] == env["ANTHROPIC_API_KEY"] != "sk-real"
    assert (env["MY_TOKEN"], env["PLAIN"]) == ("t", "p")
    assert env["NO_PROXY"] == "intern.example,127.0.0.1,localhost"
    assert {"OTHER_TOKEN", "HIDDEN"} & env.keys() == set()
    assert not is_there(env["AGENTSCOPE_ROW"])


async def test_a_later_message_runs_it_again(tmp_path: Path) -> None:
    command = write_program(tmp_path, 'print(ask(sys.argv[1], sys.argv[1])["content"])')
    async with program(command, tmp_path, says("one"), says("two")) as rig:
        await rig.run("first")
        await rig.run("second")
        assert [event.answer for event in rig.of(Submitted)] == ["one", "two"]
        assert rig.asked(2) == [("user", "second"), ("user", "second")]


async def test_another_exit_code_than_0_fails_the_turn_with_the_end_of_stderr(tmp_path: Path) -> None:
    code = 'print("half an answer"); ask("x"); sys.stderr.write("one\\ntwo\\nthree\\n"); sys.exit(3)'
    async with program(write_program(tmp_path, code), tmp_path, says("five")) as rig:
        await rig.run()
        assert rig.outcomes() == ["failed"]
        error = rig.of(ErrorOccurred)[0]
        assert error.message == "the program exited with status 3: two | three"
        assert error.detail == "one\ntwo\nthree"
        assert rig.of(Submitted) == []
        await rig.run("again")
        assert rig.session.status == "idle"


async def test_a_row_that_cannot_be_written_for_it_fails_the_turn(tmp_path: Path) -> None:
    code = 'import shutil; shutil.rmtree(os.path.dirname(os.environ["AGENTSCOPE_ROW"])); print("gone")'
    async with program(write_program(tmp_path, code), tmp_path) as rig:
        await rig.run()
        await rig.run("again")
        assert rig.outcomes() == ["completed", "failed"]
        assert rig.of(ErrorOccurred)[0].message.startswith("this row cannot be run: [Errno 2]")
        assert rig.session.status == "idle"


async def test_garbage_on_its_output_harms_nobody(tmp_path: Path) -> None:
    code = r"""
sys.stdout.buffer.write(b"\xff\x00\x1b[31m{\"type\": \"state\"}\n" + b"x" * 100_000 + b"\nno end")
"""
    async with program(write_program(tmp_path, code), tmp_path) as rig:
        await rig.run()
        answer = rig.of(Submitted)[0].answer
        assert answer.startswith('\ufffd\0\x1b[31m{"type": "state"}\nxxx')
        assert answer.endswith("x\nno end")
        assert rig.outcomes() == ["completed"]


async def test_a_row_without_the_field_fails_the_turn(tmp_path: Path) -> None:
    async with program("echo {question}", tmp_path, row={"other": 1}) as rig:
        await rig.run()
        assert rig.outcomes() == ["failed"]
        assert "column 'question' is missing" in rig.of(ErrorOccurred)[0].message


async def test_a_command_that_cannot_be_started_fails_the_turn(tmp_path: Path) -> None:
    async with program("{program} x", tmp_path, row={"program": "no-such-program"}) as rig:
        await rig.run()
        assert rig.outcomes() == ["failed"]
        assert "no-such-program" in rig.of(ErrorOccurred)[0].message


async def test_what_it_leaves_running_ends_with_the_turn(tmp_path: Path) -> None:
    code = """
import subprocess
print(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True).pid)
"""
    async with program(write_program(tmp_path, code), tmp_path) as rig:
        await rig.run()
        pid = int(rig.of(Submitted)[0].answer)
        await wait_until(lambda: not is_alive(pid), "the end of the child")


# Interrupts


async def test_an_interrupt_answers_the_open_call_and_lets_the_program_end(tmp_path: Path) -> None:
    code = """
import urllib.error
try:
    ask(sys.argv[1])
except urllib.error.HTTPError as error:
    print(error.code, error.headers["x-should-retry"], json.load(error)["error"]["code"])
"""
    async with program(write_program(tmp_path, code), tmp_path, says("held"), mode="step") as rig:
        rig.session.send("go")
        await rig.until(lambda: rig.state.holds)
        rig.session.interrupt()
        await rig.settled()
        assert rig.outcomes() == ["interrupted"]
        assert logged(rig, "stdout") == "400 false interrupted\n"
        assert rig.of(Submitted) == []


async def test_a_program_that_goes_on_after_an_interrupt_is_ended_with_all_it_started(tmp_path: Path) -> None:
    code = """
import signal, subprocess, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
print(os.getpid(), child.pid, flush=True)
while True:
    try:
        ask("on and on")
    except Exception as error:
        print(error, file=sys.stderr, flush=True)
    time.sleep(0.1)
"""
    async with program(write_program(tmp_path, code), tmp_path, says("held"), mode="step") as rig:
        rig.session.send("go")
        await rig.until(lambda: rig.state.holds)
        await rig.until(lambda: logged(rig, "stdout"))
        started = time.monotonic()
        rig.session.interrupt()
        await rig.settled()
        assert time.monotonic() - started > 1
        pids = [int(word) for word in logged(rig, "stdout").split()]
        assert len(pids) == 2
        assert not any(map(is_alive, pids))
        assert rig.outcomes() == ["interrupted"]
        assert len(rig.model.requests) == 1


async def test_ending_the_session_ends_the_program(tmp_path: Path) -> None:
    code = "import time; print(os.getpid(), flush=True); time.sleep(600)"
    async with program(write_program(tmp_path, code), tmp_path) as rig:
        rig.session.send("go")
        await rig.until(lambda: logged(rig, "stdout"))
        pid = int(logged(rig, "stdout"))
    assert not is_alive(pid)
